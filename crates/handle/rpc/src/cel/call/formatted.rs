//! `'…%s…'.format([…])`: the directives of CEL's strings extension, version 1.

use std::fmt::Write as _;

use super::convert::{double_text, text_of};
use crate::cel::evaluate::Evaluation;
use crate::cel::{Error, Text, Value};

/// The most digits after the point that `%.9f` may ask for.
const PRECISION_MAX: usize = 100;

/// The text with each directive replaced by its argument.
pub(super) fn format<'a>(
    run: &mut Evaluation<'a>,
    template: &Value<'a>,
    rest: &[Value<'a>],
) -> Result<Value<'a>, Error> {
    let (Value::String(template), Some(Value::List(arguments))) = (template, rest.first()) else {
        return Err(Error::overload("format", template));
    };
    let mut out = String::with_capacity(template.len() + 16);
    let mut text: &str = template;
    let mut next = 0;
    while let Some((before, directive)) = text.split_once('%') {
        out.push_str(before);
        if let Some(after) = directive.strip_prefix('%') {
            out.push('%');
            text = after;
            continue;
        }
        let (precision, directive) = precision(directive)?;
        let mut rest = directive.chars();
        let verb = rest.next().ok_or_else(|| Error::invalid("a directive of format ends early"))?;
        let argument = arguments.get(next).ok_or(Error::Index)?;
        next += 1;
        let before = out.len();
        write(&mut out, verb, precision, &argument)?;
        run.charge(1 + (out.len() - before) as u64 / 8)?;
        text = rest.as_str();
    }
    out.push_str(text);
    run.charge(out.len() as u64 / 8)?;
    Ok(Value::String(Text::from(out)))
}

fn precision(directive: &str) -> Result<(Option<usize>, &str), Error> {
    let Some(rest) = directive.strip_prefix('.') else { return Ok((None, directive)) };
    let end = rest.find(|each: char| !each.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, rest) = rest.split_at(end);
    let precision = digits.parse().ok().filter(|precision| *precision <= PRECISION_MAX);
    precision
        .map(|precision| (Some(precision), rest))
        .ok_or_else(|| Error::invalid("format's precision is no number up to 100"))
}

fn write(out: &mut String, verb: char, precision: Option<usize>, value: &Value<'_>) -> Result<(), Error> {
    let refused = || Error::overload("format", value);
    let text = match (verb, value) {
        ('s', value) => {
            plain(out, value);
            return Ok(());
        }
        ('d', Value::Int(_) | Value::Uint(_)) => text_of(value),
        ('d', Value::Double(number)) if !number.is_finite() => double_text(*number),
        ('f' | 'e', value) => {
            #[allow(clippy::cast_precision_loss)]
            let number = match value {
                Value::Double(number) => *number,
                Value::Int(number) => *number as f64,
                Value::Uint(number) => *number as f64,
                _ => return Err(refused()),
            };
            let precision = precision.unwrap_or(6);
            match verb {
                _ if !number.is_finite() => double_text(number),
                'f' => format!("{number:.precision$}"),
                _ => exponent(&format!("{number:.precision$e}")),
            }
        }
        ('b', Value::Bool(flag)) => u8::from(*flag).to_string(),
        ('b', Value::Int(number)) => signed(*number, |number| format!("{number:b}")),
        ('b', Value::Uint(number)) => format!("{number:b}"),
        ('o', Value::Int(number)) => signed(*number, |number| format!("{number:o}")),
        ('o', Value::Uint(number)) => format!("{number:o}"),
        ('x', Value::Int(number)) => signed(*number, |number| format!("{number:x}")),
        ('x', Value::Uint(number)) => format!("{number:x}"),
        ('X', Value::Int(number)) => signed(*number, |number| format!("{number:X}")),
        ('X', Value::Uint(number)) => format!("{number:X}"),
        ('x', Value::String(text)) => hex(text.as_bytes()),
        ('x', Value::Bytes(bytes)) => hex(bytes),
        ('X', Value::String(text)) => hex(text.as_bytes()).to_ascii_uppercase(),
        ('X', Value::Bytes(bytes)) => hex(bytes).to_ascii_uppercase(),
        _ => return Err(refused()),
    };
    out.push_str(&text);
    Ok(())
}

fn signed(number: i64, digits: impl Fn(u64) -> String) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", digits(number.unsigned_abs()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// Rust's `1e5` as the `1e+05` of other languages.
fn exponent(text: &str) -> String {
    let Some((number, exponent)) = text.split_once('e') else { return text.to_owned() };
    match exponent.strip_prefix('-') {
        Some(digits) => format!("{number}e-{digits:0>2}"),
        None => format!("{number}e+{exponent:0>2}"),
    }
}

/// `%s`: any value, lists in brackets, maps in braces.
fn plain(out: &mut String, value: &Value<'_>) {
    match value {
        Value::List(list) => {
            out.push('[');
            for (place, each) in list.iter().enumerate() {
                if place > 0 {
                    out.push_str(", ");
                }
                plain(out, &each);
            }
            out.push(']');
        }
        Value::Map(map) => {
            out.push('{');
            for (place, key) in map.keys().iter().enumerate() {
                if place > 0 {
                    out.push_str(", ");
                }
                plain(out, key);
                out.push_str(": ");
                if let Some(value) = map.get(key) {
                    plain(out, &value);
                }
            }
            out.push('}');
        }
        scalar => out.push_str(&text_of(scalar)),
    }
}
