//! Values of expressions become values of fields.

use std::sync::Arc;

use buffa_descriptor::reflect::{DynamicMessage, MapKey, MapValue, ReflectMessageMut as _, Value as Proto};
use buffa_descriptor::{DescriptorPool, FieldDescriptor, FieldKind, MessageIndex, ScalarType, SingularKind};

use super::base64_text;
use super::template::{Budget, json, span, text, wall};
use crate::cel::{Map, Value};

/// Levels of messages that one value may have.
const DEPTH_MAX: usize = 64;

/// The value of a field; `None` for `null`, which leaves the field unset.
///
/// # Errors
/// What the field takes, and what was found.
pub(super) fn field(
    pool: &Arc<DescriptorPool>,
    kind: FieldKind,
    value: &Value<'_>,
    budget: &Budget,
) -> Result<Option<Proto>, String> {
    Converter { pool, depth: DEPTH_MAX, budget }.field(kind, value)
}

/// One value of a field.
///
/// # Errors
/// As for [`field`].
pub(super) fn singular(
    pool: &Arc<DescriptorPool>,
    kind: SingularKind,
    value: &Value<'_>,
    budget: &Budget,
) -> Result<Option<Proto>, String> {
    Converter { pool, depth: DEPTH_MAX, budget }.singular(kind, value)
}

/// The field of this name: the .proto file's, or JSON's; extensions as `[full.name]`.
pub(super) fn named_field<'p>(
    pool: &'p DescriptorPool,
    message: MessageIndex,
    name: &str,
) -> Option<&'p FieldDescriptor> {
    if let Some(extension) = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
        let found = pool.extension_by_name(extension)?;
        return (found.extendee() == message).then(|| found.field());
    }
    let fields = pool.message(message).fields();
    fields.iter().find(|field| field.name() == name).or_else(|| fields.iter().find(|field| field.json_name() == name))
}

/// A key of a map field from its text.
pub(super) fn map_key(kind: ScalarType, text: &str) -> Option<MapKey> {
    Some(match kind {
        ScalarType::Bool => MapKey::Bool(text.parse().ok()?),
        ScalarType::Int32 | ScalarType::Sint32 | ScalarType::Sfixed32 => MapKey::I32(text.parse().ok()?),
        ScalarType::Int64 | ScalarType::Sint64 | ScalarType::Sfixed64 => MapKey::I64(text.parse().ok()?),
        ScalarType::Uint32 | ScalarType::Fixed32 => MapKey::U32(text.parse().ok()?),
        ScalarType::Uint64 | ScalarType::Fixed64 => MapKey::U64(text.parse().ok()?),
        ScalarType::String => MapKey::String(text.to_owned()),
        _ => return None,
    })
}

#[derive(Clone, Copy)]
struct Converter<'p> {
    pool: &'p Arc<DescriptorPool>,
    depth: usize,
    budget: &'p Budget,
}

