// One measurement: a subject is started afresh, checked, warmed up, asked, accounted for, and stopped.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { loads } from '../loads.mjs';
import { subjects } from '../subjects.mjs';
import { memory, watch } from './accounting.mjs';
import { ready } from './ask.mjs';
import { converse, descriptors, finish, freePort, start, stop } from './process.mjs';

/** Core of the subject, and core of the load and of the origin. */
export const CORE = 0;
export const LOAD_CORE = 1;

/** The discard port: what configurations name as origin where a scenario has none. */
const NO_UPSTREAM = 9;

/** Runs the origin, where the scenario has one, for as long as `body` takes. */
export async function withUpstream(scenario, context, body) {
  if (!scenario.upstream) return body(NO_UPSTREAM);
  const port = await freePort();
  const origin = start([context.rival('bench-upstream'), '--listen', `127.0.0.1:${port}`], { core: LOAD_CORE });
  try {
    await ready(origin, { port, path: '/small', expect: { bytes: 128 } });
    return await body(port);
  } finally {
    await stop(origin);
  }
}

/** Measures `name` once; a sample with the scenario's measures, or an error. `rate` makes the load an open loop. */
export async function measure(scenario, name, context, upstreamPort, { seconds, warmup, rate }) {
  const kind = loads[scenario.load.kind];
  const dir = mkdtempSync(join(tmpdir(), 'bench-'));
  const port = await freePort();
  const plan = subjects[name].roles[scenario.role]({
    port, upstreamPort, dir, flags: scenario.flags ?? {}, rival: context.rival, leat: context.leat,
    descriptors: descriptors(), root: process.getuid() === 0,
  });
  for (const [file, text] of Object.entries(plan.files)) writeFileSync(join(dir, file), text);
  const given = { load: scenario.load, port, rate, seconds, out: join(dir, 'load.log'), rival: context.rival };
  let subject;
  try {
    if (kind.startsSubject) {
      return await kind.drive({ ...given, run: talk(dir), subjectCommand: plan.command, core: CORE, loadCore: LOAD_CORE });
    }
    subject = start(plan.command, { core: CORE, dir, env: plan.env });
    await ready(subject, { port, path: scenario.load.path, body: scenario.load.body, expect: scenario.expect });
    if (kind.drive) {
      return await kind.drive({ ...given, run: talk(dir), memory: () => memory(subject.pid), pause });
    }
    if (warmup) await finish(kind.command({ ...given, seconds: warmup }), { core: LOAD_CORE, dir });
    return await closed(kind, given, subject, scenario, dir);
  } catch (error) {
    const said = subject?.output.stderr.trim();
    throw new Error(`${name} in ${scenario.name}: ${error.message}${said ? `\nit said: ${said.slice(-1000)}` : ''}`);
  } finally {
    if (subject) await stop(subject);
    rmSync(dir, { recursive: true, force: true });
  }
}

async function closed(kind, given, subject, scenario, dir) {
  const since = watch(subject.pid, CORE);
  const stdout = await finish(kind.command(given), { core: LOAD_CORE, dir });
  const { cpu_s, busy, foreign } = since();
  const sample = kind.read({ stdout, ...given });
  const bytes = scenario.load.body ?? scenario.expect.bytes;
  return {
    ...sample,
    cpu_us: (cpu_s * 1e6) / sample.requests,
    mb_s: (sample.rps * bytes) / 1e6,
    rss_mb: memory(subject.pid).peak_kb / 1024,
    busy,
    foreign,
  };
}

const talk = (dir) => (command) => converse(command, { core: LOAD_CORE, dir });
