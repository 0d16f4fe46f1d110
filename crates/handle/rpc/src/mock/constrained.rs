//! Rules' own replies against the constraints of their types: what breaks them, and where in the file it stands.

use leat_config::Place;
use leat_config::table::Open;
use leat_config::yaml::{Node, Value};
use leat_schema::MessageType;

use super::noted::timestamp;
use super::reply::{Known, Replies};
use crate::validate::{FieldPath, Guard, Subscript, Violation};

/// Reports what breaks constraints among the messages of a rule's replies; says whether nothing does.
///
/// Of a message with templates only what cannot depend on them is judged: constraints of fields without any in them.
pub(super) fn hold(replies: &Replies, guard: &Guard, rule: &Open<'_>, output: &MessageType) -> bool {
    if !guard.validators().declares(output.index()) {
        return true;
    }
    let mut is_right = true;
    let mut report = |place: Place, broken: &str| {
        let text = format!("the reply breaks the constraints of {}: {broken}", output.full_name());
        rule.reader.problem_help(place, text, "mend it, or validate nothing (`--validate off`)");
        is_right = false;
    };
    for known in replies.known_messages() {
        let violations = match guard.broken(output, &known.binary, timestamp()) {
            Ok(violations) => violations,
            // What an expression fails on may come from a template.
            Err(_) if !known.made.is_empty() => continue,
            Err(failure) => {
                report(known.place, &failure);
                continue;
            }
        };
        let is_known = |violation: &&Violation| known.made.is_empty() || is_of_fixed(violation, &known);
        for violation in violations.0.iter().filter(is_known) {
            let node = rule.json("reply").and_then(|reply| mapping_at(reply, known.place));
            let place = node.zip(violation.field.as_ref()).map_or(known.place, |(node, path)| place_of(node, path));
            report(place, &violation.to_string());
        }
    }
    is_right
}

/// Whether it is about a field that no template has a part in.
fn is_of_fixed(violation: &Violation, known: &Known<'_>) -> bool {
    let first = violation.field.as_ref().and_then(|path| path.0.first()).and_then(|element| element.number);
    first.is_some_and(|number| !known.made.contains(&number))
}

/// The mapping that starts at a place.
fn mapping_at(node: &Node, place: Place) -> Option<&Node> {
    match &node.value {
        Value::Map(_) if node.place == place => Some(node),
        Value::Map(pairs) => pairs.iter().find_map(|pair| mapping_at(&pair.value, place)),
        Value::List(items) => items.iter().find_map(|item| mapping_at(item, place)),
        _ => None,
    }
}

/// Where the value of a field stands, or as much of its path as is written.
fn place_of(message: &Node, path: &FieldPath) -> Place {
    let mut node = message;
    for element in &path.0 {
        let Some(value) = value_of(node, |key| is_name(key, &element.name)) else { break };
        node = match &element.subscript {
            None => value,
            Some(Subscript::Index(index)) => match &value.value {
                Value::List(items) => usize::try_from(*index).ok().and_then(|at| items.get(at)).unwrap_or(value),
                _ => value,
            },
            Some(key) => value_of(value, |name| is_key(name, key)).unwrap_or(value),
        };
    }
    node.place
}

fn value_of(node: &Node, is_wanted: impl Fn(&str) -> bool) -> Option<&Node> {
    let Value::Map(pairs) = &node.value else { return None };
    pairs.iter().find(|pair| is_wanted(&pair.key)).map(|pair| &pair.value)
}

/// Whether a key is a field's name, of the .proto file or of JSON.
fn is_name(key: &str, name: &str) -> bool {
    let letters =
        |text: &str| text.bytes().filter(|byte| *byte != b'_').map(|byte| byte.to_ascii_lowercase()).collect();
    let (key, name): (Vec<u8>, Vec<u8>) = (letters(key), letters(name));
    key == name
}

fn is_key(name: &str, key: &Subscript) -> bool {
    match key {
        Subscript::Text(text) => name == text,
        Subscript::Bool(flag) => name == flag.to_string(),
        Subscript::Int(number) => name == number.to_string(),
        Subscript::Uint(number) | Subscript::Index(number) => name == number.to_string(),
    }
}

#[cfg(test)]
#[path = "constrained_tests.rs"]
mod tests;
