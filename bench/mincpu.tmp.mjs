// temp: min and median CPU/request, interleaved. args: rounds scenario...
import { measure, withUpstream } from './engine/measure.mjs';
import { scenarios } from './scenarios.mjs';
import { pathOf } from '../tools/nodes.mjs';
const [rounds, ...names] = process.argv.slice(2);
const context = { rival: (n) => new URL('../target/release/' + n, import.meta.url).pathname, leat: '', node: pathOf };
for (const n of names) {
  const s = scenarios.find((x) => x.name === n);
  const got = {};
  for (let i = 0; i < +rounds; i++) for (const sub of (i % 2 ? [...s.subjects].reverse() : s.subjects)) {
    try { const r = await measure(s, sub, context, {}, { seconds: 1, warmup: 1, rate: +process.env.RATE || undefined }); (got[sub] ??= []).push(r); } catch (e) { console.log(e.message); }
  }
  for (const [sub, list] of Object.entries(got)) {
    const c = list.map((x) => x.cpu_us).sort((a, b) => a - b), m = list.slice().sort((a, b) => a.foreign - b.foreign)[0];
    console.log(n.padEnd(20), sub.padEnd(26), 'cpu min', c[0].toFixed(1), 'median', c[c.length >> 1].toFixed(1), '| best rps', Math.max(...list.map((x) => x.rps)).toFixed(0), 'rss', Math.max(...list.map((x) => x.rss_mb)).toFixed(1), '| least disturbed', m.foreign.toFixed(2), 'rps', m.rps.toFixed(0), 'cpu', m.cpu_us.toFixed(1), 'p99', m.p99_us);
  }
}
