use std::time::Duration;

use super::{Backoff, Body, Budget, BudgetCell, Conditions, Idempotency, Outcome};
use crate::{Deadline, Instant, Random, SettingsError};

/// When to try again, and when to stop.
#[derive(Clone, Debug)]
pub struct Retry {
    retries_max: u32,
    backoff: Backoff,
    retry_after_max: Duration,
    conditions: Conditions,
}

/// An attempt that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Try {
    /// Its number, from 0.
    pub number: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// What the response's `Retry-After` asks for, see [`super::parse_retry_after`].
    pub retry_after: Option<Duration>,
    /// Whether the request may be done twice.
    pub idempotency: Idempotency,
    /// Whether its body can be sent again.
    pub body: Body,
}

/// Try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Again {
    /// After this time.
    pub wait: Duration,
}

/// Why there is no other try. [`Stop::name`] is for records and metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The outcome is not worth another try: it is a success, or nothing that a try could mend.
    Final,
    /// It would be, if the request were idempotent.
    NotIdempotent,
    /// Part of the request's body is gone.
    BodyConsumed,
    /// There were as many tries as may be.
    Exhausted,
    /// The upstream asks for a longer wait than we are ready for; to come sooner would be to ignore it.
    RetryAfterTooLong,
    /// The wait would end at or behind the deadline.
    Deadline,
    /// The upstream got as many retries as it may.
    Budget,
}

impl Stop {
    /// A stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Final => "final",
            Self::NotIdempotent => "not_idempotent",
            Self::BodyConsumed => "body_consumed",
            Self::Exhausted => "exhausted",
            Self::RetryAfterTooLong => "retry_after_too_long",
            Self::Deadline => "deadline",
            Self::Budget => "budget",
        }
    }
}

impl Retry {
    /// The most retries of one request that may be set.
    pub const RETRIES_MAX: u32 = 100;

    /// At most `retries_max` tries after the first one; `retry_after_max` is the longest wait that an upstream may ask for.
    ///
    /// # Errors
    /// `retries_max` above [`Retry::RETRIES_MAX`]; 0 is right and means none.
    pub fn new(
        retries_max: u32,
        backoff: Backoff,
        retry_after_max: Duration,
        conditions: Conditions,
    ) -> Result<Self, SettingsError> {
        if retries_max > Self::RETRIES_MAX {
            return Err(SettingsError::TooLarge { name: "retries_max", max: u64::from(Self::RETRIES_MAX) });
        }
        Ok(Self { retries_max, backoff, retry_after_max, conditions })
    }

    /// What follows on an attempt that has ended at `now`. One draw, and none if it stops before the wait is known.
    ///
    /// The wait is that of the back-off; if the upstream asked for a time, that time and a part of the back-off's base on
    /// top, so that those who were told the same time don't come in the same moment.
    ///
    /// # Errors
    /// The first reason to stop, in the order of [`Stop`]. The budget is asked last, so that no other reason costs a token.
    pub fn after(
        &self,
        attempt: &Try,
        now: Instant,
        deadline: Deadline,
        budget: Option<(&Budget, &BudgetCell)>,
        random: &mut impl Random,
    ) -> Result<Again, Stop> {
        self.conditions.allow(attempt.idempotency, attempt.outcome)?;
        if attempt.body == Body::Consumed {
            return Err(Stop::BodyConsumed);
        }
        if attempt.number >= self.retries_max {
            return Err(Stop::Exhausted);
        }
        let wait = match attempt.retry_after {
            Some(time) if time > self.retry_after_max => return Err(Stop::RetryAfterTooLong),
            Some(time) => {
                time.saturating_add(Duration::from_nanos(random.part(crate::time::nanos(self.backoff.base()))))
            }
            None => self.backoff.wait(attempt.number, random),
        };
        if !deadline.leaves_time_after(now, wait) {
            return Err(Stop::Deadline);
        }
        match budget {
            Some((budget, cell)) if !budget.withdraw(cell, now) => Err(Stop::Budget),
            _ => Ok(Again { wait }),
        }
    }
}
