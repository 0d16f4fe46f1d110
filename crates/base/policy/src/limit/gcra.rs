use std::time::Duration;

use super::{Decision, Next, Verdict};
use crate::time::nanos;
use crate::{Instant, SettingsError};

/// The longest time that a burst may take to come back: 2^62 ns, 146 years.
const TOLERANCE_NS_MAX: u64 = 1 << 62;

/// The generic cell rate algorithm: a burst that refills evenly, as a leaky bucket does, in one number.
///
/// The state is the theoretical arrival time (TAT): when the bucket is full again, in nanoseconds. A request of cost `c`
/// at `now` moves it to `max(TAT, now) + c × interval` and is admitted if that is at most `burst × interval` after `now`.
///
/// **Bound.** All requests admitted with times in any closed window of length T cost at most `burst + rate × T`,
/// in whatever order they came: the first moves the TAT to at least the window's start plus its cost, each other one by
/// at least its cost, and the last leaves it at most `burst × interval` behind the window's end. So threads whose clocks
/// differ, or a clock that steps back, never admit more; they may admit less, as a TAT set by a later clock stands.
///
/// The interval is rounded up to whole nanoseconds, which lowers a rate of R a second by at most R parts in 10^9.
///
/// ITU-T I.371 annex A (virtual scheduling).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gcra {
    quota: u64,
    per: Duration,
    burst: u64,
    interval_ns: u64,
    /// `burst × interval_ns`.
    tolerance_ns: u64,
}

impl Gcra {
    /// A limit of `quota` units per `per`, of which `burst` may come at once.
    ///
    /// # Errors
    /// A zero; more than one unit a nanosecond; a burst that takes more than 146 years to come back.
    pub fn new(quota: u64, per: Duration, burst: u64) -> Result<Self, SettingsError> {
        for (name, is_zero) in [("quota", quota == 0), ("per", per.is_zero()), ("burst", burst == 0)] {
            if is_zero {
                return Err(SettingsError::Zero { name });
            }
        }
        let per_ns = nanos(per);
        if quota > per_ns {
            return Err(SettingsError::TooLarge { name: "quota", max: per_ns });
        }
        let interval_ns = per_ns.div_ceil(quota);
        match burst.checked_mul(interval_ns) {
            Some(tolerance_ns) if tolerance_ns <= TOLERANCE_NS_MAX => {
                Ok(Self { quota, per, burst, interval_ns, tolerance_ns })
            }
            _ => Err(SettingsError::TooLarge { name: "burst", max: TOLERANCE_NS_MAX / interval_ns }),
        }
    }

    /// Units per [`Gcra::per`]: the `q` of `RateLimit-Policy`.
    #[must_use]
    pub const fn quota(&self) -> u64 {
        self.quota
    }

    /// The time in which the quota comes: the `w` of `RateLimit-Policy`.
    #[must_use]
    pub const fn per(&self) -> Duration {
        self.per
    }

    /// Units that may come at once.
    #[must_use]
    pub const fn burst(&self) -> u64 {
        self.burst
    }

    /// The time in which one unit comes, in nanoseconds.
    #[must_use]
    pub const fn interval_ns(&self) -> u64 {
        self.interval_ns
    }

    /// See [`super::Limit::next`].
    #[must_use]
    #[inline]
    pub fn next(&self, state: u64, now: Instant, cost: u64) -> Next {
        let now_ns = now.as_nanos();
        let debt_ns = state.saturating_sub(now_ns);
        if cost == 0 {
            return Next { verdict: self.verdict(Decision::Admit, debt_ns), state };
        }
        if cost > self.burst {
            return Next { verdict: self.verdict(Decision::Refuse { retry_after: None }, debt_ns), state };
        }
        // At most the tolerance, since the cost is at most the burst.
        let step_ns = cost * self.interval_ns;
        let debt_after_ns = debt_ns.saturating_add(step_ns);
        if debt_after_ns > self.tolerance_ns {
            let retry_after = Some(Duration::from_nanos(debt_after_ns - self.tolerance_ns));
            return Next { verdict: self.verdict(Decision::Refuse { retry_after }, debt_ns), state };
        }
        match state.max(now_ns).checked_add(step_ns) {
            Some(tat) => Next { verdict: self.verdict(Decision::Admit, debt_after_ns), state: tat },
            // The end of time: nothing refills any more.
            None => Next { verdict: self.verdict(Decision::Refuse { retry_after: None }, debt_ns), state },
        }
    }

    fn verdict(&self, decision: Decision, debt_ns: u64) -> Verdict {
        let remaining = self.tolerance_ns.saturating_sub(debt_ns) / self.interval_ns;
        Verdict { decision, remaining, reset: Duration::from_nanos(debt_ns) }
    }
}
