//! From binary to JSON.

use std::sync::Arc;

use super::quick::{DEPTH_MAX, Irregular, Met, Quick};
use super::{text, time, tree};
use crate::message::MessageTable;
use crate::path::wire_type;
use crate::types::{Types, WellKnown};
use crate::wire::{Reader, Tag, WireType, unzigzag};
use crate::{EnumId, Field, Kind, MessageId, MessageType, Presence, Shape};

/// Entries of a map whose keys are compared with each other; maps with more go by the tree.
const ENTRIES_MAX: usize = 16;

pub(super) fn to_json(of: &MessageType, binary: &[u8], out: &mut Vec<u8>) -> Quick<()> {
    Writer { types: &of.types, out }.message(of.id, binary, DEPTH_MAX)
}

struct Writer<'t, 'o> {
    types: &'t Arc<Types>,
    out: &'o mut Vec<u8>,
}

/// A scalar as it stood in the bytes.
#[derive(Clone, Copy)]
enum Raw<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl Raw<'_> {
    #[inline]
    fn is_zero(self) -> bool {
        match self {
            Raw::Number(number) => number == 0,
            Raw::Bytes(bytes) => bytes.is_empty(),
        }
    }
}

impl Writer<'_, '_> {
    fn message(&mut self, id: MessageId, bytes: &[u8], depth: u32) -> Quick<()> {
        let table = self.types.message(id);
        if let Some(known) = table.well_known {
            return self.known(known, id, bytes, depth);
        }
        self.out.push(b'{');
        self.fields(table, bytes, depth)?;
        self.out.push(b'}');
        Ok(())
    }

    fn fields(&mut self, table: &MessageTable, bytes: &[u8], depth: u32) -> Quick<()> {
        let mut met = Met::default();
        let mut reader = Reader::new(bytes);
        while !reader.is_empty() {
            let tag = reader.tag().ok_or(Irregular)?;
            let Some(at) = table.place(tag.number) else {
                reader.skip(tag).ok_or(Irregular)?;
                continue;
            };
            let field = table.fields.get(usize::from(at)).ok_or(Irregular)?;
            met.field(at)?;
            met.oneof(field.exclusive)?;
            match field.shape {
                Shape::One => self.one(field, tag, &mut reader, depth)?,
                Shape::List => self.list(field, tag, &mut reader, depth)?,
                Shape::Map { key } => self.map(field, key, tag, &mut reader, depth)?,
            }
        }
        Ok(())
    }

    /// The comma, unless this is the first, and the key. No value ends with an opening bracket.
    #[inline]
    fn key(&mut self, field: &Field) {
        self.comma();
        self.out.extend_from_slice(&field.json_key);
    }

    #[inline]
    fn comma(&mut self) {
        if !matches!(self.out.last(), Some(b'{' | b'[')) {
            self.out.push(b',');
        }
    }

    #[inline]
    fn one(&mut self, field: &Field, tag: Tag, reader: &mut Reader<'_>, depth: u32) -> Quick<()> {
        if let Kind::Message(id) = field.kind {
            let body = body(tag, reader)?;
            self.key(field);
            return self.message(id, body, depth.checked_sub(1).ok_or(Irregular)?);
        }
        if tag.wire != wire_type(field.kind) {
            return Err(Irregular);
        }
        let raw = raw(field.kind, reader)?;
        if field.presence == Presence::Implicit && raw.is_zero() {
            return Ok(());
        }
        self.key(field);
        self.scalar(field, raw)
    }

    /// All elements that stand one behind the other.
    fn list(&mut self, field: &Field, tag: Tag, reader: &mut Reader<'_>, depth: u32) -> Quick<()> {
        let before = self.out.len();
        self.key(field);
        self.out.push(b'[');
        let start = self.out.len();
        self.element(field, tag, reader, depth)?;
        while let Some(tag) = again(tag.number, reader)? {
            self.element(field, tag, reader, depth)?;
        }
        if self.out.len() == start {
            self.out.truncate(before);
        } else {
            self.out.push(b']');
        }
        Ok(())
    }

    fn element(&mut self, field: &Field, tag: Tag, reader: &mut Reader<'_>, depth: u32) -> Quick<()> {
        if let Kind::Message(id) = field.kind {
            let body = body(tag, reader)?;
            self.comma();
            return self.message(id, body, depth.checked_sub(1).ok_or(Irregular)?);
        }
        if tag.wire == wire_type(field.kind) {
            let raw = raw(field.kind, reader)?;
            self.comma();
            return self.scalar(field, raw);
        }
        if tag.wire != WireType::Length {
            return Err(Irregular);
        }
        let mut packed = Reader::new(reader.length_delimited().ok_or(Irregular)?);
        while !packed.is_empty() {
            let raw = raw(field.kind, &mut packed)?;
            self.comma();
            self.scalar(field, raw)?;
        }
        Ok(())
    }

