use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use leat_policy::Instant;
use leat_policy::limit::{Cell, Limit};

/// Keys that share a bucket. Their tags fill one cache line and their states the next, which processors fetch in pairs.
const WAYS: usize = 8;
/// Locks that guard the coming of new keys, each for its share of the buckets.
const LOCKS_MAX: usize = 64;
/// The tag of a place without a key.
const FREE: u64 = 0;

/// The states of one limit's keys: a table of fixed size that all cores share.
///
/// A key that is known is found without a lock: one bucket, eight tags, then the key's own atomic. Only the coming of a
/// new key takes a lock, one of 64. A key's place in the table follows from a hash that nobody outside can compute, so
/// a client can't choose whom it displaces.
///
/// **Memory** is bounded: 16 bytes a key, made once. Where a bucket is full, the new key takes the place of the one that
/// would be as good as new the soonest: one that owes nothing loses nothing, and a key that has used its limit up stays
/// longest. A key that is displaced while it still owed begins anew; [`CellTable::take_evicted`] counts those.
///
/// **Race.** A core that found a key's cell just as another core displaces the key may debit the newcomer: that one is
/// admitted less, once. Nobody is admitted more than the displacing itself allows.
pub(crate) struct CellTable {
    buckets: Box<[Bucket]>,
    locks: Box<[Mutex<()>]>,
    evicted: AtomicU64,
}

#[derive(Default)]
#[repr(align(128))]
struct Bucket {
    tags: [AtomicU64; WAYS],
    cells: [Cell; WAYS],
}

impl CellTable {
    /// A table with room for `keys_max` keys, rounded up to a power of two. Allocates all of it.
    pub(crate) fn new(keys_max: usize) -> Self {
        let buckets = keys_max.div_ceil(WAYS).max(1).next_power_of_two();
        Self {
            buckets: (0..buckets).map(|_| Bucket::default()).collect(),
            locks: (0..buckets.min(LOCKS_MAX)).map(|_| Mutex::default()).collect(),
            evicted: AtomicU64::new(0),
        }
    }

    /// The cell of the key with this hash, made where there is none. About 5 ns for a key that is known.
    #[inline]
    pub(crate) fn cell(&self, hash: u64, limit: &Limit, now: Instant) -> &Cell {
        // One hash in 2^64 shares its cell with another one, as any two equal hashes do.
        let tag = hash.max(FREE + 1);
        // The number of buckets is a power of two, so the index is always below it.
        let index = hash.rotate_left(32) as usize & (self.buckets.len() - 1);
        let bucket = &self.buckets[index];
        match bucket.find(tag) {
            Some(cell) => cell,
            None => self.insert(index, tag, limit, now),
        }
    }

    /// The cell of the key with this hash, if it is known.
    pub(crate) fn known(&self, hash: u64) -> Option<&Cell> {
        let index = hash.rotate_left(32) as usize & (self.buckets.len() - 1);
        self.buckets.get(index)?.find(hash.max(FREE + 1))
    }

    /// Keys that are remembered. Walks through the table.
    pub(crate) fn keys(&self) -> usize {
        let tags = self.buckets.iter().flat_map(|bucket| &bucket.tags);
        tags.filter(|tag| tag.load(Ordering::Relaxed) != FREE).count()
    }

    /// Keys that were displaced while they still owed something, since this was last asked.
    pub(crate) fn take_evicted(&self) -> u64 {
        self.evicted.swap(0, Ordering::Relaxed)
    }

    #[cold]
    fn insert(&self, index: usize, tag: u64, limit: &Limit, now: Instant) -> &Cell {
        let bucket = &self.buckets[index];
        let lock = &self.locks[index & (self.locks.len() - 1)];
        // It guards nothing but the order of what follows.
        let _held = lock.lock().unwrap_or_else(PoisonError::into_inner);
        // Another core may have been faster: two cells for one key would admit it twice.
        if let Some(cell) = bucket.find(tag) {
            return cell;
        }
        let (place, owes) = bucket.cheapest(limit, now);
        if owes {
            self.evicted.fetch_add(1, Ordering::Relaxed);
        }
        let cell = &bucket.cells[place];
        // In this order: a core that finds the new tag finds no debt of the old key.
        bucket.tags[place].store(FREE, Ordering::Relaxed);
        cell.forget();
        bucket.tags[place].store(tag, Ordering::Release);
        cell
    }
}

