use std::cell::OnceCell;
use std::collections::HashMap;
use std::fmt;

use leat_rpc_wire::Code;
use serde_json::{Map, Value};

use super::{Entry, Messages, Way};

/// Names that a filter knows, for those who write another.
const KEYS: [&str; 8] = ["method", "rule", "session", "code", "unmatched", "under_way", "metadata", "message"];

/// Which calls are meant. Everything that is said must be so.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// `package.Service/Method`, or `package.Service/*`.
    pub method: Option<String>,
    /// The name of the rule that answered.
    pub rule: Option<String>,
    /// The session; the empty text is that of calls without one.
    pub session: Option<String>,
    /// How it ended.
    pub code: Option<Code>,
    /// Whether no rule answered.
    pub unmatched: Option<bool>,
    /// Whether it has not ended.
    pub under_way: Option<bool>,
    /// Values that its metadata has, by name in lower case.
    pub metadata: Vec<(String, String)>,
    /// What one of its client's messages is like: conditions as those that a rule has on messages.
    pub message: Option<Value>,
}

/// Why a filter can't be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterError(pub String);

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FilterError {}

impl Filter {
    /// Reads one from JSON. Keys that `others` names are left to the caller.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn from_json(value: &Value, others: &[&str]) -> Result<Self, FilterError> {
        let fields = value.as_object().ok_or_else(|| FilterError("a filter of calls is an object".to_owned()))?;
        let is_known = |key: &str| KEYS.contains(&key) || others.contains(&key);
        if let Some(key) = fields.keys().find(|key| !is_known(key)) {
            let known: Vec<&str> = KEYS.iter().chain(others).copied().collect();
            return Err(FilterError(format!("unknown key `{key}`: a filter knows {}", known.join(", "))));
        }
        let mut filter = Self {
            method: text(fields, "method")?,
            rule: text(fields, "rule")?,
            session: text(fields, "session")?,
            code: text(fields, "code")?.map(|name| code(&name)).transpose()?,
            unmatched: flag(fields, "unmatched")?,
            under_way: flag(fields, "under_way")?,
            metadata: Vec::new(),
            message: fields.get("message").cloned(),
        };
        if let Some(metadata) = fields.get("metadata") {
            let wrong = || FilterError("`metadata` is an object from names to texts".to_owned());
            for (name, value) in metadata.as_object().ok_or_else(wrong)? {
                filter.metadata.push((name.to_ascii_lowercase(), value.as_str().ok_or_else(wrong)?.to_owned()));
            }
        }
        Ok(filter)
    }

    /// Reads one parameter of a query. `Ok(false)`: there is none of this name.
    ///
    /// # Errors
    /// A value that it cannot have.
    pub fn parameter(&mut self, name: &str, value: &str) -> Result<bool, FilterError> {
        let flag = |value: &str| match value {
            "true" | "1" | "" => Ok(Some(true)),
            "false" | "0" => Ok(Some(false)),
            _ => Err(FilterError(format!("`{name}` is `true` or `false`"))),
        };
        match name {
            "method" => self.method = Some(value.to_owned()),
            "rule" => self.rule = Some(value.to_owned()),
            "session" => self.session = Some(value.to_owned()),
            "code" => self.code = Some(code(value)?),
            "unmatched" => self.unmatched = flag(value)?,
            "under_way" => self.under_way = flag(value)?,
            _ => match name.strip_prefix("metadata.") {
                Some(key) => self.metadata.push((key.to_ascii_lowercase(), value.to_owned())),
                None => return Ok(false),
            },
        }
        Ok(true)
    }

    /// Puts what the journal calls a session into the place of what was asked for.
    pub(in crate::mock) fn name_session(&mut self, name: &dyn Fn(&str) -> String) {
        if let Some(session) = &mut self.session {
            *session = name(session);
        }
    }

    /// Whether a call is meant.
    pub fn takes(&self, entry: &Entry, messages: &impl Messages) -> bool {
        Asking::new(self).takes(&Decoded::new(entry, messages))
    }

    /// Whether it is about calls of this method.
    pub(in crate::mock) fn is_about(&self, method: &str) -> bool {
        self.method.as_deref().is_none_or(|wanted| is_method(wanted, method))
    }

    fn takes_but_for_messages(&self, entry: &Entry) -> bool {
        let begun = &entry.begun;
        let is = |wanted: &Option<String>, value: &str| wanted.as_deref().is_none_or(|wanted| wanted == value);
        self.is_about(&begun.method)
            && is(&self.session, &begun.session)
            && self.rule.as_deref().is_none_or(|rule| begun.rule.as_ref().is_ok_and(|own| &**own == rule))
            && self.code.is_none_or(|code| entry.ended.as_ref().is_some_and(|(status, _)| status.code == code))
            && self.unmatched.is_none_or(|unmatched| entry.is_unmatched() == unmatched)
            && self.under_way.is_none_or(|under_way| entry.ended.is_none() == under_way)
            && self
                .metadata
                .iter()
                .all(|(name, value)| begun.metadata.iter().any(|(own, seen)| own == name && seen == value.as_bytes()))
    }
}

