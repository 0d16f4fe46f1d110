//! Equality and order. Numbers compare by value whatever their types; what cannot be ordered has no order.

use std::cmp::Ordering;

use super::{List, Map, Value};

/// CEL's `==`. Values of different kinds are unequal; NaN equals nothing.
pub(super) fn equal(left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::String(left), Value::String(right)) => **left == **right,
        (Value::Bytes(left), Value::Bytes(right)) => **left == **right,
        (Value::Timestamp(left), Value::Timestamp(right)) => left == right,
        (Value::Duration(left), Value::Duration(right)) => left == right,
        (Value::Type(left), Value::Type(right)) => **left == **right,
        (Value::List(left), Value::List(right)) => lists(left, right),
        (Value::Map(left), Value::Map(right)) => maps(left, right),
        (Value::Message(left), Value::Message(right)) => left.get() == right.get(),
        (left, right) => numbers(left, right) == Some(Ordering::Equal),
    }
}

/// CEL's `<`; none where there is no order, so also for NaN.
pub(super) fn order(left: &Value<'_>, right: &Value<'_>) -> Option<Ordering> {
    match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
        (Value::String(left), Value::String(right)) => Some((**left).cmp(&**right)),
        (Value::Bytes(left), Value::Bytes(right)) => Some((**left).cmp(&**right)),
        (Value::Timestamp(left), Value::Timestamp(right)) => Some(left.cmp(right)),
        (Value::Duration(left), Value::Duration(right)) => Some(left.cmp(right)),
        (left, right) => numbers(left, right),
    }
}

/// Whether two values are of kinds that have an order among them.
pub(super) fn ordered(left: &Value<'_>, right: &Value<'_>) -> bool {
    let number = |value: &Value<'_>| matches!(value, Value::Int(_) | Value::Uint(_) | Value::Double(_));
    number(left) && number(right) || order(left, right).is_some()
}

fn numbers(left: &Value<'_>, right: &Value<'_>) -> Option<Ordering> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => Some(left.cmp(right)),
        (Value::Uint(left), Value::Uint(right)) => Some(left.cmp(right)),
        (Value::Double(left), Value::Double(right)) => left.partial_cmp(right),
        (Value::Int(left), Value::Uint(right)) => Some(i128::from(*left).cmp(&i128::from(*right))),
        (Value::Uint(left), Value::Int(right)) => Some(i128::from(*left).cmp(&i128::from(*right))),
        (Value::Double(left), Value::Int(right)) => double(*left, (*right).into()),
        (Value::Double(left), Value::Uint(right)) => double(*left, (*right).into()),
        (Value::Int(left), Value::Double(right)) => double(*right, (*left).into()).map(Ordering::reverse),
        (Value::Uint(left), Value::Double(right)) => double(*right, (*left).into()).map(Ordering::reverse),
        _ => None,
    }
}

/// A double beside a whole number of 65 bits: exact, where a conversion to double would round.
fn double(left: f64, right: i128) -> Option<Ordering> {
    if left.is_nan() {
        return None;
    }
    if left.abs() >= 1e20 {
        return left.partial_cmp(&0.0);
    }
    #[allow(clippy::cast_possible_truncation)]
    let whole = left.trunc() as i128;
    Some(whole.cmp(&right).then_with(|| left.fract().partial_cmp(&0.0).unwrap_or(Ordering::Equal)))
}

fn lists(left: &List<'_>, right: &List<'_>) -> bool {
    left.len() == right.len() && left.iter().zip(right.iter()).all(|(left, right)| equal(&left, &right))
}

fn maps(left: &Map<'_>, right: &Map<'_>) -> bool {
    left.len() == right.len()
        && left.keys().iter().all(|key| match (left.get(key), right.get(key)) {
            (Some(left), Some(right)) => equal(&left, &right),
            _ => false,
        })
}

/// How much work comparing `value` may be: elements, eighths of bytes.
pub(super) fn weight(value: &Value<'_>) -> u64 {
    let count = match value {
        Value::String(text) => text.len() / 8,
        Value::Bytes(bytes) => bytes.len() / 8,
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        _ => 0,
    };
    u64::try_from(count).unwrap_or(u64::MAX)
}
