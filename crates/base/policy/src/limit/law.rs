use super::{Gcra, SlidingWindow, Verdict};
use crate::Instant;

/// A limit of either kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Limit {
    /// A burst that refills evenly.
    Gcra(Gcra),
    /// So much per window, where the window slides.
    SlidingWindow(SlidingWindow),
}

/// What a limit makes of a request: what to say, and the state to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// What to say of the request.
    pub verdict: Verdict,
    /// The state after it; as before if the request is refused or costs nothing.
    pub state: u64,
}

impl Limit {
    /// What becomes of a request of this cost that comes at `now` and finds `state`; 0 is the state of a key that was
    /// never seen. A cost of 0 is always admitted and changes nothing: it asks how much remains.
    ///
    /// No state and no time makes it panic. Costs a few nanoseconds, no allocation.
    #[must_use]
    #[inline]
    pub fn next(&self, state: u64, now: Instant, cost: u64) -> Next {
        match self {
            Self::Gcra(limit) => limit.next(state, now, cost),
            Self::SlidingWindow(limit) => limit.next(state, now, cost),
        }
    }
}
