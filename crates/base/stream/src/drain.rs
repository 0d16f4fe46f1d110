use std::cell::Cell;
use std::rc::Rc;

use tokio::sync::Notify;

use crate::clock;

thread_local! {
    static DRAINING: Cell<bool> = const { Cell::new(false) };
    static BEGUN: Rc<Notify> = Rc::new(Notify::new());
}

/// Starts draining this core: every connection wakes up, sees [`is_draining`], and ends after its current exchange.
/// Idempotent; there is no way back.
pub fn begin_drain() {
    DRAINING.set(true);
    BEGUN.with(|begun| begun.notify_waiters());
    clock::wake_all();
}

/// Whether this core is draining.
#[inline]
pub fn is_draining() -> bool {
    DRAINING.get()
}

/// Ready once this core drains. For those that wait without a timer, such as an accept loop: they keep no tick alive.
pub async fn drain_begun() {
    let begun = BEGUN.with(Rc::clone);
    // Made before the look at the switch: such a waiter hears of a notice in between.
    let notified = begun.notified();
    if !is_draining() {
        notified.await;
    }
}
