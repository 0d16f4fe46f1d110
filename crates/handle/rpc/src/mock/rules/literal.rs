use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use leat_config::table::{Reader, nearest, quoted, show};
use leat_config::yaml::{Node, Value};
use leat_schema::{EnumId, Kind, MessageType};

use super::moment;
use super::scalar::{Domain, Literal};

/// Padding or not: JSON's mapping takes both, and both alphabets.
const ANY_PADDING: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, ANY_PADDING);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, ANY_PADDING);

/// Names of an enum that a message lists.
const NAMES_MAX: usize = 12;

/// Reads a literal of a field; `name` is how messages call the field, `types` any message of the schema. What is wrong
/// goes to `reader`.
///
/// Numbers may stand in quotes, as JSON writes those of 64 bits; text may stand without them.
pub(crate) fn read(node: &Node, domain: Domain, name: &str, types: &MessageType, reader: &Reader) -> Option<Literal> {
    let wrong = |help: String| {
        let message = format!("`{name}` is {}, found {}", what(domain, types), show(node));
        reader.problem_help(node.place, message, help);
    };
    let (text, quoted) = match &node.value {
        Value::Plain(text) => (text.as_str(), false),
        Value::Quoted(text) => (text.as_str(), true),
        Value::Null | Value::List(_) | Value::Map(_) => {
            wrong(format!("write for example `{}`", example(domain, types)));
            return None;
        }
    };
    let literal = match domain {
        Domain::Timestamp => moment::timestamp(text).map(|(seconds, nanos)| Literal::Moment { seconds, nanos }),
        Domain::Duration => moment::duration(text).map(|(seconds, nanos)| Literal::Moment { seconds, nanos }),
        Domain::Kind(kind) => match kind {
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => {
                return integer(text, i128::from(i32::MIN), i128::from(i32::MAX), wrong)
                    .map(|n| Literal::Int(n as i64));
            }
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => {
                return integer(text, i128::from(i64::MIN), i128::from(i64::MAX), wrong)
                    .map(|n| Literal::Int(n as i64));
            }
            Kind::Uint32 | Kind::Fixed32 => {
                return integer(text, 0, i128::from(u32::MAX), wrong).map(|n| Literal::Uint(n as u64));
            }
            Kind::Uint64 | Kind::Fixed64 => {
                return integer(text, 0, i128::from(u64::MAX), wrong).map(|n| Literal::Uint(n as u64));
            }
            Kind::Float => {
                float(text).filter(|value| single(*value)).map(|value| Literal::Float(f64::from(value as f32)))
            }
            Kind::Double => float(text).map(Literal::Float),
            Kind::Bool => match text {
                "true" => Some(Literal::Bool(true)),
                "false" => Some(Literal::Bool(false)),
                _ => None,
            }
            .filter(|_| !quoted),
            Kind::String => Some(Literal::Text(text.as_bytes().into())),
            Kind::Bytes => bytes(text).map(|bytes| Literal::Bytes(bytes.into())),
            Kind::Enum(id) => return enum_value(text, id, types, wrong).map(Literal::Enum),
            Kind::Message(_) => None,
        },
    };
    if literal.is_none() {
        wrong(format!("write for example `{}`", example(domain, types)));
    }
    literal
}

/// A whole number, which JSON may also write as `1.0` or `1e3`.
fn integer(text: &str, min: i128, max: i128, wrong: impl Fn(String)) -> Option<i128> {
    let exact = text.parse::<i128>().ok().filter(|_| !text.starts_with('+'));
    let number = exact.or_else(|| {
        let value: f64 = text.parse().ok()?;
        (value.fract() == 0.0 && value.abs() < 9.0e15).then_some(value as i128)
    });
    match number {
        Some(number) if (min..=max).contains(&number) => return Some(number),
        Some(_) => wrong(format!("write a number from {min} to {max}")),
        None => wrong(format!("write a whole number from {min} to {max}")),
    }
    None
}

fn float(text: &str) -> Option<f64> {
    match text {
        "NaN" | ".nan" | ".NaN" => return Some(f64::NAN),
        "Infinity" | ".inf" | "+.inf" => return Some(f64::INFINITY),
        "-Infinity" | "-.inf" => return Some(f64::NEG_INFINITY),
        _ => {}
    }
    let numeric = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    text.parse().ok().filter(|value: &f64| numeric && value.is_finite())
}

/// Whether it is in the range of a `float`.
fn single(value: f64) -> bool {
    !value.is_finite() || (value as f32).is_finite()
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text)).ok()
}

fn enum_value(text: &str, id: EnumId, types: &MessageType, wrong: impl Fn(String)) -> Option<i32> {
    let known = types.enumeration(id);
    if let Some(number) = known.number_of(text) {
        return Some(number);
    }
    let names = || known.values().iter().map(|value| value.name());
    if let Ok(number) = text.parse::<i32>() {
        if !known.is_closed() || known.name_of(number).is_some() {
            return Some(number);
        }
        wrong(format!("{number} is no value of `{}`, which is closed", known.full_name()));
        return None;
    }
    // `status: paid` for `ORDER_STATUS_PAID` is what people try first.
    let ending = format!("_{}", text.to_ascii_uppercase());
    let upper =
        names().find(|name| name.eq_ignore_ascii_case(text)).or_else(|| names().find(|name| name.ends_with(&ending)));
    match upper.or_else(|| nearest(text, names())) {
        Some(name) => wrong(format!("write `{name}`")),
        None if known.values().len() > NAMES_MAX => {
            wrong(format!("its values are {}, …", quoted(names().take(NAMES_MAX))));
        }
        None => wrong(format!("its values are {}", quoted(names()))),
    }
    None
}

/// What a message calls such a value, with its article.
pub(crate) fn what(domain: Domain, types: &MessageType) -> String {
    match domain {
        Domain::Timestamp => "a timestamp".to_owned(),
        Domain::Duration => "a duration".to_owned(),
        Domain::Kind(Kind::Enum(id)) => format!("a value of `{}`", types.enumeration(id).full_name()),
        Domain::Kind(Kind::String) => "text".to_owned(),
        Domain::Kind(Kind::Bytes) => "bytes, in Base64".to_owned(),
        Domain::Kind(Kind::Bool) => "`true` or `false`".to_owned(),
        Domain::Kind(kind @ (Kind::Int32 | Kind::Int64)) => format!("an {}", kind.name()),
        Domain::Kind(kind) => format!("a {}", kind.name()),
    }
}

/// One that is right.
pub(crate) fn example(domain: Domain, types: &MessageType) -> String {
    match domain {
        Domain::Timestamp => "2026-11-22T10:00:00Z".to_owned(),
        Domain::Duration => "1.5s".to_owned(),
        Domain::Kind(Kind::Enum(id)) => {
            types.enumeration(id).values().last().map_or_else(|| "0".to_owned(), |value| value.name().to_owned())
        }
        Domain::Kind(Kind::String) => "text".to_owned(),
        Domain::Kind(Kind::Bytes) => "aGVsbG8=".to_owned(),
        Domain::Kind(Kind::Bool) => "true".to_owned(),
        Domain::Kind(Kind::Float | Kind::Double) => "1.5".to_owned(),
        Domain::Kind(_) => "7".to_owned(),
    }
}
