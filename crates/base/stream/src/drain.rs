use std::cell::Cell;

use crate::clock;

thread_local! {
    static DRAINING: Cell<bool> = const { Cell::new(false) };
}

/// Starts draining this core: every connection wakes up, sees [`is_draining`], and ends after its current exchange.
/// Idempotent; there is no way back.
pub fn begin_drain() {
    DRAINING.set(true);
    clock::wake_all();
}

/// Whether this core is draining.
#[inline]
pub fn is_draining() -> bool {
    DRAINING.get()
}
