use super::{MASK, Shown, Source, Value};
use crate::config::problem::Place;

/// Characters of a value that are shown.
const SHOWN_MAX: usize = 200;

/// One value of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Where it is in the configuration: `routes[0].match.path`.
    pub path: String,
    /// Where it stands in the file.
    pub place: Place,
    /// The value as it is written, cut where it is long; what stands for a secret.
    pub value: String,
    pub(super) hash: Option<u64>,
}

impl Source {
    /// Calls `with` for every value of the file below `under` (a path, or empty for all), in the order of the file.
    pub fn each(&self, under: &str, mut with: impl FnMut(Setting)) {
        each(&self.root, &mut String::new(), under, &mut with);
    }
}

fn each(shown: &Shown, path: &mut String, under: &str, with: &mut impl FnMut(Setting)) {
    // What lies beside the way to `under` is not walked through.
    if !(path.starts_with(under) || under.starts_with(path.as_str())) {
        return;
    }
    let length = path.len();
    match &shown.value {
        Value::List(items) if !items.is_empty() => {
            for (number, item) in items.iter().enumerate() {
                path.push_str(&format!("[{number}]"));
                each(item, path, under, with);
                path.truncate(length);
            }
        }
        Value::Map(pairs) if !pairs.is_empty() => {
            for (key, _, value) in pairs {
                if length > 0 {
                    path.push('.');
                }
                path.push_str(key);
                each(value, path, under, with);
                path.truncate(length);
            }
        }
        value => {
            if is_below(path, under) {
                let hash = if let Value::Masked(hash) = value { Some(*hash) } else { None };
                with(Setting { path: path.clone(), place: shown.place, value: text(value), hash });
            }
        }
    }
}

fn is_below(path: &str, under: &str) -> bool {
    under.is_empty() || path.strip_prefix(under).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Plain(text) | Value::Quoted(text) => cut(text),
        Value::Masked(_) => MASK.to_owned(),
        Value::List(_) => "[]".to_owned(),
        Value::Map(_) => "{}".to_owned(),
    }
}

pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
