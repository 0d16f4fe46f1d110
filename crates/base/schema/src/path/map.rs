use std::collections::HashMap;
use std::fmt;

use super::scan::{self, Single, body};
use super::{Malformed, Parts, Value, value};
use crate::Kind;
use crate::types::Types;
use crate::wire::{Reader, WireType};

/// A key of a map.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// `bool`.
    Bool(bool),
    /// All signed integers.
    Int(i64),
    /// All unsigned integers.
    Uint(u64),
    /// `string`.
    String(Box<str>),
}

impl Key {
    /// Reads a key of `kind` as JSON writes it. `None` if it is none.
    pub fn read(text: &str, kind: Kind) -> Option<Self> {
        Some(match kind {
            Kind::Bool => Key::Bool(text.parse().ok()?),
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Key::Int(text.parse::<i32>().ok()?.into()),
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Key::Int(text.parse().ok()?),
            Kind::Uint32 | Kind::Fixed32 => Key::Uint(text.parse::<u32>().ok()?.into()),
            Kind::Uint64 | Kind::Fixed64 => Key::Uint(text.parse().ok()?),
            Kind::String => Key::String(text.into()),
            _ => return None,
        })
    }

    fn of(value: &Value<'_>) -> Option<Self> {
        Some(match value {
            Value::Bool(value) => Key::Bool(*value),
            Value::Int(value) => Key::Int(*value),
            Value::Uint(value) => Key::Uint(*value),
            Value::String(value) => Key::String((*value).into()),
            _ => return None,
        })
    }

    fn is(&self, value: &Value<'_>) -> bool {
        match (self, value) {
            (Key::Bool(key), Value::Bool(value)) => key == value,
            (Key::Int(key), Value::Int(value)) => key == value,
            (Key::Uint(key), Value::Uint(value)) => key == value,
            (Key::String(key), Value::String(value)) => **key == **value,
            _ => false,
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Bool(key) => write!(f, "{key}"),
            Key::Int(key) => write!(f, "{key}"),
            Key::Uint(key) => write!(f, "{key}"),
            Key::String(key) => write!(f, "{key:?}"),
        }
    }
}

/// A map that was read.
#[derive(Clone, Debug)]
pub struct Map<'a> {
    types: &'a Types,
    key: Kind,
    single: &'a Single,
    parts: Parts<'a>,
}

impl<'a> Map<'a> {
    pub(super) fn new(types: &'a Types, key: Kind, single: &'a Single, parts: Parts<'a>) -> Self {
        Self { types, key, single, parts }
    }

    /// The type of the keys.
    pub fn key_kind(&self) -> Kind {
        self.key
    }

    /// The value of a key: the last one, if there are several. No allocation for scalars.
    pub fn get(&self, wanted: &Key) -> Result<Option<Value<'a>>, Malformed> {
        let mut found = None;
        self.each(|key, value| {
            if wanted.is(&key) {
                found = Some(value);
            }
        })?;
        Ok(found)
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> Result<bool, Malformed> {
        let mut empty = true;
        self.each(|_, _| empty = false)?;
        Ok(empty)
    }

    /// All entries, each key once, sorted by it.
    pub fn entries(&self) -> Result<Vec<(Key, Value<'a>)>, Malformed> {
        let mut found = HashMap::new();
        self.each(|key, value| _ = Key::of(&key).map(|key| found.insert(key, value)))?;
        let mut entries: Vec<_> = found.into_iter().collect();
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(entries)
    }

    fn each(&self, mut take: impl FnMut(Value<'a>, Value<'a>)) -> Result<(), Malformed> {
        for part in self.parts.iter() {
            let mut reader = Reader::new(part);
            while !reader.is_empty() {
                let tag = reader.tag().ok_or(Malformed)?;
                if tag.number != self.single.number || tag.wire != WireType::Length {
                    reader.skip(tag).ok_or(Malformed)?;
                    continue;
                }
                if let Some((key, value)) = self.entry(reader.length_delimited().ok_or(Malformed)?)? {
                    take(key, value);
                }
            }
        }
        Ok(())
    }

    /// `None` if its value is a number that a closed enum has no name for.
    fn entry(&self, bytes: &'a [u8]) -> Result<Option<(Value<'a>, Value<'a>)>, Malformed> {
        let key_field = Single { number: 1, kind: self.key, closed: false };
        let value_field = Single { number: 2, ..*self.single };
        let (mut key, mut found, mut unknown) = (None, None, false);
        let mut message: Option<Parts<'a>> = None;
        let mut reader = Reader::new(bytes);
        while !reader.is_empty() {
            let tag = reader.tag().ok_or(Malformed)?;
            match (tag.number, self.single.kind) {
                (1, _) => key = key_field.value(self.types, tag, &mut reader)?.or(key),
                (2, Kind::Message(_)) => {
                    if let Some(bytes) = body(tag, &mut reader)? {
                        message.get_or_insert_default().push(bytes);
                    }
                }
                (2, kind) if tag.wire == scan::wire_type(kind) => {
                    found = value_field.value(self.types, tag, &mut reader)?;
                    unknown = found.is_none();
                }
                _ => reader.skip(tag).ok_or(Malformed)?,
            }
        }
        if unknown {
            return Ok(None);
        }
        let zero = |kind| value::zero(kind, self.types);
        let found = found.or(message.map(Value::Message)).unwrap_or_else(|| zero(self.single.kind));
        Ok(Some((key.unwrap_or_else(|| zero(self.key)), found)))
    }
}
