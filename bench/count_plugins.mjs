// Instructions a request of plug-ins in the gateway, counted by valgrind's callgrind as in count_run.mjs: a proxy without one, and what each
// plug-in adds. Kernel instructions are not counted.
// usage: node bench/count_plugins.mjs [NAME…] [--requests N] [--functions N] [--leat PATH]

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { each, parseCallgrind } from './engine/callgrind.mjs';
import { has } from './engine/machine.mjs';
import { ask, get, open } from './engine/one_by_one.mjs';
import { freePort } from './engine/process.mjs';

const WARM = 500;
const START_MS_MAX = 60_000;

/** Hooks by the name of what they do. */
const PLUGINS = {
  bare: undefined,
  nothing: 'onRequest() {}',
  'read and set': "onRequest: ({ request }) => ({ headers: { 'x-seen': request.headers['host'] } })",
  'read and set, response too': "onRequest: ({ request }) => ({ headers: { 'x-seen': request.headers['host'] } }), onResponse: () => ({ headers: { 'x-by': 'leat' } })",
  answer: "onRequest: () => ({ respond: { status: 200, headers: {}, body: 'ok' } })",
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    requests: { type: 'string', default: '4000' },
    functions: { type: 'string', default: '0' },
    leat: { type: 'string', default: process.env.LEAT_BIN ?? fileURLToPath(new URL('../target/release/leat', import.meta.url)) },
  },
});
const [requests, shown] = [Number(values.requests), Number(values.functions)];
const names = positionals.length > 0 ? positionals : Object.keys(PLUGINS);
if (!(Number.isInteger(requests) && requests >= 1 && requests <= 100_000 && Number.isInteger(shown)) || !names.every((name) => name in PLUGINS)) {
  console.error(`usage: node bench/count_plugins.mjs [${Object.keys(PLUGINS).map((name) => JSON.stringify(name)).join('|')}…] [--requests 1..100000] [--functions N] [--leat PATH]`);
  process.exit(2);
}
if (!has('valgrind')) {
  console.log('SKIP instructions of plug-ins: valgrind is missing (apt-get install valgrind)');
  process.exit(0);
}
const leat = resolve(values.leat);
if (!existsSync(leat)) {
  console.error(`${leat} is missing: make build, or --leat PATH`);
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'leat-count-'));
const upstream = createServer((socket) => socket.on('error', () => {}).on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')));
upstream.listen(0, '127.0.0.1');
await new Promise((done) => upstream.once('listening', done));
try {
  let bare;
  for (const name of names) {
    const total = await count(name);
    if (name === 'bare') bare = total;
    else if (bare !== undefined) console.log(`${''.padEnd(48)}${(total - bare).toFixed(0).padStart(10)} more than bare`);
  }
} finally {
  upstream.close();
  rmSync(folder, { recursive: true, force: true });
}

async function count(name) {
  const [few, many] = [await run(name, WARM), await run(name, WARM + requests)];
  const { total, functions } = each(few, many, requests);
  console.log(`${name.padEnd(48)}${total.toFixed(0).padStart(10)} instructions a request`);
  for (const { name: of, instructions, calls } of functions.slice(0, shown)) {
    console.log(`  ${of.slice(0, 78).padEnd(80)}${instructions.toFixed(0).padStart(8)}${calls.toFixed(2).padStart(10)} calls`);
  }
  return total;
}

/** What a run of so many requests takes. */
async function run(name, requestsOf) {
  const port = await freePort();
  const hooks = PLUGINS[name];
  const plugin = hooks === undefined ? '' : 'plugins: it, ';
  const out = join(folder, 'out');
  const config = `listeners: 127.0.0.1:${port}\nworkers: 1\naccess_log: off\n${hooks === undefined ? '' : 'plugins: { it: it.mjs }\n'}routes: [{ ${plugin}proxy: "http://127.0.0.1:${upstream.address().port}" }]\n`;
  writeFileSync(join(folder, 'leat.yaml'), config);
  writeFileSync(join(folder, 'it.mjs'), `import { middleware } from 'leat/middleware';\nexport default middleware({ name: 'it', scope: 'call', ${hooks} });\n`);
  const watched = ['--tool=callgrind', '--dump-line=no', `--callgrind-out-file=${out}`, leat, 'gateway', join(folder, 'leat.yaml')];
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
