use std::fmt::Write as _;

use leat_rpc_wire::{Metadata, Status};
use leat_schema::{Method, Schema};
use serde_json::{Map, Value};

use super::{Answered, Recorded};

/// The rules of one method that answer as was recorded, as a file. The same calls give the same bytes, but for the times.
///
/// Calls with the same request become one rule: with one reply if all answers were the same, otherwise with a sequence of them.
///
/// # Errors
/// A message that has no JSON form, in words: it is malformed, or holds an `Any` of a type that the schema does not have.
pub fn rules(schema: &Schema, method: &Method, upstream: &str, calls: &[Recorded]) -> Result<String, String> {
    let mut out = String::new();
    // Writing to a String can't fail.
    let _ = writeln!(out, "# Recorded from {upstream}. Metadata that sounds secret was left out.\nrules:");
    let mut written: Vec<&[bytes::Bytes]> = Vec::new();
    for call in calls {
        if written.contains(&&*call.requests) {
            continue;
        }
        written.push(&call.requests);
        let mut answers: Vec<&Answered> = Vec::new();
        for other in calls.iter().filter(|other| other.requests == call.requests) {
            if !answers.last().is_some_and(|last| last.says_the_same(&other.answer)) {
                answers.push(&other.answer);
            }
        }
        rule(&mut out, schema, method, written.len(), call, &answers)?;
    }
    Ok(out)
}

/// The file's name: `shop.v1.Orders.Get.yaml`.
pub fn file_name(method: &Method) -> String {
    format!("{}.yaml", method.full_name().replace('/', "."))
}

/// Appends the rule of one request. `number` tells it from the others of its method.
///
/// # Errors
/// As [`rules`].
pub(super) fn rule(
    out: &mut String,
    schema: &Schema,
    method: &Method,
    number: usize,
    call: &Recorded,
    answers: &[&Answered],
) -> Result<(), String> {
    let requests = call.requests.iter().map(|bytes| json(method.input(), bytes)).collect::<Result<Vec<_>, _>>()?;
    let _ = writeln!(out, "  - name: {}", quoted(&format!("{} {number}", method.full_name())));
    let _ = writeln!(out, "    method: {}", method.full_name());
    match requests.first() {
        Some(first @ Value::Object(fields)) if !fields.is_empty() => {
            let _ = writeln!(out, "    match: {{ message: {first} }}");
        }
        // Without a message rules see an empty one.
        _ if call.requests.first().is_none_or(|bytes| bytes.is_empty()) && !has_own_value(method.input()) => {
            let empty = format!("request == {}{{}}", method.input().full_name());
            let _ = writeln!(out, "    match: {{ cel: {} }}", quoted(&empty));
        }
        _ => {}
    }
    let mut sample = Map::new();
    if !call.metadata.is_empty() {
        sample.insert("metadata".to_owned(), Value::Object(metadata(&call.metadata)));
    }
    sample.insert("messages".to_owned(), requests.into());
    let _ = writeln!(out, "    sample: {}", Value::Object(sample));
    match answers {
        [one] => {
            let _ = writeln!(out, "    reply:");
            reply(out, schema, method, one, "      ")?;
        }
        many => {
            let _ = writeln!(out, "    reply:\n      then: repeat_last\n      sequence:");
            for answer in many {
                let start = out.len();
                reply(out, schema, method, answer, "          ")?;
                out.replace_range(start..start + 10, "        - ");
            }
        }
    }
    Ok(())
}

