use std::sync::LazyLock;

use leat_policy::Instant;

static START: LazyLock<std::time::Instant> = LazyLock::new(std::time::Instant::now);

/// The time of the policies whose state all cores share: a core's own clock begins when the core does. Never zero, which
/// stands for what has not happened. One call of the system's clock, without a system call.
pub(crate) fn now() -> Instant {
    at(std::time::Instant::now())
}

/// The same for an instant that somebody has already.
#[inline]
pub(crate) fn at(instant: std::time::Instant) -> Instant {
    let since = instant.saturating_duration_since(*START);
    Instant::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX).saturating_add(1))
}
