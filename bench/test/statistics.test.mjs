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
  assert.deepEqual(spread([3, NaN, 1, 2]), { median: 2, min: 1, max: 3, count: 3 });
});

test('ratios are made round by round, so a slow round falls out', () => {
  assert.deepEqual(ratio([120, 60, 120], [100, 50, 100]), { median: 1.2, min: 1.2, max: 1.2, count: 3 });
});

test('a ratio is a win or a loss only beyond what the control shows as chance', () => {
  const control = { median: 1, min: 0.97, max: 1.05 };
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
