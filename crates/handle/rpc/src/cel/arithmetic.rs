//! `+ - * / %` and negation: checked, as CEL requires, so that an overflow is an error and never another number.

use super::{Blob, Duration, Error, List, Text, Timestamp, Value};

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

impl Arithmetic {
    /// As it is written.
    pub(super) fn symbol(self) -> &'static str {
        match self {
            Arithmetic::Add => "+",
            Arithmetic::Subtract => "-",
            Arithmetic::Multiply => "*",
            Arithmetic::Divide => "/",
            Arithmetic::Modulo => "%",
        }
    }

    /// The result, or why there is none.
    pub(super) fn apply<'a>(self, left: &Value<'a>, right: &Value<'a>) -> Result<Value<'a>, Error> {
        match (left, right) {
            (Value::Int(left), Value::Int(right)) => self.int(*left, *right).map(Value::Int),
            (Value::Uint(left), Value::Uint(right)) => self.uint(*left, *right).map(Value::Uint),
            (Value::Double(left), Value::Double(right)) => self.double(*left, *right),
            (left, right) => match self {
                Arithmetic::Add => add(left, right),
                Arithmetic::Subtract => subtract(left, right),
                _ => Err(Error::overload(self.symbol(), left)),
            },
        }
    }

    fn int(self, left: i64, right: i64) -> Result<i64, Error> {
        let result = match self {
            Arithmetic::Add => left.checked_add(right),
            Arithmetic::Subtract => left.checked_sub(right),
            Arithmetic::Multiply => left.checked_mul(right),
            Arithmetic::Divide | Arithmetic::Modulo if right == 0 => return Err(Error::Division),
            Arithmetic::Divide => left.checked_div(right),
            Arithmetic::Modulo => left.checked_rem(right),
        };
        result.ok_or(Error::Overflow)
    }

    fn uint(self, left: u64, right: u64) -> Result<u64, Error> {
        let result = match self {
            Arithmetic::Add => left.checked_add(right),
            Arithmetic::Subtract => left.checked_sub(right),
            Arithmetic::Multiply => left.checked_mul(right),
            Arithmetic::Divide | Arithmetic::Modulo if right == 0 => return Err(Error::Division),
            Arithmetic::Divide => left.checked_div(right),
            Arithmetic::Modulo => left.checked_rem(right),
        };
        result.ok_or(Error::Overflow)
    }

    fn double<'a>(self, left: f64, right: f64) -> Result<Value<'a>, Error> {
        Ok(Value::Double(match self {
            Arithmetic::Add => left + right,
            Arithmetic::Subtract => left - right,
            Arithmetic::Multiply => left * right,
            Arithmetic::Divide => left / right,
            Arithmetic::Modulo => return Err(Error::overload("%", &Value::Double(left))),
        }))
    }
}

fn add<'a>(left: &Value<'a>, right: &Value<'a>) -> Result<Value<'a>, Error> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => Ok(Value::String(Text::from([&**left, &**right].concat()))),
        (Value::Bytes(left), Value::Bytes(right)) => Ok(Value::Bytes(Blob::from([&**left, &**right].concat()))),
        (Value::List(left), Value::List(right)) => Ok(concatenated(left, right)),
        (Value::Timestamp(at), Value::Duration(span)) | (Value::Duration(span), Value::Timestamp(at)) => {
            timestamp(at.0 + span.0)
        }
        (Value::Duration(left), Value::Duration(right)) => duration(left.0 + right.0),
        (left, _) => Err(Error::overload("+", left)),
    }
}

fn subtract<'a>(left: &Value<'a>, right: &Value<'a>) -> Result<Value<'a>, Error> {
    match (left, right) {
        (Value::Timestamp(at), Value::Duration(span)) => timestamp(at.0 - span.0),
        (Value::Timestamp(left), Value::Timestamp(right)) => duration(left.0 - right.0),
        (Value::Duration(left), Value::Duration(right)) => duration(left.0 - right.0),
        (left, _) => Err(Error::overload("-", left)),
    }
}

fn concatenated<'a>(left: &List<'a>, right: &List<'a>) -> Value<'a> {
    if left.is_empty() {
        return Value::List(right.clone());
    }
    Value::list(left.iter().chain(right.iter()).collect())
}

fn timestamp<'a>(nanos: i128) -> Result<Value<'a>, Error> {
    let at = Timestamp(nanos);
    if at.in_range() { Ok(Value::Timestamp(at)) } else { Err(Error::Overflow) }
}

fn duration<'a>(nanos: i128) -> Result<Value<'a>, Error> {
    let span = Duration(nanos);
    if span.in_range() { Ok(Value::Duration(span)) } else { Err(Error::Overflow) }
}

/// Unary minus.
pub(super) fn negate<'a>(value: &Value<'a>) -> Result<Value<'a>, Error> {
    match value {
        Value::Int(number) => number.checked_neg().map(Value::Int).ok_or(Error::Overflow),
        Value::Double(number) => Ok(Value::Double(-number)),
        Value::Duration(span) => duration(-span.0),
        other => Err(Error::overload("-", other)),
    }
}
