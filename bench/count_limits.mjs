// Instructions of a request to a fixed reply, counted by valgrind's callgrind: what each kind of rate limit adds to it, with the fields
// that tell clients of it and without. usage: node bench/count_limits.mjs [NAME…] [--requests N] [--functions N] [--leat PATH]
// Redis is a server of this program's own. Kernel instructions are not counted.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { each, parseCallgrind } from './engine/callgrind.mjs';
import { has } from './engine/machine.mjs';
import { get, open } from './engine/one_by_one.mjs';
import { freePort } from './engine/process.mjs';

const REQUESTS_MAX = 100_000;
const WARM = 200;
const START_MS_MAX = 60_000;

/** Settings of the route's limit, by name. */
const cases = {
  none: '',
  gcra: 'rate: 1000000/s, burst: 100000000',
  'gcra, nobody is told': 'rate: 1000000/s, burst: 100000000, headers: false',
  'sliding window': 'rate: 4000000/h, algorithm: sliding_window, key: [client, "header:user-agent"]',
  leased: 'rate: 1000000/s, burst: 1000000, redis: shared, mode: leased',
  'leased, nobody is told': 'rate: 1000000/s, burst: 1000000, redis: shared, mode: leased, headers: false',
  exact: 'rate: 1000000/s, burst: 1000000, redis: shared',
  'exact, nobody is told': 'rate: 1000000/s, burst: 1000000, redis: shared, headers: false',
};

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    requests: { type: 'string', default: '2000' },
    functions: { type: 'string', default: '0' },
    leat: { type: 'string', default: process.env.LEAT_BIN ?? at('../target/release/leat') },
  },
});
const [requests, shown] = [Number(values.requests), Number(values.functions)];
const unknown = positionals.filter((name) => !Object.hasOwn(cases, name));
if (!(Number.isInteger(requests) && requests >= 1 && requests <= REQUESTS_MAX && Number.isInteger(shown)) || unknown.length > 0) {
  console.error(`usage: node bench/count_limits.mjs [${Object.keys(cases).join('|')}…] [--requests 1..${REQUESTS_MAX}] [--functions N]`);
  process.exit(2);
}
for (const program of ['valgrind', 'redis-server']) {
  if (has(program)) continue;
  console.log(`SKIP instructions of rate limits: ${program} is missing`);
  process.exit(0);
}
const leat = resolve(values.leat);
if (!existsSync(leat)) {
  console.error(`${leat} is missing: make build, or --leat PATH`);
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'leat-count-'));
const redisPort = await freePort();
const redis = spawn('redis-server', ['--port', `${redisPort}`, '--bind', '127.0.0.1', '--save', '', '--dir', folder], { stdio: 'ignore' });
try {
  (await open(redisPort, Date.now() + START_MS_MAX)).destroy();
  for (const name of positionals.length > 0 ? positionals : Object.keys(cases)) await count(name);
} finally {
  redis.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
process.exit();

async function count(name) {
  const [few, many] = [await run(cases[name], WARM, `${folder}/few`), await run(cases[name], WARM + requests, `${folder}/many`)];
  const { total, functions } = each(few, many, requests);
  console.log(`${name.padEnd(32)}${total.toFixed(0).padStart(8)} instructions a request`);
  for (const { name: of, instructions, calls } of functions.slice(0, shown)) {
    console.log(`  ${of.slice(0, 78).padEnd(80)}${instructions.toFixed(0).padStart(8)}${calls.toFixed(2).padStart(10)} calls`);
  }
}

/** Sends one request after the other. Replies differ in length: what remains of a limit is in them. */
function ask(socket, request, times) {
  return new Promise((done, failed) => {
    let [left, text] = [times, ''];
    socket.on('error', failed).on('close', () => failed(new Error('the connection was closed')));
    socket.setEncoding('latin1').on('data', (piece) => {
      text += piece;
      if (!text.endsWith('\r\n\r\nok')) return;
      if (!text.startsWith('HTTP/1.1 200')) return failed(new Error(`not a 200: ${text}`));
      [left, text] = [left - 1, ''];
      if (left > 0) socket.write(request);
      else done(socket.removeAllListeners('close'));
    });
    socket.write(request);
  });
}

/** What a run of so many requests takes. */
async function run(keys, requestsOf, out) {
  const port = await freePort();
  const limited = keys === '' ? '' : 'rate_limits: one, ';
  const limits = keys === '' ? '' : `rate_limits: { one: { ${keys} } }\nredis: { shared: { url: "redis://127.0.0.1:${redisPort}", deadline: 10s } }`;
  const config = `listeners: 127.0.0.1:${port}
workers: 1
access_log: off
routes: [{ ${limited}respond: { body: ok } }]
${limits}
`;
  writeFileSync(`${folder}/leat.yaml`, config);
  const watched = ['--tool=callgrind', '--dump-line=no', `--callgrind-out-file=${out}`, leat, 'gateway', `${folder}/leat.yaml`];
  const child = spawn('valgrind', watched, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => { said += text; });
  const ended = new Promise((done) => child.on('close', done));
  try {
    const socket = await open(port, Date.now() + START_MS_MAX);
    await ask(socket, get('/'), requestsOf);
    socket.destroy();
    child.kill('SIGTERM');
    await ended;
    return parseCallgrind(readFileSync(out, 'utf8'));
  } catch (error) {
    throw new Error(`${error.message}\n${said}`);
  } finally {
    child.kill('SIGKILL');
  }
}
