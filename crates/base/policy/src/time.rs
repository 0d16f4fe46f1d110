use std::time::Duration;

/// A point in time: nanoseconds since a moment that the caller chose, such as the start of the process.
///
/// 64 bits last for 584 years. Arithmetic saturates: at the end of time the clock stands still, and limits refuse.
/// Threads may see clocks that differ a little, and a clock may step back; each policy says what it makes of that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The moment from which time is counted.
    pub const ZERO: Self = Self(0);
    /// The end of time.
    pub const MAX: Self = Self(u64::MAX);

    /// So many nanoseconds after [`Instant::ZERO`].
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// So many microseconds after [`Instant::ZERO`]; from 2^64 nanoseconds on, [`Instant::MAX`].
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1000))
    }

    /// Nanoseconds since [`Instant::ZERO`].
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// This much later, at most [`Instant::MAX`].
    #[must_use]
    pub fn after(self, time: Duration) -> Self {
        Self(self.0.saturating_add(nanos(time)))
    }

    /// This much earlier, at least [`Instant::ZERO`].
    #[must_use]
    pub fn before(self, time: Duration) -> Self {
        Self(self.0.saturating_sub(nanos(time)))
    }

    /// The time since `earlier`; zero if that is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// A duration in nanoseconds, at most 2^64 - 1.
pub(crate) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
