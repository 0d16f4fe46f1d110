use std::time::Duration;

use crate::Instant;

/// Until when a call may take, over queue, attempts, waits and bodies; or no such time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// None: a call may take for ever.
    pub const NONE: Self = Self(None);

    /// At this time.
    #[must_use]
    pub const fn at(time: Instant) -> Self {
        Self(Some(time))
    }

    /// So long after `now`; a time that reaches the end of time is as none. Zero has passed at once.
    #[must_use]
    pub fn after(now: Instant, time: Duration) -> Self {
        match now.after(time) {
            Instant::MAX => Self::NONE,
            end => Self(Some(end)),
        }
    }

    /// The earlier of two, such as the caller's own and the one that it was called with.
    #[must_use]
    pub fn earlier(self, other: Self) -> Self {
        match (self.0, other.0) {
            (Some(a), Some(b)) => Self(Some(a.min(b))),
            (a, b) => Self(a.or(b)),
        }
    }

    /// When it is, if there is one.
    #[must_use]
    pub const fn time(self) -> Option<Instant> {
        self.0
    }

    /// Whether it has passed; at the very time, it has.
    #[must_use]
    pub fn has_passed(self, now: Instant) -> bool {
        self.0.is_some_and(|end| now >= end)
    }

    /// What is left: zero once it has passed, `None` if there is no deadline.
    #[must_use]
    pub fn left(self, now: Instant) -> Option<Duration> {
        self.0.map(|end| end.since(now))
    }

    /// Whether anything is left once `wait` is over. A wait that takes all the rest is useless: nothing could follow it.
    #[must_use]
    pub fn leaves_time_after(self, now: Instant, wait: Duration) -> bool {
        self.left(now).is_none_or(|left| wait < left)
    }

    /// The deadline of an attempt that begins at `now` and may take `per_try`: never behind the whole call's.
    #[must_use]
    pub fn of_try(self, now: Instant, per_try: Option<Duration>) -> Self {
        match per_try {
            Some(time) => self.earlier(Self::after(now, time)),
            None => self,
        }
    }
}
