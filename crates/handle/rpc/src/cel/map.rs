//! Maps: of a message's field, of a literal, or of the caller's, who is asked key by key.

use std::fmt;
use std::rc::Rc;

use buffa_descriptor::reflect::{MapKey, MapKeyRef, MapValue};

use super::compare::equal;
use super::{Text, Value};

/// A map with string keys that its owner looks up: metadata, for example.
pub trait Named {
    /// The value of `key`.
    fn get(&self, key: &str) -> Option<Value<'_>>;
    /// All keys, for `size` and for macros that walk the map.
    fn keys(&self) -> Vec<&str>;
}

/// A map of CEL. Cloning copies a reference.
#[derive(Clone)]
pub enum Map<'a> {
    /// A map field as it was decoded, in the order of its keys.
    Field(&'a MapValue),
    /// What a literal made, or a copy out of an unpacked `Any`.
    Entries(Rc<Vec<(Value<'a>, Value<'a>)>>),
    /// The caller's.
    Named(&'a (dyn Named + 'a)),
}

impl fmt::Debug for Map<'_> {
    /// Sizes only: values of metadata may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "map of {}", self.len())
    }
}

impl<'a> Map<'a> {
    /// How many entries there are.
    pub fn len(&self) -> usize {
        match self {
            Map::Field(map) => map.len(),
            Map::Entries(entries) => entries.len(),
            Map::Named(named) => named.keys().len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of `key`; numbers find a key of the same value, whatever their types. A scan where a literal made the map.
    pub fn get(&self, key: &Value<'_>) -> Option<Value<'a>> {
        match self {
            Map::Field(map) => field_entry(map, key),
            Map::Entries(entries) => entries.iter().find(|(each, _)| equal(each, key)).map(|(_, value)| value.clone()),
            Map::Named(named) => match key {
                Value::String(text) => named.get(text),
                _ => None,
            },
        }
    }

    /// The keys, in a stable order.
    pub fn keys(&self) -> Vec<Value<'a>> {
        match self {
            Map::Field(map) => map.iter().map(|(key, _)| Value::of_key(key.as_ref())).collect(),
            Map::Entries(entries) => entries.iter().map(|(key, _)| key.clone()).collect(),
            Map::Named(named) => named.keys().into_iter().map(|key| Value::String(Text::Borrowed(key))).collect(),
        }
    }
}

fn field_entry<'a>(map: &'a MapValue, key: &Value<'_>) -> Option<Value<'a>> {
    let (first, _) = map.entries().first()?;
    let number = |key: &Value<'_>| match key {
        Value::Int(number) => Some(i128::from(*number)),
        Value::Uint(number) => Some(i128::from(*number)),
        #[allow(clippy::cast_possible_truncation)]
        Value::Double(number) if number.fract() == 0.0 && number.abs() < 1e19 => Some(*number as i128),
        _ => None,
    };
    let found = match (first, key) {
        (MapKey::String(_), Value::String(text)) => map.get_str(text),
        (MapKey::Bool(_), Value::Bool(flag)) => map.get(&MapKey::Bool(*flag)),
        (MapKey::I32(_), key) => map.get(&MapKey::I32(i32::try_from(number(key)?).ok()?)),
        (MapKey::I64(_), key) => map.get(&MapKey::I64(i64::try_from(number(key)?).ok()?)),
        (MapKey::U32(_), key) => map.get(&MapKey::U32(u32::try_from(number(key)?).ok()?)),
        (MapKey::U64(_), key) => map.get(&MapKey::U64(u64::try_from(number(key)?).ok()?)),
        _ => None,
    };
    found.map(Value::of)
}

impl<'a> Value<'a> {
    /// A key of a map field.
    pub fn of_key(key: MapKeyRef<'a>) -> Value<'a> {
        match key {
            MapKeyRef::Bool(flag) => Value::Bool(flag),
            MapKeyRef::I32(number) => Value::Int(number.into()),
            MapKeyRef::I64(number) => Value::Int(number),
            MapKeyRef::U32(number) => Value::Uint(number.into()),
            MapKeyRef::U64(number) => Value::Uint(number),
            MapKeyRef::String(text) => Value::String(Text::Borrowed(text)),
        }
    }
}
