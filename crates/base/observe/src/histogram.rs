use crate::{Counter, Exemplar};

/// Bounds in each factor of ten: close enough that a quantile is known to a third, few enough to stay in ten cache lines.
const MANTISSAS: [u64; 10] = [10, 12, 15, 20, 25, 30, 40, 50, 60, 80];
/// Factors of ten, from 10 µs on.
const DECADES: usize = 7;
const BOUNDS: usize = MANTISSAS.len() * DECADES + 1;

/// Upper bounds of the buckets in microseconds, each bound inclusive; one more bucket takes what is above the last.
///
/// They are decimal, so that the bounds people ask about (0.1 s, 0.25 s) are exact and not interpolated.
pub const BOUNDS_US: [u64; BOUNDS] = bounds();

/// For each bit length of a value: the first bucket that can hold such a value.
const START: [u8; 65] = start();

const fn bounds() -> [u64; BOUNDS] {
    let mut out = [0; BOUNDS];
    let mut unit = 1;
    let mut decade = 0;
    while decade < DECADES {
        let mut m = 0;
        while m < MANTISSAS.len() {
            out[decade * MANTISSAS.len() + m] = MANTISSAS[m] * unit;
            m += 1;
        }
        unit *= 10;
        decade += 1;
    }
    out[BOUNDS - 1] = 10 * unit;
    out
}

const fn start() -> [u8; 65] {
    let mut out = [0; 65];
    let mut bits = 1;
    while bits <= 64 {
        let least = 1u64 << (bits - 1);
        let mut bucket = 0;
        while bucket < BOUNDS && BOUNDS_US[bucket] < least {
            bucket += 1;
        }
        out[bits] = bucket as u8;
        bits += 1;
    }
    out
}

/// A distribution of times, written by one thread and read by any. 592 bytes; no allocation after it was made.
#[derive(Debug)]
pub struct Histogram {
    buckets: [Counter; BOUNDS + 1],
    sum_us: Counter,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: std::array::from_fn(|_| Counter::default()), sum_us: Counter::default() }
    }
}

impl Histogram {
    /// Adds one time. A table look-up by the value's bit length, at most four comparisons and two stores.
    #[inline]
    pub fn record(&self, us: u64) {
        if let Some(bucket) = self.buckets.get(bucket_of(us)) {
            bucket.add(1);
        }
        self.sum_us.add(us);
    }

    /// Adds what was recorded so far to `counts`.
    pub fn add_to(&self, counts: &mut HistogramCounts) {
        for (total, bucket) in counts.buckets.iter_mut().zip(&self.buckets) {
            *total += bucket.get();
        }
        counts.sum_us = counts.sum_us.wrapping_add(self.sum_us.get());
    }
}

#[inline]
fn bucket_of(us: u64) -> usize {
    let bits = (u64::BITS - us.leading_zeros()) as usize;
    let mut bucket = START.get(bits).copied().unwrap_or_default() as usize;
    while BOUNDS_US.get(bucket).is_some_and(|&bound| bound < us) {
        bucket += 1;
    }
    bucket
}

/// A histogram's numbers at one moment, or the sum of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramCounts {
    /// One count for each of [`BOUNDS_US`], then one for what is above them.
    buckets: [u64; BOUNDS + 1],
    /// All times together, in microseconds.
    pub sum_us: u64,
    /// Exchanges that stand for others, one for each bucket that is shown at most; in no order.
    pub exemplars: Vec<Exemplar>,
}

impl Default for HistogramCounts {
    fn default() -> Self {
        Self { buckets: [0; BOUNDS + 1], sum_us: 0, exemplars: Vec::new() }
    }
}

impl HistogramCounts {
    /// How many times were recorded.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// How many of them were at most `bound_us`, which is one of [`BOUNDS_US`] (any other is rounded down to one).
    pub fn at_most(&self, bound_us: u64) -> u64 {
        BOUNDS_US.iter().zip(&self.buckets).take_while(|&(&bound, _)| bound <= bound_us).map(|(_, count)| count).sum()
    }

    /// The bound below which `share` (0 to 1) of the times lie, in microseconds: an upper estimate, at most a third too
    /// high. `None` while nothing was recorded, and where the answer is above the last bound.
    pub fn quantile_us(&self, share: f64) -> Option<u64> {
        let wanted = (self.count() as f64 * share).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (&bound, count) in BOUNDS_US.iter().zip(&self.buckets) {
            seen += count;
            if seen >= wanted {
                return Some(bound);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_rise_and_reach_from_10_us_to_100_s() {
        assert!(BOUNDS_US.is_sorted_by(|a, b| a < b));
        assert_eq!((BOUNDS_US[0], BOUNDS_US[BOUNDS - 1]), (10, 100_000_000));
    }

    #[test]
    fn a_bound_belongs_to_its_own_bucket_and_the_next_value_does_not() {
        for (i, &bound) in BOUNDS_US.iter().enumerate() {
            assert_eq!(bucket_of(bound), i, "{bound}");
            assert_eq!(bucket_of(bound + 1), i + 1, "{bound}");
        }
        for (us, bucket) in [(0, 0), (1, 0), (11, 1), (100_000_001, BOUNDS), (u64::MAX, BOUNDS)] {
            assert_eq!(bucket_of(us), bucket, "{us}");
        }
    }

    #[test]
    fn every_value_lies_in_the_bucket_that_a_search_finds() {
        let mut us = 0;
        while us < 1 << 40 {
            assert_eq!(bucket_of(us), BOUNDS_US.partition_point(|&bound| bound < us), "{us}");
            us += us / 97 + 1;
        }
    }

    #[test]
    fn quantiles_are_upper_bounds() {
        let histogram = Histogram::default();
        for us in 1..=1000 {
            histogram.record(us);
        }
        let mut counts = HistogramCounts::default();
        histogram.add_to(&mut counts);
        assert_eq!((counts.count(), counts.sum_us), (1000, 500_500));
        assert_eq!((counts.quantile_us(0.5), counts.quantile_us(0.99)), (Some(500), Some(1000)));
        assert_eq!((counts.at_most(250), counts.at_most(251), counts.at_most(100_000_000)), (250, 250, 1000));
        assert_eq!(HistogramCounts::default().quantile_us(0.5), None);
    }
}
