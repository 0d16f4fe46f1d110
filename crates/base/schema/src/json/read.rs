//! From JSON to binary.

use std::sync::Arc;

use super::quick::{DEPTH_MAX, Irregular, Met, Quick};
use super::scan::{Scan, Token};
use super::{text, time, tree};
use crate::path::wire_type;
use crate::types::{Types, WellKnown};
use crate::wire::{WireType, put_varint, varint_len, zigzag};
use crate::{EnumId, Field, Kind, MessageId, MessageType, Presence, Shape};

/// Messages inside messages that may be so long that their length takes more than one byte: each moves its bytes.
const LONG_DEPTH_MAX: u32 = 16;

pub(super) fn to_binary(of: &MessageType, json: &[u8], ignore_unknown: bool, out: &mut Vec<u8>) -> Quick<()> {
    let json = std::str::from_utf8(json).map_err(|_| Irregular)?;
    let mut reader = Reader { types: &of.types, scan: Scan::new(json), out, room: Vec::new(), ignore_unknown };
    // One alone has no key before it; the tree knows how.
    if of.well_known().is_some() {
        return Err(Irregular);
    }
    reader.message(of.id, DEPTH_MAX)?;
    reader.scan.end()
}

struct Reader<'j, 't, 'o> {
    types: &'t Arc<Types>,
    scan: Scan<'j>,
    out: &'o mut Vec<u8>,
    /// For strings with escapes.
    room: Vec<u8>,
    ignore_unknown: bool,
}

