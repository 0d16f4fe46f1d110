//! Finding one field in the bytes of a message.

use super::{Malformed, Parts, Value};
use crate::Kind;
use crate::types::Types;
use crate::wire::{Reader, Tag, WireType, unzigzag};

/// One value of a field: its number and type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Single {
    pub(super) number: u32,
    pub(super) kind: Kind,
    /// An enum whose numbers without a name are no values.
    pub(super) closed: bool,
}

/// Where the last value of a field begins that is in no oneof.
pub(super) fn last(message: &[u8], number: u32, wire: WireType) -> Result<Option<Reader<'_>>, Malformed> {
    let mut found = None;
    let mut reader = Reader::new(message);
    while !reader.is_empty() {
        let tag = reader.tag().ok_or(Malformed)?;
        if tag == (Tag { number, wire }) {
            found = Some(reader);
        }
        reader.skip(tag).ok_or(Malformed)?;
    }
    Ok(found)
}

/// The last value of a scalar field, unless another member of its oneof came behind it.
pub(super) fn scalar<'a>(
    types: &Types,
    parts: &Parts<'a>,
    field: &Single,
    rivals: &[Single],
) -> Result<Option<Value<'a>>, Malformed> {
    let wire = wire_type(field.kind);
    // Only the last one is decoded; until then its place is kept.
    let mut found: Option<Reader<'a>> = None;
    for at in 0.. {
        let Some(part) = parts.part(at) else { break };
        let mut reader = Reader::new(part);
        while !reader.is_empty() {
            let tag = reader.tag().ok_or(Malformed)?;
            let here = reader;
            if tag.number != field.number && !rivals.is_empty() {
                if outdone(types, tag, &mut reader, rivals)? {
                    found = None;
                }
                continue;
            }
            reader.skip(tag).ok_or(Malformed)?;
            if tag == (Tag { number: field.number, wire }) {
                // A number that a closed enum does not have is no value, and leaves the one before.
                let mut probe = here;
                if !field.closed || field.scalar(types, &mut probe)?.is_some() {
                    found = Some(here);
                }
            }
        }
    }
    match found {
        Some(mut reader) => field.scalar(types, &mut reader),
        None => Ok(None),
    }
}

/// All parts of a message field, from behind the last other member of its oneof.
pub(super) fn message<'a>(
    types: &Types,
    parts: &Parts<'a>,
    field: &Single,
    rivals: &[Single],
) -> Result<Option<Parts<'a>>, Malformed> {
    let mut found: Option<Parts<'a>> = None;
    for at in 0.. {
        let Some(part) = parts.part(at) else { break };
        let mut reader = Reader::new(part);
        while !reader.is_empty() {
            let tag = reader.tag().ok_or(Malformed)?;
            if tag.number == field.number {
                if let Some(bytes) = body(tag, &mut reader)? {
                    found.get_or_insert_default().push(bytes);
                }
            } else if outdone(types, tag, &mut reader, rivals)? {
                found = None;
            }
        }
    }
    Ok(found)
}

/// Passes over a field. Whether it is one of `rivals`, with a value of its type.
fn outdone(types: &Types, tag: Tag, reader: &mut Reader<'_>, rivals: &[Single]) -> Result<bool, Malformed> {
    match rivals.iter().find(|rival| rival.number == tag.number) {
        Some(rival) => Ok(rival.value(types, tag, reader)?.is_some()),
        None => reader.skip(tag).map(|()| false).ok_or(Malformed),
    }
}

/// The bytes of a message, length-delimited or a group: readers take either. `None`: it is something else, and passed over.
pub(super) fn body<'a>(tag: Tag, reader: &mut Reader<'a>) -> Result<Option<&'a [u8]>, Malformed> {
    match tag.wire {
        WireType::Length => reader.length_delimited().map(Some),
        WireType::GroupStart => reader.group(tag.number).map(Some),
        _ => reader.skip(tag).map(|()| None),
    }
    .ok_or(Malformed)
}

impl Single {
    /// The value behind `tag`. `None`: it is no value of this type (which counts as a field that nobody knows).
    #[inline]
    pub(super) fn value<'a>(
        &self,
        types: &Types,
        tag: Tag,
        reader: &mut Reader<'a>,
    ) -> Result<Option<Value<'a>>, Malformed> {
        if let Kind::Message(_) = self.kind {
            return Ok(body(tag, reader)?.map(|bytes| Value::Message(Parts::one(bytes))));
        }
        if tag.wire != wire_type(self.kind) {
            return reader.skip(tag).map(|()| None).ok_or(Malformed);
        }
        self.scalar(types, reader)
    }

    /// A scalar that stands here in its own wire type; elements of packed lists do, too.
    #[inline]
    pub(super) fn scalar<'a>(&self, types: &Types, reader: &mut Reader<'a>) -> Result<Option<Value<'a>>, Malformed> {
        let value = match self.kind {
            Kind::Double => reader.fixed64().map(|bits| Value::Double(f64::from_bits(bits))),
            Kind::Float => reader.fixed32().map(|bits| Value::Float(f32::from_bits(bits))),
            Kind::Int64 => reader.varint().map(|value| Value::Int(value.cast_signed())),
            Kind::Int32 => reader.varint().map(|value| Value::Int(i64::from(value as i32))),
            Kind::Sint64 => reader.varint().map(|value| Value::Int(unzigzag(value))),
            Kind::Sint32 => reader.varint().map(|value| Value::Int(unzigzag(u64::from(value as u32)))),
            Kind::Uint64 => reader.varint().map(Value::Uint),
            Kind::Uint32 => reader.varint().map(|value| Value::Uint(u64::from(value as u32))),
            Kind::Fixed64 => reader.fixed64().map(Value::Uint),
            Kind::Fixed32 => reader.fixed32().map(|value| Value::Uint(value.into())),
            Kind::Sfixed64 => reader.fixed64().map(|value| Value::Int(value.cast_signed())),
            Kind::Sfixed32 => reader.fixed32().map(|value| Value::Int(value.cast_signed().into())),
            Kind::Bool => reader.varint().map(|value| Value::Bool(value != 0)),
            Kind::String => {
                reader.length_delimited().and_then(|bytes| std::str::from_utf8(bytes).ok()).map(Value::String)
            }
            Kind::Bytes => reader.length_delimited().map(Value::Bytes),
            Kind::Enum(id) => {
                let number = reader.varint().ok_or(Malformed)? as i32;
                if self.closed && types.enumeration(id).name_of(number).is_none() {
                    return Ok(None);
                }
                Some(Value::Enum(number))
            }
            Kind::Message(_) => None,
        };
        value.map(Some).ok_or(Malformed)
    }
}

/// How one value of a type stands. Messages also stand as groups.
pub(crate) fn wire_type(kind: Kind) -> WireType {
    match kind {
        Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => WireType::Fixed64,
        Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => WireType::Fixed32,
        Kind::String | Kind::Bytes | Kind::Message(_) => WireType::Length,
        _ => WireType::Varint,
    }
}
