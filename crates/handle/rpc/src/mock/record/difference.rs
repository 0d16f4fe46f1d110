use std::fmt;

use serde_json::Value;

/// Differences between two values that are told, at most.
const TOLD_MAX: usize = 100;
/// Characters of a value that are shown.
const SHOWN_MAX: usize = 200;

/// One thing that is not as it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Where: `message.items[0].name`.
    pub path: String,
    /// What it was; `None` where there was nothing.
    pub was: Option<Value>,
    /// What it is; `None` where there is nothing.
    pub is: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.was, &self.is) {
            (Some(was), Some(is)) => write!(f, "{}: {} is now {}", self.path, shown(was), shown(is)),
            (Some(was), None) => write!(f, "{}: {} is gone", self.path, shown(was)),
            (None, Some(is)) => write!(f, "{}: {} is new", self.path, shown(is)),
            (None, None) => f.write_str(&self.path),
        }
    }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// What differs between two values, field by field, in the order of names. Fields of objects that `was` does not have are new.
pub fn compare(path: &str, was: &Value, is: &Value, told: &mut Vec<Difference>) {
    if told.len() >= TOLD_MAX {
        return;
    }
    match (was, is) {
        (Value::Object(old), Value::Object(new)) => {
            let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
            names.sort_unstable();
            names.dedup();
            for name in names {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                one(path, old.get(name), new.get(name), told);
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            for at in 0..old.len().max(new.len()) {
                one(format!("{path}[{at}]"), old.get(at), new.get(at), told);
            }
        }
        (was, is) if was == is => {}
        (was, is) => told.push(Difference { path: path.to_owned(), was: Some(was.clone()), is: Some(is.clone()) }),
    }
}

fn one(path: String, was: Option<&Value>, is: Option<&Value>, told: &mut Vec<Difference>) {
    match (was, is) {
        (Some(was), Some(is)) => compare(&path, was, is, told),
        (None, None) => {}
        (was, is) if told.len() < TOLD_MAX => told.push(Difference { path, was: was.cloned(), is: is.cloned() }),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::compare;

    #[test]
    fn differences_are_told_by_their_paths() {
        for (was, is, told) in [
            (json!({ "a": 1 }), json!({ "a": 1 }), &[][..]),
            (json!({ "a": 1 }), json!({ "a": 2 }), &["message.a: 1 is now 2"]),
            (json!({ "a": 1 }), json!({}), &["message.a: 1 is gone"]),
            (json!({}), json!({ "b": "x" }), &["message.b: \"x\" is new"]),
            (
                json!({ "items": [{ "n": 1 }, { "n": 2 }] }),
                json!({ "items": [{ "n": 1 }, { "n": 3 }, { "n": 4 }] }),
                &["message.items[1].n: 2 is now 3", "message.items[2]: {\"n\":4} is new"],
            ),
            (json!([1]), json!("x"), &["message: [1] is now \"x\""]),
        ] {
            let mut found = Vec::new();
            compare("message", &was, &is, &mut found);
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            assert_eq!(found, told, "{was} {is}");
        }
    }

    #[test]
    fn there_are_never_more_than_a_page_can_show() {
        let (mut found, many) = (Vec::new(), |start: u64| (start..start + 500).collect::<Vec<u64>>());
        compare("", &json!(many(0)), &json!(many(1)), &mut found);
        assert_eq!(found.len(), super::TOLD_MAX);
        found.clear();
        compare("a", &json!("x".repeat(5_000)), &json!(1), &mut found);
        assert!(found[0].to_string().len() < 300);
    }
}