impl Bucket {
    #[inline]
    fn find(&self, tag: u64) -> Option<&Cell> {
        let place = self.tags.iter().position(|held| held.load(Ordering::Acquire) == tag)?;
        self.cells.get(place)
    }

    /// The place to give to a new key, and whether the key that has it still owes something.
    fn cheapest(&self, limit: &Limit, now: Instant) -> (usize, bool) {
        let owed = |place: usize| match self.tags[place].load(Ordering::Relaxed) {
            FREE => None,
            _ => Some(self.cells[place].peek(limit, now, 0).reset),
        };
        let (place, owed) =
            (0..WAYS).map(|place| (place, owed(place))).min_by_key(|(_, owed)| *owed).unwrap_or((0, None));
        (place, owed.is_some_and(|time| !time.is_zero()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;
    use std::time::Duration;

    use leat_policy::limit::Gcra;

    use super::*;

    fn limit(quota: u64) -> Limit {
        Limit::Gcra(Gcra::new(quota, Duration::from_secs(1), quota).unwrap())
    }

    /// A bijection that spreads, so that tests have hashes as real keys do.
    fn hash(number: u64) -> u64 {
        let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }

    const NOW: Instant = Instant::from_nanos(1_000_000_000_000);

    #[test]
    fn keys_have_states_of_their_own_and_keep_them() {
        let (table, limit) = (CellTable::new(1_024), limit(2));
        for round in 0..3 {
            for key in 0..100 {
                let admitted = table.cell(hash(key), &limit, NOW).admit(&limit, NOW, 1).is_admitted();
                assert_eq!(admitted, round < 2, "key {key}, request {round}");
            }
        }
        assert_eq!(table.take_evicted(), 0);
    }

    #[test]
    fn the_hash_that_means_free_is_a_key_like_others() {
        let (table, limit) = (CellTable::new(8), limit(1));
        assert!(table.cell(0, &limit, NOW).admit(&limit, NOW, 1).is_admitted());
        assert!(!table.cell(0, &limit, NOW).admit(&limit, NOW, 1).is_admitted());
    }

    #[test]
    fn keys_that_owe_nothing_give_their_place_first() {
        let (table, limit) = (CellTable::new(8), limit(1));
        for key in 0..8 {
            table.cell(hash(key), &limit, NOW).admit(&limit, NOW, 1);
        }
        let later = NOW.after(Duration::from_secs(2));
        table.cell(hash(3), &limit, later).admit(&limit, later, 1);
        for key in 100..107 {
            table.cell(hash(key), &limit, later).admit(&limit, later, 1);
        }
        assert_eq!(table.take_evicted(), 0, "all others had paid their debt");
        assert!(!table.cell(hash(3), &limit, later).admit(&limit, later, 1).is_admitted(), "the one that owes stays");
    }

    #[test]
    fn who_used_the_limit_up_outlives_a_stream_of_new_keys() {
        let (table, limit) = (CellTable::new(64), limit(100));
        table.cell(hash(0), &limit, NOW).admit(&limit, NOW, 100);
        for key in 1..100_000 {
            table.cell(hash(key), &limit, NOW).admit(&limit, NOW, 1);
            assert!(!table.cell(hash(0), &limit, NOW).peek(&limit, NOW, 1).is_admitted(), "after {key} strangers");
        }
        let evicted = table.take_evicted();
        assert!(evicted > 90_000, "{evicted}");
    }

    #[test]
    fn threads_that_bring_the_same_keys_admit_no_more_than_the_limit() {
        const KEYS: u64 = 500;
        let (table, limit) = (Arc::new(CellTable::new(8_192)), limit(10));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let (table, limit) = (Arc::clone(&table), limit.clone());
                std::thread::spawn(move || {
                    let ask = |key| table.cell(hash(key), &limit, NOW).admit(&limit, NOW, 1).is_admitted();
                    (0..10).map(|_| (0..KEYS).filter(|key| ask(*key)).count()).sum::<usize>()
                })
            })
            .collect();
        let admitted: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!((admitted, table.take_evicted()), (10 * KEYS as usize, 0));
    }
}
