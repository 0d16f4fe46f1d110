use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// A bounded queue of records between one core and the writer: words in a circle, the core writes at `head`, the writer
/// reads at `tail`. Words are atomics so that no `unsafe` is needed; on every processor we care about a relaxed store
/// is a plain one.
///
/// Invariant: `tail <= head <= tail + words.len()`, both only grow, and everything below `head` is complete. A record's
/// first word is its length in words, itself included.
#[derive(Debug)]
pub(super) struct Ring {
    words: Box<[AtomicU64]>,
    head: Aligned<AtomicUsize>,
    tail: Aligned<AtomicUsize>,
    dropped: Aligned<AtomicU64>,
    closed: AtomicBool,
}

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

    fn word(&self, at: usize) -> Option<&AtomicU64> {
        self.words.get(at & (self.words.len() - 1))
    }

    /// Records that found no room.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.0.load(Ordering::Relaxed)
    }

    /// Whether the writing side is gone. To be asked before the last [`Ring::read`].
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Reads whole records into `out` (which is cleared) until about `words_max` words are in it. The reader's side.
    pub(super) fn read(&self, out: &mut Vec<u64>, words_max: usize) {
        out.clear();
        let head = self.head.0.load(Ordering::Acquire);
        let mut at = self.tail.0.load(Ordering::Relaxed);
        while at != head && out.len() < words_max {
            let Some(length) = self.word(at).map(|word| word.load(Ordering::Relaxed) as usize) else { break };
            let end = at + length.clamp(1, head - at);
            while at != end {
                out.extend(self.word(at).map(|word| word.load(Ordering::Relaxed)));
                at += 1;
            }
        }
        self.tail.0.store(at, Ordering::Release);
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
        if self.waiting_at_most() + words > self.ring.words.len() && self.waiting() + words > self.ring.words.len() {
            let dropped = &self.ring.dropped.0;
            dropped.store(dropped.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            return None;
        }
        Some(Slot { ring: &self.ring, head: &self.head, at, end: at + words })
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
    ring: &'a Ring,
    head: &'a Cell<usize>,
    at: usize,
    end: usize,
}

impl Slot<'_> {
    #[inline]
    pub(super) fn word(&mut self, word: u64) {
        if self.at < self.end
            && let Some(cell) = self.ring.word(self.at)
        {
            cell.store(word, Ordering::Relaxed);
            self.at += 1;
        }
    }

    /// Writes bytes, filled up with zeros to whole words.
    #[inline]
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for &word in words {
            self.word(u64::from_le_bytes(word));
        }
        if !rest.is_empty() {
            let mut last = [0; 8];
            last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            self.word(u64::from_le_bytes(last));
        }
    }

    /// Hands the record to the reader.
    #[inline]
    pub(super) fn commit(mut self) {
        while self.at < self.end {
            self.word(0);
        }
        self.head.set(self.end);
        self.ring.head.0.store(self.end, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(producer: &Producer, words: &[u64]) -> bool {
        let Some(mut slot) = producer.begin(words.len() + 1) else { return false };
        slot.word(words.len() as u64 + 1);
        words.iter().for_each(|&word| slot.word(word));
        slot.commit();
        true
    }

    #[test]
    fn records_come_out_whole_and_in_order_around_the_end() {
        let ring = Arc::new(Ring::new(64));
        let producer = Producer::new(Arc::clone(&ring));
        let mut out = Vec::new();
        for round in 0..100 {
            assert!(put(&producer, &[round, round + 1]));
            assert!(put(&producer, &[round + 2]));
            assert_eq!(producer.waiting(), 5);
            ring.read(&mut out, usize::MAX);
            assert_eq!(out, [3, round, round + 1, 2, round + 2]);
        }
        assert_eq!(ring.dropped(), 0);
    }

    #[test]
    fn a_full_ring_drops_counts_and_recovers() {
        let ring = Arc::new(Ring::new(64));
        let producer = Producer::new(Arc::clone(&ring));
        assert!(put(&producer, &[1; 7]));
        assert!(!put(&producer, &[]));
        assert!(!put(&producer, &[]));
        assert_eq!(ring.dropped(), 2);
        ring.read(&mut Vec::new(), 1);
        assert!(put(&producer, &[2; 7]));
    }

    #[test]
    fn reading_stops_after_the_record_that_reaches_the_wanted_size() {
        let ring = Arc::new(Ring::new(256));
        let producer = Producer::new(Arc::clone(&ring));
        (0..5).for_each(|i| assert!(put(&producer, &[i, i])));
        let mut out = Vec::new();
        ring.read(&mut out, 4);
        assert_eq!(out, [3, 0, 0, 3, 1, 1]);
        ring.read(&mut out, usize::MAX);
        assert_eq!(out.len(), 9);
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
        let (mut out, mut next) = (Vec::new(), 0);
        while next < RECORDS {
            ring.read(&mut out, usize::MAX);
            if out.is_empty() {
                std::thread::yield_now();
            }
            let mut rest = &out[..];
            while let Some((&length, tail)) = rest.split_first() {
                let (words, tail) = tail.split_at(length as usize - 1);
                assert_eq!(words, vec![next; (next % 7) as usize]);
                (next, rest) = (next + 1, tail);
            }
        }
        assert!(writing.join().is_ok());
        assert!(ring.is_closed());
    }
}
