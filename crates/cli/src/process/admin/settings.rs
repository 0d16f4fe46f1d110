use leat_gateway::config::{Change, Setting, Source};
use leat_message::Reason;
use serde_json::{Value, json};

use super::answer::Answer;

/// Settings, and changes, that one answer lists.
const LISTED_MAX: usize = 2_000;
/// The longest YAML that is answered with, in bytes.
const YAML_BYTES_MAX: usize = 1024 * 1024;

/// What the live configuration's file says below a path.
pub(super) fn config(source: Option<&Source>, path: &str, yaml: bool) -> Answer {
    // Not where there is no admin address; then nobody can ask.
    let Some(source) = source else { return Answer::refuse(Reason::AdminUnknown) };
    if yaml {
        return match path {
            "" => Answer::text(200, "application/yaml", source.yaml(YAML_BYTES_MAX)),
            _ => Answer::refuse_with(Reason::AdminRequest, json!({ "detail": "with format=yaml there is no path" })),
        };
    }
    let (mut listed, mut left_out) = (Vec::new(), 0_u64);
    source.each(path, |found| {
        if listed.len() < LISTED_MAX {
            listed.push(setting(&found));
        } else {
            left_out += 1;
        }
    });
    if listed.is_empty() && !path.is_empty() {
        return Answer::refuse_with(Reason::AdminUnknown, json!({ "detail": "the file has nothing at this path" }));
    }
    Answer::json(&json!({ "file": source.file(), "settings": listed, "left_out": left_out }))
}

/// What differs between two configurations' files.
pub(super) fn changes(now: Option<&Source>, before: Option<&Source>) -> Value {
    // Where a file had no admin address nothing is known of it.
    let (Some(now), Some(before)) = (now, before) else { return Value::Null };
    let changes = now.changes(before);
    let listed: Vec<Value> = changes.iter().take(LISTED_MAX).map(change).collect();
    json!({ "changes": listed, "left_out": changes.len() - listed.len() })
}

fn change(change: &Change) -> Value {
    let (kind, found) = match change {
        Change::Added(found) => ("added", found),
        Change::Changed(found) => ("changed", found),
        Change::Removed(found) => ("removed", found),
    };
    let mut shown = setting(found);
    shown["change"] = kind.into();
    shown
}

fn setting(setting: &Setting) -> Value {
    json!({
        "path": setting.path,
        "line": setting.place.line,
        "column": setting.place.column,
        "value": setting.value,
    })
}
