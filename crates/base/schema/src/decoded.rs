//! What a message takes in memory once it is decoded, found out from its bytes before anything is made.

use std::fmt;
use std::sync::Arc;

use buffa::DecodeOptions;
use buffa_descriptor::reflect::{MapKey, Value};
use buffa_descriptor::{DescriptorPool, DynamicMessage, FieldKind, MessageIndex, ScalarType, SingularKind};

use crate::wire::{DEPTH_MAX, Reader, WireType};

/// Memory that a decoded message may take, in bytes, by an estimate that is not below what it takes. A message of a few bytes
/// becomes hundreds: without a bound four megabytes on the wire were 850 in memory.
pub const DECODED_BYTES_MAX: usize = 128 * 1024 * 1024;

/// What one byte becomes at most: an entry of a map without key and value is two bytes.
const BYTES_PER_BYTE_MAX: usize = 1024;
/// A node of the tree that a message's fields stand in: eleven of them.
const NODE_BYTES: usize = 11 * (size_of::<u32>() + size_of::<Value>()) + 32;
/// Nodes that are split have at least so many fields.
const NODE_FIELDS_MIN: usize = 5;
const NODE_FIELDS_MAX: usize = 11;
/// A list has room for so many when it begins, and for up to twice as many as it holds.
const FIRST_ITEMS: usize = 4;
const ITEM_BYTES: usize = 2 * size_of::<Value>();
const ENTRY_BYTES: usize = 2 * size_of::<(MapKey, Value)>();
/// A field that the schema does not know, beside its bytes.
const UNKNOWN_BYTES: usize = 128;
/// What an allocation costs beside its bytes.
const ALLOCATION_BYTES: usize = 16;

/// Why bytes become no message.
#[derive(Debug)]
pub enum DecodeProblem {
    /// They are none of the type.
    Malformed(buffa::DecodeError),
    /// It would take more than [`DECODED_BYTES_MAX`].
    TooLarge,
}

impl fmt::Display for DecodeProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(error) => error.fmt(f),
            Self::TooLarge => {
                write!(f, "decoded it would take more than {DECODED_BYTES_MAX} bytes of memory (decoded_bytes_max)")
            }
        }
    }
}

impl std::error::Error for DecodeProblem {}

/// Decodes a message within the bound.
pub(crate) fn decode(
    pool: &Arc<DescriptorPool>,
    index: MessageIndex,
    bytes: &[u8],
) -> Result<DynamicMessage, DecodeProblem> {
    if bytes.len() > DECODED_BYTES_MAX / BYTES_PER_BYTE_MAX {
        decoded_bytes(pool, index, bytes, DECODED_BYTES_MAX).ok_or(DecodeProblem::TooLarge)?;
    }
    // What the library counts is among what was counted here.
    let options = DecodeOptions::new().with_element_memory_limit(DECODED_BYTES_MAX);
    DynamicMessage::decode_with_options(Arc::clone(pool), index, bytes, &options).map_err(DecodeProblem::Malformed)
}

/// What an `Any` holds, decoded within the bound; `None` where it is none, or holds what the schema does not have or the bound
/// does not let in.
pub fn unpack_any(any: &DynamicMessage) -> Option<DynamicMessage> {
    let Some(Value::Bytes(bytes)) = any.field_by_number(2) else { return any.unpack_any().ok() };
    if bytes.len() > DECODED_BYTES_MAX / BYTES_PER_BYTE_MAX {
        let Some(Value::String(url)) = any.field_by_number(1) else { return None };
        let index = any.pool().message_index(url.rsplit('/').next().unwrap_or(url))?;
        decoded_bytes(any.pool(), index, bytes, DECODED_BYTES_MAX)?;
    }
    any.unpack_any().ok()
}

/// Memory that the message takes decoded, in bytes, beside its own value; what is malformed ends it. `None`: more than `bytes_max`.
/// No allocation; a pass over the bytes.
pub(crate) fn decoded_bytes(
    pool: &DescriptorPool,
    index: MessageIndex,
    bytes: &[u8],
    bytes_max: usize,
) -> Option<usize> {
    let mut count = Count { pool, left: bytes_max };
    count.message(index, bytes, DEPTH_MAX)?;
    Some(bytes_max - count.left)
}

/// Memory that a message takes which is made of JSON, in bytes: by its punctuation, also where that stands in a text. No less than
/// it takes, and no allocation.
pub(crate) fn decoded_json_bytes(json: &[u8]) -> usize {
    let (mut objects, mut values) = (0, 1);
    for byte in json {
        match byte {
            b'{' => objects += 1,
            b'[' => values += FIRST_ITEMS,
            b',' => values += 1,
            _ => {}
        }
    }
    // An object is a message, an entry of a map, or both.
    objects * (NODE_BYTES + ENTRY_BYTES) + values * ITEM_BYTES + json.len()
}

