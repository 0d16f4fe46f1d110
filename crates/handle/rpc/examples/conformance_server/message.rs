//! As much of Protobuf's binary form as the suite's few messages need.

use leat_schema::wire::{Reader, WireType, put_varint};

/// The fields of a message by number, in order; those that are neither varints nor bytes are left out.
pub(crate) struct Fields<'a>(Vec<(u32, Value<'a>)>);

enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Fields<'a> {
    pub(crate) fn read(message: &'a [u8]) -> Self {
        let (mut reader, mut fields) = (Reader::new(message), Vec::new());
        while let Some(tag) = reader.tag() {
            let value = match tag.wire {
                WireType::Varint => reader.varint().map(Value::Number),
                WireType::Length => reader.length_delimited().map(Value::Bytes),
                _ => reader.skip(tag).and(None),
            };
            fields.extend(value.map(|value| (tag.number, value)));
        }
        Self(fields)
    }

    pub(crate) fn number(&self, field: u32) -> Option<u64> {
        self.0.iter().rev().find_map(|(number, value)| match value {
            Value::Number(value) if *number == field => Some(*value),
            _ => None,
        })
    }

    pub(crate) fn bytes(&self, field: u32) -> Option<&'a [u8]> {
        self.all(field).last()
    }

    pub(crate) fn all(&self, field: u32) -> impl Iterator<Item = &'a [u8]> {
        self.0.iter().filter_map(move |(number, value)| match value {
            Value::Bytes(bytes) if *number == field => Some(*bytes),
            _ => None,
        })
    }

    pub(crate) fn text(&self, field: u32) -> String {
        String::from_utf8_lossy(self.bytes(field).unwrap_or_default()).into_owned()
    }
}

pub(crate) fn put(field: u32, bytes: &[u8], out: &mut Vec<u8>) {
    put_varint(out, u64::from(field << 3 | 2));
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

pub(crate) fn put_number(field: u32, number: u64, out: &mut Vec<u8>) {
    put_varint(out, u64::from(field << 3));
    put_varint(out, number);
}
