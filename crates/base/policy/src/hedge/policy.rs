use std::time::Duration;

use super::Latencies;
use crate::retry::{Body, Budget, BudgetCell, Idempotency, Stop};
use crate::time::nanos;
use crate::{Deadline, Instant, SettingsError};

/// When a try counts as slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// After this time.
    Time(Duration),
    /// After what this part of the requests takes, in percent; never while that is not known.
    Percent(u32),
}

/// When another try begins beside those of a request that have not answered.
///
/// Dean and Barroso, "The Tail at Scale", CACM 2013: sent after the 95th percentile, a twentieth of the requests more cuts
/// the tail of the latencies. Here it costs what a retry costs, so that a slow upstream doesn't get its load twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hedge {
    after: After,
    hedges_max: u32,
}

/// A request that is waited for.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// Hedges that it had.
    pub hedges: u32,
    /// Whether it may be done twice.
    pub idempotency: Idempotency,
    /// Whether its body can be sent again.
    pub body: Body,
}

impl Hedge {
    /// The most hedges of one request that may be set.
    pub const HEDGES_MAX: u32 = 10;
    /// The longest time that may be set: a day.
    pub const TIME_MAX: Duration = Duration::from_secs(86_400);

    /// At most `hedges_max` for one request, each after another such time.
    ///
    /// # Errors
    /// A zero; `hedges_max` above [`Hedge::HEDGES_MAX`]; a time above [`Hedge::TIME_MAX`]; more than 99 percent.
    pub fn new(after: After, hedges_max: u32) -> Result<Self, SettingsError> {
        match after {
            After::Time(Duration::ZERO) | After::Percent(0) => return Err(SettingsError::Zero { name: "after" }),
            After::Time(time) if time > Self::TIME_MAX => {
                return Err(SettingsError::TooLarge { name: "after", max: nanos(Self::TIME_MAX) });
            }
            After::Percent(percent) if percent > 99 => {
                return Err(SettingsError::TooLarge { name: "after", max: 99 });
            }
            After::Time(_) | After::Percent(_) => {}
        }
        match hedges_max {
            0 => Err(SettingsError::Zero { name: "max" }),
            1..=Self::HEDGES_MAX => Ok(Self { after, hedges_max }),
            _ => Err(SettingsError::TooLarge { name: "max", max: u64::from(Self::HEDGES_MAX) }),
        }
    }

    /// What has to be measured for it; `None` for nothing.
    #[must_use]
    pub fn latencies(&self) -> Option<Latencies> {
        match self.after {
            After::Time(_) => None,
            After::Percent(percent) => Some(Latencies::new(percent)),
        }
    }

    /// How long a request is waited for before its next hedge; `None` for ever.
    #[must_use]
    pub fn wait(&self, hedges: u32, latencies: Option<&Latencies>) -> Option<Duration> {
        if hedges >= self.hedges_max {
            return None;
        }
        match self.after {
            After::Time(time) => Some(time),
            After::Percent(_) => latencies?.percentile(),
        }
    }

    /// Whether a hedge may begin now.
    ///
    /// # Errors
    /// The first reason why not, in the order of [`Stop`]. The budget is asked last, so that no other reason costs a token.
    pub fn ask(
        &self,
        asked: &Asked,
        now: Instant,
        deadline: Deadline,
        budget: (&Budget, &BudgetCell),
    ) -> Result<(), Stop> {
        if asked.idempotency == Idempotency::NotIdempotent {
            return Err(Stop::NotIdempotent);
        }
        if asked.body == Body::Consumed {
            return Err(Stop::BodyConsumed);
        }
        if asked.hedges >= self.hedges_max {
            return Err(Stop::Exhausted);
        }
        if deadline.has_passed(now) {
            return Err(Stop::Deadline);
        }
        if budget.0.withdraw(budget.1, now) { Ok(()) } else { Err(Stop::Budget) }
    }
}
