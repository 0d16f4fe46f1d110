//! Conversions between types, which fail rather than lose what they cannot carry.

use crate::cel::evaluate::Evaluation;
use crate::cel::function::Function;
use crate::cel::{Blob, Duration, Error, Text, Timestamp, Value};

/// `int(x)` and its siblings.
pub(super) fn convert<'a>(run: &mut Evaluation<'a>, function: Function, value: &Value<'a>) -> Result<Value<'a>, Error> {
    match function {
        Function::Int => int(value),
        Function::Uint => uint(value),
        Function::Double => double(value),
        Function::String => string(run, value),
        Function::Bytes => match value {
            Value::Bytes(_) => Ok(value.clone()),
            Value::String(Text::Borrowed(text)) => Ok(Value::Bytes(Blob::Borrowed(text.as_bytes()))),
            Value::String(text) => Ok(Value::Bytes(Blob::from(text.as_bytes().to_vec()))),
            other => Err(Error::overload("bytes", other)),
        },
        Function::Bool => match value {
            Value::Bool(_) => Ok(value.clone()),
            Value::String(text) => match &**text {
                "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
                "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
                _ => Err(Error::invalid("the text is no bool")),
            },
            other => Err(Error::overload("bool", other)),
        },
        Function::Type => Ok(Value::Type(Text::from(value.type_name().to_owned()))),
        Function::Timestamp => match value {
            Value::Timestamp(_) => Ok(value.clone()),
            Value::Int(seconds) => Some(Timestamp(i128::from(*seconds) * 1_000_000_000))
                .filter(|at| at.in_range())
                .map(Value::Timestamp)
                .ok_or(Error::Overflow),
            Value::String(text) => Timestamp::parse(text)
                .map(Value::Timestamp)
                .ok_or_else(|| Error::invalid("the text is no timestamp of RFC 3339")),
            other => Err(Error::overload("timestamp", other)),
        },
        Function::Duration => match value {
            Value::Duration(_) => Ok(value.clone()),
            Value::Int(seconds) => Some(Duration(i128::from(*seconds) * 1_000_000_000))
                .filter(|span| span.in_range())
                .map(Value::Duration)
                .ok_or(Error::Overflow),
            Value::String(text) => Duration::parse(text)
                .map(Value::Duration)
                .ok_or_else(|| Error::invalid("the text is no duration, such as 1h30m or 1.5s")),
            other => Err(Error::overload("duration", other)),
        },
        _ => Ok(value.clone()),
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
fn int<'a>(value: &Value<'a>) -> Result<Value<'a>, Error> {
    let number = match value {
        Value::Int(number) => *number,
        Value::Uint(number) => i64::try_from(*number).map_err(|_| Error::Overflow)?,
        Value::Double(number) if *number > -9_223_372_036_854_775_808.0 && *number < 9_223_372_036_854_775_808.0 => {
            *number as i64
        }
        Value::Double(_) => return Err(Error::Overflow),
        Value::String(text) => text.parse().map_err(|_| Error::invalid("the text is no int"))?,
        Value::Timestamp(at) => at.seconds(),
        other => return Err(Error::overload("int", other)),
    };
    Ok(Value::Int(number))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn uint<'a>(value: &Value<'a>) -> Result<Value<'a>, Error> {
    let number = match value {
        Value::Uint(number) => *number,
        Value::Int(number) => u64::try_from(*number).map_err(|_| Error::Overflow)?,
        Value::Double(number) if *number >= 0.0 && *number < 18_446_744_073_709_551_616.0 => *number as u64,
        Value::Double(_) => return Err(Error::Overflow),
        Value::String(text) => text.parse().map_err(|_| Error::invalid("the text is no uint"))?,
        other => return Err(Error::overload("uint", other)),
    };
    Ok(Value::Uint(number))
}

#[allow(clippy::cast_precision_loss)]
fn double<'a>(value: &Value<'a>) -> Result<Value<'a>, Error> {
    let number = match value {
        Value::Double(number) => *number,
        Value::Int(number) => *number as f64,
        Value::Uint(number) => *number as f64,
        Value::String(text) => text.parse().map_err(|_| Error::invalid("the text is no double"))?,
        other => return Err(Error::overload("double", other)),
    };
    Ok(Value::Double(number))
}

fn string<'a>(run: &mut Evaluation<'a>, value: &Value<'a>) -> Result<Value<'a>, Error> {
    match value {
        Value::String(_) => Ok(value.clone()),
        Value::Bytes(bytes) => {
            run.charge(bytes.len() as u64 / 8)?;
            let text = std::str::from_utf8(bytes).map_err(|_| Error::invalid("the bytes are no UTF-8"))?;
            Ok(Value::String(Text::from(text.to_owned())))
        }
        Value::List(_) | Value::Map(_) | Value::Message(_) | Value::Null => Err(Error::overload("string", value)),
        scalar => Ok(Value::String(Text::from(text_of(scalar)))),
    }
}

/// The text of a scalar; of other values the name of their type.
pub(in crate::cel) fn text_of(value: &Value<'_>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Uint(number) => number.to_string(),
        Value::Double(number) => double_text(*number),
        Value::String(text) | Value::Type(text) => (**text).to_owned(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Timestamp(at) => at.text(),
        Value::Duration(span) => span.text(),
        other => other.type_name().to_owned(),
    }
}

/// A double as other implementations write it: plain digits within reach, an exponent beyond.
pub(super) fn double_text(number: f64) -> String {
    match number {
        number if number.is_nan() => "NaN".to_owned(),
        number if number.is_infinite() => if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
        number if number != 0.0 && !(1e-6..1e21).contains(&number.abs()) => format!("{number:e}"),
        number => number.to_string(),
    }
}
