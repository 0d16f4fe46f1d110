import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCrossings, parseH2load, parseLine, parseLogLatencies, parsePerf, parseStrace } from '../engine/parse.mjs';

test('the report is the last line of JSON', () => {
  assert.deepEqual(parseLine('Running 1s test\n{"requests":1}\nRequests/sec: 1\n{"requests":2}\n'), { requests: 2 });
  assert.throws(() => parseLine('unable to connect'), /no result in: unable to connect/);
});

test('h2load: whatever is not a 2xx is an error, and is counted once', () => {
  const text = (counts, codes) => `finished in 1.00s, 100 req/s, 1MB/s\nrequests: ${counts}\nstatus codes: ${codes}\n`;
  const cases = [
    ['100 total, 101 started, 100 done, 100 succeeded, 0 failed, 0 errored, 0 timeout', '100 2xx, 0 3xx, 0 4xx, 0 5xx', 100, 0],
    ['100 total, 100 started, 100 done, 90 succeeded, 10 failed, 10 errored, 0 timeout', '90 2xx, 0 3xx, 0 4xx, 0 5xx', 100, 10],
    ['100 total, 100 started, 100 done, 100 succeeded, 0 failed, 0 errored, 0 timeout', '95 2xx, 0 3xx, 0 4xx, 5 5xx', 100, 5],
  ];
  for (const [counts, codes, requests, errors] of cases) assert.deepEqual(parseH2load(text(counts, codes)), { requests, errors }, counts);
  assert.throws(() => parseH2load('could not connect'), /no summary/);
});

test('h2load\'s log: percentiles are of the answered requests', () => {
  const lines = Array.from({ length: 100 }, (_, i) => `1700000000000000\t200\t${100 - i}`);
  assert.deepEqual(parseLogLatencies([...lines, '1700000000000000\t-1\t9999', ''].join('\n')), { p50_us: 50, p99_us: 99, p999_us: 100 });
});

test('strace -c: calls with and without errors, and their sum', () => {
  const text = `% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.00    0.100000           1       200           writev
 40.00    0.050000           1       300        12 recvfrom
------ ----------- ----------- --------- --------- ----------------
100.00    0.150000           1       500        12 total
`;
  assert.deepEqual(parseStrace(text), [['recvfrom', 300], ['writev', 200], ['all', 500]]);
});

test('perf: events that the machine cannot count are left out', () => {
  assert.deepEqual(parsePerf('# started\n\n1234,,instructions:u,1,100.00,,\n<not supported>,,instructions:k,0,100.00,,\n'), [['instructions:u', 1234]]);
});

test('crossings are wake-ups and flushes of all lanes over their requests', () => {
  const text = 'noise\n# TYPE leat_lane_wakes_total counter\nleat_lane_wakes_total{lane="0"} 10\nleat_lane_wakes_total{lane="1"} 5\n'
    + 'leat_lane_flushes_total{lane="0"} 12\nleat_lane_flushes_total{lane="1"} 3\nleat_lane_requests_total{lane="0"} 60\nleat_lane_requests_total{lane="1"} 0\n';
  assert.equal(parseCrossings(text), 0.5);
  assert.ok(Number.isNaN(parseCrossings('')));
});
