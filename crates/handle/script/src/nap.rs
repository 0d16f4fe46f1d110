//! Tells hosts when the engine's thread sleeps, so that they wake it only then. On one core that is rare: the thread that
//! woke a host is displaced by it, and would look for replies as soon as it goes on.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use crate::lane::Lane;

thread_local! {
    static LANES: RefCell<Vec<Weak<Lane>>> = const { RefCell::new(Vec::new()) };
}

/// The lane is served by this thread from now on.
pub(crate) fn join(lane: &Rc<Lane>) {
    LANES.with_borrow_mut(|lanes| {
        lanes.retain(|lane| lane.strong_count() > 0);
        lanes.push(Rc::downgrade(lane));
    });
}

/// To be called on an engine's thread each time before it sleeps. A lane whose host has sent something meanwhile gets its
/// task woken, so that the thread finds something to do instead. Where it is never called, hosts wake the thread each time.
pub fn before_park() {
    LANES.with_borrow(|lanes| {
        lanes.iter().filter_map(Weak::upgrade).for_each(|lane| {
            lane.fall_asleep();
        })
    });
}

/// To be called on an engine's thread each time after it slept.
pub fn after_park() {
    LANES.with_borrow(|lanes| lanes.iter().filter_map(Weak::upgrade).for_each(|lane| lane.wake_up()));
}
