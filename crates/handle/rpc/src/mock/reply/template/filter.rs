//! What may follow an expression behind `|`: the few things that CEL has no function for, or that need random numbers.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use leat_config::table::nearest;

use super::budget::Budget;
use super::clock::{self, LETTERS};
use super::text::{json_text, text, wall};
use crate::cel::{List, Value};
use crate::mock::state::Draws;

/// Longest text that `pad` makes, in characters.
const PADDED_MAX: usize = 10_000;

/// A filter with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Filter {
    Upper,
    Lower,
    Trim,
    Truncate(usize),
    Pad(usize, char),
    Default(Literal),
    Base64,
    Hex,
    Json,
    Format(String),
    Pick,
    Between,
    Shuffle,
}

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(String),
    /// The empty list, which is the only one.
    List,
}

/// Every filter: its name, an example, and what it does.
pub(super) const FILTERS: &[(&str, &str, &str)] = &[
    ("upper", "upper", "upper case"),
    ("lower", "lower", "lower case"),
    ("trim", "trim", "without spaces at both ends"),
    ("truncate", "truncate(20)", "at most so many characters"),
    ("pad", "pad(8, '0')", "at least so many characters, filled from the left"),
    ("default", "default('none')", "another value for `null`, for empty text, and where the expression fails"),
    ("base64", "base64", "text or bytes as Base64"),
    ("hex", "hex", "text, bytes or a number in hexadecimal digits"),
    ("json", "json", "JSON as text"),
    ("format", "format('%F')", "a time by a format of strftime's letters"),
    ("pick", "pick", "one of a list, by the seed"),
    ("between", "between", "a number from the first to the second of a list, by the seed"),
    ("shuffle", "shuffle", "a list in another order, by the seed"),
];

impl Filter {
    /// Reads `name` or `name(argument, …)`. The error says what is wrong and what to write.
    pub(super) fn parse(source: &str) -> Result<Self, (String, String)> {
        let (name, arguments) = match source.split_once('(') {
            None => (source, Vec::new()),
            Some((name, rest)) => {
                let inside = rest.trim_end().strip_suffix(')');
                let arguments = inside.and_then(literals).ok_or_else(|| {
                    let help = "an argument is a number, text in quotes, `true`, `false`, `null` or `[]`, such as `pad(8, '0')`".to_owned();
                    (format!("the arguments of `{}` cannot be read", name.trim()), help)
                })?;
                (name.trim(), arguments)
            }
        };
        let Some(&(_, example, _)) = FILTERS.iter().find(|(known, ..)| *known == name) else {
            let names = FILTERS.iter().map(|(known, ..)| *known);
            let help = match nearest(name, names.clone()) {
                Some(near) => format!("write `{near}`"),
                None => format!("the filters are {}", leat_config::table::quoted(names)),
            };
            return Err((format!("there is no filter `{name}`"), help));
        };
        let wrong = || (format!("`{name}` has other arguments"), format!("write for example `| {example}`"));
        Self::with(name, &arguments).ok_or_else(wrong)
    }

    fn with(name: &str, arguments: &[Literal]) -> Option<Self> {
        let count = |number: &i64| usize::try_from(*number).ok().filter(|&count| count <= PADDED_MAX);
        Some(match (name, arguments) {
            ("upper", []) => Self::Upper,
            ("lower", []) => Self::Lower,
            ("trim", []) => Self::Trim,
            ("truncate", [Literal::Int(number)]) => Self::Truncate(count(number)?),
            ("pad", [Literal::Int(number)]) => Self::Pad(count(number)?, ' '),
            ("pad", [Literal::Int(number), Literal::Text(fill)]) if fill.chars().count() == 1 => {
                Self::Pad(count(number)?, fill.chars().next()?)
            }
            ("default", [value]) => Self::Default(value.clone()),
            ("base64", []) => Self::Base64,
            ("hex", []) => Self::Hex,
            ("json", []) => Self::Json,
            ("format", [Literal::Text(format)]) => {
                clock::format(clock::WallTime::default(), format)?;
                Self::Format(format.clone())
            }
            ("pick", []) => Self::Pick,
            ("between", []) => Self::Between,
            ("shuffle", []) => Self::Shuffle,
            _ => return None,
        })
    }

    /// Whether it needs random numbers.
    pub(super) fn draws(&self) -> bool {
        matches!(self, Self::Pick | Self::Between | Self::Shuffle)
    }

