// Instructions a request on `leat run`, counted by valgrind's callgrind: a gate that noise cannot move. What starting takes falls out, since
// each app is asked twice, a few times and many times, and the difference counts. With --start it is what falls out that is counted: a process
// from its first instruction, through one request, to its end by a signal.
// usage: node bench/count_run.mjs [http|hello|chain|post|APP.js…] [--start] [--requests N] [--functions N] [--path /] [--json TEXT] [--leat PATH]
// An app listens on $PORT and answers GET PATH, or with --json a POST of that, without closing the connection. Kernel
// instructions are not counted.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { each, parseCallgrind } from './engine/callgrind.mjs';
import { has } from './engine/machine.mjs';
import { ask, get, open } from './engine/one_by_one.mjs';
import { freePort } from './engine/process.mjs';

const REQUESTS_MAX = 100_000;
const WARM = 500;
const START_MS_MAX = 60_000;

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const apps = Object.fromEntries(['http', 'hello', 'chain', 'post'].map((name) => [name, at(`apps/run_${name}.cjs`)]));
/** What is posted to those that take a body: the scenario's (run_scenarios.mjs). */
const bodies = { post: '{"name":"leat","kind":"channel","length":42}' };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    requests: { type: 'string', default: '4000' },
    start: { type: 'boolean', default: false },
    functions: { type: 'string', default: '0' },
    path: { type: 'string', default: '/' },
    json: { type: 'string' },
    leat: { type: 'string', default: process.env.LEAT_BIN ?? at('../target/release/leat') },
  },
});
const [requests, shown] = [Number(values.requests), Number(values.functions)];
if (!(Number.isInteger(requests) && requests >= 1 && requests <= REQUESTS_MAX && Number.isInteger(shown))) {
  console.error(`usage: node bench/count_run.mjs [${Object.keys(apps).join('|')}|APP.js…] [--start] [--requests 1..${REQUESTS_MAX}] [--functions N] [--path /] [--json TEXT] [--leat PATH]`);
  process.exit(2);
}
if (!has('valgrind')) {
  console.log('SKIP instructions of leat run: valgrind is missing (apt-get install valgrind)');
  process.exit(0);
}
const leat = resolve(values.leat);
if (!existsSync(leat)) {
  console.error(`${leat} is missing: make build, or --leat PATH`);
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'leat-count-'));
try {
  for (const name of positionals.length > 0 ? positionals : Object.keys(apps)) await count(name);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function count(name) {
  const app = apps[name] ?? resolve(name);
  const request = requestWith(values.json ?? bodies[name]);
  if (values.start) {
    const { total, self, calls } = await run(app, request, 1, `${folder}/start`);
    console.log(`${name.padEnd(48)}${String(total).padStart(10)} instructions a start`);
    const most = [...self].sort(([, one], [, other]) => other - one).slice(0, shown);
    for (const [of, instructions] of most) console.log(`  ${of.slice(0, 78).padEnd(80)}${String(instructions).padStart(8)}${String(calls.get(of) ?? 0).padStart(10)} calls`);
    return;
  }
  const [few, many] = await Promise.all([run(app, request, WARM, `${folder}/few`), run(app, request, WARM + requests, `${folder}/many`)]);
  const { total, functions } = each(few, many, requests);
  console.log(`${name.padEnd(48)}${total.toFixed(0).padStart(10)} instructions a request`);
  for (const { name: of, instructions, calls } of functions.slice(0, shown)) {
    console.log(`  ${of.slice(0, 78).padEnd(80)}${instructions.toFixed(0).padStart(8)}${calls.toFixed(2).padStart(10)} calls`);
  }
}

/** A request as it is sent: head and body in one piece. */
function requestWith(json) {
  if (json === undefined) return get(values.path);
  return `POST ${values.path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
}

/** What a run of so many requests takes. */
async function run(app, request, requestsOf, out) {
  const port = await freePort();
  const watched = ['--tool=callgrind', '--dump-line=no', `--callgrind-out-file=${out}`, leat, 'run', app];
  const child = spawn('valgrind', watched, { env: { ...process.env, PORT: String(port), NODE_ENV: 'production' }, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => { said += text; });
  const ended = new Promise((done) => child.on('close', done));
  try {
    const socket = await open(port, Date.now() + START_MS_MAX);
    await ask(socket, request, requestsOf);
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
