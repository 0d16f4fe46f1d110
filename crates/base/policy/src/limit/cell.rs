use std::sync::atomic::{AtomicU64, Ordering};

use super::{Limit, Next, Verdict};
use crate::Instant;

/// The state of one key under one limit, shared between threads without a lock.
///
/// All accesses are relaxed: the word is the whole state and guards nothing else. Eight bytes; a store that puts cells of
/// different cores beside each other should pad them.
#[derive(Debug, Default)]
pub struct Cell(AtomicU64);

impl Cell {
    /// The cell of a key that was never seen.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// A cell with a state that [`Cell::state`] gave, for the same limit.
    #[must_use]
    pub const fn from_state(state: u64) -> Self {
        Self(AtomicU64::new(state))
    }

    /// What the limit needs to know of this key.
    #[must_use]
    pub fn state(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Makes it the cell of a key that was never seen, as a store does that gives a key's place to another one.
    pub fn forget(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Asks for `cost` and takes it if it is there. Lock-free: a thread repeats only if another one has just succeeded.
    #[inline]
    pub fn admit(&self, limit: &Limit, now: Instant, cost: u64) -> Verdict {
        self.debit(limit, now, cost).verdict
    }

    /// As [`Cell::admit`], but takes nothing.
    #[must_use]
    pub fn peek(&self, limit: &Limit, now: Instant, cost: u64) -> Verdict {
        limit.next(self.state(), now, cost).verdict
    }

    /// As [`Cell::admit`], with what is needed to take it back.
    #[inline]
    pub(super) fn debit(&self, limit: &Limit, now: Instant, cost: u64) -> Debit {
        let mut before = self.state();
        loop {
            let Next { verdict, state } = limit.next(before, now, cost);
            if state == before {
                return Debit { verdict, before, after: before };
            }
            match self.0.compare_exchange_weak(before, state, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Debit { verdict, before, after: state },
                Err(found) => before = found,
            }
        }
    }

    /// Takes a debit back, if nobody has built on it since.
    pub(super) fn undo(&self, debit: Debit) {
        let _ = self.0.compare_exchange(debit.after, debit.before, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// One change of a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Debit {
    pub(super) verdict: Verdict,
    before: u64,
    after: u64,
}