impl Converter<'_> {
    fn deeper(self) -> Result<Self, String> {
        let depth = self.depth.checked_sub(1).ok_or_else(|| format!("more than {DEPTH_MAX} levels"))?;
        Ok(Self { depth, ..self })
    }

    fn field(self, kind: FieldKind, value: &Value<'_>) -> Result<Option<Proto>, String> {
        match (kind, value) {
            (_, Value::Null) => Ok(None),
            (FieldKind::Singular(kind), value) => self.singular(kind, value),
            (FieldKind::List(kind), Value::List(list)) => {
                let items = list.iter().filter_map(|each| self.singular(kind, &each).transpose());
                Ok(Some(Proto::List(items.collect::<Result<_, _>>()?)))
            }
            (FieldKind::List(_), other) => Err(format!("a list is needed, found {}", other.type_name())),
            (FieldKind::Map { key, value: kind }, Value::Map(map)) => self.map(key, kind, map),
            (FieldKind::Map { .. }, other) => Err(format!("a map is needed, found {}", other.type_name())),
        }
    }

    fn map(self, key_kind: ScalarType, kind: SingularKind, map: &Map<'_>) -> Result<Option<Proto>, String> {
        let mut entries = Vec::with_capacity(map.len());
        for key in map.keys() {
            let written = text(&key, self.budget)?;
            let found = map_key(key_kind, &written).ok_or_else(|| format!("`{written}` is no key of this map"))?;
            if let Some(value) = self.singular(kind, &map.get(&key).unwrap_or(Value::Null))? {
                entries.push((found, value));
            }
        }
        Ok(Some(Proto::Map(MapValue::from_entries(entries))))
    }

    fn singular(self, kind: SingularKind, value: &Value<'_>) -> Result<Option<Proto>, String> {
        self.budget.element()?;
        Ok(match (kind, value) {
            (SingularKind::Message(index), _) if self.known(index) == Some("Value") => {
                Some(Proto::Message(self.by_json(index, value)?))
            }
            (_, Value::Null) => None,
            (SingularKind::Scalar(kind), value) => Some(scalar(kind, value, self.budget)?),
            (SingularKind::Enum(index), value) => {
                let number = match value {
                    Value::Int(number) => i32::try_from(*number).ok(),
                    Value::Uint(number) => i32::try_from(*number).ok(),
                    Value::String(name) => self.pool.enumeration(index).value_by_name(name).map(|value| value.number()),
                    _ => None,
                };
                let enumeration = self.pool.enumeration(index).full_name();
                let wrong = || format!("{} is no value of {enumeration}", shown(value));
                Some(Proto::EnumNumber(number.ok_or_else(wrong)?))
            }
            (SingularKind::Message(index), value) => Some(Proto::Message(self.deeper()?.message(index, value)?)),
        })
    }

    /// The name of a message of `google.protobuf`, without the package.
    fn known(&self, index: MessageIndex) -> Option<&str> {
        self.pool.message(index).full_name().strip_prefix("google.protobuf.")
    }

    fn message(self, index: MessageIndex, value: &Value<'_>) -> Result<DynamicMessage, String> {
        let wanted = self.pool.message(index).full_name();
        if let Value::Message(message) = value
            && message.get().message_index() == index
        {
            self.budget.message(message.get())?;
            return Ok(message.get().clone());
        }
        let mut made = DynamicMessage::new(Arc::clone(self.pool), index);
        self.budget.fields()?;
        let known = self.known(index);
        match (known, value) {
            (Some("Any"), value) => return self.packed(value),
            (Some("Timestamp"), Value::Timestamp(time)) => {
                let time = wall(*time);
                self.set(&mut made, 1, Proto::I64(time.seconds))?;
                self.set(&mut made, 2, Proto::I32(i32::try_from(time.nanos).unwrap_or_default()))?;
            }
            (Some("Duration"), Value::Duration(time)) => {
                let (seconds, nanos) = span(*time);
                self.set(&mut made, 1, Proto::I64(seconds))?;
                self.set(&mut made, 2, Proto::I32(nanos))?;
            }
            (Some(name), value) if name.ends_with("Value") && !matches!(name, "ListValue" | "NullValue") => {
                let field = self.pool.message(index).field(1).ok_or_else(|| format!("{wanted} has no field"))?;
                if let Some(inner) = self.field(field.kind(), value)? {
                    self.set(&mut made, 1, inner)?;
                }
            }
            (Some("Struct" | "ListValue" | "Timestamp" | "Duration" | "FieldMask"), value) => {
                return self.by_json(index, value);
            }
            (_, Value::Map(map)) => {
                for key in map.keys() {
                    let name = text(&key, self.budget)?;
                    let field = named_field(self.pool, index, &name);
                    let field = field.ok_or_else(|| format!("`{name}` is no field of {wanted}"))?;
                    if let Some(value) = self.field(field.kind(), &map.get(&key).unwrap_or(Value::Null))? {
                        made.try_set(field, value).map_err(|error| error.to_string())?;
                    }
                }
            }
            (_, other) => return Err(format!("{wanted} is needed, found {}", other.type_name())),
        }
        Ok(made)
    }

    fn set(self, message: &mut DynamicMessage, number: u32, value: Proto) -> Result<(), String> {
        let descriptor = self.pool.message(message.message_index());
        let field =
            descriptor.field(number).ok_or_else(|| format!("{} has no field {number}", descriptor.full_name()))?;
        message.try_set(field, value).map_err(|error| error.to_string())
    }

    /// A message as `google.protobuf.Any`; values of well-known types become their messages first.
    fn packed(self, value: &Value<'_>) -> Result<DynamicMessage, String> {
        let of = |name: &str| self.pool.message_index(&format!("google.protobuf.{name}"));
        let known = match value {
            Value::Message(message) => {
                self.budget.message(message.get())?;
                return message.get().pack_any().map_err(|error| error.to_string());
            }
            Value::Map(map) => match map.get(&Value::text("@type")) {
                Some(_) => None,
                None => of("Struct"),
            },
            Value::List(_) => of("ListValue"),
            Value::Timestamp(_) => of("Timestamp"),
            Value::Duration(_) => of("Duration"),
            Value::Bool(_) => of("BoolValue"),
            Value::Int(_) => of("Int64Value"),
            Value::Uint(_) => of("UInt64Value"),
            Value::Double(_) => of("DoubleValue"),
            Value::String(_) => of("StringValue"),
            Value::Bytes(_) => of("BytesValue"),
            Value::Null | Value::Type(_) => None,
        };
        match known {
            Some(index) => self.deeper()?.message(index, value)?.pack_any().map_err(|error| error.to_string()),
            None => {
                let any = of("Any").ok_or_else(|| "the schema has no google.protobuf.Any".to_owned())?;
                self.by_json(any, value)
            }
        }
    }

    fn by_json(self, index: MessageIndex, value: &Value<'_>) -> Result<DynamicMessage, String> {
        let json = json(value, self.budget)?.to_string();
        DynamicMessage::from_json(Arc::clone(self.pool), index, &json)
            .map_err(|error| format!("{} is no {}: {error}", shown(value), self.pool.message(index).full_name()))
    }
}

