// Instructions of a request to a fixed reply, counted by valgrind's callgrind: what each kind of rate limit adds to it, with the fields
// that tell clients of it and without. usage: node bench/count_limits.mjs [NAME…] [--requests N] [--functions N] [--leat PATH]
// Redis is a server of this program's own. Kernel instructions are not counted.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandLine, counted, print } from './engine/count.mjs';
import { get, open } from './engine/one_by_one.mjs';
import { freePort } from './engine/process.mjs';

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

const asked = commandLine({ program: 'count_limits.mjs', what: 'rate limits', cases: Object.keys(cases), requests: 2000, needs: ['redis-server'] });

const folder = mkdtempSync(join(tmpdir(), 'leat-count-'));
const redisPort = await freePort();
const redis = spawn('redis-server', ['--port', `${redisPort}`, '--bind', '127.0.0.1', '--save', '', '--dir', folder], { stdio: 'ignore' });
try {
  (await open(redisPort, Date.now() + START_MS_MAX)).destroy();
  for (const name of asked.names) {
    const few = await run(cases[name], WARM, `${folder}/few`);
    print(name, [few, await run(cases[name], WARM + asked.requests, `${folder}/many`)], asked);
  }
} finally {
  redis.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
process.exit();

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
  const parameters = ['gateway', `${folder}/leat.yaml`];
  return counted({ leat: asked.leat, parameters, port, out, client: (socket) => ask(socket, get('/'), requestsOf) });
}