/// The keys of a reply, each on a line of its own that starts with `indent`.
fn reply(out: &mut String, schema: &Schema, method: &Method, answer: &Answered, indent: &str) -> Result<(), String> {
    let _ = writeln!(out, "{indent}templates: false");
    if !answer.headers.is_empty() {
        let _ = writeln!(out, "{indent}headers: {}", Value::Object(metadata(&answer.headers)));
    }
    if method.server_streams() {
        let items = answer.messages.iter().map(|(bytes, after_ms)| {
            let message = json(method.output(), bytes)?;
            Ok(if *after_ms > 0 {
                serde_json::json!({ "message": message, "delay": format!("{after_ms}ms") })
            } else {
                serde_json::json!({ "message": message })
            })
        });
        let items = items.collect::<Result<Vec<Value>, String>>()?;
        if items.is_empty() && answer.status.is_ok() {
            let _ = writeln!(out, "{indent}stream: []");
        } else if !items.is_empty() {
            let _ = writeln!(out, "{indent}stream:");
            for item in items {
                let _ = writeln!(out, "{indent}  - {item}");
            }
        }
    } else {
        let waited: u64 = answer.messages.iter().map(|(_, ms)| *ms).sum::<u64>() + answer.end_ms;
        if waited > 0 {
            let _ = writeln!(out, "{indent}delay: {waited}ms");
        }
        if let (Some((bytes, _)), true) = (answer.messages.first(), answer.status.is_ok()) {
            let _ = writeln!(out, "{indent}message: {}", json(method.output(), bytes)?);
        }
    }
    if !answer.status.is_ok() {
        let _ = writeln!(out, "{indent}error: {}", error(schema, &answer.status)?);
    }
    if !answer.trailers.is_empty() {
        let _ = writeln!(out, "{indent}trailers: {}", Value::Object(metadata(&answer.trailers)));
    }
    Ok(())
}

/// The error of a reply. Details whose type the schema does not have can't be written as rules have them, and are left out.
fn error(schema: &Schema, status: &Status) -> Result<Value, String> {
    let mut error = Map::new();
    error.insert("code".to_owned(), status.code.snake().into());
    if !status.message.is_empty() {
        error.insert("message".to_owned(), status.message.as_str().into());
    }
    let mut details = Vec::new();
    for detail in &status.details {
        let Some(message) = schema.message(&detail.type_name) else { continue };
        let mut shown = Map::new();
        shown.insert("@type".to_owned(), detail.type_name.as_str().into());
        match json(&message, &detail.value)? {
            Value::Object(fields) => shown.extend(fields),
            value => drop(shown.insert("value".to_owned(), value)),
        }
        details.push(Value::Object(shown));
    }
    if !details.is_empty() {
        error.insert("details".to_owned(), details.into());
    }
    Ok(Value::Object(error))
}

/// A message in its JSON form.
///
/// # Errors
/// The bytes are none of the type, or hold an `Any` of a type that the schema does not have.
pub(crate) fn json(message: &leat_schema::MessageType, bytes: &[u8]) -> Result<Value, String> {
    let mut text = Vec::new();
    let none =
        |error: &dyn std::fmt::Display| format!("a message of {} has no JSON form: {error}", message.full_name());
    message.to_json(bytes, &mut text).map_err(|error| none(&error))?;
    serde_json::from_slice(&text).map_err(|error| none(&error))
}

/// Whether messages of the type are other values in expressions, such as text.
fn has_own_value(message: &leat_schema::MessageType) -> bool {
    message.full_name().starts_with("google.protobuf.") && message.full_name() != "google.protobuf.Empty"
}

/// Metadata as a mapping. A name with several values has a list of them; binary values are Base64.
pub(crate) fn metadata(metadata: &Metadata) -> Map<String, Value> {
    let mut shown: Map<String, Value> = Map::new();
    for (name, value) in metadata.iter() {
        let mut text = String::new();
        match std::str::from_utf8(value) {
            Ok(plain) if !Metadata::is_binary(name) => text.push_str(plain),
            _ => leat_rpc_wire::binary_value::encode(value, &mut text),
        }
        match shown.get_mut(name) {
            None => drop(shown.insert(name.to_owned(), text.into())),
            Some(Value::Array(values)) => values.push(text.into()),
            Some(first) => *first = Value::Array(vec![first.take(), text.into()]),
        }
    }
    shown
}

/// A text that YAML reads as this text. JSON's strings are YAML's.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
