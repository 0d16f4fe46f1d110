use super::{List, Map, Parts};
use crate::types::Types;
use crate::{Default, Kind};

/// A value that was read, borrowed from the message.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// `bool`.
    Bool(bool),
    /// All signed integers.
    Int(i64),
    /// All unsigned integers.
    Uint(u64),
    /// `float`.
    Float(f32),
    /// `double`.
    Double(f64),
    /// `string`.
    String(&'a str),
    /// `bytes`.
    Bytes(&'a [u8]),
    /// An enum's number.
    Enum(i32),
    /// A message; of a field that is not there, one without fields.
    Message(Parts<'a>),
    /// A list.
    List(List<'a>),
    /// A map.
    Map(Map<'a>),
}

impl Value<'_> {
    /// Whether it is what fields without presence have when they are not there. -0 is not.
    pub(super) fn is_zero(&self) -> bool {
        match self {
            Value::Bool(value) => !value,
            Value::Int(value) => *value == 0,
            Value::Uint(value) => *value == 0,
            Value::Float(value) => value.to_bits() == 0,
            Value::Double(value) => value.to_bits() == 0,
            Value::String(value) => value.is_empty(),
            Value::Bytes(value) => value.is_empty(),
            Value::Enum(value) => *value == 0,
            Value::Message(_) | Value::List(_) | Value::Map(_) => false,
        }
    }
}

/// What a field that is not there has, if the .proto file says nothing else.
pub(super) fn zero<'a>(kind: Kind, types: &Types) -> Value<'a> {
    match kind {
        Kind::Double => Value::Double(0.0),
        Kind::Float => Value::Float(0.0),
        Kind::Int32 | Kind::Int64 | Kind::Sint32 | Kind::Sint64 | Kind::Sfixed32 | Kind::Sfixed64 => Value::Int(0),
        Kind::Uint32 | Kind::Uint64 | Kind::Fixed32 | Kind::Fixed64 => Value::Uint(0),
        Kind::Bool => Value::Bool(false),
        Kind::String => Value::String(""),
        Kind::Bytes => Value::Bytes(&[]),
        Kind::Enum(id) => Value::Enum(types.enumeration(id).first()),
        Kind::Message(_) => Value::Message(Parts::none()),
    }
}

/// A default as a value of `kind`.
pub(super) fn written(default: &Default, kind: Kind) -> Option<Value<'_>> {
    Some(match (default, kind) {
        (Default::Int(value), Kind::Enum(_)) => Value::Enum(i32::try_from(*value).ok()?),
        (Default::Int(value), _) => Value::Int(*value),
        (Default::Uint(value), _) => Value::Uint(*value),
        (Default::Float(value), Kind::Float) => Value::Float(*value as f32),
        (Default::Float(value), _) => Value::Double(*value),
        (Default::Bool(value), _) => Value::Bool(*value),
        (Default::String(value), _) => Value::String(value),
        (Default::Bytes(value), _) => Value::Bytes(value),
    })
}
