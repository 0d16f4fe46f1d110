use std::time::Duration;

/// Buckets of each doubling: a percentile is at most a quarter too high.
const PARTS: usize = 4;
/// Doublings of a microsecond: up to two minutes.
const DOUBLINGS: usize = 27;
/// Fewer latencies say nothing of a percentile.
const SAMPLES_MIN: u32 = 100;
/// With so many, all count half: what is older than some thousands is forgotten.
const SAMPLES_MAX: u32 = 4_000;
/// The percentile is worked out after so many latencies, not after each.
const STEP: u32 = 64;

/// A percentile of what requests took lately. 448 bytes, one owner: each core measures for itself. Taking a latency adds one,
/// and every 64th time all buckets.
#[derive(Clone, Debug)]
pub struct Latencies {
    percent: u32,
    counts: Box<[u32]>,
    total: u32,
    since: u32,
    known: Option<Duration>,
}

impl Latencies {
    /// Nothing measured yet; of `percent` percent of the requests, at most 100.
    #[must_use]
    pub fn new(percent: u32) -> Self {
        let counts = vec![0; PARTS * DOUBLINGS].into_boxed_slice();
        Self { percent: percent.min(100), counts, total: 0, since: 0, known: None }
    }

    /// Takes what a request took, or how long it was waited for before it was given up.
    pub fn record(&mut self, took: Duration) {
        let Some(count) = self.counts.get_mut(bucket(took)) else { return };
        *count += 1;
        self.total += 1;
        self.since += 1;
        if self.total >= SAMPLES_MAX {
            self.counts.iter_mut().for_each(|count| *count /= 2);
            self.total = self.counts.iter().sum();
        }
        if self.total >= SAMPLES_MIN && (self.known.is_none() || self.since >= STEP) {
            self.since = 0;
            self.known = Some(self.worked_out());
        }
    }

    /// What this part of the requests takes at most, up to a quarter too high; `None` before there are 100.
    #[must_use]
    pub fn percentile(&self) -> Option<Duration> {
        self.known
    }

    fn worked_out(&self) -> Duration {
        let wanted = (u64::from(self.total) * u64::from(self.percent)).div_ceil(100).max(1);
        let mut seen = 0_u64;
        for (index, count) in self.counts.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= wanted {
                return top(index);
            }
        }
        top(self.counts.len().saturating_sub(1))
    }
}

fn bucket(took: Duration) -> usize {
    let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX).max(1);
    let doubling = us.ilog2() as usize;
    let part = if doubling >= 2 { (us >> (doubling - 2)) as usize & (PARTS - 1) } else { 0 };
    (doubling * PARTS + part).min(PARTS * DOUBLINGS - 1)
}

/// What is just above a bucket.
fn top(index: usize) -> Duration {
    let (doubling, part) = (index / PARTS, index % PARTS);
    Duration::from_micros(((PARTS + part + 1) as u64) << doubling >> 2)
}

#[cfg(test)]
mod tests {
    use super::{Latencies, bucket, top};
    use crate::{Random, SplitMix64};
    use std::time::Duration;

    #[test]
    fn a_bucket_ends_above_its_latencies_and_at_most_a_quarter_above() {
        let mut random = SplitMix64::new(31);
        for _ in 0..10_000 {
            let us = u64::from(random.draw() >> random.below(30)).clamp(4, 1 << 26);
            let end = u64::try_from(top(bucket(Duration::from_micros(us))).as_micros()).unwrap();
            assert!(end > us && end <= us + us / 4 + 1, "{us}: {end}");
        }
        assert_eq!(bucket(Duration::ZERO), 0);
        assert_eq!(bucket(Duration::MAX), 107);
    }

    #[test]
    fn a_percentile_is_near_that_of_a_sorted_list_once_there_are_enough() {
        let mut random = SplitMix64::new(32);
        for percent in [50, 90, 95, 99] {
            let mut latencies = Latencies::new(percent);
            let mut list = Vec::new();
            for number in 0..2_000_u32 {
                assert_eq!(latencies.percentile().is_some(), number >= 100, "{number}");
                let us = 1_000 + u64::from(random.below(100_000));
                list.push(us);
                latencies.record(Duration::from_micros(us));
            }
            list.sort_unstable();
            let wanted = list[2_000 * percent as usize / 100 - 1] as f64;
            let found = latencies.percentile().unwrap().as_micros() as f64;
            assert!((wanted * 0.95..wanted * 1.3).contains(&found), "p{percent}: {found} of {wanted}");
        }
    }

    #[test]
    fn what_is_old_is_forgotten() {
        let mut latencies = Latencies::new(95);
        (0..10_000).for_each(|_| latencies.record(Duration::from_millis(500)));
        (0..20_000).for_each(|_| latencies.record(Duration::from_millis(5)));
        assert!(latencies.percentile().unwrap() <= Duration::from_millis(7));
    }
}
