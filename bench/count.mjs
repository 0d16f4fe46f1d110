// System calls a request, counted by strace for a bounded number of requests: a gate that noise cannot move.
// usage: node bench/count.mjs SCENARIO SUBJECT [--requests N] [--leat PATH]
// With a kernel that lets perf count, also instructions a request.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { tree } from './engine/accounting.mjs';
import { ready } from './engine/ask.mjs';
import { has } from './engine/machine.mjs';
import { CORE, LOAD_CORE, withUpstream } from './engine/measure.mjs';
import { parseH2load, parsePerf, parseStrace } from './engine/parse.mjs';
import { descriptors, finish, freePort, start, stop } from './engine/process.mjs';
import { scenarios } from './scenarios.mjs';
import { subjects } from './subjects.mjs';

const REQUESTS_MAX = 1_000_000;
const ATTACH_MS = 500;

const root = fileURLToPath(new URL('..', import.meta.url));
const target = resolve(root, process.env.CARGO_TARGET_DIR ?? 'target', 'release');

try {
  await main();
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}

async function main() {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { requests: { type: 'string', default: '16000' }, leat: { type: 'string' } } });
  const scenario = scenarios.find(({ name }) => name === positionals[0]);
  const role = subjects[positionals[1]]?.roles[scenario?.role];
  const requests = Number(values.requests);
  if (!scenario || !role || !(requests > 0 && requests <= REQUESTS_MAX)) {
    throw new Error(`usage: node bench/count.mjs SCENARIO SUBJECT [--requests N] [--leat PATH]\n`
      + scenarios.map(({ name, subjects: names }) => `  ${name}: ${names.join(', ')}`).join('\n'));
  }
  for (const [tool, debian] of [['strace', 'strace'], ['h2load', 'nghttp2-client']]) {
    if (!has(tool)) throw new Error(`${tool} is missing: apt-get install ${debian}`);
  }
  const context = { rival: (name) => join(target, name), leat: values.leat ? resolve(values.leat) : join(target, 'leat') };
  await withUpstream(scenario, context, (upstream) => count(scenario, role, context, upstream, requests));
}

async function count(scenario, role, context, upstream, requests) {
  const dir = mkdtempSync(join(tmpdir(), 'bench-'));
  const port = await freePort();
  const plan = role({ port, upstreamPort: upstream.port, dir, flags: scenario.flags ?? {}, ...context, descriptors: descriptors(), root: process.getuid() === 0 });
  for (const [file, text] of Object.entries(plan.files)) writeFileSync(join(dir, file), text);
  const subject = start(plan.command, { core: CORE, dir, env: plan.env });
  try {
    const { load, expect } = scenario;
    await ready(subject, { ...load, port, expect });
    const pids = tree(subject.pid).map(String);
    const ask = () => finish(asking(scenario, port, requests, dir), { core: LOAD_CORE, dir });
    await ask(); // Connections to the origin are open and memory is warm before anything is counted.
    const out = join(dir, 'strace.out');
    const calls = await beside(['strace', '-f', '-c', '-o', out, ...pids.flatMap((pid) => ['-p', pid])], dir, ask, () => parseStrace(readFileSync(out, 'utf8')));
    print(`${scenario.name}: system calls a request`, calls, requests);
    if (has('perf')) {
      const events = await beside(['perf', 'stat', '-x,', '-e', 'instructions:u,instructions:k', '-o', out, '-p', pids.join(',')], dir, ask, () => parsePerf(readFileSync(out, 'utf8')));
      if (events.length) print('instructions a request', events, requests);
    }
  } finally {
    await stop(subject);
    rmSync(dir, { recursive: true, force: true });
  }
}

/** A load of exactly so many requests. HTTP/1.1 pipelining is h2load's `-m` with `--h1`. */
function asking({ load, expect }, port, requests, dir) {
  if (load.body) writeFileSync(join(dir, 'body'), Buffer.alloc(load.body, 'x'));
  return ['h2load', ...(expect.protocol === 'h2' ? [] : ['--h1']), `-n${requests}`, `-c${Math.min(load.connections ?? 1, requests)}`,
    `-m${load.streams ?? load.pipeline ?? 1}`, ...(load.body ? ['-d', join(dir, 'body')] : []), `http://127.0.0.1:${port}${load.path}`];
}

/** Runs `ask` while `command` watches; the watcher is interrupted after, so that it writes what it saw. */
async function beside(command, dir, ask, read) {
  const watcher = start(command, { core: LOAD_CORE, dir });
  await pause(ATTACH_MS);
  if (watcher.child.exitCode !== null) throw new Error(`${command[0]}: ${watcher.output.stderr.trim()}`);
  const { errors } = parseH2load(await ask());
  if (errors) throw new Error(`${errors} requests failed`);
  watcher.child.kill('SIGINT');
  await watcher.ended;
  return read();
}

function print(title, counts, requests) {
  console.log(title);
  for (const [name, value] of counts) {
    const each = value / requests;
    if (each >= 0.0005) console.log(`  ${name.padEnd(20)}${each.toFixed(3).padStart(12)}`);
  }
}
