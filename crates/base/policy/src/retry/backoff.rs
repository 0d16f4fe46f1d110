use std::time::Duration;

use crate::time::nanos;
use crate::{Random, SettingsError};

/// How a wait is spread, so that clients that failed together don't come back together.
///
/// Names as in Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// All of the wait is random: from 0 up to, not including, the ceiling. Spreads best.
    Full,
    /// Half of the wait is sure, the other half random. Never comes back at once.
    Equal,
}

/// Waits that double from retry to retry, up to a cap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backoff {
    base_ns: u64,
    max_ns: u64,
    jitter: Jitter,
}

impl Backoff {
    /// The first retry waits for at most `base`, each one more for at most twice as long, none longer than `max`.
    ///
    /// # Errors
    /// A zero; `base` above `max`; `max` above [`Backoff::MAX`].
    pub fn new(base: Duration, max: Duration, jitter: Jitter) -> Result<Self, SettingsError> {
        if base.is_zero() {
            return Err(SettingsError::Zero { name: "base" });
        }
        if max > Self::MAX {
            return Err(SettingsError::TooLarge { name: "max", max: nanos(Self::MAX) });
        }
        if base > max {
            return Err(SettingsError::Above { name: "base", bound: "max" });
        }
        Ok(Self { base_ns: nanos(base), max_ns: nanos(max), jitter })
    }

    /// The longest wait that may be set: a day.
    pub const MAX: Duration = Duration::from_secs(86_400);

    /// The least time that the first retry's wait is spread over.
    #[must_use]
    pub const fn base(&self) -> Duration {
        Duration::from_nanos(self.base_ns)
    }

    /// What the wait before retry `number` (from 0) may not reach: `min(max, base × 2^number)`.
    #[must_use]
    pub fn ceiling(&self, number: u32) -> Duration {
        let factor = 1_u64.checked_shl(number).unwrap_or(u64::MAX);
        Duration::from_nanos(self.base_ns.saturating_mul(factor).min(self.max_ns))
    }

    /// The wait before retry `number` (from 0). One draw.
    pub fn wait(&self, number: u32, random: &mut impl Random) -> Duration {
        let ceiling_ns = nanos(self.ceiling(number));
        let sure_ns = match self.jitter {
            Jitter::Full => 0,
            Jitter::Equal => ceiling_ns / 2,
        };
        Duration::from_nanos(sure_ns + random.part(ceiling_ns - sure_ns))
    }
}
