use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::names::Names;
use super::{Blocked, Claim, RuleId, ScenarioId, draws, lock};

/// The state that a scenario is in before anything has set it.
pub const INITIAL_STATE: &str = "start";

/// What is remembered for calls with the same key. A call that holds one keeps it whatever becomes of the key.
#[derive(Debug)]
pub struct Session {
    key: Box<[u8]>,
    hash: u64,
    used: AtomicU64,
    cells: Mutex<Cells>,
}

#[derive(Debug, Default)]
struct Cells {
    calls: HashMap<u32, u64>,
    scenarios: HashMap<u32, Arc<str>>,
}

/// A session for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionView {
    /// The key; empty for the session of calls without one. Bytes that are not UTF-8 are replaced.
    pub key: String,
    /// How often each rule has answered, of those that count it, by name.
    pub calls: Vec<(String, u64)>,
    /// The state of each scenario that has left its first one, by name.
    pub scenarios: Vec<(String, String)>,
}

impl Session {
    pub(super) fn new(key: &[u8]) -> Self {
        Self { key: key.into(), hash: draws::hash(key), used: AtomicU64::new(0), cells: Mutex::default() }
    }

    /// Its key; empty for the session of calls without one.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    pub(super) fn used(&self, now: u64) {
        self.used.store(now, Ordering::Relaxed);
    }

    pub(super) fn last_use(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Lets a rule answer if it may: counts the call and moves the scenario on. What comes back is the call's number among
    /// the rule's in this session, from 1. Checks and acts at once: of two calls at the same time only one is the last that
    /// `times` allows.
    ///
    /// # Errors
    ///
    /// Why it may not; then nothing has changed.
    pub fn claim(&self, claim: &Claim) -> Result<u64, Blocked> {
        let mut cells = lock(&self.cells);
        cells.check(claim)?;
        if let Some(step) = &claim.scenario
            && let Some(to) = &step.to
        {
            cells.scenarios.insert(step.scenario.number(), Arc::clone(to));
        }
        let calls = cells.calls.entry(claim.rule.number()).or_default();
        *calls += 1;
        Ok(*calls)
    }

    /// Whether the rule might answer now. Changes nothing.
    ///
    /// # Errors
    ///
    /// Why it may not.
    pub fn check(&self, claim: &Claim) -> Result<(), Blocked> {
        lock(&self.cells).check(claim)
    }

    /// How often the rule has answered.
    pub fn calls(&self, rule: RuleId) -> u64 {
        lock(&self.cells).calls.get(&rule.number()).copied().unwrap_or_default()
    }

    /// The state that a scenario is in; `None` for [`INITIAL_STATE`].
    pub fn scenario(&self, scenario: ScenarioId) -> Option<Arc<str>> {
        lock(&self.cells).scenarios.get(&scenario.number()).map(Arc::clone)
    }

    pub(super) fn set_scenario(&self, scenario: ScenarioId, state: Arc<str>) {
        lock(&self.cells).scenarios.insert(scenario.number(), state);
    }

    pub(super) fn reset(&self) {
        *lock(&self.cells) = Cells::default();
    }

    pub(super) fn forget(&self, rules: &[u32]) {
        let mut cells = lock(&self.cells);
        for rule in rules {
            cells.calls.remove(rule);
        }
    }

    pub(super) fn view(&self, names: &Names) -> SessionView {
        let cells = lock(&self.cells);
        let scenarios = names.named_scenarios(&cells.scenarios);
        SessionView {
            key: String::from_utf8_lossy(&self.key).into_owned(),
            calls: names.named_rules(&cells.calls),
            scenarios: scenarios.into_iter().map(|(name, state)| (name, state.to_string())).collect(),
        }
    }
}

impl Cells {
    fn check(&self, claim: &Claim) -> Result<(), Blocked> {
        if let Some(step) = &claim.scenario
            && let Some(required) = &step.required
        {
            let seen = self.scenarios.get(&step.scenario.number());
            if seen.map_or(INITIAL_STATE, |seen| seen) != &**required {
                let seen = seen.map_or_else(|| INITIAL_STATE.into(), Arc::clone);
                return Err(Blocked::Scenario { required: Arc::clone(required), seen });
            }
        }
        match claim.times {
            Some(limit) if self.calls.get(&claim.rule.number()).copied().unwrap_or_default() >= limit => {
                Err(Blocked::Times { limit })
            }
            _ => Ok(()),
        }
    }
}
