use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use leat_config::table::Open;
use leat_schema::Method;

use super::constrained;
use super::counts::Counts;
use super::reply::{Replies, Target};
use super::rules::{self, Gate, Info, Rule};
use super::state::{Blocked, Claim, Draws, RuleId, Session, State, Step};
use crate::validate::Guard;

/// What a rule answers a method with, and what it wants of the state. Shared: a call keeps it over a reload.
#[derive(Debug)]
pub(super) struct Answering {
    pub(super) name: Arc<str>,
    pub(super) rule: RuleId,
    pub(super) replies: Replies,
    claim: Claim,
    /// Whether its answers are counted by session.
    is_counted: bool,
    counter: OnceLock<Arc<AtomicU64>>,
}

impl Answering {
    /// It has answered.
    pub(super) fn count(&self, counts: &Counts) {
        self.counter.get_or_init(|| counts.rule(&self.name)).fetch_add(1, Ordering::Relaxed);
    }

    /// What is random in its `call`th answer in a session.
    pub(super) fn draws(&self, state: &State, session: Option<&Session>, call: u64) -> Draws {
        match session {
            Some(session) => state.draws(session, self.rule, call),
            // Nothing of it is looked at: what draws is counted.
            None => Draws::new(0, &[]),
        }
    }

    /// The state of its scenario in a session, as it is now.
    pub(super) fn scenario_state(&self, session: Option<&Session>) -> Option<Arc<str>> {
        session?.scenario(self.claim.scenario.as_ref()?.scenario)
    }
}

/// Compiles what rules answer with.
pub(super) struct Compiler<'s> {
    pub(super) state: &'s State,
    pub(super) guard: &'s Guard,
}

impl rules::Replies for Compiler<'_> {
    type Reply = Arc<Answering>;

    fn compile(&mut self, info: &Info, rule: &Open<'_>, method: &Method) -> Option<Arc<Answering>> {
        let replies = Replies::compile(&rule.section("reply"), &Target::new(method))?;
        if !constrained::hold(&replies, self.guard, rule, method.output()) {
            return None;
        }
        let head = info.head();
        let id = self.state.rule(info.name());
        let times = match (head.times, replies.calls_max()) {
            (Some(times), Some(most)) => Some(times.min(most)),
            (times, most) => times.or(most),
        };
        let scenario = head.scenario.as_ref().map(|step| Step {
            scenario: self.state.scenario(&step.name),
            required: step.required.clone(),
            to: step.to.clone(),
        });
        let is_counted = times.is_some() || scenario.is_some() || replies.counts();
        Some(Arc::new(Answering {
            name: Arc::clone(info.name()),
            rule: id,
            replies,
            claim: Claim { rule: id, times, scenario },
            is_counted,
            counter: OnceLock::new(),
        }))
    }
}

/// What is remembered of the session that a call belongs to; the session is looked up when a rule first needs it.
pub(super) struct Held<'h> {
    state: &'h State,
    key: Option<&'h [u8]>,
    session: Option<Arc<Session>>,
}

impl<'h> Held<'h> {
    pub(super) fn new(state: &'h State, key: Option<&'h [u8]>) -> Self {
        Self { state, key, session: None }
    }

    pub(super) fn into_session(self) -> Option<Arc<Session>> {
        self.session
    }

    fn session(&mut self) -> &Session {
        self.session.get_or_insert_with(|| self.state.session(self.key))
    }
}

impl Gate<Arc<Answering>> for Held<'_> {
    fn claim(&mut self, rule: &Rule<Arc<Answering>>) -> Result<u64, Blocked> {
        let answering = rule.reply();
        if !answering.is_counted && !rule.uses_calls() {
            return Ok(0);
        }
        self.session().claim(&answering.claim)
    }

    fn calls(&mut self, rule: &Rule<Arc<Answering>>) -> u64 {
        self.session().calls(rule.reply().rule)
    }
}
