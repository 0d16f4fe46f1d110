import assert from 'node:assert/strict';
import { test } from 'node:test';
import { account, cpuSeconds, memory, parseCore, parseStat, parseStatus, tree } from '../engine/accounting.mjs';

test('the times of a process are found behind any command name', () => {
  const rest = 'S 41 42 42 0 -1 4194560 100 0 0 0 250 50 7 8 20 0 1 0 100 1 1';
  for (const name of ['nginx', 'a b', 'odd) name (', '(']) {
    assert.deepEqual(parseStat(`42 (${name}) ${rest}`), { parent: 41, ticks: 300 }, name);
  }
});

test('memory is read in kB and is 0 for a process that has none', () => {
  assert.deepEqual(parseStatus('Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n'), { rss_kb: 1024, peak_kb: 2048 });
  assert.deepEqual(parseStatus('Name:\tkthreadd\n'), { rss_kb: 0, peak_kb: 0 });
});

test('a core is busy with everything but idling and waiting for disks; stolen time counts as busy', () => {
  const text = 'cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 1 2 3 100 50 4 5 6 0 0\ncpu10 9 9 9 9 9 9 9 9 0 0\n';
  assert.deepEqual(parseCore(text, 0), { busy: 21, total: 171 });
  assert.deepEqual(parseCore(text, 1), { busy: NaN, total: NaN });
});

test('what others take is what the core did beyond its own subject or load', () => {
  const before = { subject: 1, load: 5, core: { busy: 0, total: 0 }, loadCore: { busy: 0, total: 0 } };
  const after = { subject: 2.5, load: 6, core: { busy: 160, total: 200 }, loadCore: { busy: 150, total: 200 } };
  assert.deepEqual(account(before, after, 100), { cpu_s: 1.5, busy: 0.75, foreign: 0.25 });
  const both = { ...after, core: { busy: 200, total: 200 } };
  assert.deepEqual(account(before, both, 100, true), { cpu_s: 1.5, busy: 0.75, foreign: 0.5 }, 'on shared cores, of both together');
  const calm = { ...after, core: { busy: 149, total: 200 }, loadCore: { busy: 100, total: 200 } };
  assert.equal(account(before, calm, 100).foreign, 0, 'rounding never makes it negative');
});

test('this process is at the head of its own tree, uses time and holds memory', () => {
  assert.equal(tree(process.pid)[0], process.pid);
  assert.ok(cpuSeconds(process.pid) > 0);
  const { rss_kb: now, peak_kb: peak } = memory(process.pid);
  assert.ok(now > 0 && peak >= now);
});
