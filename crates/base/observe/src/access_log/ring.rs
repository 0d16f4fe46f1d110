use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::words::last_word;

/// A bounded queue of records between one core and the writer: words in a circle, the core writes at `head`, the writer
/// reads at `tail`. Words are atomics so that no `unsafe` is needed; on every processor we care about a relaxed store
/// is a plain one.
///
/// Invariant: `tail <= head <= tail + words.len()`, both only grow, and everything below `head` is complete. A record's
/// first word is its length in words, itself included. A record is in one piece, so that both sides have it as a slice: one that would
/// reach over the end begins at the start of the circle, and [`TO_THE_END`] stands in the place that it leaves. A record is at most half
/// as long as the ring.
#[derive(Debug)]
pub(super) struct Ring {
    words: Box<[AtomicU64]>,
    head: Aligned<AtomicUsize>,
    tail: Aligned<AtomicUsize>,
    dropped: Aligned<AtomicU64>,
    closed: AtomicBool,
}

/// In place of a record's length: nothing more until the end of the circle.
const TO_THE_END: u64 = u64::MAX;

/// On cache lines of its own: the two sides write to different ones.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Aligned<T>(T);

impl Ring {
    /// A ring of `bytes`, rounded up to a power of two.
    pub(super) fn new(bytes: usize) -> Self {
        let words = (bytes / 8).max(2).next_power_of_two();
        Self {
            words: (0..words).map(|_| AtomicU64::new(0)).collect(),
            head: Aligned::default(),
            tail: Aligned::default(),
            dropped: Aligned::default(),
            closed: AtomicBool::new(false),
        }
    }

    /// From a position to the end of the circle: never empty.
    #[inline]
    fn from(&self, at: usize) -> &[AtomicU64] {
        self.words.get(at & (self.words.len() - 1)..).unwrap_or_default()
    }

    /// Records that found no room.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.0.load(Ordering::Relaxed)
    }

    /// Whether the writing side is gone. To be asked before the last [`Ring::read`].
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Lends whole records to `take`, one by one, until they were about `words_max` words; their room is free afterwards. Says how many
    /// words it were. The reader's side.
    pub(super) fn read(&self, words_max: usize, mut take: impl FnMut(&[AtomicU64])) -> usize {
        let head = self.head.0.load(Ordering::Acquire);
        let start = self.tail.0.load(Ordering::Relaxed);
        let mut at = start;
        while at != head && at - start < words_max {
            let from = self.from(at);
            let length = from.first().map_or(TO_THE_END, |word| word.load(Ordering::Relaxed));
            let left = from.len().clamp(1, head - at);
            if length == TO_THE_END {
                at += left;
                continue;
            }
            let length = (length as usize).clamp(1, left);
            take(from.get(..length).unwrap_or_default());
            at += length;
        }
        self.tail.0.store(at, Ordering::Release);
        at - start
    }
}

/// The writing side of a ring; there is one.
#[derive(Debug)]
pub(super) struct Producer {
    ring: Arc<Ring>,
    /// Where the next record begins.
    head: Cell<usize>,
    /// What is known of the reader's progress; looked up again only when the ring seems full.
    tail: Cell<usize>,
}

impl Producer {
    pub(super) fn new(ring: Arc<Ring>) -> Self {
        let (head, tail) = (ring.head.0.load(Ordering::Relaxed), ring.tail.0.load(Ordering::Acquire));
        Self { ring, head: Cell::new(head), tail: Cell::new(tail) }
    }

    /// Room for a record of `words` words, or `None` (and one more dropped) if there is not enough.
    #[inline]
    pub(super) fn begin(&self, words: usize) -> Option<Slot<'_>> {
        let at = self.head.get();
        let mut cells = self.ring.from(at);
        let skipped = if words <= cells.len() { 0 } else { cells.len() };
        let wanted = skipped + words;
        if self.waiting_at_most() + wanted > self.ring.words.len() && self.waiting() + wanted > self.ring.words.len() {
            let dropped = &self.ring.dropped.0;
            dropped.store(dropped.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            return None;
        }
        if skipped > 0 {
            cells.first()?.store(TO_THE_END, Ordering::Relaxed);
            cells = &self.ring.words;
        }
        Some(Slot { producer: self, cells: cells.get(..words)?, end: at + wanted })
    }

    /// Whether a quarter of the ring waits to be read.
    #[inline]
    pub(super) fn is_filling(&self) -> bool {
        let quarter = self.ring.words.len() / 4;
        self.waiting_at_most() >= quarter && self.waiting() >= quarter
    }

    #[inline]
    fn waiting_at_most(&self) -> usize {
        self.head.get() - self.tail.get()
    }

    fn waiting(&self) -> usize {
        self.tail.set(self.ring.tail.0.load(Ordering::Acquire));
        self.waiting_at_most()
    }
}

