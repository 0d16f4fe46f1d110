//! Static types of expressions: what the checker knows before a message is there.

use std::fmt;
use std::sync::Arc;

use buffa_descriptor::{DescriptorPool, FieldDescriptor, FieldKind, MessageIndex, ScalarType, SingularKind};

use super::Value;
use super::value::wrapped;

/// The type of an expression, as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// Known when it is evaluated.
    Dyn,
    /// `null`.
    Null,
    /// `bool`.
    Bool,
    /// `int`, and enums.
    Int,
    /// `uint`.
    Uint,
    /// `double`.
    Double,
    /// `string`.
    String,
    /// `bytes`.
    Bytes,
    /// `google.protobuf.Timestamp`.
    Timestamp,
    /// `google.protobuf.Duration`.
    Duration,
    /// A list of one type.
    List(Arc<Type>),
    /// A map from one type to another.
    Map(Arc<(Type, Type)>),
    /// A message.
    Message(MessageIndex),
    /// A wrapper of a scalar: that scalar, or `null`.
    Wrapper(Arc<Type>),
    /// A type as a value.
    Type,
}

impl Type {
    /// A list of `of`.
    pub fn list(of: Type) -> Type {
        Type::List(Arc::new(of))
    }

    /// A map from `key` to `value`.
    pub fn map(key: Type, value: Type) -> Type {
        Type::Map(Arc::new((key, value)))
    }

    /// The type of a message: a well-known type's own value, else the message.
    pub fn message(pool: &DescriptorPool, index: MessageIndex) -> Type {
        let Some(known) = pool.message(index).full_name().strip_prefix("google.protobuf.") else {
            return Type::Message(index);
        };
        match known {
            "Timestamp" => Type::Timestamp,
            "Duration" => Type::Duration,
            "Struct" => Type::map(Type::String, Type::Dyn),
            "ListValue" => Type::list(Type::Dyn),
            "Value" | "Any" => Type::Dyn,
            _ => match wrapped(known) {
                Some(zero) => Type::Wrapper(Arc::new(Type::of(&zero))),
                None => Type::Message(index),
            },
        }
    }

    /// The type of a field's value.
    pub fn field(pool: &DescriptorPool, field: &FieldDescriptor) -> Type {
        match field.kind() {
            FieldKind::Singular(kind) => Type::singular(pool, kind),
            FieldKind::List(kind) => Type::list(Type::singular(pool, kind)),
            FieldKind::Map { key, value } => Type::map(Type::scalar(key), Type::singular(pool, value)),
        }
    }

    /// The type of one value of a field.
    pub fn singular(pool: &DescriptorPool, kind: SingularKind) -> Type {
        match kind {
            SingularKind::Scalar(scalar) => Type::scalar(scalar),
            SingularKind::Enum(_) => Type::Int,
            SingularKind::Message(index) => Type::message(pool, index),
        }
    }

    /// The type of a scalar.
    pub fn scalar(scalar: ScalarType) -> Type {
        match scalar {
            ScalarType::Bool => Type::Bool,
            ScalarType::String => Type::String,
            ScalarType::Bytes => Type::Bytes,
            ScalarType::Double | ScalarType::Float => Type::Double,
            ScalarType::Uint32 | ScalarType::Uint64 | ScalarType::Fixed32 | ScalarType::Fixed64 => Type::Uint,
            _ => Type::Int,
        }
    }

    /// The type of a scalar value; `Dyn` for others.
    fn of(value: &Value<'_>) -> Type {
        match value {
            Value::Bool(_) => Type::Bool,
            Value::Int(_) => Type::Int,
            Value::Uint(_) => Type::Uint,
            Value::Double(_) => Type::Double,
            Value::String(_) => Type::String,
            Value::Bytes(_) => Type::Bytes,
            _ => Type::Dyn,
        }
    }

    /// Whether a value of this type may be one of `wanted`: `Dyn` on either side is a question for later.
    pub(super) fn fits(&self, wanted: &Type) -> bool {
        match (self, wanted) {
            (Type::Dyn, _) | (_, Type::Dyn) => true,
            (Type::Wrapper(inner), wanted) => **inner == *wanted || self == wanted || *wanted == Type::Null,
            (Type::Null, Type::Wrapper(_) | Type::Message(_) | Type::Timestamp | Type::Duration) => true,
            (given, Type::Wrapper(inner)) => *given == **inner,
            (Type::List(given), Type::List(wanted)) => given.fits(wanted),
            (Type::Map(given), Type::Map(wanted)) => given.0.fits(&wanted.0) && given.1.fits(&wanted.1),
            (given, wanted) => given == wanted,
        }
    }

    /// Whether values of the two types can be equal.
    pub(super) fn comparable(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::List(left), Type::List(right)) => left.comparable(right),
            (Type::Map(left), Type::Map(right)) => left.0.comparable(&right.0) && left.1.comparable(&right.1),
            (left, right) => left.fits(right) || right.fits(left) || left.numeric() && right.numeric(),
        }
    }

    /// What is common to both: one of them, or `Dyn`.
    pub(super) fn join(self, other: &Type) -> Type {
        if self == *other { self } else { Type::Dyn }
    }

    /// Whether it is a number, or may be one.
    pub(super) fn numeric(&self) -> bool {
        match self {
            Type::Int | Type::Uint | Type::Double | Type::Dyn => true,
            Type::Wrapper(inner) => inner.numeric(),
            _ => false,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Type::Dyn => "dyn",
            Type::Null => "null",
            Type::Bool => "bool",
            Type::Int => "int",
            Type::Uint => "uint",
            Type::Double => "double",
            Type::String => "string",
            Type::Bytes => "bytes",
            Type::Timestamp => "google.protobuf.Timestamp",
            Type::Duration => "google.protobuf.Duration",
            Type::Message(_) => "message",
            Type::Type => "type",
            Type::List(of) => return write!(f, "list({of})"),
            Type::Map(of) => return write!(f, "map({}, {})", of.0, of.1),
            Type::Wrapper(of) => return write!(f, "wrapper({of})"),
        })
    }
}
