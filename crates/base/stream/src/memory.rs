//! Bytes held in buffers by the whole process. Each core counts for itself and settles with the shared total only when
//! its own count has moved by [`SETTLE_BYTES`], so the hot path touches no shared cache line.

use std::cell::Cell;
use std::sync::atomic::{AtomicI64, Ordering};

/// How far a core's count may be from what the shared total knows of it, in bytes.
pub const SETTLE_BYTES: i64 = 256 * 1024;

static TOTAL: AtomicI64 = AtomicI64::new(0);

thread_local! {
    static UNSETTLED: Cell<i64> = const { Cell::new(0) };
}

/// Adds `bytes` (negative: gives back) to what this process holds.
#[inline]
pub fn add(bytes: i64) {
    let unsettled = UNSETTLED.get() + bytes;
    if unsettled.abs() < SETTLE_BYTES {
        UNSETTLED.set(unsettled);
    } else {
        UNSETTLED.set(0);
        TOTAL.fetch_add(unsettled, Ordering::Relaxed);
    }
}

/// Bytes held by the process, up to [`SETTLE_BYTES`] a core too low or too high.
#[inline]
pub fn in_use() -> usize {
    usize::try_from(TOTAL.load(Ordering::Relaxed)).unwrap_or(0)
}

/// Bytes that somebody holds beside the connections' own buffers, counted until it is dropped.
#[derive(Debug, Default)]
pub struct Held {
    bytes: usize,
}

impl Held {
    /// Says how many bytes they are now.
    pub fn set(&mut self, bytes: usize) {
        add(bytes as i64 - self.bytes as i64);
        self.bytes = bytes;
    }

    /// How many bytes they are.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_given_back() {
        let before = UNSETTLED.get();
        let mut held = Held::default();
        for bytes in [1_000, 50_000, 20] {
            held.set(bytes);
            assert_eq!((held.bytes(), UNSETTLED.get() - before), (bytes, bytes as i64));
        }
        drop(held);
        assert_eq!(UNSETTLED.get(), before);
    }
}
