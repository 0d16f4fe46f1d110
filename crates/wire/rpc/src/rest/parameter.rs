use std::fmt;

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use leat_schema::{Field, Kind, MessageType, Shape, WellKnown};

use super::wire::{put_bytes, put_tag};
use leat_schema::wire::{put_varint, zigzag};

/// Messages inside messages that a parameter's name may lead through.
const DEPTH_MAX: usize = 32;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const PLAIN: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
const URL: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);

/// A field that a variable of a path or a parameter of a query gives a value to.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    /// The messages that it stands in, from the outside in: number, and whether they stand as groups.
    steps: Vec<(u32, bool)>,
    /// The message that has the field.
    owner: MessageType,
    /// The number of the field.
    number: u32,
    /// The key, where it is a map.
    key: Option<String>,
}

/// Why a text can't become the value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterError {
    /// There is no such field.
    Unknown,
    /// All fields are the body's (`body: "*"`).
    InBody,
    /// The field, or one on the way to it, can't be given in a path or a query.
    Kind(&'static str),
    /// The text is no value of the field's type.
    Value(&'static str),
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("there is no such field"),
            Self::InBody => f.write_str("the body gives the whole message, and the query nothing"),
            Self::Kind(what) => write!(f, "{what} can't be given here"),
            Self::Value(kind) => write!(f, "the value is no {kind}"),
        }
    }
}

impl Parameter {
    /// Finds a field by the names on the way to it, joined by dots; names are those of the .proto file or of JSON.
    /// `map[key]` is the value of a key.
    ///
    /// # Errors
    /// There is no such field, or none that a text can be the value of.
    pub(crate) fn find(message: &MessageType, path: &str) -> Result<Self, ParameterError> {
        let (path, key) = match path.strip_suffix(']').and_then(|path| path.split_once('[')) {
            Some((path, key)) => (path, Some(key.to_owned())),
            None => (path, None),
        };
        let mut owner = message.clone();
        let mut steps = Vec::new();
        let mut names = path.split('.').peekable();
        loop {
            let name = names.next().ok_or(ParameterError::Unknown)?;
            let field = owner.field_named(name).ok_or(ParameterError::Unknown)?;
            if names.peek().is_none() {
                let number = field.number();
                check(&owner, field, key.is_some())?;
                return Ok(Self { steps, owner, number, key });
            }
            if field.shape() != Shape::One {
                return Err(ParameterError::Kind("a field of a repeated message"));
            }
            steps.push((field.number(), field.is_delimited()));
            owner = owner.message_of(field).ok_or(ParameterError::Unknown)?;
            if steps.len() > DEPTH_MAX {
                return Err(ParameterError::Kind("a field so deep"));
            }
        }
    }

    /// Whether it takes several values.
    pub(crate) fn is_repeated(&self) -> bool {
        self.owner.field(self.number).is_some_and(|field| field.shape() != Shape::One)
    }

    /// Appends the field with this value, in binary form, as a part of the outermost message. Merging does the rest: the
    /// last value of a field counts, values of a repeated one add up.
    ///
    /// # Errors
    /// The text is no value of the field's type.
    pub(crate) fn put(&self, text: &str, out: &mut Vec<u8>) -> Result<(), ParameterError> {
        let field = self.owner.field(self.number).ok_or(ParameterError::Unknown)?;
        let mut inner = Vec::new();
        match (field.shape(), &self.key) {
            (Shape::Map { key: kind }, Some(key)) => {
                let mut entry = Vec::new();
                put_scalar(kind, 1, key, &mut entry)?;
                put_value(&self.owner, field, 2, text, &mut entry)?;
                put_bytes(self.number, &entry, &mut inner);
            }
            _ => put_value(&self.owner, field, self.number, text, &mut inner)?,
        }
        for &(number, is_group) in self.steps.iter().rev() {
            let content = std::mem::take(&mut inner);
            put_message(number, is_group, &content, &mut inner);
        }
        out.extend_from_slice(&inner);
        Ok(())
    }
}

fn check(owner: &MessageType, field: &Field, has_key: bool) -> Result<(), ParameterError> {
    match (field.shape(), has_key) {
        (Shape::Map { .. }, false) => return Err(ParameterError::Kind("a map without a key")),
        (Shape::One | Shape::List, true) => return Err(ParameterError::Kind("a key of what is no map")),
        _ => {}
    }
    match owner.message_of(field).map(|message| message.well_known()) {
        None => Ok(()),
        Some(Some(WellKnown::Timestamp | WellKnown::Duration | WellKnown::FieldMask | WellKnown::Wrapper)) => Ok(()),
        Some(_) => Err(ParameterError::Kind("a message")),
    }
}

/// A message as a field: with its length, or as a group.
pub(crate) fn put_message(number: u32, is_group: bool, content: &[u8], out: &mut Vec<u8>) {
    if is_group {
        put_tag(number, 3, out);
        out.extend_from_slice(content);
        put_tag(number, 4, out);
    } else {
        put_bytes(number, content, out);
    }
}

