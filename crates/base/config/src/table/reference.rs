use std::collections::HashSet;
use std::fmt::Write;

use super::key::Need;
use super::{Key, Kind, Section, units};

/// The reference page: what stands at its top, then a heading and a table of keys for every section, in the order in
/// which they are first mentioned.
pub fn markdown(root: &'static Section, top: &str) -> String {
    let mut page = top.to_owned();
    let mut seen = HashSet::new();
    let mut waiting = vec![root];
    while let Some(section) = waiting.pop() {
        if !seen.insert(section.name) {
            continue;
        }
        write_section(section, &mut page);
        let mut below = Vec::new();
        section.keys.iter().for_each(|key| refers(&key.kind, &mut below));
        waiting.extend(below.into_iter().rev());
    }
    page
}

fn write_section(section: &Section, page: &mut String) {
    let _ = write!(page, "\n## {}\n\n{}\n", section.name, section.doc);
    if let Some(key) = section.shorthand {
        let _ = write!(page, "\nIn place of a mapping the value of `{key}` alone may be written.\n");
    }
    for group in section.groups {
        let keys: Vec<String> = group.keys.iter().map(|key| format!("`{key}`")).collect();
        let how = if group.required { "Exactly one" } else { "At most one" };
        let _ = write!(page, "\n{how} of {}.\n", keys.join(", "));
    }
    page.push_str("\n| key | value | default | meaning |\n| --- | --- | --- | --- |\n");
    for key in section.keys {
        write_key(key, page);
    }
}

fn write_key(key: &Key, page: &mut String) {
    let default = match key.need {
        Need::Required => "required".to_owned(),
        Need::Default(text) => format!("`{text}`"),
        Need::Optional => "none".to_owned(),
    };
    let mut doc = key.doc.to_owned();
    if let Kind::Choice(words) = key.kind {
        for (word, meaning) in words {
            let _ = write!(doc, " `{word}`: {meaning}.");
        }
    }
    let row = format!("| `{}` | {} | {default} | {doc} |\n", key.name, value(&key.kind));
    page.push_str(&row);
}

fn value(kind: &Kind) -> String {
    match kind {
        Kind::Number { min, max } => format!("number, {min} to {max}"),
        Kind::NumberOr { min, max, word } => format!("number, {min} to {max}, or `{word}`"),
        Kind::Size { min, max } => format!("size, {} to {}", units::show_size(*min), units::show_size(*max)),
        Kind::Time { off: false, .. } => "time".to_owned(),
        Kind::Time { off: true, .. } => "time or `off`".to_owned(),
        Kind::Text { what, example } => format!("{what}, such as `{example}`"),
        Kind::List { of, one: true } => format!("{}; or a list", value(of)),
        Kind::List { of, .. } => format!("list: {}", value(of)),
        Kind::Map { key, of } => format!("mapping from {key}: {}", value(of)),
        Kind::Section(section) => format!("[{0}](#{0})", section.name),
        Kind::Json => "any".to_owned(),
        Kind::JsonOr(section) => format!("any, or [{0}](#{0})", section.name),
        Kind::Flag | Kind::Choice(_) => kind.expected(),
    }
}

fn refers(kind: &Kind, below: &mut Vec<&'static Section>) {
    match kind {
        Kind::Section(section) | Kind::JsonOr(section) => below.push(section),
        Kind::List { of, .. } | Kind::Map { of, .. } => refers(of, below),
        _ => {}
    }
}
