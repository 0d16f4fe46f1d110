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
 * Measures once the machine is quiet (waiting `quiet` seconds at most), again up to `again` times while others disturb
 * it; the least disturbed sample counts.
 */
export async function measureQuietly(scenario, name, context, upstream, settings) {
  let best;
  for (let attempt = 0; attempt <= settings.again; attempt += 1) {
    await quiet(settings.quiet);
    const sample = await measure(scenario, name, context, upstream, settings);
    if (!best || sample.foreign < best.foreign) best = sample;
    if (!(best.foreign > DISTURBED)) break;
  }
  return best;
}

async function quiet(seconds) {
  const end = Date.now() + seconds * 1000;
  while (Date.now() < end && await activity([CORE, LOAD_CORE], () => pause(GLANCE_MS)) > DISTURBED);
}

/** Measures `name` once; a sample with the scenario's measures, or an error. `rate` makes the load an open loop. */
export async function measure(scenario, name, context, upstream, { seconds, warmup, rate }) {
  const load = { ...scenario.load, ...subjects[name].load };
  const kind = loads[load.kind];
  const dir = mkdtempSync(join(tmpdir(), 'bench-'));
  const port = await freePort();
  const plan = planned(scenario, name, context, { port, upstream, dir });
  const given = { load, port, upstreamPort: upstream.port, rate, seconds, out: join(dir, 'load.log'), rival: context.rival };
  let subject;
  try {
    if (kind.startsSubject) {
      return await kind.drive({ ...given, run: talk(dir), subjectCommand: plan.command, core: CORE, loadCore: LOAD_CORE });
    }
    subject = start(plan.command, { core: coresOf(name), dir, env: plan.env });
    await ready(subject, { ...load, port, expect: scenario.expect, patience_ms: subjects[name].patience_ms });
    if (kind.drive) {
      return await kind.drive({ ...given, run: talk(dir), memory: () => memory(subject.pid), cpuSeconds: () => cpuSeconds(subject.pid), pause });
    }
    // A subject that compiles itself as it runs says how long that takes it.
    if (warmup) await finish(kind.command({ ...given, seconds: subjects[name].warmup ?? warmup }), { core: LOAD_CORE, dir });
    return await asked(kind, given, { subject: subject.pid, beside: upstream.pids, shared: subjects[name].cores === 2 }, scenario, dir);
  } catch (error) {
    const said = subject?.output.stderr.trim().slice(-1000);
    throw new Error(`${name} in ${scenario.name}: ${error.message}${said && !error.message.includes(said) ? `\nit said: ${said}` : ''}`);
  } finally {
    if (subject) await stop(subject);
    rmSync(dir, { recursive: true, force: true });
  }
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

async function asked(kind, given, processes, scenario, dir) {
  const since = watch({ ...processes, core: CORE, loadCore: LOAD_CORE });
  const stdout = await finish(kind.command(given), { core: LOAD_CORE, dir });
  const { cpu_s, busy, foreign } = since();
  const sample = kind.read({ stdout, ...given });
  const bytes = scenario.load.body ?? scenario.expect.bytes;
  return {
    ...sample,
    cpu_us: (cpu_s * 1e6) / sample.requests,
    mb_s: (sample.rps * bytes) / 1e6,
    rss_mb: memory(processes.subject).peak_kb / 1024,
    busy,
    foreign,
  };
}

const talk = (dir) => (command) => converse(command, { core: LOAD_CORE, dir });
