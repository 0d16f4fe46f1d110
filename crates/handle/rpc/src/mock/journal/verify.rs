use serde_json::{Value, json};

use super::filter::{Asking, Decoded};
use super::{Entry, Filter, FilterError, Journal, Messages};

/// Calls that a check lists, at most.
const LISTED_MAX: usize = 100;
/// Checks in one question, at most.
const CHECKS_MAX: usize = 1_000;

/// What somebody expects of the calls that came.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expected {
    session: Option<String>,
    calls: Vec<(Filter, Range)>,
    order: Vec<Filter>,
    unmatched: Option<Range>,
}

/// How often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    min: u64,
    max: Option<u64>,
}

/// Whether calls came as expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Whether every check passed.
    pub pass: bool,
    /// Each check, what was expected, and what was seen.
    pub shown: Value,
}

impl Expected {
    /// Reads what is expected:
    ///
    /// - `session`: only calls of this session count;
    /// - `calls`: a list of filters, each with `count` (a number, or `min` and `max`; at least one without it);
    /// - `order`: a list of filters of calls that came in this order, others may have come between them;
    /// - `unmatched`: how many calls no rule answered (a number, or `min` and `max`).
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn from_json(value: &Value) -> Result<Self, FilterError> {
        let fields = value
            .as_object()
            .ok_or_else(|| FilterError("expected an object with `calls`, `order` or `unmatched`".to_owned()))?;
        let mut expected = Self::default();
        for (key, value) in fields {
            let list = || value.as_array().ok_or_else(|| FilterError(format!("`{key}` is a list of filters")));
            match key.as_str() {
                "session" => {
                    let session = value.as_str().ok_or_else(|| FilterError("`session` is a text".to_owned()))?;
                    expected.session = Some(session.to_owned());
                }
                "calls" => {
                    for (at, value) in list()?.iter().enumerate() {
                        let read = Filter::from_json(value, &["count"])
                            .and_then(|filter| Ok((filter, Range::of(value.get("count"))?)));
                        expected.calls.push(read.map_err(|error| FilterError(format!("calls[{at}]: {error}")))?);
                    }
                }
                "order" => {
                    for (at, value) in list()?.iter().enumerate() {
                        let read = Filter::from_json(value, &[]);
                        expected.order.push(read.map_err(|error| FilterError(format!("order[{at}]: {error}")))?);
                    }
                }
                "unmatched" => expected.unmatched = Some(Range::of(Some(value))?),
                _ => {
                    return Err(FilterError(format!(
                        "unknown key `{key}`: write `session`, `calls`, `order` or `unmatched`"
                    )));
                }
            }
        }
        if expected.calls.len() + expected.order.len() > CHECKS_MAX {
            return Err(FilterError(format!("more than {CHECKS_MAX} filters")));
        }
        if expected.calls.is_empty() && expected.order.is_empty() && expected.unmatched.is_none() {
            return Err(FilterError("nothing is expected: write `calls`, `order` or `unmatched`".to_owned()));
        }
        Ok(expected)
    }

    /// Its filters, each with its place in the question.
    pub(in crate::mock) fn filters(&self) -> impl Iterator<Item = (String, &Filter)> {
        let calls = self.calls.iter().map(|(filter, _)| filter).enumerate();
        let calls = calls.map(|(at, filter)| (format!("calls[{at}]"), filter));
        calls.chain(self.order.iter().enumerate().map(|(at, filter)| (format!("order[{at}]"), filter)))
    }

    /// Puts what the journal calls sessions into the place of what was asked for.
    pub(in crate::mock) fn name_sessions(&mut self, name: &dyn Fn(&str) -> String) {
        if let Some(session) = &mut self.session {
            *session = name(session);
        }
        let filters = self.calls.iter_mut().map(|(filter, _)| filter).chain(&mut self.order);
        filters.for_each(|filter| filter.name_session(name));
    }

