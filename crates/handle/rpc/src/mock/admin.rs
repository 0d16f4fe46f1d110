//! What the admin API shows of a mock, and what it changes.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use leat_config::Problem;
use leat_schema::Schema;
use serde_json::{Value, json};

use super::journal::{self, Entry, Expected, Filter, FilterError, Messages, Verdict, Way};
use super::record::json as message_json;
use super::rules::{Asked, Info};
use super::secret::hidden_if_open;
use super::state::INITIAL_STATE;
use super::{Loaded, Mock};

/// Rows of one answer; the rest is asked for with `from`.
pub const PAGE: usize = 1_000;

/// What is forgotten by a reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reset {
    /// The journal's calls.
    pub calls: bool,
    /// States of scenarios, counts of `times` and places in sequences.
    pub state: bool,
}

impl Mock {
    /// The schema's services and methods, how many rules there are, and what the journal holds.
    pub fn overview(&self) -> Value {
        let loaded = self.loaded();
        let services = loaded.as_deref().map(services).unwrap_or_default();
        let stats = self.journal.stats();
        json!({
            "services": services,
            "rules": loaded.as_deref().map_or(0, Loaded::rules),
            "added": self.added_names(),
            "calls": self.counts.calls(),
            "unmatched": self.counts.of_unmatched(),
            "sessions": self.state.session_count(),
            "sessions_evicted": self.state.evicted(),
            "journal": {
                "calls": stats.entries,
                "bytes": stats.bytes,
                "dropped": stats.dropped,
                "frames_dropped": stats.frames_dropped,
            },
        })
    }

    /// The session that is meant by a text of the admin API.
    fn session_meant<'s>(&self, asked: &'s str) -> Cow<'s, str> {
        let is_hidden = self.loaded().is_some_and(|loaded| loaded.hides_sessions());
        if is_hidden { hidden_if_open(asked) } else { asked.into() }
    }

    /// The calls from number `from` on that a filter takes, without their messages.
    pub fn calls(&self, mut filter: Filter, from: u64) -> Value {
        let Some(loaded) = self.loaded() else { return Value::Null };
        filter.name_session(&|asked| self.session_meant(asked).into_owned());
        let messages = OfSchema(loaded.schema());
        let mut taken = self.journal.copy(|entry| entry.number >= from);
        taken.retain(|entry| filter.takes(entry, &messages));
        let next = taken.get(PAGE).map(|entry| entry.number);
        let calls: Vec<Value> = taken.iter().take(PAGE).map(|entry| journal::show(entry, &messages, false)).collect();
        json!({ "calls": calls, "next": next, "dropped": self.journal.stats().dropped })
    }

    /// One call with its messages; `None` where the journal does not have it (any more).
    pub fn call(&self, number: u64) -> Option<Value> {
        let loaded = self.loaded()?;
        let mut found: Option<Entry> = None;
        self.journal.each(number, |entry| {
            found = (entry.number == number).then(|| entry.clone());
            false
        });
        found.map(|entry| journal::show(&entry, &OfSchema(loaded.schema()), true))
    }

    /// Holds the calls against what somebody expects of them.
    ///
    /// # Errors
    /// What is wrong with the question.
    pub fn verify(&self, question: &Value) -> Result<Verdict, FilterError> {
        let mut expected = Expected::from_json(question)?;
        let Some(loaded) = self.loaded() else { return Err(FilterError("no rules run yet".to_owned())) };
        for (place, filter) in expected.filters() {
            possible(filter, loaded.schema()).map_err(|what| FilterError(format!("{place}: {what}")))?;
        }
        expected.name_sessions(&|asked| self.session_meant(asked).into_owned());
        Ok(expected.check(&self.journal, &OfSchema(loaded.schema())))
    }

    /// The rules from number `from` on, in the order of their files.
    pub fn rules(&self, from: usize) -> Value {
        let Some(loaded) = self.loaded() else { return Value::Null };
        let live = loaded.live();
        let (rules, count) = (live.rules(), live.rules().len());
        let shown: Vec<Value> = rules.skip(from).take(PAGE).map(|rule| self.rule_shown(rule)).collect();
        let next = Some(from + PAGE).filter(|next| *next < count);
        json!({ "rules": shown, "count": count, "next": next, "added": self.added_names() })
    }

    fn rule_shown(&self, rule: &Info) -> Value {
        json!({
            "rule": &**rule.name(),
            "method": rule.method(),
            "priority": rule.priority(),
            "file": rule.file(),
            "line": rule.place().line,
            "column": rule.place().column,
            "calls": self.counts.of_rule(rule.name()),
        })
    }

    /// The sessions: states of their scenarios, and how often rules that count have answered.
    pub fn sessions(&self) -> Value {
        let sessions = self.state.view().into_iter().take(PAGE).map(|session| {
            let calls: serde_json::Map<String, Value> =
                session.calls.into_iter().map(|(rule, count)| (rule, count.into())).collect();
            let scenarios: serde_json::Map<String, Value> =
                session.scenarios.into_iter().map(|(name, state)| (name, state.into())).collect();
            json!({ "session": session.key, "calls": calls, "scenarios": scenarios })
        });
        json!({ "sessions": sessions.collect::<Vec<_>>(), "count": self.state.session_count() + 1 })
    }

    /// Sets the state of a scenario, in one session or in that of calls without one.
    ///
    /// # Errors
    /// No rule knows the scenario, or the state: nothing would come of it.
    pub fn set_scenario(&self, session: Option<&str>, scenario: &str, state: &str) -> Result<(), String> {
        let Some(loaded) = self.loaded() else { return Err("no rules run yet".to_owned()) };
        let live = loaded.live();
        let steps: Vec<_> = live.rules().filter_map(|rule| rule.head().scenario.as_ref()).collect();
        let names: BTreeSet<&str> = steps.iter().map(|step| &*step.name).collect();
        if !names.contains(scenario) {
            return Err(format!("no rule has the scenario `{scenario}`: {}", listed(&names)));
        }
        let of = steps.iter().filter(|step| *step.name == *scenario);
        let states = of.flat_map(|step| step.required.iter().chain(&step.to)).map(|state| &**state);
        let states: BTreeSet<&str> = states.chain([INITIAL_STATE]).collect();
        if !states.contains(state) {
            return Err(format!("no rule has the state `{state}` of `{scenario}`: {}", listed(&states)));
        }
        let session = session.map(|asked| self.session_meant(asked));
        self.state.set_scenario(session.as_deref().map(str::as_bytes), scenario, state);
        Ok(())
    }

    /// Forgets, all or what belongs to one session (the empty one is that of calls without a session).
    pub fn reset(&self, what: Reset, session: Option<&str>) -> Value {
        let session = session.map(|asked| self.session_meant(asked));
        let session = session.as_deref();
        let calls = what.calls.then(|| self.journal.reset(session));
        if what.state {
            match session {
                None => self.state.reset(),
                Some(session) => drop(self.state.reset_session(Some(session.as_bytes()))),
            }
        }
        json!({ "calls_forgotten": calls, "state": what.state })
    }
}

