// A call of a script, through Leat's client for Redis and through redis-rs: instructions by valgrind's callgrind (the kernel's are
// not counted), allocations, and system calls by strace. One after another, and by 16 tasks beside each other.
// usage: node bench/count_redis.mjs [--calls N]

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { each, parseCallgrind } from './engine/callgrind.mjs';
import { has } from './engine/machine.mjs';
import { freePort } from './engine/process.mjs';

const CALLS_MAX = 100_000;
const WARM = 320;

const { values } = parseArgs({ options: { calls: { type: 'string', default: '3200' }, functions: { type: 'string', default: '0' } } });
const calls = Number(values.calls);
if (!(Number.isInteger(calls) && calls >= 16 && calls <= CALLS_MAX && calls % 16 === 0)) {
  console.error(`usage: node bench/count_redis.mjs [--calls N], a multiple of 16 up to ${CALLS_MAX}`);
  process.exit(2);
}
for (const program of ['valgrind', 'strace', 'redis-server']) {
  if (has(program)) continue;
  console.log(`SKIP a call of Redis: ${program} is missing`);
  process.exit(0);
}
const root = fileURLToPath(new URL('..', import.meta.url));
const target = process.env.CARGO_TARGET_DIR ?? join(root, 'target');
const build = ['build', '--release', '--locked', '-p', 'leat-bench-rivals', '--features', 'redis', '--bin', 'rival-redis', '--target-dir', target];
execFileSync('cargo', build, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
const program = join(target, 'release/rival-redis');

const port = await freePort();
const folder = mkdtempSync(join(tmpdir(), 'leat-redis-'));
const server = spawn('redis-server', ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--dir', folder], { stdio: 'ignore' });
try {
  await ready();
  console.log('client      tasks  instructions  allocations  bytes  system calls');
  for (const tasks of [1, 16]) for (const who of ['leat', 'redis-rs']) count(who, tasks);
} finally {
  server.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}

async function ready() {
  const until = Date.now() + 10_000;
  for (;;) {
    const is = await new Promise((done) => {
      const socket = connect(port, '127.0.0.1', () => { socket.destroy(); done(true); }).on('error', () => done(false));
    });
    if (is) return;
    if (Date.now() > until) throw new Error('redis-server does not start');
    await new Promise((done) => setTimeout(done, 20));
  }
}

function count(who, tasks) {
  const run = (calls, ...by) => {
    const [first, ...rest] = [...by, program, who, `127.0.0.1:${port}`, `${calls}`, `${tasks}`];
    return execFileSync(first, rest, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  };
  const callgrind = (calls, out) => {
    run(calls, 'valgrind', '--tool=callgrind', '--dump-line=no', `--callgrind-out-file=${out}`);
    return parseCallgrind(readFileSync(out, 'utf8'));
  };
  const strace = (calls) => {
    const out = join(folder, 'strace');
    run(calls, 'strace', '-f', '-o', out);
    return readFileSync(out, 'utf8').split('\n').length;
  };
  // The program makes each call twice.
  const { total, functions } = each(callgrind(WARM, join(folder, 'few')), callgrind(WARM + calls, join(folder, 'many')), 2 * calls);
  const system = (strace(WARM + calls) - strace(WARM)) / (2 * calls);
  const { allocations, bytes } = JSON.parse(run(calls));
  const cells = [tasks, total.toFixed(0), allocations.toFixed(2), bytes, system.toFixed(2)];
  console.log(who.padEnd(10) + cells.map((cell, place) => `${cell}`.padStart([7, 14, 13, 7, 14][place])).join(''));
  for (const one of functions.slice(0, Number(values.functions))) console.log(`  ${one.name.slice(0, 90).padEnd(92)}${one.instructions.toFixed(0).padStart(8)}`);
}