    /// Holds the journal's calls against it: each once, one after the other, so that the messages of one call alone are decoded at
    /// a time. Where calls were dropped before, or messages that a filter asks about, nothing with a most is right: what
    /// was dropped may have been more.
    pub fn check(&self, journal: &Journal, messages: &impl Messages) -> Verdict {
        let is_meant = |entry: &Entry| self.session.as_deref().is_none_or(|session| &*entry.begun.session == session);
        let entries = journal.copy(is_meant);
        let dropped = journal.stats().dropped;
        let mut calls: Vec<_> =
            self.calls.iter().map(|(filter, _)| (Asking::new(filter), Counted::default())).collect();
        let mut asked_order: Vec<_> = self.order.iter().map(Asking::new).collect();
        let (mut unmatched, mut reasons) = (Counted::default(), Vec::new());
        let (mut order, mut unknown_frames) = (Vec::new(), 0);
        for entry in &entries {
            let decoded = Decoded::new(entry, messages);
            for (filter, counted) in &mut calls {
                if filter.takes(&decoded) {
                    counted.count(entry);
                }
                counted.unknown_frames += filter.unknown_frames(&decoded);
            }
            if let Some(filter) = asked_order.get_mut(order.len()) {
                if filter.takes(&decoded) {
                    order.push(entry.number);
                }
                unknown_frames += filter.unknown_frames(&decoded);
            }
            if let Err(why) = &entry.begun.rule {
                unmatched.count(entry);
                if reasons.len() < LISTED_MAX {
                    reasons.push(json!({ "number": entry.number, "method": &*entry.begun.method, "why": &*why.why }));
                }
            }
        }
        let mut checks = Vec::new();
        for (at, ((_, range), (_, counted))) in self.calls.iter().zip(&calls).enumerate() {
            checks.push(counted.check(format!("calls[{at}]"), *range, dropped));
        }
        if !self.order.is_empty() {
            checks.push(self.check_order(order, unknown_frames));
        }
        if let Some(range) = self.unmatched {
            let mut check = unmatched.check("unmatched".to_owned(), range, dropped);
            check["unmatched_calls"] = reasons.into();
            checks.push(check);
        }
        let pass = checks.iter().all(|check| check["pass"] == true);
        let shown = json!({ "pass": pass, "checks": checks, "calls": entries.len(), "dropped": dropped });
        Verdict { pass, shown }
    }

    fn check_order(&self, numbers: Vec<u64>, unknown_frames: u64) -> Value {
        if numbers.len() == self.order.len() {
            return json!({ "check": "order", "pass": true, "numbers": numbers });
        }
        let message = match numbers.last() {
            _ if unknown_frames > 0 => unknown(unknown_frames),
            None => "no call of `order[0]` came".to_owned(),
            Some(before) => format!("no call of `order[{}]` came after call {before}", numbers.len()),
        };
        json!({ "check": "order", "pass": false, "message": message, "numbers": numbers })
    }
}

/// Calls that a filter takes.
#[derive(Clone, Debug, Default)]
struct Counted {
    seen: u64,
    /// The first ones.
    numbers: Vec<u64>,
    /// Messages of other calls that may have been what the filter asks for.
    unknown_frames: u64,
}

/// Why a check has no answer: what the messages said is not known.
fn unknown(frames: u64) -> String {
    format!("unknown: {frames} frames were dropped, or too long to be kept: make `journal` larger or reset")
}

impl Counted {
    fn count(&mut self, entry: &Entry) {
        self.seen += 1;
        if self.numbers.len() < LISTED_MAX {
            self.numbers.push(entry.number);
        }
    }

    fn check(&self, what: String, range: Range, dropped: u64) -> Value {
        let may_be_more = (dropped > 0 || self.unknown_frames > 0) && range.max.is_none_or(|max| self.seen <= max);
        let is_right = range.has(self.seen) && !(may_be_more && range.max.is_some());
        let mut check = json!({
            "check": what, "pass": is_right, "expected": range.words(), "seen": self.seen, "numbers": self.numbers,
        });
        if may_be_more && !is_right {
            check["message"] = match dropped {
                0 => unknown(self.unknown_frames).into(),
                _ => format!("{dropped} calls were dropped before: make `journal` larger or reset").into(),
            };
        }
        check
    }
}

impl Range {
    /// At least one where nothing is said.
    fn of(value: Option<&Value>) -> Result<Self, FilterError> {
        let wrong = || FilterError("a count is a number, or an object with `min`, `max` or both".to_owned());
        match value {
            None => Ok(Self { min: 1, max: None }),
            Some(Value::Number(number)) => {
                let exactly = number.as_u64().ok_or_else(wrong)?;
                Ok(Self { min: exactly, max: Some(exactly) })
            }
            Some(Value::Object(fields)) if !fields.is_empty() => {
                let mut range = Self { min: 0, max: None };
                for (key, value) in fields {
                    let number = value.as_u64().ok_or_else(wrong)?;
                    match key.as_str() {
                        "min" => range.min = number,
                        "max" => range.max = Some(number),
                        _ => return Err(wrong()),
                    }
                }
                if range.max.is_some_and(|max| max < range.min) {
                    return Err(FilterError("a count whose `max` is below its `min` is never right".to_owned()));
                }
                Ok(range)
            }
            Some(_) => Err(wrong()),
        }
    }

    fn has(self, count: u64) -> bool {
        count >= self.min && self.max.is_none_or(|max| count <= max)
    }

    fn words(self) -> String {
        match (self.min, self.max) {
            (min, Some(max)) if min == max => format!("exactly {min}"),
            (0, Some(max)) => format!("at most {max}"),
            (min, Some(max)) => format!("from {min} to {max}"),
            (min, None) => format!("at least {min}"),
        }
    }
}
