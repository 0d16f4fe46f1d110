import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median, percentile, ratio, spread, verdict } from '../engine/statistics.mjs';

test('a percentile is the nearest rank', () => {
  const sorted = Array.from({ length: 1000 }, (_, i) => i + 1);
  for (const [share, expected] of [[0.5, 500], [0.99, 990], [0.999, 999], [1, 1000], [0, 1]]) {
    assert.equal(percentile(sorted, share), expected, `${share}`);
  }
  assert.equal(percentile([7], 0.999), 7);
  assert.ok(Number.isNaN(percentile([], 0.5)));
});

test('a median does not need sorted values and leaves them as they are', () => {
  const values = [9, 1, 5];
  assert.equal(median(values), 5);
  assert.deepEqual(values, [9, 1, 5]);
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.ok(Number.isNaN(median([])));
});

test('a spread skips what could not be measured', () => {
  assert.deepEqual(spread([3, NaN, 1, 2]), { median: 2, low: 1, high: 3, count: 3 });
});

test('between which values a median lies follows from how many there are', () => {
  // The ranks of the tables for the sign test at 5 %, both sides together.
  for (const [count, low, high] of [[1, 1, 1], [5, 1, 5], [6, 1, 6], [9, 2, 8], [15, 4, 12], [25, 8, 18], [50, 18, 33]]) {
    const values = Array.from({ length: count }, (_, i) => i + 1);
    const { low: lowest, high: highest } = spread(values);
    assert.deepEqual([lowest, highest], [low, high], `of ${count}`);
  }
});

test('ratios are made round by round, so a slow round falls out', () => {
  assert.deepEqual(ratio([120, 60, 120], [100, 50, 100]), { median: 1.2, low: 1.2, high: 1.2, count: 3 });
});

test('a ratio is a win or a loss only beyond what the control shows as chance', () => {
  const control = { median: 1, low: 0.97, high: 1.05 };
  const cases = [
    [1.2, 'higher', 'better'],
    [1.2, 'lower', 'worse'],
    [0.8, 'higher', 'worse'],
    [0.8, 'lower', 'better'],
    [1.04, 'higher', 'same'],
    [0.96, 'lower', 'same'],
    [NaN, 'higher', 'unknown'],
  ];
  for (const [value, better, expected] of cases) {
    assert.equal(verdict({ median: value }, control, better), expected, `${value}, ${better} is better`);
  }
  assert.equal(verdict({ median: 1.01 }, undefined, 'higher'), 'unknown', 'without a control nobody knows');
});
