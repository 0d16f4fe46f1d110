// Clients on loopback, in a closed loop of so many calls at once or, with `rate`, asked by the clock: exponential gaps, and latencies
// from the moment at which a call was due. All send the same fields and read the whole answer.

import { PerformanceObserver } from 'node:perf_hooks';
import { require } from './packages.mjs';
import { bodyOf } from './stack.mjs';

const { Pool } = require('undici');
const { leat, Transport, undici } = require('leat/transport');
const elastic = require('@elastic/transport');

/** Latencies that are kept, the most: a run of a minute at 50,000 a second. */
const LATENCIES_MAX = 3_000_000;
const WARM_CALLS = 2000;
/** Large bodies are warm sooner. */
const WARM_BYTES = 200 * 1024 * 1024;
/** In an open loop, calls that wait: more would measure this program's memory. */
const WAITING_MAX = 20_000;

const HEADERS = { accept: '*/*', 'content-type': 'application/octet-stream', 'user-agent': 'bench' };

const transported = (connection) => ({ origin, connections }) => {
  const transport = new Transport({ nodes: origin, connection: connection({ connections }), headers: HEADERS });
  return {
    call: async ({ method, path, body }) => (await transport.request({ method, path, body, as: 'bytes' })).status,
    close: () => transport.close(),
  };
};

const VARIANTS = {
  leat: transported(undici),
  'leat, own connection': transported(leat),
  undici: ({ origin, connections }) => {
    const pool = new Pool(origin, { connections, pipelining: 1 });
    return {
      call: async ({ method, path, body }) => {
        const { statusCode, body: answer } = await pool.request({ method, path, headers: HEADERS, body });
        await answer.arrayBuffer();
        return statusCode;
      },
      close: () => pool.close(),
    };
  },
  '@elastic/transport': ({ origin, connections }) => {
    const pool = new elastic.WeightedConnectionPool({ Connection: elastic.UndiciConnection, agent: { connections } });
    pool.addConnection(origin);
    const transport = new elastic.Transport({ connectionPool: pool, headers: HEADERS, enableMetaHeader: false });
    const options = { meta: true };
    return {
      call: async ({ method, path, body }) => (await transport.request({ method, path, body, meta: { name: 'bench' } }, options)).statusCode,
      close: () => pool.empty(),
    };
  },
};

/** The client of variant `name` on `settings.origin`, and what it sends each time. */
export function client(name, { origin, connections, bytes }) {
  const request = bytes === 0 ? { method: 'GET', path: '/small', body: undefined } : { method: 'POST', path: '/upload', body: bodyOf(bytes) };
  const { call, close } = VARIANTS[name]({ origin, connections });
  return { call: () => call(request), close };
}

/** Measures variant `name` for `seconds`. */
export const measure = (name, settings, seconds) => driven(client(name, { ...settings, origin: `http://127.0.0.1:${settings.port}` }), settings, seconds);

/** Measures a client for `seconds`. */
export async function driven({ call, close }, { bytes, connections, rate }, seconds) {
  const latencies = new Float64Array(LATENCIES_MAX);
  const counts = { done: 0, errors: 0 };
  const one = async (due) => {
    try {
      if (await call() !== 200) counts.errors += 1;
    } catch {
      counts.errors += 1;
    }
    if (counts.done < LATENCIES_MAX) latencies[counts.done] = performance.now() - due;
    counts.done += 1;
  };
  let left = Math.min(WARM_CALLS, Math.ceil(WARM_BYTES / Math.max(1, bytes)));
  const closed = async (more) => { while (more()) await one(performance.now()); };
  const workers = (more) => Promise.all(Array.from({ length: connections }, () => closed(more)));
  await workers(() => (left -= 1) >= 0);

  Object.assign(counts, { done: 0, errors: 0 });
  const pauses = [];
  const observer = new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) pauses.push(duration); });
  observer.observe({ entryTypes: ['gc'] });
  const cpu = process.cpuUsage();
  const began = performance.now();
  const end = began + seconds * 1000;
  if (rate === undefined) await workers(() => performance.now() < end);
  else await open(one, rate, end);
  const took = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  observer.disconnect();
  await close();

  const { done, errors } = counts;
  const sorted = latencies.subarray(0, Math.min(done, LATENCIES_MAX)).sort();
  const at = (share) => sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] * 1000;
  return {
    requests: done, errors, rps: done / took, cpu_us: (user + system) / done,
    p50_us: at(0.5), p95_us: at(0.95), p99_us: at(0.99), p999_us: at(0.999),
    gcs: pauses.length / took, gc_pause_ms: Math.max(0, ...pauses),
    rss_mb: process.resourceUsage().maxRSS / 1024,
  };
}

/** Starts calls when they are due, whether earlier ones are over or not. */
async function open(one, rate, end) {
  const waiting = new Set();
  let due = performance.now();
  while (due < end) {
    const now = performance.now();
    if (due > now) {
      // A timer is a millisecond late; what is due meanwhile counts from when it was.
      await new Promise((resolve) => (due - now > 2 ? setTimeout(resolve, 1) : setImmediate(resolve)));
      continue;
    }
    if (waiting.size >= WAITING_MAX) throw new Error(`${WAITING_MAX} calls wait: ${rate} a second are too many`);
    const calling = one(due).then(() => waiting.delete(calling));
    waiting.add(calling);
    due += -Math.log(1 - Math.random()) * 1000 / rate;
  }
  await Promise.all(waiting);
}

export const names = Object.keys(VARIANTS);