fn scalar(kind: ScalarType, value: &Value<'_>, budget: &Budget) -> Result<Proto, String> {
    let wrong = |what: &str| format!("{what} is needed, found {}", shown(value));
    let integer = || -> Option<i128> {
        match value {
            Value::Int(number) => Some((*number).into()),
            Value::Uint(number) => Some((*number).into()),
            Value::Double(number) if number.fract() == 0.0 && number.abs() < 1e18 => Some(*number as i128),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        }
    };
    let double = || -> Option<f64> {
        match value {
            Value::Int(number) => Some(*number as f64),
            Value::Uint(number) => Some(*number as f64),
            Value::Double(number) => Some(*number),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        }
    };
    Ok(match kind {
        ScalarType::Bool => match value {
            Value::Bool(flag) => Proto::Bool(*flag),
            Value::String(text) => Proto::Bool(text.parse().map_err(|_| wrong("`true` or `false`"))?),
            _ => return Err(wrong("`true` or `false`")),
        },
        ScalarType::String => Proto::String(text(value, budget)?),
        ScalarType::Bytes => match value {
            Value::Bytes(bytes) => {
                budget.spend(bytes.len())?;
                Proto::Bytes(bytes.to_vec())
            }
            Value::String(text) => {
                budget.spend(text.len() / 4 * 3)?;
                Proto::Bytes(base64_text::decode(text).ok_or_else(|| wrong("Base64"))?)
            }
            _ => return Err(wrong("bytes or Base64")),
        },
        ScalarType::Double => Proto::F64(double().ok_or_else(|| wrong("a number"))?),
        ScalarType::Float => Proto::F32(double().ok_or_else(|| wrong("a number"))? as f32),
        ScalarType::Int32 | ScalarType::Sint32 | ScalarType::Sfixed32 => {
            let number = integer().and_then(|number| i32::try_from(number).ok());
            Proto::I32(number.ok_or_else(|| wrong("a whole number of 32 bits"))?)
        }
        ScalarType::Int64 | ScalarType::Sint64 | ScalarType::Sfixed64 => {
            let number = integer().and_then(|number| i64::try_from(number).ok());
            Proto::I64(number.ok_or_else(|| wrong("a whole number of 64 bits"))?)
        }
        ScalarType::Uint32 | ScalarType::Fixed32 => {
            let number = integer().and_then(|number| u32::try_from(number).ok());
            Proto::U32(number.ok_or_else(|| wrong("a whole number of 32 bits, not below 0"))?)
        }
        ScalarType::Uint64 | ScalarType::Fixed64 => {
            let number = integer().and_then(|number| u64::try_from(number).ok());
            Proto::U64(number.ok_or_else(|| wrong("a whole number of 64 bits, not below 0"))?)
        }
    })
}

/// A value as a message shows it: short.
fn shown(value: &Value<'_>) -> String {
    match value {
        Value::List(_) | Value::Map(_) | Value::Message(_) => value.type_name().to_owned(),
        scalar => format!("`{}`", leat_config::table::shorten(&text(scalar, &Budget::new()).unwrap_or_default())),
    }
}
