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
