use std::fmt::Write;

use super::list::cut;
use super::{MASK, Shown, Source, Value};

impl Source {
    /// The file as YAML, up to about `bytes_max`; what is longer ends with a comment that says so. Comments of the file are not in
    /// it: a secret may stand in one.
    pub fn yaml(&self, bytes_max: usize) -> String {
        let mut out = String::new();
        self.root.yaml(0, bytes_max, &mut out);
        if out.len() >= bytes_max {
            out.push_str("# cut: it is longer\n");
        }
        out
    }
}

impl Shown {
    pub(super) fn json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Plain(text) => match text.as_str() {
                "true" => true.into(),
                "false" => false.into(),
                text => match text.parse::<u64>() {
                    Ok(number) if number.to_string() == *text => number.into(),
                    _ => cut(text).into(),
                },
            },
            Value::Quoted(text) => cut(text).into(),
            Value::Masked(_) => MASK.into(),
            Value::List(items) => items.iter().map(Self::json).collect(),
            Value::Map(pairs) => pairs.iter().map(|(key, _, value)| (key.clone(), value.json())).collect(),
        }
    }

    /// Writes the value behind its key or dash; ends the line.
    fn yaml(&self, depth: usize, bytes_max: usize, out: &mut String) {
        if out.len() >= bytes_max {
            return;
        }
        let indent = "  ".repeat(depth);
        match &self.value {
            Value::List(items) if !items.is_empty() => {
                begin(depth, out);
                for item in items {
                    let _ = write!(out, "{indent}-");
                    item.yaml(depth + 1, bytes_max, out);
                }
            }
            Value::Map(pairs) if !pairs.is_empty() => {
                begin(depth, out);
                for (key, _, value) in pairs {
                    let _ = write!(out, "{indent}{}:", quoted(key));
                    value.yaml(depth + 1, bytes_max, out);
                }
            }
            Value::Null => out.push_str(" null\n"),
            // What was plain where it stood may begin or end otherwise in quotes alone: a text that is safe stays as it is.
            Value::Plain(text) => {
                let _ = writeln!(out, " {}", quoted(text));
            }
            Value::Quoted(text) => {
                let _ = writeln!(out, " {}", serde_json::Value::from(text.as_str()));
            }
            Value::Masked(_) => {
                let _ = writeln!(out, " \"{MASK}\"");
            }
            Value::List(_) => out.push_str(" []\n"),
            Value::Map(_) => out.push_str(" {}\n"),
        }
    }
}

/// Below the root the key's own line ends first.
fn begin(depth: usize, out: &mut String) {
    if depth > 0 {
        out.push('\n');
    }
}

/// Text that needs no quotes as it is, else in those of JSON, which are YAML's too.
fn quoted(text: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "_-./:".contains(c);
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/')
        && text.chars().all(is_safe)
        && !text.ends_with(':');
    if is_plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}
