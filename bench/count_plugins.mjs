// Instructions a request of plug-ins in the gateway, counted by valgrind's callgrind as in count_run.mjs: a proxy without one, and what each
// plug-in adds. Kernel instructions are not counted.
// usage: node bench/count_plugins.mjs [NAME…] [--requests N] [--functions N] [--leat PATH]

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandLine, counted, print } from './engine/count.mjs';
import { ask, get } from './engine/one_by_one.mjs';
import { freePort } from './engine/process.mjs';

const WARM = 500;

/** Hooks by the name of what they do. */
const PLUGINS = {
  bare: undefined,
  nothing: 'onRequest() {}',
  'read and set': "onRequest: ({ request }) => ({ headers: { 'x-seen': request.headers['host'] } })",
  'read and set, response too': "onRequest: ({ request }) => ({ headers: { 'x-seen': request.headers['host'] } }), onResponse: () => ({ headers: { 'x-by': 'leat' } })",
  answer: "onRequest: () => ({ respond: { status: 200, headers: {}, body: 'ok' } })",
};

const asked = commandLine({ program: 'count_plugins.mjs', what: 'plug-ins', cases: Object.keys(PLUGINS), requests: 4000 });

const folder = mkdtempSync(join(tmpdir(), 'leat-count-'));
const upstream = createServer((socket) => socket.on('error', () => {}).on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')));
upstream.listen(0, '127.0.0.1');
await new Promise((done) => upstream.once('listening', done));
try {
  let bare;
  for (const name of asked.names) {
    const few = await run(name, WARM);
    const total = print(name, [few, await run(name, WARM + asked.requests)], asked);
    if (name === 'bare') bare = total;
    else if (bare !== undefined) console.log(`${''.padEnd(48)}${(total - bare).toFixed(0).padStart(10)} more than bare`);
  }
} finally {
  upstream.close();
  rmSync(folder, { recursive: true, force: true });
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
  return counted({ leat: asked.leat, parameters: ['gateway', join(folder, 'leat.yaml')], port, out, client: (socket) => ask(socket, get('/'), requestsOf) });
}
