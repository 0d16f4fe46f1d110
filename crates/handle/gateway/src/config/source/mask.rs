use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use super::{MASK, Shown, Source, Value};
use crate::config::secrets::sounds_secret;
use crate::config::table::{Kind, Section};
use crate::config::yaml::{self, Node};

/// How values begin that are credentials, whatever their name (RFC 9110 section 11.4).
const SECRET_VALUES: [&str; 3] = ["bearer ", "basic ", "-----begin"];

/// Secrets of two configurations are compared, and nobody outside may compute what with.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// A file without its secrets. Masked are: values of fields, query parameters, cookies and claims with a name that sounds
/// secret, credentials and queries in URLs, the hashes of API keys, the options of plug-ins, and all below keys that start
/// with `x-`.
pub(in crate::config) fn masked(file: &str, root: &'static Section, node: &Node) -> Source {
    Source { file: file.to_owned(), root: shown(node, Rule::Section(root)) }
}

/// How what stands somewhere is looked at.
#[derive(Clone, Copy)]
enum Rule<'t> {
    Section(&'t Section),
    Kind(&'t Kind),
    /// A mapping with free keys, whose names say what their values are.
    Named(&'t Kind),
    /// A value without a table: only what looks like a secret is masked.
    Open,
    Secret,
}

impl<'t> Rule<'t> {
    fn of(kind: &'t Kind) -> Self {
        match kind {
            Kind::Section(section) => Self::Section(section),
            Kind::Map { of, .. } => Self::Named(of),
            Kind::List { of, .. } => Self::Kind(of),
            _ => Self::Open,
        }
    }

    /// For the value of a key.
    fn below(self, key: &str) -> Self {
        match self {
            Self::Section(section) => match (section.name, key, section.key(key)) {
                ("plugin", "options", _) | ("api_keys", "keys", _) => Self::Secret,
                // Only what nobody reads has no entry.
                (_, _, None) => Self::Secret,
                (_, _, Some((_, key))) => Self::of(&key.kind),
            },
            Self::Named(of) => match Self::of(of) {
                // What fields and parameters must be like is as good as what they are.
                Self::Section(section) if section.name == "test" && sounds_secret(key) => Self::Secret,
                Self::Open | Self::Kind(_) if sounds_secret(key) => Self::Secret,
                rule => rule,
            },
            Self::Kind(kind) => Self::of(kind).below(key),
            Self::Open if sounds_secret(key) => Self::Secret,
            Self::Open => Self::Open,
            Self::Secret => Self::Secret,
        }
    }

    /// For the elements of a list.
    fn element(self) -> Self {
        match self {
            Self::Kind(kind) => Self::of(kind),
            rule => rule,
        }
    }
}

fn shown(node: &Node, rule: Rule<'_>) -> Shown {
    let value = match &node.value {
        yaml::Value::Null => Value::Null,
        yaml::Value::Plain(text) => scalar(text, rule, Value::Plain),
        yaml::Value::Quoted(text) => scalar(text, rule, Value::Quoted),
        yaml::Value::List(items) => Value::List(items.iter().map(|item| shown(item, rule.element())).collect()),
        yaml::Value::Map(pairs) => {
            let pairs = pairs.iter();
            Value::Map(
                pairs.map(|pair| (pair.key.clone(), pair.place, shown(&pair.value, rule.below(&pair.key)))).collect(),
            )
        }
    };
    Shown { place: node.place, value }
}

fn scalar(text: &str, rule: Rule<'_>, open: impl Fn(String) -> Value) -> Value {
    let lower = text.trim_start().to_ascii_lowercase();
    if matches!(rule, Rule::Secret) || SECRET_VALUES.iter().any(|start| lower.starts_with(start)) {
        return Value::Masked(HASHER.hash_one(text));
    }
    match text.contains("://") {
        true => open(url(text)),
        false => match text.split_once('?') {
            Some((path, _)) if text.starts_with('/') => open(format!("{path}?{MASK}")),
            _ => open(text.to_owned()),
        },
    }
}

/// A URL without user, password and query; nothing of it where it is not clear what is which.
fn url(text: &str) -> String {
    let mut parts = text.split("://");
    let below = parts.nth(1).unwrap_or_default();
    // `@` belongs to the authority, unless a password has a slash in it.
    if parts.next().is_some() || below.split_once('/').is_some_and(|(_, path)| path.contains('@')) {
        return MASK.to_owned();
    }
    let (start, rest) = text.split_once("://").unwrap_or(("", text));
    let (rest, query) = match rest.split_once('?') {
        Some((rest, _)) => (rest, format!("?{MASK}")),
        None => (rest, String::new()),
    };
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let (user, host) = match authority.rsplit_once('@') {
        Some((_, host)) => (format!("{MASK}@"), host),
        None => (String::new(), authority),
    };
    format!("{start}://{user}{host}{path}{query}")
}
