//! Functions of strings, and of bytes where both have them. Positions count characters.

use crate::cel::evaluate::Evaluation;
use crate::cel::function::Function;
use crate::cel::{Error, Pattern, Text, Value};

/// `contains`, `startsWith`, `endsWith`, `matches`.
pub(super) fn search<'a>(
    run: &mut Evaluation<'a>,
    function: Function,
    subject: &Value<'a>,
    rest: &[Value<'a>],
) -> Result<Value<'a>, Error> {
    let found = match (subject, rest.first()) {
        (Value::String(subject), Some(Value::String(wanted))) => {
            run.charge(subject.len() as u64 / 8)?;
            match function {
                Function::Contains => subject.contains(&**wanted),
                Function::StartsWith => subject.starts_with(&**wanted),
                Function::EndsWith => subject.ends_with(&**wanted),
                _ => {
                    // The pattern is not a literal: what a message says is compiled now, and costs so.
                    run.charge(wanted.len() as u64 * 64 + subject.len() as u64)?;
                    Pattern::new(wanted).map_err(Error::invalid)?.matches(subject)
                }
            }
        }
        (Value::Bytes(subject), Some(Value::Bytes(wanted))) => match function {
            Function::Contains => {
                run.charge(subject.len() as u64 / 8)?;
                memchr::memmem::find(subject, wanted).is_some()
            }
            Function::StartsWith => subject.starts_with(wanted),
            Function::EndsWith => subject.ends_with(wanted),
            _ => return Err(Error::overload("matches", &Value::Bytes(subject.clone()))),
        },
        (subject, _) => return Err(Error::overload("contains", subject)),
    };
    Ok(Value::Bool(found))
}

/// Functions that make strings, or find places in them.
pub(super) fn edit<'a>(
    run: &mut Evaluation<'a>,
    function: Function,
    subject: &Value<'a>,
    rest: &[Value<'a>],
) -> Result<Value<'a>, Error> {
    if function == Function::Join {
        return join(run, subject, rest.first());
    }
    let Value::String(text) = subject else { return Err(Error::overload("string function", subject)) };
    run.charge(text.len() as u64 / 4)?;
    let string = |place: usize| match rest.get(place) {
        Some(Value::String(text)) => Ok(&**text),
        _ => Err(Error::overload("string function", subject)),
    };
    let place = |at: usize| match rest.get(at) {
        Some(Value::Int(number)) => usize::try_from(*number).map_err(|_| Error::Index),
        _ => Err(Error::overload("string function", subject)),
    };
    let made = match function {
        Function::LowerAscii => text.to_ascii_lowercase(),
        Function::UpperAscii => text.to_ascii_uppercase(),
        Function::Trim => text.trim().to_owned(),
        Function::Replace => {
            let (from, to) = (string(0)?, string(1)?);
            run.charge(((text.len() + 1) as u64).saturating_mul(to.len() as u64) / 8)?;
            text.replace(from, to)
        }
        Function::Split => {
            let separator = string(0)?;
            let parts: Vec<Value<'a>> = match separator {
                "" => text.chars().map(|each| Value::String(Text::from(each.to_string()))).collect(),
                separator => text.split(separator).map(|each| Value::String(Text::from(each.to_owned()))).collect(),
            };
            run.charge(parts.len() as u64 * 4)?;
            return Ok(Value::list(parts));
        }
        Function::IndexOf => return Ok(Value::Int(position(text, text.find(string(0)?)))),
        Function::LastIndexOf => return Ok(Value::Int(position(text, text.rfind(string(0)?)))),
        Function::CharAt => {
            let at = place(0)?;
            let found = text.chars().nth(at).map(String::from);
            found.or_else(|| (text.chars().count() == at).then(String::new)).ok_or(Error::Index)?
        }
        _ => {
            let from = place(0)?;
            let length = text.chars().count();
            let to = if rest.len() > 1 { place(1)? } else { length };
            if from > to || to > length {
                return Err(Error::Index);
            }
            text.chars().skip(from).take(to - from).collect()
        }
    };
    Ok(Value::String(Text::from(made)))
}

/// The place in characters, -1 for none.
fn position(text: &str, at: Option<usize>) -> i64 {
    at.and_then(|at| text.get(..at)).map_or(-1, |before| i64::try_from(before.chars().count()).unwrap_or(i64::MAX))
}

fn join<'a>(run: &mut Evaluation<'a>, list: &Value<'a>, separator: Option<&Value<'a>>) -> Result<Value<'a>, Error> {
    let Value::List(list) = list else { return Err(Error::overload("join", list)) };
    let separator: &str = match separator {
        Some(Value::String(text)) => text,
        _ => "",
    };
    let mut out = String::new();
    for (place, each) in list.iter().enumerate() {
        let Value::String(text) = &each else { return Err(Error::overload("join", &each)) };
        run.charge(1 + (text.len() + separator.len()) as u64 / 8)?;
        if place > 0 {
            out.push_str(separator);
        }
        out.push_str(text);
    }
    Ok(Value::String(Text::from(out)))
}
