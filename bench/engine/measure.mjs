// One measurement: a subject is started afresh, checked, warmed up, asked, accounted for, and stopped.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { loads } from '../loads.mjs';
import { subjects } from '../subjects.mjs';
import { activity, cpuSeconds, memory, watch } from './accounting.mjs';
import { listening, ready } from './ask.mjs';
import { converse, descriptors, finish, freePort, start, stop } from './process.mjs';

/** Core of the subject, and core of the load and of the origin. */
export const CORE = 0;
export const LOAD_CORE = 1;
/** Core of the origin where a scenario wants it apart and the machine has one more: else it shares the load's. */
const ORIGIN_CORE = 2;

/** The discard port: what configurations name as origin where a scenario has none. */
const NO_UPSTREAM = 9;

/** Runs the origin, and the Redis server, where the scenario has one, for as long as `body` takes. */
export async function withUpstream(scenario, context, body) {
  if (!scenario.upstream) return body({ port: NO_UPSTREAM, pids: [] });
  const [port, redisPort] = [await freePort(), await freePort()];
  const originCore = scenario.originApart && cpus().length > ORIGIN_CORE ? ORIGIN_CORE : LOAD_CORE;
  const origin = start([context.rival('bench-upstream'), '--listen', `127.0.0.1:${port}`], { core: originCore });
  const redis = scenario.redis && start(['redis-server', '--port', String(redisPort), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], { core: LOAD_CORE });
  try {
    await ready(origin, { port, path: '/small', expect: { bytes: 128 } });
    if (redis) await listening(redis, redisPort);
    return await body({ port, redisPort, pids: [origin.pid, ...(redis ? [redis.pid] : [])] });
  } finally {
    await stop(origin);
    if (redis) await stop(redis);
  }
}

/** A core that others take more of than this makes a measurement worth repeating. */
export const DISTURBED = 0.05;
const GLANCE_MS = 300;

/**
 * Measures by `take` once the machine is quiet (waiting `quiet` seconds at most), again up to `again` times while others disturb
 * it; the least disturbed sample counts.
 */
export async function quietly(settings, take) {
  let best;
  for (let attempt = 0; attempt <= settings.again; attempt += 1) {
    await quiet(settings.quiet);
    const sample = await take();
    if (!best || sample.foreign < best.foreign) best = sample;
    if (!(best.foreign > DISTURBED)) break;
  }
  return best;
}

async function quiet(seconds) {
  const end = Date.now() + seconds * 1000;
  while (Date.now() < end && await activity([CORE, LOAD_CORE], () => pause(GLANCE_MS)) > DISTURBED);
}

/** Starts `name`, measures it once and stops it: a sample with the scenario's measures, or an error. `rate` makes the load an open loop. */
export async function measure(scenario, name, context, upstream, { seconds, warmup, rate }) {
  const subject = await prepare(scenario, name, context, upstream);
  try {
    if (subject.kind.startsSubject) return await subject.kind.drive({ ...subject.given, seconds, run: talk(subject.dir), subjectCommand: subject.plan.command, core: CORE, loadCore: LOAD_CORE });
    await begin(subject, warmup);
    return await ask(subject, seconds, rate);
  } catch (error) {
    throw told(subject, error);
  } finally {
    await end(subject);
  }
}

/** A subject of a scenario that has its port and its files, and was not started. */
export async function prepare(scenario, name, context, upstream) {
  const load = { ...scenario.load, ...subjects[name].load };
  const dir = mkdtempSync(join(tmpdir(), 'bench-'));
  const port = await freePort();
  const plan = planned(scenario, name, context, { port, upstream, dir });
  const given = { load, port, upstreamPort: upstream.port, out: join(dir, 'load.log'), rival: context.rival };
  return { scenario, name, upstream, kind: loads[load.kind], plan, given, dir };
}

/** Starts it, checks it, and warms it up; it answers until `end`. */
export async function begin(subject, warmup) {
  const { scenario, name, kind, plan, given, dir } = subject;
  subject.process = start(plan.command, { core: coresOf(name), dir, env: plan.env });
  await ready(subject.process, { ...given.load, port: given.port, expect: scenario.expect, patience_ms: subjects[name].patience_ms });
  // A subject that compiles itself as it runs says how long that takes it.
  if (warmup && !kind.drive) await finish(kind.command({ ...given, seconds: subjects[name].warmup ?? warmup }), { core: LOAD_CORE, dir });
}

/** Asks it for so long. */
export async function ask({ scenario, name, upstream, kind, given, dir, process: { pid } }, seconds, rate) {
  const asked = { ...given, seconds, rate };
  if (kind.drive) return kind.drive({ ...asked, run: talk(dir), memory: () => memory(pid), cpuSeconds: () => cpuSeconds(pid), pause });
  const since = watch({ subject: pid, beside: upstream.pids, shared: subjects[name].cores === 2, core: CORE, loadCore: LOAD_CORE });
  const stdout = await finish(kind.command(asked), { core: LOAD_CORE, dir });
  const { cpu_s, busy, foreign } = since();
  const sample = kind.read({ stdout, ...asked });
  const bytes = scenario.load.body ?? scenario.expect.bytes;
  return {
    ...sample,
    cpu_us: (cpu_s * 1e6) / sample.requests,
    mb_s: (sample.rps * bytes) / 1e6,
    rss_mb: memory(pid).peak_kb / 1024,
    busy,
    foreign,
  };
}

/** Stops it and leaves nothing behind. */
export async function end({ process: started, dir }) {
  if (started) await stop(started);
  rmSync(dir, { recursive: true, force: true });
}

/** What went wrong, with the subject's own words. */
export function told({ name, scenario, process: started }, error) {
  const said = started?.output.stderr.trim().slice(-1000);
  return new Error(`${name} in ${scenario.name}: ${error.message}${said && !error.message.includes(said) ? `\nit said: ${said}` : ''}`);
}

/** How a subject is started for a scenario; the files that it needs are written into `dir`. */
export function planned(scenario, name, context, { port, upstream, dir }) {
  const plan = subjects[name].roles[scenario.role]({
    port, upstreamPort: upstream.port, redisPort: upstream.redisPort, dir, flags: scenario.flags ?? {}, rival: context.rival, leat: context.leat,
    node: scenario.node && context.node(scenario.node), descriptors: descriptors(), root: process.getuid() === 0,
  });
  for (const [file, content] of Object.entries(plan.files)) {
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    writeFileSync(join(dir, file), content);
  }
  return plan;
}

/** Where a subject may run: on its own core, or on the load's as well. */
export const coresOf = (name) => (subjects[name].cores === 2 ? `${CORE},${LOAD_CORE}` : String(CORE));

const talk = (dir) => (command) => converse(command, { core: LOAD_CORE, dir });
