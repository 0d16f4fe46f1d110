// Instructions a request on `leat run`, counted by valgrind's callgrind: a gate that noise cannot move. What starting takes falls out, since
// each app is asked twice, a few times and many times, and the difference counts. With --start it is what falls out that is counted: a process
// from its first instruction, through one request, to its end by a signal.
// usage: node bench/count_run.mjs [http|hello|chain|post|APP.js…] [--start] [--requests N] [--functions N] [--path /] [--json TEXT] [--leat PATH]
// An app listens on $PORT and answers GET PATH, or with --json a POST of that, without closing the connection. Kernel
// instructions are not counted.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandLine, counted, line, print } from './engine/count.mjs';
import { ask, get } from './engine/one_by_one.mjs';
import { freePort } from './engine/process.mjs';

const WARM = 500;

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const apps = Object.fromEntries(['http', 'hello', 'chain', 'post'].map((name) => [name, at(`apps/run_${name}.cjs`)]));
/** What is posted to those that take a body: the scenario's (run_scenarios.mjs). */
const bodies = { post: '{"name":"leat","kind":"channel","length":42}' };

const asked = commandLine({
  program: 'count_run.mjs',
  what: 'leat run',
  cases: Object.keys(apps),
  isOpen: true,
  requests: 4000,
  options: { start: { type: 'boolean', default: false }, path: { type: 'string', default: '/' }, json: { type: 'string' } },
  usage: ' [--start] [--path /] [--json TEXT]',
});
const { values } = asked;

const folder = mkdtempSync(join(tmpdir(), 'leat-count-'));
try {
  for (const name of asked.names) await count(name);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function count(name) {
  const app = apps[name] ?? resolve(name);
  const request = requestWith(values.json ?? bodies[name]);
  if (values.start) {
    const { total, self, calls } = await run(app, request, 1, `${folder}/start`);
    console.log(`${name.padEnd(48)}${String(total).padStart(10)} instructions a start`);
    const most = [...self].sort(([, one], [, other]) => other - one).slice(0, asked.shown);
    for (const [of, instructions] of most) line(of, instructions, calls.get(of) ?? 0);
    return;
  }
  const both = [run(app, request, WARM, `${folder}/few`), run(app, request, WARM + asked.requests, `${folder}/many`)];
  print(name, await Promise.all(both), asked);
}

/** A request as it is sent: head and body in one piece. */
function requestWith(json) {
  if (json === undefined) return get(values.path);
  return `POST ${values.path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
}

/** What a run of so many requests takes. */
async function run(app, request, requestsOf, out) {
  const port = await freePort();
  const env = { PORT: String(port), NODE_ENV: 'production' };
  return counted({ leat: asked.leat, parameters: ['run', app], env, port, out, client: (socket) => ask(socket, request, requestsOf) });
}
