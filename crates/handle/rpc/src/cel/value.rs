//! Values: what an expression computes with, borrowed from protobuf messages where it can be.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use buffa_descriptor::reflect::{DynamicMessage, MapValue, ReflectMessage, Value as Proto};
use buffa_descriptor::{DescriptorPool, FieldDescriptor, FieldKind, MessageIndex, ScalarType, SingularKind};

use super::default::Defaults;
use super::{Blob, Duration, Map, Named, Text, Timestamp};

/// A value of CEL. Cloning is cheap: it copies a reference or a count.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// `null`, and a wrapper that is not set.
    Null,
    /// `bool`.
    Bool(bool),
    /// `int`; enums too.
    Int(i64),
    /// `uint`.
    Uint(u64),
    /// `double`; `float` too.
    Double(f64),
    /// `string`.
    String(Text<'a>),
    /// `bytes`.
    Bytes(Blob<'a>),
    /// `list`.
    List(List<'a>),
    /// `map`.
    Map(Map<'a>),
    /// A message that is none of the well-known types with a value of their own.
    Message(Message<'a>),
    /// `google.protobuf.Timestamp`.
    Timestamp(Timestamp),
    /// `google.protobuf.Duration`.
    Duration(Duration),
    /// A type, by its name.
    Type(Text<'a>),
}

/// A list: of a repeated field as it was decoded, or computed.
#[derive(Clone, Debug)]
pub enum List<'a> {
    /// A repeated field.
    Field(&'a [Proto]),
    /// Computed.
    Items(Rc<Vec<Value<'a>>>),
}

impl<'a> List<'a> {
    /// How many elements there are.
    pub fn len(&self) -> usize {
        match self {
            List::Field(items) => items.len(),
            List::Items(items) => items.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at `index`.
    pub fn get(&self, index: usize) -> Option<Value<'a>> {
        match self {
            List::Field(items) => items.get(index).map(Value::of),
            List::Items(items) => items.get(index).cloned(),
        }
    }

    /// All elements.
    pub fn iter(&self) -> impl Iterator<Item = Value<'a>> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}

/// A message: the caller's, or one that was unpacked or built.
#[derive(Clone, Debug)]
pub enum Message<'a> {
    /// The caller's.
    Borrowed(&'a DynamicMessage),
    /// Out of an `Any`, a literal, or the empty value of a field that is not set.
    Shared(Rc<DynamicMessage>),
}

impl<'a> Message<'a> {
    /// The message itself.
    pub fn get(&self) -> &DynamicMessage {
        match self {
            Message::Borrowed(message) => message,
            Message::Shared(message) => message,
        }
    }

    /// The value of `field`, which must be one of this message's: its default where it is not set.
    pub fn select(&self, field: &FieldDescriptor) -> Value<'a> {
        match self {
            Message::Borrowed(message) => match message.field_by_number(field.number()) {
                Some(value) => Value::of(value),
                None => Value::unset(message.pool(), message.message_index(), field),
            },
            Message::Shared(message) => match message.field_by_number(field.number()) {
                Some(value) => Value::copied(value),
                None => Value::unset(message.pool(), message.message_index(), field),
            },
        }
    }

    /// The field of that name, and of extensions by their full names.
    pub fn field(&self, name: &str) -> Option<&FieldDescriptor> {
        let message = self.get();
        let descriptor = message.pool().message(message.message_index());
        descriptor.field_by_name(name).or_else(|| {
            let extension = message.pool().extension_by_name(name)?;
            (extension.extendee() == message.message_index()).then(|| extension.field())
        })
    }

    /// Whether `field` is set, by the rules of its presence.
    pub fn has(&self, field: &FieldDescriptor) -> bool {
        ReflectMessage::has(self.get(), field)
    }
}

impl<'a> Value<'a> {
    /// A message, or the value that its well-known type stands for. Copies nothing, except out of an `Any`.
    pub fn message(message: &'a DynamicMessage) -> Value<'a> {
        let name = message.pool().message(message.message_index()).full_name();
        let Some(known) = name.strip_prefix("google.protobuf.") else {
            return Value::Message(Message::Borrowed(message));
        };
        let first = message.field_by_number(1);
        match known {
            "Timestamp" => Value::Timestamp(Timestamp::of(message)),
            "Duration" => Value::Duration(Duration::of(message)),
            "Struct" => match first {
                Some(Proto::Map(map)) => Value::Map(Map::Field(map)),
                _ => Value::Map(Map::Field(&EMPTY)),
            },
            "ListValue" => match first {
                Some(Proto::List(items)) => Value::List(List::Field(items)),
                _ => Value::List(List::Field(&[])),
            },
            "Value" => dynamic(message).map_or(Value::Null, Value::of),
            "Any" => match unpacked(message) {
                Some(inner) => Value::owned(inner),
                None => Value::Message(Message::Borrowed(message)),
            },
            _ => match (wrapped(known), first) {
                (None, _) => Value::Message(Message::Borrowed(message)),
                (Some(_), Some(value)) => Value::of(value),
                (Some(zero), None) => zero,
            },
        }
    }

    /// A message that the value keeps. An `Any` is not unpacked.
    pub fn owned(message: DynamicMessage) -> Value<'static> {
        let name = message.pool().message(message.message_index()).full_name();
        let Some(known) = name.strip_prefix("google.protobuf.") else {
            return Value::Message(Message::Shared(Rc::new(message)));
        };
        let first = message.field_by_number(1);
        match known {
            "Timestamp" => Value::Timestamp(Timestamp::of(&message)),
            "Duration" => Value::Duration(Duration::of(&message)),
            "Struct" | "ListValue" => match first {
                Some(value) => Value::copied(value),
                None if known == "Struct" => Value::Map(Map::Field(&EMPTY)),
                None => Value::List(List::Field(&[])),
            },
            "Value" => dynamic(&message).map_or(Value::Null, Value::copied),
            // An Any in an Any stays packed: its sender could nest them as deep as bytes allow.
            "Any" => Value::Message(Message::Shared(Rc::new(message))),
            _ => match (wrapped(known), first) {
                (None, _) => Value::Message(Message::Shared(Rc::new(message))),
                (Some(_), Some(value)) => Value::copied(value),
                (Some(zero), None) => zero,
            },
        }
    }

    /// A map that is looked up by its owner.
    pub fn named(named: &'a (dyn Named + 'a)) -> Value<'a> {
        Value::Map(Map::Named(named))
    }

    /// A string.
    pub fn text(text: &'a str) -> Value<'a> {
        Value::String(Text::Borrowed(text))
    }

    /// A list of values.
    pub fn list(items: Vec<Value<'a>>) -> Value<'a> {
        Value::List(List::Items(Rc::new(items)))
    }

    /// A decoded value of a field. Copies nothing, except out of an `Any`.
    pub fn of(value: &'a Proto) -> Value<'a> {
        match value {
            Proto::String(text) => Value::String(Text::Borrowed(text)),
            Proto::Bytes(bytes) => Value::Bytes(Blob::Borrowed(bytes)),
            Proto::Message(message) => Value::message(message),
            Proto::List(items) => Value::List(List::Field(items)),
            Proto::Map(map) => Value::Map(Map::Field(map)),
            scalar => Value::scalar(scalar),
        }
    }

    /// A copy of a decoded value.
    pub fn copied(value: &Proto) -> Value<'static> {
        match value {
            Proto::String(text) => Value::String(Text::Shared(text.as_str().into())),
            Proto::Bytes(bytes) => Value::Bytes(Blob::Shared(bytes.as_slice().into())),
            Proto::Message(message) => match unpacked(message) {
                Some(inner) => Value::owned(inner),
                None => Value::owned(message.clone()),
            },
            Proto::List(items) => Value::list(items.iter().map(Value::copied).collect()),
            Proto::Map(map) => {
                let key = |key| match Value::of_key(key) {
                    Value::String(text) => Value::String(Text::Shared((*text).into())),
                    Value::Bool(flag) => Value::Bool(flag),
                    Value::Uint(number) => Value::Uint(number),
                    Value::Int(number) => Value::Int(number),
                    _ => Value::Null,
                };
                let entries = map.iter().map(|(name, value)| (key(name.as_ref()), Value::copied(value))).collect();
                Value::Map(Map::Entries(Rc::new(entries)))
            }
            scalar => Value::scalar(scalar),
        }
    }

    fn scalar(value: &Proto) -> Value<'static> {
        match value {
            Proto::Bool(flag) => Value::Bool(*flag),
            Proto::I32(number) | Proto::EnumNumber(number) => Value::Int((*number).into()),
            Proto::I64(number) => Value::Int(*number),
            Proto::U32(number) => Value::Uint((*number).into()),
            Proto::U64(number) => Value::Uint(*number),
            Proto::F32(number) => Value::Double((*number).into()),
            Proto::F64(number) => Value::Double(*number),
            _ => Value::Null,
        }
    }

    /// What an unset field is: its declared default or its type's zero, `null` for wrappers, an empty message for others.
    fn unset(pool: &Arc<DescriptorPool>, of: MessageIndex, field: &FieldDescriptor) -> Value<'static> {
        let singular = match field.kind() {
            FieldKind::List(_) => return Value::List(List::Field(&[])),
            FieldKind::Map { .. } => return Value::Map(Map::Field(&EMPTY)),
            FieldKind::Singular(singular) => singular,
        };
        match singular {
            SingularKind::Message(index) => {
                let name = pool.message(index).full_name().strip_prefix("google.protobuf.");
                match name {
                    Some(known) if known == "Value" || wrapped(known).is_some() => Value::Null,
                    _ => Value::owned(DynamicMessage::new(Arc::clone(pool), index)),
                }
            }
            scalar => Defaults::of(pool, of, field).unwrap_or_else(|| Value::zero(pool, scalar)),
        }
    }

    /// The zero of a scalar or an enum.
    fn zero(pool: &DescriptorPool, kind: SingularKind) -> Value<'static> {
        match kind {
            SingularKind::Enum(index) => {
                Value::Int(pool.enumeration(index).values().first().map_or(0, |value| value.number().into()))
            }
            SingularKind::Message(_) => Value::Null,
            SingularKind::Scalar(scalar) => match scalar {
                ScalarType::Bool => Value::Bool(false),
                ScalarType::String => Value::String(Text::Borrowed("")),
                ScalarType::Bytes => Value::Bytes(Blob::Borrowed(&[])),
                ScalarType::Double | ScalarType::Float => Value::Double(0.0),
                ScalarType::Uint32 | ScalarType::Uint64 | ScalarType::Fixed32 | ScalarType::Fixed64 => Value::Uint(0),
                _ => Value::Int(0),
            },
        }
    }

    /// The name of the value's type, as `type(x)` gives it.
    pub fn type_name(&self) -> &str {
        match self {
            Value::Null => "null_type",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Uint(_) => "uint",
            Value::Double(_) => "double",
            Value::String(_) => "string",
            Value::Bytes(_) => "bytes",
            Value::List(_) => "list",
            Value::Map(_) => "map",
            Value::Timestamp(_) => "google.protobuf.Timestamp",
            Value::Duration(_) => "google.protobuf.Duration",
            Value::Type(_) => "type",
            Value::Message(message) => {
                let message = message.get();
                message.pool().message(message.message_index()).full_name()
            }
        }
    }
}

static EMPTY: MapValue = MapValue::new();

thread_local! {
    /// Bytes that were unpacked out of `Any`s and not charged to an evaluation yet.
    static UNPACKED: Cell<u64> = const { Cell::new(0) };
}

/// The bytes that were unpacked since the last call: selecting an `Any` decodes it, each time that it is selected.
pub(super) fn take_unpacked_bytes() -> u64 {
    UNPACKED.take()
}

/// What an `Any` holds, if this is one, and its type is one of the schema's.
fn unpacked(message: &DynamicMessage) -> Option<DynamicMessage> {
    if message.pool().message(message.message_index()).full_name() != "google.protobuf.Any" {
        return None;
    }
    if let Some(Proto::Bytes(bytes)) = message.field_by_number(2) {
        UNPACKED.set(UNPACKED.get().saturating_add(bytes.len() as u64));
    }
    leat_schema::decoded::unpack_any(message)
}

/// What `google.protobuf.Value` holds, if anything but null.
fn dynamic(message: &DynamicMessage) -> Option<&Proto> {
    (2..=6).find_map(|number| message.field_by_number(number))
}

/// The zero of the wrapper type `google.protobuf.…`.
pub(super) fn wrapped(known: &str) -> Option<Value<'static>> {
    Some(match known {
        "BoolValue" => Value::Bool(false),
        "Int32Value" | "Int64Value" => Value::Int(0),
        "UInt32Value" | "UInt64Value" => Value::Uint(0),
        "FloatValue" | "DoubleValue" => Value::Double(0.0),
        "StringValue" => Value::String(Text::Borrowed("")),
        "BytesValue" => Value::Bytes(Blob::Borrowed(&[])),
        _ => return None,
    })
}
