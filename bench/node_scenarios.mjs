// leat/http beside node:http on the same Node.js, as data; scenarios.mjs says what the keys mean.
//
// node      major version of the Node.js that subjects run on (tools/nodes.json pins it)
// asked     run only when it is named in full
// counted   what is counted once, in a run of its own (engine/counting.mjs)
// about     what the page says above the figures

const KEPT = [20, 24];
const LATER = [22, 26];

const load = ['rps', 'p50_us', 'p99_us', 'cpu_us', 'rss_mb', 'syscalls', 'crossings', 'busy', 'foreign'];
const speed = ['rps', 'cpu_us', 'p99_us'];
const counted = ['syscalls', 'crossings'];
const pair = ['leat/http', 'node:http'];
const hello = { bytes: 17 };
const closed = { kind: 'wrk', connections: 64, path: '/' };
const faster = (atLeast) => ({ measure: 'rps', against: 'node:http', atLeast });
const lean = { measure: 'rss_mb', against: 'node:http', atMostMore: 10 };

/** One scenario for each of `majors`: `node-json-20`, `node-json-24`. */
export const on = (majors, name, scenario) => majors.map((node) => ({
  ...scenario, name: `${name}-${node}`, title: `${scenario.title}, on Node.js ${node}`, node,
}));

/** The same, run only when one is named in full. */
const asked = (majors, name, scenario) => on(majors, name, { ...scenario, asked: true });

const json = {
  title: '`createServer` with a JSON object of 17 bytes, keep-alive',
  about: 'The same program on both engines: node:http runs on one thread, leat/http on its engine\'s and Node\'s, both on one core.',
  role: 'node-json',
  subjects: pair,
  load: closed,
  expect: hello,
  measures: load,
  compare: [...speed, 'rss_mb'],
  counted,
  targets: [faster(1.7), lean],
};

const latency = {
  title: 'the JSON reply, open loop, at half of what the slower of both carries',
  about: 'Exponential gaps, latency from the moment that a request was due (not when a connection was free for it). Both are asked at one rate: half of '
    + 'node:http\'s highest (of the slower one\'s, if that is another), which is less than half of what leat/http carries. A batch is small here, so '
    + 'leat/http\'s wake-ups show in its CPU.',
  role: 'node-json',
  subjects: pair,
  load: { kind: 'open', connections: 64, path: '/', share: 0.5 },
  expect: hello,
  measures: ['rps', 'p50_us', 'p99_us', 'p999_us', 'cpu_us', 'rss_mb', 'busy', 'foreign'],
  compare: ['p50_us', 'p99_us', 'p999_us', 'cpu_us'],
  targets: [{ measure: 'p99_us', against: 'node:http', atMost: 1 }],
};

/** A framework's own code on either engine. */
const framework = (name, factor) => ({
  role: `node-${name}`, packages: [name], subjects: pair, load: closed, expect: hello, measures: load, compare: speed, counted,
  targets: [faster(factor)],
});

/** 100 kB in one direction. */
const body = {
  role: 'node-bodies',
  subjects: pair,
  measures: ['mb_s', ...load],
  compare: ['mb_s', 'cpu_us', 'p99_us', 'rss_mb'],
  counted,
  targets: [{ ...faster(1.3), measure: 'mb_s' }, lean],
};

/** What the load's core is worth to a server that may use it too. */
const twoCores = {
  subjects: ['leat/http on two cores', 'leat/http', 'node:http on two cores'],
  load: closed,
  expect: hello,
  measures: ['rps', 'p50_us', 'p99_us', 'cpu_us', 'busy', 'foreign'],
  compare: speed,
  targets: [],
};

export const nodeScenarios = [
  ...on(KEPT, 'node-json', json),
  ...asked(LATER, 'node-json', json),
  ...on(KEPT, 'node-fastify', {
    ...framework('fastify', 1.4),
    title: 'Fastify with a JSON route and its schema',
    about: 'Fastify unchanged: plain on node:http, with `serverFactory` on leat/http.',
  }),
  ...on(KEPT, 'node-express', {
    ...framework('express', 1.3),
    title: 'Express 5 with a JSON route',
    about: 'Express\'s own code: `createServer(app)` of either engine. Express swaps the prototype of every request and response, which V8 pays for '
      + 'dearly; leat/http makes them so that the swap changes nothing.',
  }),
  ...on(KEPT, 'node-body-out', {
    ...body,
    title: 'a reply of 100 kB from one Buffer, keep-alive',
    about: 'Either engine hands the Buffer to the kernel from where it is; the kernel\'s copy and the loopback are most of a request.',
    load: { ...closed, path: '/100k' },
    expect: { bytes: 100_000 },
  }),
  ...on(KEPT, 'node-body-in', {
    ...body,
    title: 'a POST of 100 kB that is read whole (`data`, `Buffer.concat`), keep-alive',
    about: 'As body parsers read: chunks are kept until the end, then joined.',
    load: { ...closed, path: '/upload', body: 100_000 },
    expect: { bytes: 16 },
  }),
  ...on([20], 'node-latency', latency),
  ...asked([24], 'node-latency', latency),
  ...on([20], 'node-two-cores', {
    ...twoCores,
    title: 'Express 5 where the server may use the load\'s core too',
    about: 'Two cores in all, so the load shares the second one with the server; Express leaves wrk less to do than the bare JSON reply. The gain is what '
      + 'the engine\'s thread takes off Node\'s (node:http has V8\'s own threads on the second core). `core busy` counts the server on both cores: '
      + 'above 1 it needed the second.',
    role: 'node-express',
    packages: ['express'],
  }),
  ...on([20], 'node-two-cores-json', {
    ...twoCores,
    title: 'the JSON reply where the server may use the load\'s core too',
    about: 'Here wrk itself wants most of the second core, so this says what two busy cores give in all, not what the server could do with a load elsewhere.',
    role: 'node-json',
  }),
  ...on([20], 'node-pipelined', {
    title: 'the JSON reply, requests pipelined by 16',
    about: 'No browser and few clients pipeline; it shows what is left when the system calls are shared. A connection has one exchange open at a time, so '
      + 'its pipelined requests cross one by one, and only those of different connections share a crossing.',
    role: 'node-json',
    subjects: pair,
    load: { ...closed, pipeline: 16 },
    expect: hello,
    measures: ['rps', 'cpu_us', 'rss_mb', 'syscalls', 'crossings', 'busy', 'foreign'],
    compare: ['rps', 'cpu_us'],
    counted,
    targets: [],
  }),
  ...on(KEPT, 'node-start', {
    title: 'from exec to the first answer',
    about: 'Node\'s own start is most of it. leat/http adds loading the addon and its JavaScript.',
    role: 'node-json',
    subjects: pair,
    load: { kind: 'start', times: 5, path: '/' },
    expect: hello,
    measures: ['first_answer_ms', 'first_answer_worst_ms'],
    compare: ['first_answer_ms'],
    targets: [],
  }),
];
