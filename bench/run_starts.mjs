// How an Express app starts and warms up, without Node.js and with it: `node bench/run_starts.mjs [STARTS [REQUESTS]]` prints for `leat
// run`, for what `leat build` made, for each Node.js and for Bun, as far as they are here: the time from the spawn to the first reply, the
// latency of the 1st, 10th, 100th and 1,000th request, and the memory before, after them and after REQUESTS more (0: not asked). The
// subjects take turns. LEAT_BIN is the binary [target/release/leat]. Needs bench's packages.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { nodes } from '../tools/nodes.mjs';

const STARTS_MAX = 200;
const REQUESTS_MAX = 10_000_000;
const START_MS_MAX = 30_000;
const BUILD_MS_MAX = 120_000;
const INDEXES = [1, 10, 100, 1000];
const PIPELINED = 50;
const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const BODY = '{"hello":"world"}';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const app = at('apps/run_hello.cjs');
const leat = process.env.LEAT_BIN ?? at('../target/release/leat');
const bun = at('node_modules/@oven/bun-linux-x64/bin/bun');
const folder = mkdtempSync(join(tmpdir(), 'leat-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

function subjects() {
  const found = new Map([['leat run', [leat, 'run', app]]]);
  const built = join(folder, 'hello');
  const { status } = spawnSync(leat, ['build', app, '-o', built], { stdio: 'ignore', timeout: BUILD_MS_MAX });
  if (status === 0 && existsSync(built)) found.set('leat build', [built]);
  if (!existsSync(at('node_modules/express'))) {
    console.error('no Express here, so only Leat is measured: tools/install.sh bench');
    return found;
  }
  for (const { major, path } of nodes()) found.set(`Express 5 on Node.js ${major}`, [path, app]);
  if (existsSync(bun)) found.set('Express 5 on Bun', [bun, app]);
  return found;
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** A connection; `ask(n)` sends n requests at once and resolves when all are answered. */
function open(port, until) {
  return new Promise((resolve, reject) => {
    const attempt = () => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      socket.once('error', () => {
        if (performance.now() > until) reject(new Error(`nothing answered on ${port}`));
        else setImmediate(attempt);
      });
      socket.once('connect', () => {
        let text = '';
        let waiting;
        socket.on('data', (bytes) => {
          text += bytes;
          for (let found = text.indexOf(BODY); found >= 0; found = text.indexOf(BODY)) {
            text = text.slice(found + BODY.length);
            waiting.left -= 1;
            if (waiting.left === 0) waiting.resolve();
          }
        });
        socket.on('close', () => waiting?.reject(new Error('the connection was closed')));
        resolve({
          ask: (count) => new Promise((answered, failed) => {
            waiting = { left: count, resolve: answered, reject: failed };
            socket.write(REQUEST.repeat(count));
          }),
          end: () => socket.destroy(),
        });
      });
    };
    attempt();
  });
}

const rssMb = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

/** One start: the first reply, latencies by index, and memory. */
async function measure([program, ...args], requests) {
  const port = await freePort();
  const began = performance.now();
  const child = spawn(program, args, { env: { ...process.env, PORT: String(port), NODE_ENV: 'production' }, stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    const connection = await open(port, began + START_MS_MAX);
    const result = { latency: [] };
    for (let index = 1; index <= INDEXES.at(-1); index += 1) {
      const sent = performance.now();
      await connection.ask(1);
      const now = performance.now();
      if (index === 1) {
        result.first = now - began;
        result.idle = rssMb(child.pid);
      }
      if (INDEXES.includes(index)) result.latency.push((now - sent) * 1000);
    }
    result.warm = rssMb(child.pid);
    for (let asked = 0; asked < requests; asked += PIPELINED) await connection.ask(PIPELINED);
    result.after = rssMb(child.pid);
    connection.end();
    return result;
  } finally {
    child.kill('SIGKILL');
  }
}

const sorted = (values) => values.toSorted((a, b) => a - b);
const quantile = (values, share) => sorted(values)[Math.min(values.length - 1, Math.floor(values.length * share))];

const [starts, requests] = [process.argv[2] ?? '30', process.argv[3] ?? '0'].map(Number);
if (!(Number.isInteger(starts) && starts >= 1 && starts <= STARTS_MAX && Number.isInteger(requests) && requests >= 0 && requests <= REQUESTS_MAX)) {
  console.error(`STARTS is a number from 1 to ${STARTS_MAX}, REQUESTS from 0 to ${REQUESTS_MAX}: node bench/run_starts.mjs 30 1000000`);
  process.exit(2);
}
const all = subjects();
const results = new Map([...all.keys()].map((name) => [name, []]));
for (let round = 0; round < starts; round += 1) {
  // The many requests are asked once.
  for (const [name, command] of all) results.get(name).push(await measure(command, round === 0 ? requests : 0));
}
console.log(`| subject | first reply ms | p95 ms | ${INDEXES.map((index) => `request ${index} µs`).join(' | ')} | MB idle | MB after 1,000 | MB after ${requests} more |`);
console.log(`| --- |${' --- |'.repeat(INDEXES.length + 5)}`);
for (const [name, found] of results) {
  const firsts = found.map(({ first }) => first);
  const latency = INDEXES.map((_, index) => quantile(found.map((one) => one.latency[index]), 0.5).toFixed(0));
  const cells = [quantile(firsts, 0.5).toFixed(1), quantile(firsts, 0.95).toFixed(1), ...latency];
  const memory = [quantile(found.map(({ idle }) => idle), 0.5), quantile(found.map(({ warm }) => warm), 0.5), found[0].after];
  console.log(`| ${name} | ${[...cells, ...memory.map((mb) => mb.toFixed(1))].join(' | ')} |`);
}
