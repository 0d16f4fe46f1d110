use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use leat_policy::Instant;
use leat_policy::limit::{Lease, Leasing};

use crate::admit::hashed::Hashed;

/// Locks, each for its share of the keys: a core holds one for some nanoseconds.
const SHARDS: usize = 64;
/// How often the error is added up.
const ERROR_EVERY: Duration = Duration::from_secs(1);

/// What this process holds of one limit that Redis lends out: a lease for each key, shared by all cores.
///
/// A lease is more than a word, so a lock guards it, one of 64. Bounded: where a shard is full, a key that holds nothing is
/// forgotten, else any; then its units are lost, and less is admitted.
pub(crate) struct Leases {
    shards: Box<[Mutex<Shard>]>,
    keys_max: usize,
    error: AtomicU64,
    added_up_ns: AtomicU64,
}

type Shard = HashMap<u64, Lease, Hashed>;

impl Leases {
    /// Room for `keys_max` keys.
    pub(crate) fn new(keys_max: usize) -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            keys_max: keys_max.div_ceil(SHARDS),
            error: AtomicU64::new(0),
            added_up_ns: AtomicU64::new(0),
        }
    }

    /// Looks at the lease of the key with this hash.
    pub(crate) fn with<T>(&self, hash: u64, now: Instant, look: impl FnOnce(&mut Lease) -> T) -> T {
        // Bits that the shard's own table does not choose by.
        let mut shard = lock(&self.shards[(hash >> 32) as usize % SHARDS]);
        if shard.len() >= self.keys_max && !shard.contains_key(&hash) {
            shard.retain(|_, lease| lease.left(now) > 0);
            if shard.len() >= self.keys_max
                && let Some(any) = shard.keys().next().copied()
            {
                shard.remove(&any);
            }
        }
        look(shard.entry(hash).or_default())
    }

    /// What the lease of the key with this hash has left, if there is one.
    pub(crate) fn left(&self, hash: u64, now: Instant) -> u64 {
        let shard = lock(&self.shards[(hash >> 32) as usize % SHARDS]);
        shard.get(&hash).map_or(0, |lease| lease.left(now))
    }

    /// Keys that have a lease.
    pub(crate) fn keys(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).len()).sum()
    }

    /// What the leases may keep from being admitted, beside the reserve; added up about once a second, by whoever asks first.
    pub(crate) fn error(&self, terms: &Leasing, now: Instant) -> u64 {
        let last = self.added_up_ns.load(Ordering::Relaxed);
        let due = Instant::from_nanos(last).after(ERROR_EVERY / 2);
        let order = Ordering::Relaxed;
        if now >= due && self.added_up_ns.compare_exchange(last, now.as_nanos(), order, order).is_ok() {
            let shards = self.shards.iter();
            let error =
                shards.map(|shard| lock(shard).values().map(|lease| lease.error(terms, now)).sum::<u64>()).sum();
            self.error.store(error, Ordering::Relaxed);
        }
        self.error.load(Ordering::Relaxed)
    }
}

/// Nothing that holds a lock can leave a lease half-written.
fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use leat_policy::limit::{Gcra, Taken};

    use super::*;

    #[test]
    fn keys_that_hold_nothing_are_forgotten_first_and_there_are_never_too_many() {
        let terms = Leasing::new(&Gcra::new(100, Duration::from_secs(1), 100).unwrap()).unwrap();
        let leases = Leases::new(SHARDS * 4);
        let now = Instant::from_nanos(1_000_000_000);
        // One shard's keys.
        leases.with(0, now, |lease| lease.granted(&terms, now, 5));
        (1..100).for_each(|hash| leases.with(hash, now, |_| ()));
        assert!(matches!(leases.with(0, now, |lease| lease.take(now, 1)), Taken::Admit { .. }));
        assert_eq!(leases.error(&terms, now), 4);
        (100..200).for_each(|hash| leases.with(hash, now, |lease| lease.granted(&terms, now, 1)));
        assert!(lock(&leases.shards[0]).len() <= 4);
    }
}