    /// What becomes of a value.
    pub(super) fn apply<'a>(
        &'a self,
        value: Value<'a>,
        draws: &mut Draws,
        budget: &Budget,
    ) -> Result<Value<'a>, String> {
        let made = |text: String| Ok(Value::String(text.into()));
        match self {
            Self::Upper => made(text(&value, budget)?.to_uppercase()),
            Self::Lower => made(text(&value, budget)?.to_lowercase()),
            Self::Trim => made(text(&value, budget)?.trim().to_owned()),
            Self::Truncate(length) => made(text(&value, budget)?.chars().take(*length).collect()),
            Self::Pad(length, fill) => {
                let text = text(&value, budget)?;
                let missing = length.saturating_sub(text.chars().count());
                made(std::iter::repeat_n(*fill, missing).chain(text.chars()).collect())
            }
            Self::Default(literal) => Ok(match &value {
                Value::Null => literal.value(),
                Value::String(text) if text.is_empty() => literal.value(),
                _ => value,
            }),
            Self::Base64 => match &value {
                Value::Bytes(_) => made(text(&value, budget)?),
                _ => made(STANDARD.encode(text(&value, budget)?)),
            },
            Self::Hex => match &value {
                Value::Int(number) => made(format!("{number:x}")),
                Value::Uint(number) => made(format!("{number:x}")),
                Value::Bytes(bytes) => made(hexadecimal(bytes)),
                _ => made(hexadecimal(text(&value, budget)?.as_bytes())),
            },
            Self::Json => made(json_text(&value, budget)?),
            Self::Format(format) => match value {
                Value::Timestamp(time) => made(clock::format(wall(time), format).unwrap_or_default()),
                other => {
                    Err(format!("`format` takes a timestamp, found {} (its letters are {LETTERS})", other.type_name()))
                }
            },
            Self::Pick => {
                let list = list("pick", &value)?;
                list.get(draws.index(list.len())).ok_or_else(|| "`pick` from an empty list".to_owned())
            }
            Self::Between => between(&value, draws),
            Self::Shuffle => {
                let mut items: Vec<Value<'a>> = list("shuffle", &value)?.iter().collect();
                draws.shuffle(&mut items);
                Ok(Value::list(items))
            }
        }
    }
}

impl Literal {
    pub(super) fn value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(flag) => Value::Bool(*flag),
            Self::Int(number) => Value::Int(*number),
            Self::Double(number) => Value::Double(*number),
            Self::Text(text) => Value::text(text),
            Self::List => Value::list(Vec::new()),
        }
    }

    fn read(word: &str) -> Option<Self> {
        Some(match word {
            "null" => Self::Null,
            "true" => Self::Bool(true),
            "false" => Self::Bool(false),
            "[]" => Self::List,
            number => match number.parse() {
                Ok(number) => Self::Int(number),
                Err(_) => Self::Double(number.parse().ok().filter(|number: &f64| number.is_finite())?),
            },
        })
    }
}

fn list<'v, 'a>(filter: &str, value: &'v Value<'a>) -> Result<&'v List<'a>, String> {
    match value {
        Value::List(list) => Ok(list),
        other => Err(format!("`{filter}` takes a list, found {}", other.type_name())),
    }
}

fn between<'a>(value: &Value<'a>, draws: &mut Draws) -> Result<Value<'a>, String> {
    let list = list("between", value)?;
    match (list.get(0), list.get(1), list.len()) {
        (Some(Value::Int(min)), Some(Value::Int(max)), 2) => Ok(Value::Int(draws.between(min, max))),
        (Some(Value::Double(min)), Some(Value::Double(max)), 2) => {
            Ok(Value::Double(min + (max - min) * draws.fraction()))
        }
        _ => Err("`between` takes a list of two numbers of one kind, such as `[1, 6]`".to_owned()),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let written = write!(out, "{byte:02x}");
        debug_assert!(written.is_ok());
        out
    })
}

/// Numbers, quoted texts, `true`, `false`, `null` and `[]`, separated by commas.
fn literals(source: &str) -> Option<Vec<Literal>> {
    let mut all = Vec::new();
    let mut rest = source.trim();
    while !rest.is_empty() {
        let quote = rest.chars().next().filter(|first| matches!(first, '\'' | '"'));
        let (literal, after) = match quote {
            Some(quote) => {
                let inside = rest.get(1..)?;
                let end = inside.find(quote)?;
                (Literal::Text(inside.get(..end)?.to_owned()), inside.get(end + 1..)?)
            }
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                (Literal::read(rest.get(..end)?.trim())?, rest.get(end..)?)
            }
        };
        all.push(literal);
        rest = match after.trim_start() {
            "" => "",
            after => after.strip_prefix(',')?.trim_start(),
        };
    }
    Some(all)
}