fn put_value(
    owner: &MessageType,
    field: &Field,
    number: u32,
    text: &str,
    out: &mut Vec<u8>,
) -> Result<(), ParameterError> {
    if let Some(found) = owner.enum_of(field) {
        let value = match text.parse::<i32>() {
            Ok(value) if !field.is_closed() || found.name_of(value).is_some() => Some(value),
            Ok(_) => None,
            Err(_) => found.number_of(text),
        };
        let value = value.ok_or(ParameterError::Value("value of the enum"))?;
        put_tag(number, 0, out);
        // Negative numbers take all ten bytes.
        put_varint(out, i64::from(value).cast_unsigned());
        return Ok(());
    }
    let Some(message) = owner.message_of(field) else { return put_scalar(field.kind(), number, text, out) };
    let mut content = Vec::new();
    match message.well_known() {
        Some(WellKnown::Wrapper) => {
            let kind = message.field(1).map(Field::kind).ok_or(ParameterError::Unknown)?;
            put_scalar(kind, 1, text, &mut content)?;
        }
        _ => {
            let json = serde_json::Value::from(text).to_string();
            let read = message.to_binary(json.as_bytes(), &mut content);
            read.map_err(|_| ParameterError::Value(well_known_name(message.well_known())))?;
        }
    }
    put_message(number, field.is_delimited(), &content, out);
    Ok(())
}

fn well_known_name(well_known: Option<WellKnown>) -> &'static str {
    match well_known {
        Some(WellKnown::Timestamp) => "Timestamp",
        Some(WellKnown::Duration) => "Duration",
        _ => "FieldMask",
    }
}

fn put_scalar(kind: Kind, number: u32, text: &str, out: &mut Vec<u8>) -> Result<(), ParameterError> {
    let wrong = ParameterError::Value(kind.name());
    let varint = |value: u64, out: &mut Vec<u8>| {
        put_tag(number, 0, out);
        put_varint(out, value);
    };
    let four = |value: [u8; 4], out: &mut Vec<u8>| {
        put_tag(number, 5, out);
        out.extend_from_slice(&value);
    };
    let eight = |value: [u8; 8], out: &mut Vec<u8>| {
        put_tag(number, 1, out);
        out.extend_from_slice(&value);
    };
    match kind {
        Kind::Int32 => varint(i64::from(read::<i32>(text, wrong)?).cast_unsigned(), out),
        Kind::Int64 => varint(read::<i64>(text, wrong)?.cast_unsigned(), out),
        Kind::Uint32 => varint(u64::from(read::<u32>(text, wrong)?), out),
        Kind::Uint64 => varint(read(text, wrong)?, out),
        Kind::Sint32 => varint(zigzag(i64::from(read::<i32>(text, wrong)?)), out),
        Kind::Sint64 => varint(zigzag(read(text, wrong)?), out),
        Kind::Fixed32 => four(read::<u32>(text, wrong)?.to_le_bytes(), out),
        Kind::Sfixed32 => four(read::<i32>(text, wrong)?.to_le_bytes(), out),
        Kind::Float => four((float(text, wrong)? as f32).to_le_bytes(), out),
        Kind::Fixed64 => eight(read::<u64>(text, wrong)?.to_le_bytes(), out),
        Kind::Sfixed64 => eight(read::<i64>(text, wrong)?.to_le_bytes(), out),
        Kind::Double => eight(float(text, wrong)?.to_le_bytes(), out),
        Kind::Bool => match text {
            "true" => varint(1, out),
            "false" => varint(0, out),
            _ => return Err(wrong),
        },
        Kind::String => put_bytes(number, text.as_bytes(), out),
        Kind::Bytes => {
            let bytes =
                PLAIN.decode(text).or_else(|_| URL.decode(text)).map_err(|_| ParameterError::Value("Base64"))?;
            put_bytes(number, &bytes, out);
        }
        Kind::Enum(_) | Kind::Message(_) => return Err(ParameterError::Kind("a message")),
    }
    Ok(())
}

fn read<T: std::str::FromStr>(text: &str, wrong: ParameterError) -> Result<T, ParameterError> {
    // Rust reads a plus in front, JSON doesn't.
    if text.starts_with('+') {
        return Err(wrong);
    }
    text.parse().map_err(|_| wrong)
}

/// As in JSON: `NaN`, `Infinity` and `-Infinity` by these names only.
fn float(text: &str, wrong: ParameterError) -> Result<f64, ParameterError> {
    match text {
        "NaN" => Ok(f64::NAN),
        "Infinity" => Ok(f64::INFINITY),
        "-Infinity" => Ok(f64::NEG_INFINITY),
        _ => read::<f64>(text, wrong.clone()).and_then(|value| if value.is_finite() { Ok(value) } else { Err(wrong) }),
    }
}