/// What there is, for who asked for something else.
fn listed(names: &BTreeSet<&str>) -> String {
    const SHOWN_MAX: usize = 12;
    if names.is_empty() {
        return "there are none".to_owned();
    }
    let shown: Vec<&str> = names.iter().copied().take(SHOWN_MAX).collect();
    format!("there are {}{}", shown.join(", "), if names.len() > SHOWN_MAX { " and others" } else { "" })
}

/// Problems as JSON.
pub fn problems(problems: &[Problem]) -> Value {
    let shown = problems.iter().map(|problem| {
        json!({
            "file": problem.file(),
            "line": problem.place().map(|place| place.line),
            "column": problem.place().map(|place| place.column),
            "message": problem.message(),
            "help": problem.help(),
        })
    });
    shown.collect()
}

fn services(loaded: &Loaded) -> Vec<Value> {
    let schema = loaded.schema();
    let services = schema.services().iter().map(|service| {
        let methods = schema.methods_of(service).iter().map(|method| {
            json!({
                "method": method.name(),
                "input": method.input().full_name(),
                "output": method.output().full_name(),
                "client_streams": method.client_streams(),
                "server_streams": method.server_streams(),
            })
        });
        json!({ "service": service.full_name(), "methods": methods.collect::<Vec<_>>() })
    });
    services.collect()
}

/// Messages of a schema.
pub(super) struct OfSchema<'s>(pub(super) &'s Arc<Schema>);

/// Whether a filter can take a call at all: its method is there, and there is a message that has what it asks for. A slip of
/// the pen must not look like a call that never came.
fn possible(filter: &Filter, schema: &Arc<Schema>) -> Result<(), String> {
    let mut methods = schema.methods().iter().filter(|method| filter.is_about(method.full_name())).peekable();
    if methods.peek().is_none()
        && let Some(method) = &filter.method
    {
        return Err(format!("the schema has no method `{method}`"));
    }
    let Some(wanted) = &filter.message else { return Ok(()) };
    let mut wrong = None;
    for method in methods {
        match Asked::compile(wanted, method, schema) {
            Ok(_) => return Ok(()),
            Err(what) => wrong = wrong.or(Some(what)),
        }
    }
    wrong.map_or(Ok(()), Err)
}

impl Messages for OfSchema<'_> {
    type Read = Vec<u8>;
    type Asked = Asked;

    fn read(&self, method: &str, is_json: bool, bytes: &[u8]) -> Option<Vec<u8>> {
        if !is_json {
            return Some(bytes.to_vec());
        }
        let mut binary = Vec::new();
        self.0.method_named(method)?.input().to_binary(bytes, &mut binary).ok()?;
        Some(binary)
    }

    fn asked(&self, method: &str, wanted: &Value) -> Option<Asked> {
        Asked::compile(wanted, self.0.method_named(method)?, self.0).ok()
    }

    fn is_so(&self, message: &Vec<u8>, asked: &Asked) -> bool {
        asked.holds(message)
    }

    fn message(&self, method: &str, way: Way, is_json: bool, bytes: &[u8]) -> Option<Value> {
        if is_json {
            return serde_json::from_slice(bytes).ok();
        }
        let method = self.0.method_named(method)?;
        let message = if way == Way::In { method.input() } else { method.output() };
        message_json(message, bytes).ok().filter(|message| !message.is_null())
    }

    fn detail(&self, type_name: &str, bytes: &[u8]) -> Option<Value> {
        message_json(&self.0.message(type_name)?, bytes).ok().filter(|message| !message.is_null())
    }
}
