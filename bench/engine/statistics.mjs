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

/** Median and extremes. */
export function spread(values) {
  const finite = values.filter(Number.isFinite);
  return { median: median(finite), min: Math.min(...finite), max: Math.max(...finite), count: finite.length };
}

/** Ratios of two subjects round by round, so that what slows a whole round falls out: median and extremes. */
export function ratio(ours, theirs) {
  return spread(ours.map((value, round) => value / theirs[round]));
}

/**
 * What a ratio says, next to the same ratio of a subject against itself: `better`, `worse`, or `same` if its median
 * lies within what the control's rounds showed to be chance; without a control nobody knows.
 */
export function verdict(ratioOf, control, better) {
  if (!control || !Number.isFinite(ratioOf.median)) return 'unknown';
  const chance = Math.max(Math.abs(control.max - 1), Math.abs(control.min - 1));
  if (Math.abs(ratioOf.median - 1) <= chance) return 'same';
  return (ratioOf.median > 1) === (better === 'higher') ? 'better' : 'worse';
}
