use std::sync::atomic::{AtomicUsize, Ordering};

/// One after the other. One atomic addition, and a step for each endpoint in a row that can't be used.
#[derive(Debug, Default)]
pub struct RoundRobin(AtomicUsize);

impl RoundRobin {
    /// Begins with the first.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// The next of `count` endpoints, or the first behind it that is usable; `None` if none is. The endpoint behind an
    /// unusable one gets the share of both: where that matters, balance over a list of usable ones.
    pub fn pick(&self, count: usize, usable: impl Fn(usize) -> bool) -> Option<usize> {
        if count == 0 {
            return None;
        }
        let first = self.0.fetch_add(1, Ordering::Relaxed) % count;
        (first..count).chain(0..first).find(|index| usable(*index))
    }
}
