//! What a configuration's file said, with places and without secrets: for operators who ask a running gateway.

mod changes;
mod list;
mod mask;
mod write;

use super::problem::Place;

pub use changes::Change;
pub use list::Setting;
pub(super) use mask::masked;

/// What stands for a secret.
pub(crate) const MASK: &str = "(masked)";

/// A file as it was read, aliases filled in. Comments are not kept, and secrets neither: what might be one never gets here.
#[derive(Debug)]
pub struct Source {
    file: String,
    root: Shown,
}

/// A value and where it stands.
#[derive(Clone, Debug)]
struct Shown {
    place: Place,
    value: Value,
}

#[derive(Clone, Debug)]
enum Value {
    Null,
    /// Not in quotes: it may be a number or a truth value.
    Plain(String),
    Quoted(String),
    /// A keyed hash of the secret, which only this process can compute: enough to see that it changed.
    Masked(u64),
    List(Vec<Shown>),
    Map(Vec<(String, Place, Shown)>),
}

impl Source {
    /// The file, as problems call it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The value at a path such as `routes[0].match`, as JSON; long texts are cut.
    pub fn json(&self, path: &str) -> Option<serde_json::Value> {
        let mut found = &self.root;
        for step in path.split(['.', '[']).filter(|step| !step.is_empty()) {
            found = match (&found.value, step.strip_suffix(']')) {
                (Value::List(items), Some(number)) => items.get(number.parse::<usize>().ok()?)?,
                (Value::Map(pairs), None) => pairs.iter().find(|(key, ..)| key == step).map(|(_, _, value)| value)?,
                _ => return None,
            };
        }
        Some(found.json())
    }
}

#[cfg(test)]
mod tests;