struct Count<'p> {
    pool: &'p DescriptorPool,
    left: usize,
}

impl Count<'_> {
    fn take(&mut self, bytes: usize) -> Option<()> {
        self.left = self.left.checked_sub(bytes)?;
        Some(())
    }

    fn message(&mut self, index: MessageIndex, bytes: &[u8], depth: u32) -> Option<()> {
        let Some(depth) = depth.checked_sub(1) else { return Some(()) };
        let mut reader = Reader::new(bytes);
        let (mut last, mut entries) = (0, 0);
        while !reader.is_empty() {
            // What is malformed is the decoder's to refuse; it makes nothing behind this place.
            let Some(tag) = reader.tag() else { return Some(()) };
            let content = match tag.wire {
                WireType::Length => reader.length_delimited(),
                WireType::GroupStart => reader.group(tag.number),
                _ => reader.skip(tag).map(|()| &[][..]),
            };
            let Some(content) = content else { return Some(()) };
            let Some(kind) = self.kind(index, tag.number) else {
                // A group of unknown fields is a list of them, each of which has a byte at least.
                let each = if tag.wire == WireType::GroupStart { content.len() * UNKNOWN_BYTES } else { 0 };
                self.take(UNKNOWN_BYTES + content.len() + each)?;
                continue;
            };
            let is_new = std::mem::replace(&mut last, tag.number) != tag.number;
            if is_new {
                entries += 1;
                if entries == 1 || entries > NODE_FIELDS_MAX && entries % NODE_FIELDS_MIN == 0 {
                    self.take(NODE_BYTES)?;
                }
            }
            self.value(kind, (tag.wire, content), is_new, depth)?;
        }
        Some(())
    }

    fn kind(&self, index: MessageIndex, number: u32) -> Option<FieldKind> {
        let declared = self.pool.message(index).field(number);
        let field = declared.or_else(|| Some(self.pool.extension_for(index, number)?.field()))?;
        Some(field.kind())
    }

    fn value(&mut self, kind: FieldKind, (wire, content): (WireType, &[u8]), is_new: bool, depth: u32) -> Option<()> {
        match kind {
            FieldKind::Singular(kind) => self.single(kind, content, depth),
            FieldKind::List(kind) => {
                let items = match kind {
                    SingularKind::Scalar(scalar) if !is_text(scalar) && wire == WireType::Length => {
                        packed(scalar, content)
                    }
                    SingularKind::Enum(_) if wire == WireType::Length => varints(content),
                    _ => 1,
                };
                self.take(items * ITEM_BYTES + if is_new { FIRST_ITEMS * size_of::<Value>() } else { 0 })?;
                self.single(kind, content, depth)
            }
            FieldKind::Map { value, .. } => {
                let first = if is_new { FIRST_ITEMS * size_of::<(MapKey, Value)>() } else { 0 };
                // A key is no longer than the entry.
                self.take(ENTRY_BYTES + first + content.len() + ALLOCATION_BYTES)?;
                let mut reader = Reader::new(content);
                while let Some(tag) = reader.tag() {
                    let inner = match tag.wire {
                        WireType::Length => reader.length_delimited(),
                        WireType::GroupStart => reader.group(tag.number),
                        _ => reader.skip(tag).map(|()| &[][..]),
                    };
                    let Some(inner) = inner else { return Some(()) };
                    if tag.number == 2 {
                        self.single(value, inner, depth)?;
                    }
                }
                Some(())
            }
        }
    }

    /// What a value takes beside its own place.
    fn single(&mut self, kind: SingularKind, content: &[u8], depth: u32) -> Option<()> {
        match kind {
            SingularKind::Message(index) => self.message(index, content, depth),
            SingularKind::Scalar(scalar) if is_text(scalar) => self.take(content.len() + ALLOCATION_BYTES),
            _ => Some(()),
        }
    }
}

fn is_text(scalar: ScalarType) -> bool {
    matches!(scalar, ScalarType::String | ScalarType::Bytes)
}

/// Items of a packed list.
fn packed(scalar: ScalarType, content: &[u8]) -> usize {
    match scalar {
        ScalarType::Double | ScalarType::Fixed64 | ScalarType::Sfixed64 => content.len() / 8,
        ScalarType::Float | ScalarType::Fixed32 | ScalarType::Sfixed32 => content.len() / 4,
        _ => varints(content),
    }
}

/// Varints that end in these bytes.
fn varints(content: &[u8]) -> usize {
    content.iter().filter(|&&byte| byte < 0x80).count()
}

#[cfg(test)]
#[path = "decoded_tests.rs"]
mod tests;
