use super::{Idempotency, Outcome, Stop};
use crate::SettingsError;

/// The statuses that can be named, 100 to 599.
const STATUSES: usize = 500;

/// Which outcomes are worth another try.
///
/// What was surely not processed is tried again with any method. Where nobody knows what was done, only idempotent requests
/// are (RFC 9110 section 9.2.2). A status is tried again if it is listed: one list for idempotent requests, and one,
/// part of the first, of statuses that say that nothing was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conditions {
    idempotent: StatusSet,
    any: StatusSet,
    not_sent: bool,
    broken: bool,
    timed_out: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct StatusSet([u64; STATUSES.div_ceil(64)]);

impl Default for Conditions {
    /// Whatever did not reach the upstream or broke; 429, 502, 503, 504, of which only 429 with any method. Not a time-out:
    /// an upstream that is slow under load would get the load twice.
    fn default() -> Self {
        let mut none = Self {
            idempotent: StatusSet::EMPTY,
            any: StatusSet::EMPTY,
            not_sent: true,
            broken: true,
            timed_out: false,
        };
        for status in [429, 502, 503, 504] {
            none.idempotent.add(status);
        }
        none.any.add(429);
        none
    }
}

impl Conditions {
    /// As [`Conditions::default`], with other statuses: `idempotent` for idempotent requests, `any` for all.
    ///
    /// # Errors
    /// A status that is not from 100 to 599.
    pub fn with_statuses(self, idempotent: &[u16], any: &[u16]) -> Result<Self, SettingsError> {
        let mut made = Self { idempotent: StatusSet::EMPTY, any: StatusSet::EMPTY, ..self };
        for &status in idempotent.iter().chain(any) {
            if status < 100 {
                return Err(SettingsError::TooSmall { name: "status", min: 100 });
            }
            if !made.idempotent.add(status) {
                return Err(SettingsError::TooLarge { name: "status", max: 599 });
            }
        }
        for &status in any {
            made.any.add(status);
        }
        Ok(made)
    }

    /// Which failures without a status are tried again: those that [`Outcome::NotSent`] and [`Outcome::NotProcessed`] name,
    /// [`Outcome::Broken`], [`Outcome::TimedOut`].
    #[must_use]
    pub fn with_failures(self, not_sent: bool, broken: bool, timed_out: bool) -> Self {
        Self { not_sent, broken, timed_out, ..self }
    }

    /// Whether this outcome of such a request is worth another try.
    ///
    /// # Errors
    /// [`Stop::Final`] if it is not with any method, [`Stop::NotIdempotent`] if only the method stands in the way.
    pub fn allow(&self, idempotency: Idempotency, outcome: Outcome) -> Result<(), Stop> {
        let (idempotent, any) = match outcome {
            Outcome::NotSent | Outcome::NotProcessed => (self.not_sent, self.not_sent),
            Outcome::Broken => (self.broken, false),
            Outcome::TimedOut => (self.timed_out, false),
            Outcome::Status(status) => (self.idempotent.has(status), self.any.has(status)),
            Outcome::PassedOn | Outcome::Cancelled => (false, false),
        };
        match idempotency {
            _ if any => Ok(()),
            Idempotency::Idempotent if idempotent => Ok(()),
            Idempotency::NotIdempotent if idempotent => Err(Stop::NotIdempotent),
            _ => Err(Stop::Final),
        }
    }
}

impl StatusSet {
    const EMPTY: Self = Self([0; STATUSES.div_ceil(64)]);

    /// False if there is no place for it.
    fn add(&mut self, status: u16) -> bool {
        let bit = usize::from(status.wrapping_sub(100));
        match self.0.get_mut(bit / 64) {
            Some(word) if bit < STATUSES => {
                *word |= 1 << (bit % 64);
                true
            }
            _ => false,
        }
    }

    fn has(&self, status: u16) -> bool {
        let bit = usize::from(status.wrapping_sub(100));
        self.0.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }
}
