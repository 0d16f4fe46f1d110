// Instructions a proxied request, counted by valgrind's callgrind: what each policy of an upstream, what a route does with
// heads and bodies, and each way to observe adds to the bare path. The threads that write the log and send spans are counted too.
// usage: node bench/count_proxy.mjs [NAME…] [--requests N] [--functions N] [--path /] [--leat PATH]
// The upstream is a server in this process, before which two endpoints stand. Kernel instructions are not counted.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandLine, counted, print } from './engine/count.mjs';
import { ask, get } from './engine/one_by_one.mjs';
import { freePort } from './engine/process.mjs';

const WARM = 200;

/** Keys of the upstream, by name; with `mirror`, keys of that section of the route. */
const cases = {
  bare: '',
  outliers: 'outliers: {}',
  breaker: 'breaker: {}',
  'breaker of the upstream': 'breaker: { scope: upstream }',
  retry: 'retry: {}',
  least_request: 'balance: least_request',
  peak_ewma: 'balance: peak_ewma',
  'hash by path': 'balance: { hash: path }',
  everything: 'balance: peak_ewma, outliers: {}, breaker: {}, retry: {}, health: {}',
  concurrency: 'concurrency: {}',
  hedge: 'retry: {}, hedge: 10s',
  'hedge by percentile': 'retry: {}, hedge: p99',
  'mirror of none': { mirror: 'percent: 0' },
  mirror: { mirror: 'percent: 100' },
};

/** Keys of the route, by name. */
const routes = {
  'limits of the head': 'limits: { fields_max: 50, target_bytes_max: 100B, head_bytes_max: 1KiB }',
  'request_query': 'request_query: { remove: debug, set: { by: leat } }',
  'rewrite_regex': "rewrite_regex: { pattern: '/(.*)', to: '/in/{1}' }",
  'decompress, no coding': 'decompress: {}',
  'buffer_response': 'buffer_response: {}',
};

/** Keys of the file, by name. A log goes to /dev/null, spans to a server that answers everything with 200. */
const roots = {
  log: 'access_log: { path: /dev/null, format: json }',
  'log with phases': 'access_log: { path: /dev/null, format: json, phases: true }',
  'tracing 1 %': `access_log: off\ntracing: { sample: 1% }\notlp: { url: COLLECTOR, metrics: off }`,
  'tracing 100 %': `access_log: off\ntracing: { sample: 100% }\notlp: { url: COLLECTOR, metrics: off }`,
  'server timing': 'access_log: off\nserver_timing: { allow: 127.0.0.0/8, when: always }',
  'all observation': `access_log: { path: /dev/null, format: json, phases: true, fields: [referer] }
tracing: { sample: 1% }
otlp: { url: COLLECTOR, metrics: 60s }`,
};

const asked = commandLine({
  program: 'count_proxy.mjs',
  what: 'a proxied request',
  cases: [...Object.keys(cases), ...Object.keys(routes), ...Object.keys(roots)],
  requests: 2000,
  options: { path: { type: 'string', default: '/' } },
  usage: ' [--path /]',
});

const reply = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const upstreams = await Promise.all([serve(), serve()]);
const collector = await serve();
const folder = mkdtempSync(join(tmpdir(), 'leat-count-'));
try {
  for (const name of asked.names) {
    const few = await run(name, WARM, `${folder}/few`);
    print(name, [few, await run(name, WARM + asked.requests, `${folder}/many`)], asked);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
  for (const server of [...upstreams, collector]) server.close();
}
process.exit();

/** A server that answers every head. Requests come one at a time, each in one piece. */
function serve() {
  const server = createServer((socket) => {
    socket.setNoDelay(true).on('data', () => socket.write(reply)).on('error', () => socket.destroy());
  });
  return new Promise((done) => server.listen(0, '127.0.0.1', () => done(server)));
}

/** What a run of so many requests takes. */
async function run(name, requestsOf, out) {
  const policy = cases[name] ?? '';
  const { keys = '', mirror } = typeof policy === 'string' ? { keys: policy } : policy;
  const root = (roots[name] ?? 'access_log: off').replace('COLLECTOR', `"http://127.0.0.1:${collector.address().port}"`);
  const port = await freePort();
  const endpoints = upstreams.map((server) => `"http://127.0.0.1:${server.address().port}"`).join(', ');
  const copies = mirror === undefined ? '' : `, mirror: { upstream: next, ${mirror} }`;
  const next = mirror === undefined ? '' : `, next: { endpoints: [${endpoints}] }`;
  const config = `listeners: 127.0.0.1:${port}
workers: 1
${root}
routes: [{ proxy: { upstream: up${copies} }, ${routes[name] ?? ''} }]
upstreams: { up: { endpoints: [${endpoints}], ${keys} }${next} }
`;
  writeFileSync(`${folder}/leat.yaml`, config);
  const parameters = ['gateway', `${folder}/leat.yaml`];
  return counted({ leat: asked.leat, parameters, port, out, client: (socket) => ask(socket, get(asked.values.path), requestsOf) });
}
