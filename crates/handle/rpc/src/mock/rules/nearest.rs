use std::fmt;

use leat_config::table::shorten;
use leat_schema::buffa_descriptor::reflect::Value as Proto;
use leat_schema::{Kind, Method};

use super::choose::{Looked, below};
use super::condition::Condition;
use super::scalar::Domain;
use super::slots::Slots;
use super::tree::Seen;
use super::{Gate, Rule};
use crate::mock::secret::is_secret;
use crate::mock::state::Blocked;

/// Rules that are compared; the first ones by rank.
const COMPARED_MAX: usize = 2000;
/// Values of one name of metadata that are shown.
const VALUES_MAX: usize = 4;

/// Why no rule answers a call: as a sentence that names the rule that came nearest, the condition that failed, and the value
/// that it saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmatched {
    method: Box<str>,
    rules: usize,
    nearest: Option<Nearest>,
}

/// The rule that came nearest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// Its name.
    pub rule: Box<str>,
    /// The file that it stands in, and where: `rules.yaml:3:5`.
    pub place: Box<str>,
    /// The condition that failed, and the value that it saw; secrets are masked.
    pub failed: Box<str>,
    /// How many more conditions failed.
    pub more: usize,
}

impl Unmatched {
    pub(super) fn no_rules(method: &Method) -> Self {
        Self { method: method.full_name().into(), rules: 0, nearest: None }
    }

    /// A rule matches, and may not answer now.
    pub(super) fn blocked<R>(rule: &Rule<R>, why: &Blocked, rules: usize, method: &Method) -> Self {
        let nearest = Nearest::new(rule, format!("it matches, but {why}"), 0);
        Self { method: method.full_name().into(), rules, nearest: Some(nearest) }
    }

    /// Whether the method has rules at all.
    pub fn has_rules(&self) -> bool {
        self.rules > 0
    }

    /// The rule that came nearest; `None` without rules.
    pub fn nearest(&self) -> Option<&Nearest> {
        self.nearest.as_ref()
    }
}

impl Nearest {
    fn new<R>(rule: &Rule<R>, failed: String, more: usize) -> Self {
        let place = format!("{}:{}", rule.info.file, rule.info.place);
        Self { rule: (&*rule.info.name).into(), place: place.into(), failed: failed.into(), more }
    }
}

impl fmt::Display for Unmatched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(nearest) = &self.nearest else { return write!(f, "no rule for {}", self.method) };
        write!(f, "no rule for {} matches", self.method)?;
        if self.rules > 1 {
            write!(f, " (of {})", self.rules)?;
        }
        write!(f, "; nearest is `{}` ({}): {}", nearest.rule, nearest.place, nearest.failed)?;
        match nearest.more {
            0 => Ok(()),
            1 => write!(f, "; and 1 more condition fails"),
            more => write!(f, "; and {more} more conditions fail"),
        }
    }
}

/// Finds the rule with the smallest share of failed conditions: fewest failed, then most that hold, then by rank.
/// `redact` are names of metadata whose values are never shown, beside those that sound secret.
pub(super) fn find<R>(
    rules: &[Rule<R>],
    slots: &Slots,
    looked: &Looked<'_>,
    (method, redact): (&Method, &[String]),
    gate: &mut dyn Gate<R>,
) -> Unmatched {
    let mut rate = |rule: &Rule<R>| {
        if rule.uses_calls {
            looked.calls.set(gate.calls(rule));
        }
        let failed = rule.conditions.iter().filter(|condition| !looked.holds(condition)).count();
        (failed, usize::MAX - (rule.conditions.len() - failed))
    };
    let nearest = rules.iter().take(COMPARED_MAX).min_by_key(|rule| rate(rule)).map(|rule| {
        let mut failed = rule.conditions.iter().filter(|condition| !looked.holds(condition));
        let text = failed.next().map_or_else(String::new, |condition| explain(condition, slots, looked, redact));
        Nearest::new(rule, text, failed.count())
    });
    Unmatched { method: method.full_name().into(), rules: rules.len(), nearest }
}