    /// All entries that stand one behind the other.
    fn map(&mut self, field: &Field, key: Kind, tag: Tag, reader: &mut Reader<'_>, depth: u32) -> Quick<()> {
        let mut keys = [Raw::Number(0); ENTRIES_MAX];
        self.key(field);
        self.out.push(b'{');
        let mut tag = tag;
        for count in 0.. {
            if tag.wire != WireType::Length {
                return Err(Irregular);
            }
            let entry = Entry::read(reader.length_delimited().ok_or(Irregular)?, key, field.kind)?;
            let (before, rest) = keys.split_at_mut_checked(count).ok_or(Irregular)?;
            if before.iter().any(|other| same(*other, entry.key)) {
                return Err(Irregular);
            }
            *rest.first_mut().ok_or(Irregular)? = entry.key;
            self.comma();
            self.map_key(key, entry.key)?;
            match (field.kind, entry.body) {
                (Kind::Message(id), body) => {
                    self.message(id, body.unwrap_or_default(), depth.checked_sub(1).ok_or(Irregular)?)?;
                }
                _ => self.scalar(field, entry.value.ok_or(Irregular)?)?,
            }
            match again(tag.number, reader)? {
                Some(next) => tag = next,
                None => break,
            }
        }
        self.out.push(b'}');
        Ok(())
    }

    fn map_key(&mut self, kind: Kind, raw: Raw<'_>) -> Quick<()> {
        match (kind, raw) {
            (Kind::String, Raw::Bytes(bytes)) => text::put_string(utf8(bytes)?, self.out),
            (Kind::Bool, Raw::Number(number)) => {
                self.out.extend_from_slice(if number == 0 { b"\"false\"" } else { b"\"true\"" });
            }
            (_, Raw::Number(number)) => {
                self.out.push(b'"');
                self.integer(kind, number);
                self.out.push(b'"');
            }
            _ => return Err(Irregular),
        }
        self.out.push(b':');
        Ok(())
    }

    #[inline]
    fn scalar(&mut self, field: &Field, raw: Raw<'_>) -> Quick<()> {
        match (field.kind, raw) {
            (Kind::String, Raw::Bytes(bytes)) => text::put_string(utf8(bytes)?, self.out),
            (Kind::Bytes, Raw::Bytes(bytes)) => text::put_bytes(bytes, self.out),
            (Kind::Enum(id), Raw::Number(number)) => return self.enumeration(id, number as i32, field.closed),
            (kind, Raw::Number(number)) => self.number(kind, number)?,
            _ => return Err(Irregular),
        }
        Ok(())
    }

    fn number(&mut self, kind: Kind, number: u64) -> Quick<()> {
        match kind {
            Kind::Double => {
                self.float(f64::from_bits(number), |out| serde_json::to_writer(out, &f64::from_bits(number)))
            }
            Kind::Float => {
                let value = f32::from_bits(number as u32);
                // The shortest text of the largest `float` is, as a `double`, beyond it: some readers refuse that.
                let largest = value.abs() == f32::MAX;
                self.float(value.into(), |out| match largest {
                    true => serde_json::to_writer(out, &f64::from(value)),
                    false => serde_json::to_writer(out, &value),
                })
            }
            Kind::Bool => {
                self.out.extend_from_slice(if number == 0 { b"false" } else { b"true" });
                Ok(())
            }
            // JavaScript's numbers have 53 bits.
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 | Kind::Uint64 | Kind::Fixed64 => {
                self.out.push(b'"');
                self.integer(kind, number);
                self.out.push(b'"');
                Ok(())
            }
            _ => {
                self.integer(kind, number);
                Ok(())
            }
        }
    }

    fn integer(&mut self, kind: Kind, number: u64) {
        let mut buffer = itoa::Buffer::new();
        let digits = match kind {
            Kind::Uint64 | Kind::Fixed64 => buffer.format(number),
            Kind::Uint32 | Kind::Fixed32 => buffer.format(number as u32),
            Kind::Int64 | Kind::Sfixed64 => buffer.format(number.cast_signed()),
            Kind::Sint64 => buffer.format(unzigzag(number)),
            Kind::Sint32 => buffer.format(unzigzag(u64::from(number as u32))),
            _ => buffer.format(number as i32),
        };
        self.out.extend_from_slice(digits.as_bytes());
    }

    fn float(&mut self, value: f64, put: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>) -> Quick<()> {
        if value.is_finite() {
            return put(self.out).map_err(|_| Irregular);
        }
        let word: &[u8] = match (value.is_nan(), value > 0.0) {
            (true, _) => b"\"NaN\"",
            (_, true) => b"\"Infinity\"",
            _ => b"\"-Infinity\"",
        };
        self.out.extend_from_slice(word);
        Ok(())
    }

    fn enumeration(&mut self, id: EnumId, number: i32, closed: bool) -> Quick<()> {
        let found = self.types.enumeration(id);
        match found.name_of(number) {
            _ if found.is_null() => self.out.extend_from_slice(b"null"),
            Some(name) => {
                self.out.push(b'"');
                self.out.extend_from_slice(name.as_bytes());
                self.out.push(b'"');
            }
            None if closed => return Err(Irregular),
            None => self.integer(Kind::Int32, i64::from(number).cast_unsigned()),
        }
        Ok(())
    }

