// leat/express beside Express itself and its rivals, as data; scenarios.mjs and node_scenarios.mjs say what the keys mean.
// All are at saturation: 64 connections, each of which asks again at once.

import { STATIC_BYTES } from './express_subjects.mjs';
import { on } from './node_scenarios.mjs';

const measures = ['rps', 'p50_us', 'p95_us', 'p99_us', 'cpu_us', 'rss_mb', 'busy', 'foreign'];
const compare = ['rps', 'cpu_us', 'p50_us', 'p95_us', 'p99_us', 'rss_mb'];
const subjects = ['leat/express', 'Express 5', 'leat/express4', 'Express 4'];
const rivals = ['Express 4 on Bun', 'ultimate-express'];
const closed = { kind: 'wrk', connections: 64, path: '/' };
const rps = (against, atLeast) => ({ measure: 'rps', against, atLeast });

/** Latencies that are a quarter of Express's. */
const quick = ['p50_us', 'p95_us', 'p99_us'].map((measure) => ({ measure, against: 'Express 5', atMost: 0.25 }));

/** One case of apps/express_cases.mjs on both Nodes; `factors` are what it must reach against Express 5, by Node.js. */
const scenario = (name, factors, { load, ...more }) => [20, 24].flatMap((node) => on([node], `express-${name}`, {
  role: `express-${name}`,
  packages: ['express', 'express4'],
  // uWebSockets.js has no binary for newer ones.
  subjects: [...subjects, ...rivals.filter((rival) => node === 20 || rival !== 'ultimate-express')],
  measures,
  compare,
  load: { ...closed, ...load },
  targets: factors[node] ? [rps('Express 5', factors[node])] : [],
  ...more,
}));

const hello = scenario('hello', {}, {
  title: 'Express\'s API: a JSON object of 17 bytes, keep-alive',
  about: 'The same app by whichever library; Fastify and bare node:http answer the same with their own. Bun is asked once for each Node.js, so that it '
    + 'stands in the same run.',
  expect: { bytes: 17 },
}).map((one) => ({
  ...one,
  subjects: [...one.subjects, 'Fastify', 'node:http'],
  targets: [
    rps('Express 5', one.node === 20 ? 10 : 3.3),
    rps('Express 4 on Bun', 1.7),
    ...(one.subjects.includes('ultimate-express') ? [rps('ultimate-express', 1.4)] : []),
    rps('node:http', 1.3),
    rps('Fastify', 1.4),
    ...(one.node === 20 ? quick : []),
    { measure: 'rss_mb', against: 'node:http', atMostMore: 10 },
  ],
}));

export const expressScenarios = [
  ...hello,
  ...scenario('post', { 20: 7, 24: 3 }, {
    title: 'Express\'s API: a POST of JSON with three fields through `express.json()`',
    load: { json: '{"name":"leat","kind":"channel","length":42}' },
    expect: { bytes: 51 },
  }),
  ...scenario('chain', { 20: 7, 24: 3 }, {
    title: 'Express\'s API: a JSON reply behind three middleware functions',
    expect: { bytes: 12 },
  }),
  ...scenario('routes', {}, {
    title: 'Express\'s API: the last of 1,000 routes',
    load: { path: '/area9/thing999' },
    expect: { bytes: 13 },
  }),
  ...scenario('params', {}, {
    title: 'Express\'s API: two parameters and a query',
    load: { path: '/users/17/posts/four?tag=x' },
    expect: { bytes: 37 },
  }),
  ...scenario('body', {}, {
    title: 'Express\'s API: `send` of a text of 100 kB, with its ETag',
    expect: { bytes: 100_000 },
  }),
  ...scenario('static', {}, {
    title: 'Express\'s API: a file of 10 kB by `express.static`',
    load: { path: '/file.css' },
    expect: { bytes: STATIC_BYTES },
  }),
  ...on([20, 24], 'express-start', {
    title: 'Express\'s API: from exec to the first answer',
    about: 'Loading the libraries is most of what differs.',
    role: 'express-hello',
    packages: ['express', 'express4'],
    subjects,
    load: { kind: 'start', times: 5, path: '/' },
    expect: { bytes: 17 },
    measures: ['first_answer_ms', 'first_answer_worst_ms'],
    compare: ['first_answer_ms'],
    targets: [{ measure: 'first_answer_ms', against: 'Express 5', atMost: 0.67 }],
  }),
];
