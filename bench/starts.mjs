// Cold start: from the spawn of a process to its app's first reply. `node bench/starts.mjs [ROUNDS]` prints, for each Node.js that
// is here, the medians of Express and of leat/express, taken in turn. Needs bench's packages, a built packages/leat and an addon.
import { fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { nodes } from '../tools/nodes.mjs';

const ROUNDS_MAX = 200;
const START_MS_MAX = 30_000;
const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

const app = fileURLToPath(new URL('apps/start.cjs', import.meta.url));
const require = createRequire(import.meta.url);
const subjects = {
  'express 5': () => require.resolve('express'),
  'leat/express': () => fileURLToPath(new URL('../packages/leat/dist/express/index.js', import.meta.url)),
};

/** One start: `{ wallMs, cpuMs }`. */
function start(execPath, module) {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const child = fork(app, [module], { execPath, execArgv: [] });
    const late = setTimeout(() => child.kill('SIGKILL'), START_MS_MAX);
    let wallMs;
    let result;
    child.on('error', reject);
    child.on('exit', () => {
      clearTimeout(late);
      if (result === undefined) reject(new Error(`${module} did not answer on ${execPath}`));
      else resolve(result);
    });
    child.on('message', ({ port, cpuMs }) => {
      if (port === undefined) {
        result = { wallMs, cpuMs };
        child.kill('SIGKILL');
        return;
      }
      const socket = connect(port, '127.0.0.1', () => socket.write(REQUEST));
      socket.once('data', (reply) => {
        wallMs = performance.now() - began;
        if (!String(reply).startsWith('HTTP/1.1 200')) child.kill('SIGKILL');
      });
      socket.on('error', () => {});
    });
  });
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1].toFixed(0);

const rounds = Number(process.argv[2] ?? 20);
if (!Number.isInteger(rounds) || rounds < 1 || rounds > ROUNDS_MAX) {
  console.error(`ROUNDS is a number from 1 to ${ROUNDS_MAX}: node bench/starts.mjs 20`);
  process.exit(2);
}
console.log('| Node.js | app | processor time ms | time ms |\n| --- | --- | --- | --- |');
for (const { major, path } of nodes()) {
  const found = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, module] of Object.entries(subjects)) found[name].push(await start(path, module()));
  }
  for (const [name, starts] of Object.entries(found)) {
    console.log(`| ${major} | ${name} | ${median(starts.map(({ cpuMs }) => cpuMs))} | ${median(starts.map(({ wallMs }) => wallMs))} |`);
  }
}
