use crate::{Counter, LimitCounts, Shared};

/// What a core counts for one rate limit; reached through [`crate::Limit`].
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct LimitCells {
    /// Requests that the limit let pass.
    pub admitted: Counter,
    /// Requests that it refused.
    pub refused: Counter,
    /// Requests that it would have refused, were it not in shadow mode.
    pub shadowed: Counter,
    /// Requests for which Redis gave no answer; what became of them is `on_error`'s.
    pub errors: Counter,
    /// By how many units less than one counter this process's leases may admit. All cores say the same number.
    pub lease_error: Shared,
    /// Keys that were forgotten for want of room while they still owed something.
    pub evicted: Counter,
}

impl LimitCells {
    pub(crate) fn add_to(&self, counts: &mut LimitCounts) {
        counts.admitted += self.admitted.get();
        counts.refused += self.refused.get();
        counts.shadowed += self.shadowed.get();
        counts.errors += self.errors.get();
        counts.lease_error = counts.lease_error.max(self.lease_error.get());
        counts.evicted += self.evicted.get();
    }
}