fn is_method(wanted: &str, method: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(start) => method.starts_with(start),
        None => method == wanted,
    }
}

/// A filter that many calls are held against: what it asks of messages is compiled once for a method.
pub(super) struct Asking<'f, M: Messages> {
    filter: &'f Filter,
    asked: HashMap<Box<str>, Option<M::Asked>>,
}

impl<'f, M: Messages> Asking<'f, M> {
    pub(super) fn new(filter: &'f Filter) -> Self {
        Self { filter, asked: HashMap::new() }
    }

    /// Whether a call is meant.
    pub(super) fn takes(&mut self, decoded: &Decoded<'_, M>) -> bool {
        self.filter.takes_but_for_messages(decoded.entry) && self.takes_message(decoded)
    }

    /// The messages that a call is not taken for but might be, if it was known what they said.
    pub(super) fn unknown_frames(&mut self, decoded: &Decoded<'_, M>) -> u64 {
        let unknown = if self.filter.message.is_some() { decoded.entry.unknown_frames() } else { 0 };
        let may_be = unknown > 0 && self.filter.takes_but_for_messages(decoded.entry) && !self.takes_message(decoded);
        if may_be { unknown } else { 0 }
    }

    fn takes_message(&mut self, decoded: &Decoded<'_, M>) -> bool {
        let Some(wanted) = &self.filter.message else { return true };
        let method = &*decoded.entry.begun.method;
        if !self.asked.contains_key(method) {
            self.asked.insert(method.into(), decoded.messages.asked(method, wanted));
        }
        let Some(Some(asked)) = self.asked.get(method) else { return false };
        decoded.received().iter().any(|message| decoded.messages.is_so(message, asked))
    }
}

/// A call whose messages are read when a filter first asks for them, and once.
pub(super) struct Decoded<'e, M: Messages> {
    entry: &'e Entry,
    messages: &'e M,
    received: OnceCell<Vec<M::Read>>,
}

impl<'e, M: Messages> Decoded<'e, M> {
    pub(super) fn new(entry: &'e Entry, messages: &'e M) -> Self {
        Self { entry, messages, received: OnceCell::new() }
    }

    /// What the client sent, as far as it is known.
    fn received(&self) -> &[M::Read] {
        self.received.get_or_init(|| {
            let method = &self.entry.begun.method;
            let known = self
                .entry
                .messages(Way::In)
                .filter_map(|frame| self.messages.read(method, frame.is_json, frame.bytes.as_deref()?));
            known.collect()
        })
    }
}

fn text(fields: &Map<String, Value>, key: &str) -> Result<Option<String>, FilterError> {
    let wrong = || FilterError(format!("`{key}` is a text"));
    fields.get(key).map(|value| value.as_str().map(str::to_owned).ok_or_else(wrong)).transpose()
}

fn flag(fields: &Map<String, Value>, key: &str) -> Result<Option<bool>, FilterError> {
    let wrong = || FilterError(format!("`{key}` is true or false"));
    fields.get(key).map(|value| value.as_bool().ok_or_else(wrong)).transpose()
}

fn code(name: &str) -> Result<Code, FilterError> {
    Code::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Code::ALL.iter().map(|code| code.name()).collect();
        FilterError(format!("`{name}` is no status code: they are {}", known.join(", ")))
    })
}