impl Drop for Producer {
    fn drop(&mut self) {
        self.ring.closed.store(true, Ordering::Release);
    }
}

/// A record being written. Words beyond the room asked for are ignored; missing ones are zero.
pub(super) struct Slot<'a> {
    producer: &'a Producer,
    cells: &'a [AtomicU64],
    end: usize,
}

impl Slot<'_> {
    #[inline]
    pub(super) fn words<const N: usize>(&mut self, words: [u64; N]) {
        if let Some((now, rest)) = self.cells.split_first_chunk::<N>() {
            now.iter().zip(words).for_each(|(cell, word)| cell.store(word, Ordering::Relaxed));
            self.cells = rest;
        }
    }

    /// Writes bytes, filled up with zeros to whole words.
    #[inline]
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        let Some((now, behind)) = self.cells.split_at_checked(words.len()) else { return };
        now.iter().zip(words).for_each(|(cell, word)| cell.store(u64::from_le_bytes(*word), Ordering::Relaxed));
        self.cells = behind;
        if !rest.is_empty() {
            self.words([last_word(bytes)]);
        }
    }

    /// Hands the record to the reader.
    #[inline]
    pub(super) fn commit(self) {
        self.cells.iter().for_each(|cell| cell.store(0, Ordering::Relaxed));
        self.producer.head.set(self.end);
        self.producer.ring.head.0.store(self.end, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(producer: &Producer, words: &[u64]) -> bool {
        let Some(mut slot) = producer.begin(words.len() + 1) else { return false };
        slot.words([words.len() as u64 + 1]);
        words.iter().for_each(|&word| slot.words([word]));
        slot.commit();
        true
    }

    fn taken(ring: &Ring, words_max: usize) -> Vec<Vec<u64>> {
        let mut out = Vec::new();
        ring.read(words_max, |record| out.push(record.iter().map(|word| word.load(Ordering::Relaxed)).collect()));
        out
    }

    #[test]
    fn records_come_out_whole_and_in_order_around_the_end() {
        let ring = Arc::new(Ring::new(64));
        let producer = Producer::new(Arc::clone(&ring));
        for round in 0..100 {
            assert!(put(&producer, &[round, round + 1]));
            assert!(put(&producer, &[round + 2]));
            assert_eq!(taken(&ring, usize::MAX), [vec![3, round, round + 1], vec![2, round + 2]]);
        }
        assert_eq!(ring.dropped(), 0);
    }

    #[test]
    fn a_record_of_half_the_ring_finds_room_wherever_the_last_one_ended() {
        for before in 0..8 {
            let ring = Arc::new(Ring::new(64));
            let producer = Producer::new(Arc::clone(&ring));
            (0..before).for_each(|_| assert!(put(&producer, &[])));
            assert_eq!(taken(&ring, usize::MAX).len(), before);
            assert!(put(&producer, &[1, 2, 3]), "behind {before}");
            assert_eq!(taken(&ring, usize::MAX), [[4, 1, 2, 3]]);
        }
    }

    #[test]
    fn a_full_ring_drops_counts_and_recovers() {
        let ring = Arc::new(Ring::new(64));
        let producer = Producer::new(Arc::clone(&ring));
        assert!(put(&producer, &[1; 7]));
        assert!(!put(&producer, &[]));
        assert!(!put(&producer, &[]));
        assert_eq!(ring.dropped(), 2);
        assert_eq!(taken(&ring, 1).len(), 1);
        assert!(put(&producer, &[2; 7]));
    }

    #[test]
    fn reading_stops_after_the_record_that_reaches_the_wanted_size() {
        let ring = Arc::new(Ring::new(256));
        let producer = Producer::new(Arc::clone(&ring));
        (0..5).for_each(|i| assert!(put(&producer, &[i, i])));
        assert_eq!(taken(&ring, 4), [[3, 0, 0], [3, 1, 1]]);
        assert_eq!(taken(&ring, usize::MAX), [[3, 2, 2], [3, 3, 3], [3, 4, 4]]);
    }

    #[test]
    fn nothing_is_lost_or_torn_between_two_threads() {
        const RECORDS: u64 = 20_000;
        let ring = Arc::new(Ring::new(4_096));
        let producer = Producer::new(Arc::clone(&ring));
        let writing = std::thread::spawn(move || {
            for number in 0..RECORDS {
                let words = vec![number; (number % 7) as usize];
                while !put(&producer, &words) {
                    std::thread::yield_now();
                }
            }
        });
        let mut next = 0;
        while next < RECORDS {
            let records = taken(&ring, usize::MAX);
            if records.is_empty() {
                std::thread::yield_now();
            }
            for record in records {
                assert_eq!(record[1..], vec![next; (next % 7) as usize]);
                next += 1;
            }
        }
        assert!(writing.join().is_ok());
        assert!(ring.is_closed());
    }
}
