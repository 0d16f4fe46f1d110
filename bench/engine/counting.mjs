// What is counted of a subject, in a run of its own so that no figure pays for it: system calls, and crossings between
// the engine and JavaScript. Counts a request under the scenario's own load.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { loads } from '../loads.mjs';
import { tree } from './accounting.mjs';
import { ready } from './ask.mjs';
import { has } from './machine.mjs';
import { CORE, LOAD_CORE, planned } from './measure.mjs';
import { parseCrossings, parsePerf } from './parse.mjs';
import { converse, finish, freePort, start, stop } from './process.mjs';

const SECONDS = 1;
const ATTACH_MS = 300;
const EVENT = 'raw_syscalls:sys_enter';
const crossings = fileURLToPath(new URL('../apps/crossings.cjs', import.meta.url));

/** Counts a request of subject `name`; without what this machine cannot count. */
export async function count(scenario, name, context, upstream) {
  const kind = loads[scenario.load.kind];
  const dir = mkdtempSync(join(tmpdir(), 'bench-'));
  const port = await freePort();
  const plan = planned(scenario, name, context, { port, upstream, dir });
  const given = { load: scenario.load, port, seconds: SECONDS, out: join(dir, 'load.log'), rival: context.rival };
  if (kind.count) {
    try {
      return await kind.count({ ...given, run: (command) => converse(command, { core: LOAD_CORE, dir }), subjectCommand: plan.command, core: CORE });
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  }
  const subject = start(plan.command, { core: CORE, dir, env: { ...plan.env, NODE_OPTIONS: `--require ${crossings}` } });
  try {
    await ready(subject, { ...scenario.load, port, expect: scenario.expect });
    const ask = async () => kind.read({ stdout: await finish(kind.command(given), { core: LOAD_CORE, dir }), ...given }).requests;
    await ask(); // So that what is counted is the compiled code.
    const syscalls = has('perf') ? await beside(tree(subject.pid), dir, ask) : undefined;
    await stop(subject);
    return { syscalls, crossings: parseCrossings(subject.output.stderr) };
  } finally {
    await stop(subject);
    rmSync(dir, { recursive: true, force: true });
  }
}

/** System calls a request, counted by the kernel while `ask` runs; strace would slow the subject, and so change its batches. */
async function beside(pids, dir, ask) {
  const out = join(dir, 'perf.out');
  const watcher = start(['perf', 'stat', '-x,', '-e', EVENT, '-o', out, '-p', pids.join(',')], { core: LOAD_CORE, dir });
  await pause(ATTACH_MS);
  if (watcher.child.exitCode !== null) return undefined;
  const requests = await ask();
  watcher.child.kill('SIGINT');
  await watcher.ended;
  const calls = new Map(parsePerf(readFileSync(out, 'utf8'))).get(EVENT);
  return calls === undefined ? undefined : calls / requests;
}