/// A condition that failed and what it saw.
fn explain(condition: &Condition, slots: &Slots, looked: &Looked<'_>, redact: &[String]) -> String {
    let Some(types) = slots.message() else { return String::new() };
    match condition {
        Condition::Slot { slot, test } => {
            let Some(known) = slots.get(*slot) else { return String::new() };
            let seen = match looked.value(*slot) {
                Some(value) => format!("it is {}", value.show(known.domain, types)),
                None => "it is not there".to_owned(),
            };
            format!("`{}` must match `{}`, and {seen}", known.path, test.show(known.domain, types))
        }
        Condition::Metadata { name, test } => {
            let binary = leat_rpc_wire::Metadata::is_binary(name);
            let domain = Domain::Kind(if binary { Kind::Bytes } else { Kind::String });
            let secret = is_secret(name, redact);
            let mut seen = Vec::new();
            looked.metadata.any(name, &mut |value| {
                seen.push(match secret {
                    true => "(a secret)".to_owned(),
                    false => super::choose::metadata_scalar(name, value).show(domain, types),
                });
                seen.len() == VALUES_MAX
            });
            let wanted = if secret { "a secret".to_owned() } else { format!("`{}`", test.show(domain, types)) };
            let seen =
                if seen.is_empty() { "it is not there".to_owned() } else { format!("it is {}", seen.join(", ")) };
            format!("metadata `{name}` must match {wanted}, and {seen}")
        }
        Condition::Tree(condition) => {
            let seen = looked.decoded().and_then(|message| below(&condition.steps, message));
            format!("`{}` must match `{}`, and {}", condition.path, condition.source, show(seen))
        }
        Condition::Cel(expression) if expression.uses_metadata() => {
            // Neither its text nor its error: both may have the value of a secret in them.
            let why = if looked.truth(expression).is_err() { "it fails" } else { "it is false" };
            format!("a condition in CEL on metadata must be true, and {why}")
        }
        Condition::Cel(expression) => {
            let why = match looked.truth(expression) {
                Err(error) => format!("it fails: {error}"),
                Ok(_) => "it is false".to_owned(),
            };
            format!("`{}` must be true, and {why}", shorten(expression.source()))
        }
        Condition::Any(groups) => {
            let first =
                groups.iter().filter_map(|group| group.iter().find(|condition| !looked.holds(condition))).next();
            let first = first.map_or_else(String::new, |condition| explain(condition, slots, looked, redact));
            format!("none of its {} groups in `any` holds: {first}", groups.len())
        }
        Condition::None(_) => "a group in `none` holds".to_owned(),
    }
}

fn show(seen: Option<Seen<'_>>) -> String {
    let text = match seen {
        None => return "it is not there".to_owned(),
        Some(Seen::Message(message)) => message.to_json().unwrap_or_else(|_| "a message".to_owned()),
        Some(Seen::List(values)) => {
            const SHOWN_MAX: usize = 8;
            let shown: Vec<String> = values.iter().take(SHOWN_MAX).map(show_value).collect();
            let more =
                if values.len() > SHOWN_MAX { format!(", … ({} elements)", values.len()) } else { String::new() };
            format!("[{}{more}]", shown.join(", "))
        }
        Some(Seen::Map(map)) => {
            const SHOWN_MAX: usize = 8;
            let shown: Vec<String> =
                map.iter().take(SHOWN_MAX).map(|(key, value)| format!("{key:?}: {}", show_value(value))).collect();
            format!("{{{}}}", shown.join(", "))
        }
        Some(Seen::Scalar(_)) => return "it is another".to_owned(),
    };
    format!("it is {}", shorten(&text))
}

fn show_value(value: &Proto) -> String {
    match value {
        Proto::Message(message) => shorten(&message.to_json().unwrap_or_else(|_| "a message".to_owned())),
        Proto::String(text) => format!("\"{}\"", shorten(text)),
        Proto::Bytes(bytes) => format!("{} bytes", bytes.len()),
        Proto::Bool(value) => value.to_string(),
        Proto::I32(value) | Proto::EnumNumber(value) => value.to_string(),
        Proto::I64(value) => value.to_string(),
        Proto::U32(value) => value.to_string(),
        Proto::U64(value) => value.to_string(),
        Proto::F32(value) => value.to_string(),
        Proto::F64(value) => value.to_string(),
        Proto::List(values) => format!("a list of {}", values.len()),
        Proto::Map(map) => format!("a map of {}", map.len()),
    }
}
