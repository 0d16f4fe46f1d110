//! Message literals: values of CEL become fields again.

use std::sync::Arc;

use buffa_descriptor::reflect::{DynamicMessage, MapKey, MapValue, ReflectMessageMut, Value as Proto};
use buffa_descriptor::{DescriptorPool, FieldKind, MessageIndex, ScalarType, SingularKind};

use super::value::wrapped;
use super::{Error, Value};

/// A message of `fields`, each by its number. `null` leaves a field unset.
pub(super) fn build<'a>(
    pool: &Arc<DescriptorPool>,
    message: MessageIndex,
    fields: Vec<(u32, Value<'a>)>,
) -> Result<Value<'a>, Error> {
    let descriptor = pool.message(message);
    let mut built = DynamicMessage::new(Arc::clone(pool), message);
    for (number, value) in fields {
        let Some(field) = descriptor.field(number) else { continue };
        if matches!(value, Value::Null) {
            continue;
        }
        let proto = match (field.kind(), &value) {
            (FieldKind::Singular(kind), value) => singular(pool, kind, value)?,
            (FieldKind::List(kind), Value::List(list)) => {
                Proto::List(list.iter().map(|each| singular(pool, kind, &each)).collect::<Result<_, _>>()?)
            }
            (FieldKind::Map { key, value: kind }, Value::Map(map)) => {
                let mut entries = MapValue::new();
                for each in map.keys() {
                    let value = map.get(&each).unwrap_or(Value::Null);
                    entries.insert(map_key(key, &each)?, singular(pool, kind, &value)?);
                }
                Proto::Map(entries)
            }
            (_, value) => return Err(Error::overload("{}", value)),
        };
        built.try_set(field, proto).map_err(|error| Error::invalid(error.to_string()))?;
    }
    Ok(Value::owned(built))
}

fn map_key(kind: ScalarType, value: &Value<'_>) -> Result<MapKey, Error> {
    Ok(match scalar(kind, value)? {
        Proto::Bool(flag) => MapKey::Bool(flag),
        Proto::I32(number) => MapKey::I32(number),
        Proto::I64(number) => MapKey::I64(number),
        Proto::U32(number) => MapKey::U32(number),
        Proto::U64(number) => MapKey::U64(number),
        Proto::String(text) => MapKey::String(text),
        _ => return Err(Error::overload("{}", value)),
    })
}

fn singular(pool: &Arc<DescriptorPool>, kind: SingularKind, value: &Value<'_>) -> Result<Proto, Error> {
    match kind {
        SingularKind::Scalar(kind) => scalar(kind, value),
        SingularKind::Enum(_) => match value {
            Value::Int(number) => i32::try_from(*number).map(Proto::EnumNumber).map_err(|_| Error::Overflow),
            other => Err(Error::overload("{}", other)),
        },
        SingularKind::Message(index) => nested(pool, index, value).map(Proto::Message),
    }
}

fn nested(pool: &Arc<DescriptorPool>, index: MessageIndex, value: &Value<'_>) -> Result<DynamicMessage, Error> {
    let name = pool.message(index).full_name();
    let mut message = DynamicMessage::new(Arc::clone(pool), index);
    let mut set = |number: u32, value: Proto| -> Result<(), Error> {
        let Some(field) = pool.message(index).field(number) else { return Ok(()) };
        message.try_set(field, value).map_err(|error| Error::invalid(error.to_string()))
    };
    match (name.strip_prefix("google.protobuf."), value) {
        (_, Value::Message(given)) if given.get().message_index() == index => return Ok(given.get().clone()),
        (Some("Any"), Value::Message(given)) => {
            return given.get().pack_any().map_err(|error| Error::invalid(error.to_string()));
        }
        (Some("Timestamp"), Value::Timestamp(at)) => {
            set(1, Proto::I64(at.seconds()))?;
            set(2, Proto::I32(i32::try_from(at.0.rem_euclid(1_000_000_000)).unwrap_or_default()))?;
        }
        (Some("Duration"), Value::Duration(span)) => {
            set(1, Proto::I64(i64::try_from(span.0 / 1_000_000_000).map_err(|_| Error::Overflow)?))?;
            set(2, Proto::I32(i32::try_from(span.0 % 1_000_000_000).unwrap_or_default()))?;
        }
        (Some(known), value) if wrapped(known).is_some() => {
            let Some(FieldKind::Singular(kind)) =
                pool.message(index).field(1).map(buffa_descriptor::FieldDescriptor::kind)
            else {
                return Err(Error::overload("{}", value));
            };
            set(1, singular(pool, kind, value)?)?;
        }
        (_, other) => return Err(Error::overload("{}", other)),
    }
    Ok(message)
}

fn scalar(kind: ScalarType, value: &Value<'_>) -> Result<Proto, Error> {
    use ScalarType as S;
    let out = |_| Error::Overflow;
    Ok(match (kind, value) {
        (S::Bool, Value::Bool(flag)) => Proto::Bool(*flag),
        (S::String, Value::String(text)) => Proto::String((**text).to_owned()),
        (S::Bytes, Value::Bytes(bytes)) => Proto::Bytes(bytes.to_vec()),
        (S::Double, Value::Double(number)) => Proto::F64(*number),
        #[allow(clippy::cast_possible_truncation)]
        (S::Float, Value::Double(number)) => Proto::F32(*number as f32),
        (S::Uint64 | S::Fixed64, Value::Uint(number)) => Proto::U64(*number),
        (S::Uint32 | S::Fixed32, Value::Uint(number)) => Proto::U32(u32::try_from(*number).map_err(out)?),
        (S::Int64 | S::Sint64 | S::Sfixed64, Value::Int(number)) => Proto::I64(*number),
        (S::Int32 | S::Sint32 | S::Sfixed32, Value::Int(number)) => Proto::I32(i32::try_from(*number).map_err(out)?),
        (_, other) => return Err(Error::overload("{}", other)),
    })
}
