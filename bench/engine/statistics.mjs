// The arithmetic behind every printed figure.

/** The nearest-rank percentile of ascending values; NaN without values. */
export function percentile(sorted, share) {
  if (sorted.length === 0) return NaN;
  return sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1];
}

/** The median; of an even count the mean of the middle two. NaN without values. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * The median, and between which values it lies: of 20 such runs, 19 hold the median of endless rounds within `low` and `high`
 * (order statistics, so nothing is assumed of how the values scatter). Of five rounds or fewer they are the extremes, which promise less.
 */
export function spread(values) {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  const outside = beyond(sorted.length);
  return { median: median(sorted), low: sorted[outside] ?? NaN, high: sorted.at(-1 - outside) ?? NaN, count: sorted.length };
}

/** How many of so many values may be left out at each end: of a fair coin's throws, at most so many fall on one side once in 40 runs. */
function beyond(count) {
  let [chance, sum, left] = [0.5 ** count, 0, 0];
  for (; ; left += 1) {
    sum += chance;
    if (sum > 0.025) return Math.max(0, left - 1);
    chance *= (count - left) / (left + 1);
  }
}

/** Ratios of two subjects round by round, so that what slows a whole round falls out. */
export function ratio(ours, theirs) {
  return spread(ours.map((value, round) => value / theirs[round]));
}

/**
 * What a ratio says, next to the same ratio of a subject against itself: `better`, `worse`, or `same` if its median
 * lies within what the control showed to be chance; without a control nobody knows.
 */
export function verdict(ratioOf, control, better) {
  if (!control || !Number.isFinite(ratioOf.median)) return 'unknown';
  const chance = Math.max(Math.abs(control.high - 1), Math.abs(control.low - 1));
  if (Math.abs(ratioOf.median - 1) <= chance) return 'same';
  return (ratioOf.median > 1) === (better === 'higher') ? 'better' : 'worse';
}
