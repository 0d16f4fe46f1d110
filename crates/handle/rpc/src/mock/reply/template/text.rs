//! Values as text and as JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map as Object, Number, Value as Json};

use super::budget::Budget;
use super::clock::{WallTime, rfc3339};
use crate::cel::{Duration, Timestamp, Value};

/// Levels of lists, maps and messages that are written.
const DEPTH_MAX: usize = 64;

/// A value inside of text: numbers and truth values as JSON writes them, bytes as Base64, times as RFC 3339, nothing for
/// `null`; lists, maps and messages in JSON form.
pub(in crate::mock::reply) fn text(value: &Value<'_>, budget: &Budget) -> Result<String, String> {
    Ok(match value {
        Value::Null => String::new(),
        Value::Bool(flag) => flag.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Uint(number) => number.to_string(),
        Value::Double(number) => number.to_string(),
        Value::String(text) => {
            budget.spend(text.len())?;
            (**text).to_owned()
        }
        Value::Type(name) => (**name).to_owned(),
        Value::Bytes(bytes) => {
            budget.spend(bytes.len() / 3 * 4)?;
            STANDARD.encode(&**bytes)
        }
        Value::Timestamp(time) => rfc3339(wall(*time)),
        Value::Duration(time) => seconds(*time),
        Value::List(_) | Value::Map(_) | Value::Message(_) => json_text(value, budget)?,
    })
}

/// JSON as text. Of a message with its fields in their order.
pub(super) fn json_text(value: &Value<'_>, budget: &Budget) -> Result<String, String> {
    match value {
        Value::Message(message) => {
            budget.message(message.get())?;
            message.get().to_json().map_err(|error| error.to_string())
        }
        other => json(other, budget).map(|json| json.to_string()),
    }
}

/// A value in JSON form, as protobuf writes it: numbers of 64 bits are strings in messages, and numbers elsewhere.
pub(in crate::mock::reply) fn json(value: &Value<'_>, budget: &Budget) -> Result<Json, String> {
    nested(value, DEPTH_MAX, budget)
}

fn nested(value: &Value<'_>, depth: usize, budget: &Budget) -> Result<Json, String> {
    let Some(depth) = depth.checked_sub(1) else { return Err(format!("more than {DEPTH_MAX} levels")) };
    budget.element()?;
    Ok(match value {
        Value::Null => Json::Null,
        Value::Bool(flag) => Json::Bool(*flag),
        Value::Int(number) => Json::Number((*number).into()),
        Value::Uint(number) => Json::Number((*number).into()),
        Value::Double(number) => {
            Number::from_f64(*number).map_or_else(|| Json::String(number_text(*number)), Json::Number)
        }
        Value::List(list) => {
            Json::Array(list.iter().map(|each| nested(&each, depth, budget)).collect::<Result<_, _>>()?)
        }
        Value::Map(map) => {
            let mut object = Object::new();
            for key in map.keys() {
                let found = map.get(&key).unwrap_or(Value::Null);
                object.insert(text(&key, budget)?, nested(&found, depth, budget)?);
            }
            Json::Object(object)
        }
        Value::Message(message) => {
            budget.message(message.get())?;
            serde_json::to_value(message.get()).map_err(|error| error.to_string())?
        }
        scalar => Json::String(text(scalar, budget)?),
    })
}

/// How protobuf's JSON form spells what JSON has no number for.
fn number_text(number: f64) -> String {
    match number {
        number if number.is_nan() => "NaN".to_owned(),
        number if number > 0.0 => "Infinity".to_owned(),
        _ => "-Infinity".to_owned(),
    }
}

/// The parts of an instant.
pub(in crate::mock::reply) fn wall(Timestamp(nanos): Timestamp) -> WallTime {
    let (seconds, nanos) = parts(nanos, i128::div_euclid, i128::rem_euclid);
    WallTime { seconds, nanos: nanos.unsigned_abs() }
}

/// Whole seconds and the nanoseconds beside them, both of the span's sign, as protobuf's `Duration` has them.
pub(in crate::mock::reply) fn span(Duration(nanos): Duration) -> (i64, i32) {
    parts(nanos, |all, second| all / second, |all, second| all % second)
}

fn parts(nanos: i128, quotient: fn(i128, i128) -> i128, rest: fn(i128, i128) -> i128) -> (i64, i32) {
    const SECOND: i128 = 1_000_000_000;
    let seconds = i64::try_from(quotient(nanos, SECOND)).unwrap_or_default();
    (seconds, i32::try_from(rest(nanos, SECOND)).unwrap_or_default())
}

/// Seconds with as many digits as they need: `1.5s`.
fn seconds(duration: Duration) -> String {
    let (seconds, nanos) = span(duration);
    let sign = if seconds < 0 || nanos < 0 { "-" } else { "" };
    let (seconds, nanos) = (seconds.unsigned_abs(), nanos.unsigned_abs());
    match nanos {
        0 => format!("{sign}{seconds}s"),
        nanos => format!("{sign}{seconds}.{}s", format!("{nanos:09}").trim_end_matches('0')),
    }
}