impl Reader<'_, '_, '_> {
    fn message(&mut self, id: MessageId, depth: u32) -> Quick<()> {
        let table = self.types.message(id);
        let mut met = Met::default();
        // Keys mostly come in the order of the fields.
        let mut expected = 0;
        self.scan.open(b'{')?;
        let mut first = true;
        while self.scan.more(b'}', first)? {
            first = false;
            let raw = self.scan.string()?;
            self.scan.colon()?;
            let at = match table.fields.get(expected) {
                Some(field) if raw.is_plain() && *raw.text == *field.json_name => Some(expected as u16),
                _ if raw.is_plain() => table.by_name.get(raw.text).copied(),
                // Nobody escapes what needs no escape.
                _ => return Err(Irregular),
            };
            let Some(at) = at else {
                if !self.ignore_unknown {
                    return Err(Irregular);
                }
                self.scan.skip(depth)?;
                continue;
            };
            expected = usize::from(at) + 1;
            met.field(at)?;
            let field = table.fields.get(usize::from(at)).ok_or(Irregular)?;
            if self.scan.null_follows() && !self.takes_null(field) {
                continue;
            }
            met.oneof(field.exclusive)?;
            match field.shape {
                Shape::One => self.one(field, depth)?,
                Shape::List => self.list(field, depth)?,
                Shape::Map { key } => self.map(field, key, depth)?,
            }
        }
        Ok(())
    }

    /// Whether null is a value of the field: of `google.protobuf.Value` and `NullValue`. Then it is left to be read.
    fn takes_null(&mut self, field: &Field) -> bool {
        let takes = match (field.shape, field.kind) {
            (Shape::One, Kind::Message(id)) => self.types.message(id).well_known == Some(WellKnown::Value),
            (Shape::One, Kind::Enum(id)) => self.types.enumeration(id).is_null(),
            _ => false,
        };
        if !takes {
            self.scan.take_null();
        }
        takes
    }

    #[inline]
    fn one(&mut self, field: &Field, depth: u32) -> Quick<()> {
        if let Kind::Message(id) = field.kind {
            return self.body(field, id, depth);
        }
        let before = self.out.len();
        self.tag(field.number, wire_type(field.kind));
        let zero = self.scalar(field)?;
        if zero && field.presence == Presence::Implicit {
            self.out.truncate(before);
        }
        Ok(())
    }

    /// A message with its tag and its length, or as a group.
    fn body(&mut self, field: &Field, id: MessageId, depth: u32) -> Quick<()> {
        let depth = depth.checked_sub(1).ok_or(Irregular)?;
        if field.delimited {
            self.tag(field.number, WireType::GroupStart);
            self.message(id, depth)?;
            self.tag(field.number, WireType::GroupEnd);
            return Ok(());
        }
        self.tag(field.number, WireType::Length);
        self.long(depth, |reader| reader.message_or_known(id, depth))
    }

    fn message_or_known(&mut self, id: MessageId, depth: u32) -> Quick<()> {
        match self.types.message(id).well_known {
            Some(known) => self.known(known, id, depth),
            None => self.message(id, depth),
        }
    }

    /// What `write` appends, with its length before it.
    fn long(&mut self, depth: u32, write: impl FnOnce(&mut Self) -> Quick<()>) -> Quick<()> {
        let start = self.out.len();
        self.out.push(0);
        write(self)?;
        let length = self.out.len() - start - 1;
        let place = self.out.get_mut(start).ok_or(Irregular)?;
        if length < 0x80 {
            *place = length as u8;
            return Ok(());
        }
        if DEPTH_MAX - depth > LONG_DEPTH_MAX {
            return Err(Irregular);
        }
        let size = varint_len(length as u64);
        self.out.resize(start + size + length, 0);
        self.out.copy_within(start + 1..start + 1 + length, start + size);
        let mut prefix = Vec::with_capacity(size);
        put_varint(&mut prefix, length as u64);
        self.out.get_mut(start..start + size).ok_or(Irregular)?.copy_from_slice(&prefix);
        Ok(())
    }

    fn list(&mut self, field: &Field, depth: u32) -> Quick<()> {
        self.scan.open(b'[')?;
        if !field.packed {
            let mut first = true;
            while self.scan.more(b']', first)? {
                first = false;
                if let Kind::Message(id) = field.kind {
                    self.body(field, id, depth)?;
                } else {
                    self.tag(field.number, wire_type(field.kind));
                    self.scalar(field)?;
                }
            }
            return Ok(());
        }
        let before = self.out.len();
        self.tag(field.number, WireType::Length);
        let start = self.out.len();
        self.long(depth, |reader| {
            let mut first = true;
            while reader.scan.more(b']', first)? {
                first = false;
                reader.scalar(field)?;
            }
            Ok(())
        })?;
        if self.out.len() == start + 1 {
            self.out.truncate(before);
        }
        Ok(())
    }

    fn map(&mut self, field: &Field, key: Kind, depth: u32) -> Quick<()> {
        let depth = depth.checked_sub(1).ok_or(Irregular)?;
        self.scan.open(b'{')?;
        let mut first = true;
        while self.scan.more(b'}', first)? {
            first = false;
            self.tag(field.number, WireType::Length);
            self.long(depth, |reader| {
                reader.tag(1, wire_type(key));
                reader.map_key(key)?;
                reader.scan.colon()?;
                if let Kind::Message(id) = field.kind {
                    reader.tag(2, WireType::Length);
                    return reader.long(depth, |reader| reader.message_or_known(id, depth));
                }
                reader.tag(2, wire_type(field.kind));
                reader.scalar(field).map(drop)
            })?;
        }
        Ok(())
    }

    fn map_key(&mut self, kind: Kind) -> Quick<()> {
        let raw = self.scan.string()?;
        match kind {
            Kind::String => self.string(raw).map(drop),
            Kind::Bool => {
                self.out.push(match raw.text {
                    "true" => 1,
                    "false" => 0,
                    _ => return Err(Irregular),
                });
                Ok(())
            }
            _ => self.integer(kind, raw.text).map(drop),
        }
    }

    /// Appends a value without its tag; gives whether it is zero, or empty.
    #[inline]
    fn scalar(&mut self, field: &Field) -> Quick<bool> {
        match field.kind {
            Kind::String => {
                let raw = self.scan.string()?;
                self.string(raw)
            }
            Kind::Bytes => {
                let raw = self.scan.string()?;
                self.bytes(raw)
            }
            Kind::Enum(id) => self.enumeration(id, field.closed),
            Kind::Bool => {
                let value = self.scan.bool()?;
                self.out.push(value.into());
                Ok(!value)
            }
            Kind::Double | Kind::Float => self.float(field.kind),
            kind => match self.scan.token()? {
                Token::Number(text) => self.integer(kind, text),
                Token::String(raw) if raw.is_plain() => self.integer(kind, raw.text),
                _ => Err(Irregular),
            },
        }
    }

    fn string(&mut self, raw: super::scan::Raw<'_>) -> Quick<bool> {
        let text = if raw.is_plain() {
            raw.text.as_bytes()
        } else {
            text::unescape(raw.text, &mut self.room)?;
            &self.room
        };
        put_varint(self.out, text.len() as u64);
        self.out.extend_from_slice(text);
        Ok(text.is_empty())
    }

    fn bytes(&mut self, raw: super::scan::Raw<'_>) -> Quick<bool> {
        if !raw.is_plain() {
            return Err(Irregular);
        }
        self.room.clear();
        text::take_bytes(raw.text, &mut self.room)?;
        put_varint(self.out, self.room.len() as u64);
        self.out.extend_from_slice(&self.room);
        Ok(self.room.is_empty())
    }

    fn enumeration(&mut self, id: EnumId, closed: bool) -> Quick<bool> {
        let found = self.types.enumeration(id);
        let number = match self.scan.token()? {
            Token::Null if found.is_null() => 0,
            Token::String(raw) if raw.is_plain() => found.number_of(raw.text).ok_or(Irregular)?,
            Token::Number(text) => plain(text)?.parse().map_err(|_| Irregular)?,
            _ => return Err(Irregular),
        };
        if closed && found.name_of(number).is_none() {
            return Err(Irregular);
        }
        put_varint(self.out, i64::from(number).cast_unsigned());
        Ok(number == 0)
    }

    fn float(&mut self, kind: Kind) -> Quick<bool> {
        let value: f64 = match self.scan.token()? {
            // One that is too large is read as infinity.
            Token::Number(text) => text.parse().ok().filter(|value: &f64| value.is_finite()).ok_or(Irregular)?,
            Token::String(raw) => match raw.text {
                "NaN" => f64::NAN,
                "Infinity" => f64::INFINITY,
                "-Infinity" => f64::NEG_INFINITY,
                _ => return Err(Irregular),
            },
            _ => return Err(Irregular),
        };
        if kind == Kind::Double {
            self.out.extend_from_slice(&value.to_le_bytes());
            return Ok(value.to_bits() == 0);
        }
        let narrow = value as f32;
        if value.is_finite() && !narrow.is_finite() {
            return Err(Irregular);
        }
        self.out.extend_from_slice(&narrow.to_le_bytes());
        Ok(narrow.to_bits() == 0)
    }

    /// A decimal number without a fraction or an exponent.
    fn integer(&mut self, kind: Kind, text: &str) -> Quick<bool> {
        fn read<T: std::str::FromStr>(text: &str) -> Quick<T> {
            plain(text)?.parse().map_err(|_| Irregular)
        }
        let value: u64 = match kind {
            Kind::Int32 => i64::from(read::<i32>(text)?).cast_unsigned(),
            Kind::Sint32 => zigzag(read::<i32>(text)?.into()),
            Kind::Sfixed32 => u64::from(read::<i32>(text)?.cast_unsigned()),
            Kind::Uint32 | Kind::Fixed32 => read::<u32>(text)?.into(),
            Kind::Int64 | Kind::Sfixed64 => read::<i64>(text)?.cast_unsigned(),
            Kind::Sint64 => zigzag(read(text)?),
            Kind::Uint64 | Kind::Fixed64 => read(text)?,
            _ => return Err(Irregular),
        };
        match wire_type(kind) {
            WireType::Fixed32 => self.out.extend_from_slice(&(value as u32).to_le_bytes()),
            WireType::Fixed64 => self.out.extend_from_slice(&value.to_le_bytes()),
            _ => put_varint(self.out, value),
        }
        Ok(value == 0)
    }

    /// Types with a form of their own; the rarer ones by the tree.
    fn known(&mut self, known: WellKnown, id: MessageId, depth: u32) -> Quick<()> {
        match known {
            WellKnown::Timestamp | WellKnown::Duration => {
                let raw = self.scan.string()?;
                let read = if known == WellKnown::Timestamp { time::timestamp } else { time::duration };
                let (seconds, nanos) = read(raw.text)?;
                if seconds != 0 {
                    self.tag(1, WireType::Varint);
                    put_varint(self.out, seconds.cast_unsigned());
                }
                if nanos != 0 {
                    self.tag(2, WireType::Varint);
                    put_varint(self.out, i64::from(nanos).cast_unsigned());
                }
                Ok(())
            }
            WellKnown::Wrapper => {
                let types = Arc::clone(self.types);
                self.one(types.message(id).field(1).ok_or(Irregular)?, depth)
            }
            _ => {
                let value = self.scan.value(depth)?;
                let of = MessageType { types: Arc::clone(self.types), id };
                tree::to_binary(&of, value.as_bytes(), self.ignore_unknown, self.out).map_err(|_| Irregular)
            }
        }
    }

    #[inline]
    fn tag(&mut self, number: u32, wire: WireType) {
        let wire = match wire {
            WireType::Varint => 0,
            WireType::Fixed64 => 1,
            WireType::Length => 2,
            WireType::GroupStart => 3,
            WireType::GroupEnd => 4,
            WireType::Fixed32 => 5,
        };
        put_varint(self.out, u64::from(number) << 3 | wire);
    }
}

/// The text, if it is digits alone, perhaps with a minus, and no zero before others: Rust would take more than that.
fn plain(text: &str) -> Quick<&str> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits.len() == 1 || !digits.starts_with('0'));
    if plain && text != "-0" { Ok(text) } else { Err(Irregular) }
}
