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
