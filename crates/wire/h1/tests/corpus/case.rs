//! Reads cases, and compares what happened with what was expected.

use std::path::Path;

use leat_h1::{Fields, Reason};
use serde_json::{Value, json};

pub(crate) struct Case {
    pub(crate) name: String,
    /// Responses: the method of the request.
    pub(crate) method: String,
    pub(crate) pieces: Vec<Vec<u8>>,
    pub(crate) eof: bool,
    pub(crate) compatible: Value,
    pub(crate) strict: Value,
}

pub(crate) fn load(side: &str) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/h1").join(side);
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let text = std::fs::read(&file).unwrap();
        let list: Vec<Value> =
            serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        cases.extend(list.iter().map(read));
    }
    cases
}

fn read(case: &Value) -> Case {
    Case {
        name: case["name"].as_str().unwrap().to_owned(),
        method: case["method"].as_str().unwrap_or("GET").to_owned(),
        pieces: case["pieces"].as_array().unwrap().iter().map(bytes).collect(),
        eof: case["eof"].as_bool().unwrap_or(false),
        compatible: case["compatible"].clone(),
        strict: case["strict"].clone(),
    }
}

/// A string of bytes, or a repetition of one.
fn bytes(piece: &Value) -> Vec<u8> {
    let latin1 = |text: &str| -> Vec<u8> { text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect() };
    match piece {
        Value::String(text) => latin1(text),
        Value::Array(parts) => parts.iter().flat_map(bytes).collect(),
        _ => latin1(piece["repeat"].as_str().unwrap()).repeat(piece["times"].as_u64().unwrap() as usize),
    }
}

/// Bytes as the corpus writes them.
pub(crate) fn text(bytes: &[u8]) -> Value {
    bytes.iter().map(|&b| char::from(b)).collect::<String>().into()
}

pub(crate) fn pairs(fields: Fields<'_>) -> Value {
    fields.iter().map(|(_, name, value)| json!([text(name), text(value)])).collect::<Vec<_>>().into()
}

pub(crate) fn refusal(reason: Reason) -> Value {
    json!({"refuse": reason.code(), "status": reason.status()})
}

/// What is different, if anything. Only keys that the corpus gives are compared.
pub(crate) fn mismatch(expected: &Value, got: &[Value]) -> Option<String> {
    let expected = expected.as_array().unwrap();
    let same = expected.len() == got.len() && expected.iter().zip(got).all(|(e, g)| fits(e, g));
    (!same).then(|| format!("expected {} got {}", short(&json!(expected)), short(&json!(got))))
}

fn short(value: &Value) -> String {
    value.to_string().chars().take(600).collect()
}

fn fits(expected: &Value, got: &Value) -> bool {
    let expected = expected.as_object().unwrap();
    expected.iter().all(|(key, expected)| match (key.as_str(), expected) {
        ("accept", _) => got.get("accept").is_some_and(|got| fits_message(expected, got)),
        // Of a response that is called no more than invalid, only the refusal itself is compared.
        ("refuse", Value::Array(codes)) if codes.contains(&json!("upstream.invalid")) => got["refuse"].is_string(),
        ("refuse", Value::Array(codes)) => codes.contains(&got["refuse"]),
        _ => got.get(key) == Some(expected),
    })
}

fn fits_message(expected: &Value, got: &Value) -> bool {
    expected.as_object().unwrap().iter().all(|(key, expected)| match (key.as_str(), expected) {
        ("body", Value::Object(_) | Value::Array(_)) => text(&bytes(expected)) == got["body"],
        _ => got.get(key) == Some(expected),
    })
}