    /// Types with a form of their own; the rarer ones by the tree.
    fn known(&mut self, known: WellKnown, id: MessageId, bytes: &[u8], _: u32) -> Quick<()> {
        match known {
            WellKnown::Timestamp | WellKnown::Duration => {
                let (mut seconds, mut nanos) = (0, 0);
                let mut reader = Reader::new(bytes);
                while !reader.is_empty() {
                    let tag = reader.tag().ok_or(Irregular)?;
                    match (tag.number, tag.wire) {
                        (1, WireType::Varint) => seconds = reader.varint().ok_or(Irregular)?.cast_signed(),
                        (2, WireType::Varint) => nanos = reader.varint().ok_or(Irregular)? as i32,
                        _ => return Err(Irregular),
                    }
                }
                let put = if known == WellKnown::Timestamp { time::put_timestamp } else { time::put_duration };
                put(seconds, nanos, self.out)
            }
            WellKnown::Wrapper => {
                let field = self.types.message(id).field(1).ok_or(Irregular)?;
                let mut reader = Reader::new(bytes);
                if reader.is_empty() {
                    return self.scalar(field, zero(field.kind));
                }
                if reader.tag() != Some(Tag { number: 1, wire: wire_type(field.kind) }) {
                    return Err(Irregular);
                }
                let found = raw(field.kind, &mut reader)?;
                if reader.is_empty() { self.scalar(field, found) } else { Err(Irregular) }
            }
            _ => {
                let of = MessageType { types: Arc::clone(self.types), id };
                tree::to_json(&of, bytes, self.out).map_err(|_| Irregular)
            }
        }
    }
}

/// An entry of a map with its key and value, each once.
struct Entry<'a> {
    key: Raw<'a>,
    value: Option<Raw<'a>>,
    /// Of a message.
    body: Option<&'a [u8]>,
}

impl<'a> Entry<'a> {
    fn read(bytes: &'a [u8], key: Kind, kind: Kind) -> Quick<Self> {
        let mut met = Met::default();
        let mut entry = Entry { key: zero(key), value: None, body: None };
        let mut reader = Reader::new(bytes);
        while !reader.is_empty() {
            let tag = reader.tag().ok_or(Irregular)?;
            met.field(u16::try_from(tag.number).map_err(|_| Irregular)?)?;
            match (tag.number, kind) {
                (1, _) if tag.wire == wire_type(key) => entry.key = raw(key, &mut reader)?,
                (2, Kind::Message(_)) => entry.body = Some(body(tag, &mut reader)?),
                (2, _) if tag.wire == wire_type(kind) => entry.value = Some(raw(kind, &mut reader)?),
                _ => return Err(Irregular),
            }
        }
        if entry.value.is_none() && !matches!(kind, Kind::Message(_) | Kind::Enum(_)) {
            entry.value = Some(zero(kind));
        }
        Ok(entry)
    }
}

fn zero(kind: Kind) -> Raw<'static> {
    if wire_type(kind) == WireType::Length { Raw::Bytes(&[]) } else { Raw::Number(0) }
}

fn same(one: Raw<'_>, other: Raw<'_>) -> bool {
    match (one, other) {
        (Raw::Number(one), Raw::Number(other)) => one == other,
        (Raw::Bytes(one), Raw::Bytes(other)) => one == other,
        _ => false,
    }
}

/// The next tag, if it is of the same field; else nothing is read.
#[inline]
fn again(number: u32, reader: &mut Reader<'_>) -> Quick<Option<Tag>> {
    if reader.is_empty() {
        return Ok(None);
    }
    let mut ahead = *reader;
    let tag = ahead.tag().ok_or(Irregular)?;
    if tag.number != number {
        return Ok(None);
    }
    *reader = ahead;
    Ok(Some(tag))
}

/// A scalar's bytes, cut to the width of its type: zero is zero then.
#[inline]
fn raw<'a>(kind: Kind, reader: &mut Reader<'a>) -> Quick<Raw<'a>> {
    Ok(match kind {
        Kind::String | Kind::Bytes => Raw::Bytes(reader.length_delimited().ok_or(Irregular)?),
        Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => Raw::Number(reader.fixed64().ok_or(Irregular)?),
        Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => Raw::Number(reader.fixed32().ok_or(Irregular)?.into()),
        Kind::Int64 | Kind::Uint64 | Kind::Sint64 => Raw::Number(reader.varint().ok_or(Irregular)?),
        Kind::Bool => Raw::Number((reader.varint().ok_or(Irregular)? != 0).into()),
        Kind::Int32 | Kind::Uint32 | Kind::Sint32 | Kind::Enum(_) => {
            Raw::Number(u64::from(reader.varint().ok_or(Irregular)? as u32))
        }
        Kind::Message(_) => return Err(Irregular),
    })
}

#[inline]
fn body<'a>(tag: Tag, reader: &mut Reader<'a>) -> Quick<&'a [u8]> {
    match tag.wire {
        WireType::Length => reader.length_delimited(),
        WireType::GroupStart => reader.group(tag.number),
        _ => None,
    }
    .ok_or(Irregular)
}

#[inline]
fn utf8(bytes: &[u8]) -> Quick<&str> {
    std::str::from_utf8(bytes).map_err(|_| Irregular)
}
