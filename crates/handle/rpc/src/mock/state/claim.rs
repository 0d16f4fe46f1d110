use std::fmt;
use std::sync::Arc;

use super::{RuleId, ScenarioId};

/// What a rule wants of the state before it may answer, and what it does to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The rule whose answers are counted.
    pub rule: RuleId,
    /// How often it may answer in a session; `None` for always.
    pub times: Option<u64>,
    /// The scenario that it belongs to.
    pub scenario: Option<Step>,
}

/// A rule's part in a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The scenario.
    pub scenario: ScenarioId,
    /// The state that it must be in; `None` for any.
    pub required: Option<Arc<str>>,
    /// The state that it is in afterwards; `None` to leave it.
    pub to: Option<Arc<str>>,
}

impl Claim {
    /// A claim that only counts.
    #[must_use]
    pub const fn counted(rule: RuleId) -> Self {
        Self { rule, times: None, scenario: None }
    }
}

/// Why a rule may not answer, although the call matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// It has answered as often as it may.
    Times {
        /// How often that is.
        limit: u64,
    },
    /// Its scenario is in another state.
    Scenario {
        /// The state that the rule needs.
        required: Arc<str>,
        /// The state that it is in.
        seen: Arc<str>,
    },
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Times { limit } => write!(f, "it has answered {limit} times, which is all that `times` allows"),
            Self::Scenario { required, seen } => write!(f, "its scenario must be in `{required}` and is in `{seen}`"),
        }
    }
}
