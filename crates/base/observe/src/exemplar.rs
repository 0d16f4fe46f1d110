use std::sync::{Mutex, TryLockError};

use crate::{BOUNDS_US, HistogramCounts};

/// One recorded exchange that stands for others like it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exemplar {
    /// Its time, in microseconds.
    pub us: u64,
    /// When it ended, in milliseconds since 1970.
    pub time_ms: u64,
    /// Its trace.
    pub trace: [u64; 2],
    /// Its span in the trace.
    pub span: u64,
}

/// The last exemplar of each bucket that is shown, written by one thread and read by any: so many as there are such buckets at
/// most. Only exchanges whose trace is recorded get here, so that a lock is cheap enough; nobody waits for it.
#[derive(Debug, Default)]
pub(crate) struct Exemplars(Mutex<Vec<Exemplar>>);

impl Exemplars {
    /// Puts it in its bucket's place; forgets it where the numbers are being read just now.
    #[cold]
    pub(crate) fn put(&self, exemplar: Exemplar) {
        let mut list = match self.0.try_lock() {
            Ok(list) => list,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        insert(&mut list, exemplar);
    }

    pub(crate) fn add_to(&self, counts: &mut HistogramCounts) {
        crate::block::lock(&self.0).iter().for_each(|&exemplar| insert(&mut counts.exemplars, exemplar));
    }
}

/// Keeps the younger of two in one bucket.
fn insert(list: &mut Vec<Exemplar>, exemplar: Exemplar) {
    let bucket = shown_bucket(exemplar.us);
    match list.iter_mut().find(|held| shown_bucket(held.us) == bucket) {
        Some(held) if held.time_ms > exemplar.time_ms => {}
        Some(held) => *held = exemplar,
        None => list.push(exemplar),
    }
}

/// The upper bound of the shown bucket that a time lies in; the largest number for the last one.
pub(crate) fn shown_bucket(us: u64) -> u64 {
    BOUNDS_US.into_iter().find(|&bound_us| bound_us >= us && crate::exposition::is_shown(bound_us)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shown_bucket_keeps_its_youngest() {
        let exemplars = Exemplars::default();
        let at = |us, time_ms| Exemplar { us, time_ms, trace: [1, us], span: time_ms };
        for us in 0..200_000_000_u64 {
            if us % 9_973 == 0 {
                exemplars.put(at(us, us));
            }
        }
        exemplars.put(at(1, 5));
        exemplars.put(at(2, 4));
        let mut counts = HistogramCounts::default();
        exemplars.add_to(&mut counts);
        // Some of the shortest buckets are narrower than the steps.
        assert!((12..=21).contains(&counts.exemplars.len()), "{}", counts.exemplars.len());
        assert!(counts.exemplars.contains(&at(1, 5)));
        assert_eq!(counts.exemplars.iter().filter(|one| one.us <= 50).count(), 1);
        assert_eq!((shown_bucket(50), shown_bucket(51), shown_bucket(100_000_001)), (50, 100, u64::MAX));
    }
}
