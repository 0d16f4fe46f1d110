// `leat run` beside Express on Node.js and Bun, as data; scenarios.mjs and node_scenarios.mjs say what the keys mean. Both have one
// core and one thread that runs JavaScript.

import { on } from './node_scenarios.mjs';

const subjects = ['leat run', 'Express 5', 'Express 4 on Bun'];
const packages = ['express', 'express4'];
const measures = ['rps', 'p50_us', 'p95_us', 'p99_us', 'cpu_us', 'rss_mb', 'busy', 'foreign'];
const compare = ['rps', 'cpu_us', 'p50_us', 'p99_us', 'rss_mb'];
const closed = { kind: 'wrk', connections: 50, path: '/' };

/** One case of apps/express_cases.mjs on `leat run`, and by Express on both Nodes; `factors` are what it must reach, by Node.js. */
const scenario = (name, factors, { load, ...more }) => [20, 24].flatMap((node) => on([node], `run-${name}`, {
  role: `express-${name}`,
  packages,
  subjects,
  measures,
  compare,
  load: { ...closed, ...load },
  targets: factors[node] ? [{ measure: 'rps', against: 'Express 5', atLeast: factors[node] }] : [],
  ...more,
}));

const hello = scenario('hello', { 20: 5, 24: 1.5 }, {
  title: 'without Node.js: a JSON object of 17 bytes, 50 connections',
  about: 'The same app file, on QuickJS inside the binary and on Express where it is at home.',
  expect: { bytes: 17 },
}).map((one) => ({ ...one, targets: [...one.targets, { measure: 'rss_mb', atMost: 20 }] }));

/** The first requests fill what is kept (buffers, layouts, caches of code); a process that then grows, grows for ever. */
const many = (name, title, load, bytes) => on([20], `run-million-${name}`, {
  title: `without Node.js: ${title}`,
  role: name === 'post' ? 'express-post' : 'express-hello',
  packages,
  subjects: ['leat run', 'Express 5'],
  load: { kind: 'many', connections: 50, warm: 50_000, requests: 1_000_000, ...load },
  expect: { bytes },
  measures: ['warm_rss_mb', 'after_rss_mb', 'grown_mb', 'rss_mb'],
  compare: ['after_rss_mb', 'rss_mb'],
  targets: [{ measure: 'grown_mb', atMost: 1 }, { measure: 'after_rss_mb', atMost: 15 }],
});

export const runScenarios = [
  ...hello,
  ...scenario('post', { 20: 4 }, {
    title: 'without Node.js: a POST of JSON with three fields through `express.json()`',
    load: { json: '{"name":"leat","kind":"channel","length":42}' },
    expect: { bytes: 51 },
  }),
  ...scenario('chain', { 20: 4 }, {
    title: 'without Node.js: a JSON reply behind three middleware functions',
    expect: { bytes: 12 },
  }),
  ...on([20, 24], 'run-start', {
    title: 'without Node.js: from exec to the first answer',
    about: 'Thirty starts each. `node bench/run_starts.mjs` adds what `leat build` made, and the latency of the first requests.',
    role: 'express-hello',
    packages,
    subjects,
    load: { kind: 'start', times: 30, path: '/' },
    expect: { bytes: 17 },
    measures: ['first_answer_ms', 'first_answer_worst_ms'],
    compare: ['first_answer_ms'],
    targets: [{ measure: 'first_answer_ms', atMost: 8 }, { measure: 'first_answer_ms', against: 'Express 5', atMost: 0.05 }],
  }),
  ...on([20, 24], 'run-idle', {
    title: 'without Node.js: memory before the first load, and with 50 connections that wait',
    role: 'express-hello',
    packages,
    subjects,
    load: { kind: 'idle', connections: 50, path: '/' },
    expect: { bytes: 17 },
    measures: ['empty_rss_mb', 'idle_rss_mb', 'held'],
    compare: ['empty_rss_mb', 'idle_rss_mb'],
    targets: [{ measure: 'empty_rss_mb', atMost: 10 }, { measure: 'held', atLeast: 50 }],
  }),
  ...many('get', 'a million requests on 50 connections, and memory behind them', { path: '/' }, 17),
  ...many('post', 'a million POSTs of JSON through `express.json()`, and memory behind them', { path: '/', json: '{"name":"leat","kind":"channel","length":42}' }, 51),
];
