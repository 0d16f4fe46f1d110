// Reads what the load tools print.

import { percentile } from './statistics.mjs';

/** The last line of JSON in a tool's output. */
export function parseLine(text) {
  const line = text.trim().split('\n').reverse().find((candidate) => candidate.startsWith('{'));
  if (!line) throw new Error(`no result in: ${text.trim().slice(-500) || '(nothing)'}`);
  return JSON.parse(line);
}

/** Counts from h2load's summary. Whatever is not a 2xx is an error. */
export function parseH2load(text) {
  const requests = /requests: (\d+) total, \d+ started, (\d+) done, (\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout/.exec(text);
  const codes = /status codes: (\d+) 2xx/.exec(text);
  if (!requests || !codes) throw new Error(`no summary in h2load's output: ${text.trim().slice(-500)}`);
  const [done, failed] = [Number(requests[2]), Number(requests[4])];
  return { requests: done, errors: failed + Math.max(0, done - failed - Number(codes[1])) };
}

/** Percentiles from h2load's log: start µs, status, µs until the end of the response. */
export function parseLogLatencies(text) {
  const latencies = [];
  for (const line of text.split('\n')) {
    const [, status, us] = line.split('\t');
    if (us !== undefined && status !== '-1') latencies.push(Number(us));
  }
  const sorted = Float64Array.from(latencies).sort();
  return { p50_us: percentile(sorted, 0.5), p99_us: percentile(sorted, 0.99), p999_us: percentile(sorted, 0.999) };
}

/** Calls by name from `strace -c`, most frequent first, with their sum as `all`. */
export function parseStrace(text) {
  const calls = [];
  for (const line of text.split('\n')) {
    const row = /^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?([a-z]\w*)$/.exec(line);
    if (row && row[2] !== 'total') calls.push([row[2], Number(row[1])]);
  }
  calls.sort((a, b) => b[1] - a[1]);
  return [...calls, ['all', calls.reduce((sum, [, count]) => sum + count, 0)]];
}

/** Events that `perf stat -x,` could count; none where the machine does not let it. */
export function parsePerf(text) {
  return text.split('\n').map((line) => line.split(',')).filter(([value, , name]) => name && /^\d/.test(value))
    .map(([value, , name]) => [name, Number(value)]);
}

/** Crossings a request from the metrics of Leat's lanes: wake-ups of JavaScript and its batches back; NaN without lanes. */
export function parseCrossings(text) {
  const sum = (name) => [...text.matchAll(new RegExp(`^${name}\\{[^}]*\\} (\\d+)$`, 'gm'))].reduce((total, [, value]) => total + Number(value), 0);
  return (sum('leat_lane_wakes_total') + sum('leat_lane_flushes_total')) / sum('leat_lane_requests_total');
}
