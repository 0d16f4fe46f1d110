//! Calls of functions: by what they work on.

mod convert;
mod formatted;
mod text;
mod times;

use super::compare::equal;
use super::evaluate::Evaluation;
use super::function::Function;
use super::{Error, List, Value, format};

pub(super) use convert::text_of;

/// The result of a function. The arguments were checked in number; their types as far as they were known.
pub(super) fn call<'a>(
    run: &mut Evaluation<'a>,
    function: Function,
    arguments: &[Value<'a>],
) -> Result<Value<'a>, Error> {
    use Function as F;
    let (first, rest) = arguments.split_first().ok_or_else(|| Error::invalid("a function without arguments"))?;
    match function {
        F::Size => size(run, first),
        F::Contains | F::StartsWith | F::EndsWith | F::Matches => text::search(run, function, first, rest),
        F::CharAt
        | F::IndexOf
        | F::LastIndexOf
        | F::Join
        | F::LowerAscii
        | F::UpperAscii
        | F::Replace
        | F::Split
        | F::Substring
        | F::Trim => text::edit(run, function, first, rest),
        F::Format => formatted::format(run, first, rest),
        F::Int
        | F::Uint
        | F::Double
        | F::String
        | F::Bytes
        | F::Bool
        | F::Dyn
        | F::Type
        | F::Timestamp
        | F::Duration => convert::convert(run, function, first),
        F::FullYear
        | F::Month
        | F::DayOfYear
        | F::DayOfMonth
        | F::Date
        | F::DayOfWeek
        | F::Hours
        | F::Minutes
        | F::Seconds
        | F::Milliseconds => times::part(function, first, rest.first()),
        F::GetField => field(first, rest.first()),
        F::Unique => unique(run, first).map(Value::Bool),
        F::IsNan | F::IsInf => number(function, first, rest.first()).map(Value::Bool),
        _ => known(run, function, first, rest).map(Value::Bool),
    }
}

fn size<'a>(run: &mut Evaluation<'a>, value: &Value<'a>) -> Result<Value<'a>, Error> {
    let count = match value {
        Value::String(text) => {
            run.charge(text.len() as u64 / 16)?;
            text.chars().count()
        }
        Value::Bytes(bytes) => bytes.len(),
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        other => return Err(Error::overload("size", other)),
    };
    i64::try_from(count).map(Value::Int).map_err(|_| Error::Overflow)
}

/// A field whose name is only known now, or that is a word of CEL.
fn field<'a>(message: &Value<'a>, name: Option<&Value<'a>>) -> Result<Value<'a>, Error> {
    let Some(Value::String(name)) = name else { return Err(Error::overload("getField", message)) };
    match message {
        Value::Message(message) => {
            let field = message.field(name).ok_or_else(|| Error::Field((**name).into()))?;
            Ok(message.select(field))
        }
        other => Err(Error::overload("getField", other)),
    }
}

/// Whether no element equals another. Scalars are sorted rather than compared with each other.
fn unique(run: &mut Evaluation<'_>, value: &Value<'_>) -> Result<bool, Error> {
    let Value::List(list) = value else { return Err(Error::overload("unique", value)) };
    all_differ(list, |steps| run.charge(steps))
}

/// As `unique`; `charge` is told how much work there was.
pub(in crate::cel) fn all_differ(
    list: &List<'_>,
    mut charge: impl FnMut(u64) -> Result<(), Error>,
) -> Result<bool, Error> {
    let mut items: Vec<Value<'_>> = list.iter().collect();
    charge(items.len() as u64 * 4)?;
    let sortable = items.windows(2).all(|pair| match pair {
        [left, right] => super::compare::order(left, right).is_some(),
        _ => true,
    });
    if sortable {
        items.sort_by(|left, right| super::compare::order(left, right).unwrap_or(std::cmp::Ordering::Equal));
        return Ok(items.windows(2).all(|pair| matches!(pair, [left, right] if !equal(left, right))));
    }
    for (place, each) in items.iter().enumerate() {
        charge(place as u64)?;
        if items.iter().take(place).any(|before| equal(before, each)) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn number(function: Function, value: &Value<'_>, sign: Option<&Value<'_>>) -> Result<bool, Error> {
    let Value::Double(number) = value else { return Err(Error::overload("isNan", value)) };
    if function == Function::IsNan {
        return Ok(number.is_nan());
    }
    let positive = match sign {
        None | Some(Value::Int(0)) => return Ok(number.is_infinite()),
        Some(Value::Int(sign)) => *sign > 0,
        Some(other) => return Err(Error::overload("isInf", other)),
    };
    Ok(number.is_infinite() && (*number > 0.0) == positive)
}

/// Protovalidate's formats of strings.
fn known(run: &mut Evaluation<'_>, function: Function, value: &Value<'_>, rest: &[Value<'_>]) -> Result<bool, Error> {
    let Value::String(text) = value else { return Err(Error::overload("is…", value)) };
    run.charge(text.len() as u64 / 4)?;
    let version = match rest.first() {
        Some(Value::Int(version)) => format::Version::of(*version),
        _ => Some(format::Version::Any),
    };
    let strict = matches!(rest.last(), Some(Value::Bool(true)));
    Ok(match function {
        Function::IsEmail => format::is_email(text),
        Function::IsHostname => format::is_hostname(text),
        Function::IsHostAndPort => format::is_host_and_port(text, strict),
        Function::IsIp => version.is_some_and(|version| format::is_ip(text, version)),
        Function::IsIpPrefix => version.is_some_and(|version| format::is_ip_prefix(text, version, strict)),
        Function::IsUri => format::is_uri(text),
        Function::IsUriRef => format::is_uri_reference(text),
        _ => return Err(Error::overload("is…", value)),
    })
}
