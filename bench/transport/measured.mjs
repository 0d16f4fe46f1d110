// What one variant costs a call, measured in a process that has run nothing else: time (mitata), bytes allocated (in a process
// whose new space is so large that nothing is collected, which is asserted), and promises.

import { spawnSync } from 'node:child_process';
import { createHook } from 'node:async_hooks';
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { imported } from './packages.mjs';

const SEMI_SPACE_MB = 128;
/** What is counted may take up this part of the new space, so that it is never full. */
const COUNTED_BYTES_MAX = 48 * 1024 * 1024;
const CALLS_MAX = 50_000;
const BATCHES = 7;
const WARM_CALLS = 20_000;
/** Calls that take long, as those that compress, are warm sooner. */
const WARM_MS_MAX = 500;
const CHILD_MS_MAX = 120_000;
const HEAP = ['--expose-gc', `--min-semi-space-size=${SEMI_SPACE_MB}`, `--max-semi-space-size=${SEMI_SPACE_MB}`];

/** Times of `run` for some `seconds`, in ns: mitata's samples, each a batch of calls. */
export async function times(run, seconds) {
  const { do_not_optimize: keep, measure } = await imported('mitata');
  await warm(run);
  // mitata awaits only what it takes for an async function: by its first call, or by how it is written.
  const body = isPromise(run()) ? async () => keep(await run()) : () => keep(run());
  const { p50, p75, p99, p999, min } = await measure(body, { min_cpu_time: seconds * 1e9, inner_gc: false });
  return { ns: p50, ns_min: min, ns_p75: p75, ns_p99: p99, ns_p999: p999 };
}

/**
 * Bytes that a call of `run` allocates: the least of some batches, since the compiler takes of the heap too. NaN where every batch
 * was collected in: what holds memory outside of the heap, as zlib does, makes V8 collect whatever room there is.
 */
export async function bytes(run) {
  const collections = [];
  const observer = new PerformanceObserver((list) => collections.push(...list.getEntries()));
  await warm(run);
  globalThis.gc();
  const first = await taken(run, 100);
  const calls = Math.max(100, Math.min(CALLS_MAX, Math.floor(COUNTED_BYTES_MAX / Math.max(1, first / 100))));
  let least = Infinity;
  for (let batch = 0; batch < BATCHES; batch += 1) {
    globalThis.gc();
    await new Promise((resolve) => setImmediate(resolve)); // Entries of the collection that was asked for.
    collections.length = 0;
    observer.observe({ entryTypes: ['gc'] });
    const used = await taken(run, calls);
    collections.push(...observer.takeRecords());
    observer.disconnect();
    if (collections.length > 0 || used < 0) continue;
    least = Math.min(least, used / calls);
  }
  return least === Infinity ? NaN : Math.round(least * 10) / 10;
}

/** Until the compiler is done with it; on a busy machine that is what takes long, and would be measured. */
async function warm(run) {
  const end = performance.now() + WARM_MS_MAX;
  for (let at = 0; at < WARM_CALLS && performance.now() < end; at += 100) await repeat(run, 100);
}

async function taken(run, calls) {
  const before = getHeapStatistics().used_heap_size;
  await repeat(run, calls);
  return getHeapStatistics().used_heap_size - before;
}

async function repeat(run, calls) {
  for (let at = 0; at < calls; at += 1) {
    const result = run();
    if (isPromise(result)) await result;
  }
}

/** Promises that a call makes, by whatever means the language has. */
export async function promises(run) {
  const result = run();
  if (isPromise(result)) await result;
  let count = 0;
  const hook = createHook({ init: (_id, type) => { count += type === 'PROMISE' ? 1 : 0; } }).enable();
  const counted = run();
  // The caller's own `await` is not the variant's.
  if (!isPromise(counted)) {
    hook.disable();
    return count;
  }
  await new Promise((resolve) => counted.then(resolve, resolve));
  hook.disable();
  return count - 3;
}

const isPromise = (value) => typeof value?.then === 'function';

/** Runs this program again as it was called, with a heap in which bytes can be counted; the JSON that it prints. */
export function again(what) {
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [...HEAP, ...process.argv.slice(1)], {
    encoding: 'utf8', timeout: CHILD_MS_MAX, env: { ...process.env, COUNT: what },
  });
  if (status !== 0) throw new Error(error?.message ?? stderr);
  return JSON.parse(stdout);
}
