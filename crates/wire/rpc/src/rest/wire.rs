//! What of the protobuf wire format a binding writes and looks for, beside what the schema has.

use leat_schema::wire::{Reader, WireType, put_varint};

/// Appends a field's tag. Wire types: 0 varint, 1 eight bytes, 2 with a length, 3 and 4 start and end of a group, 5 four bytes.
pub(crate) fn put_tag(number: u32, wire_type: u8, out: &mut Vec<u8>) {
    put_varint(out, u64::from(number) << 3 | u64::from(wire_type));
}

/// Appends a field that has a length.
pub(crate) fn put_bytes(number: u32, value: &[u8], out: &mut Vec<u8>) {
    put_tag(number, 2, out);
    put_varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

/// The fields of a message that have a length, in their order, and `None` once where it is malformed; all others are left out.
pub(crate) fn texts(bytes: &[u8]) -> impl Iterator<Item = Option<(u32, &[u8])>> {
    let mut reader = Reader::new(bytes);
    let mut is_broken = false;
    std::iter::from_fn(move || {
        while !reader.is_empty() && !is_broken {
            let found = reader.tag().and_then(|tag| match tag.wire {
                WireType::Length => reader.length_delimited().map(|value| Some((tag.number, value))),
                _ => reader.skip(tag).map(|()| None),
            });
            match found {
                Some(None) => {}
                Some(found) => return Some(found),
                None => {
                    is_broken = true;
                    return Some(None);
                }
            }
        }
        None
    })
}

/// Appends the occurrences of one field of a message, as they are. `None` where the message is malformed.
pub(crate) fn only(bytes: &[u8], number: u32, out: &mut Vec<u8>) -> Option<()> {
    let mut reader = Reader::new(bytes);
    while !reader.is_empty() {
        let before = reader.rest();
        let tag = reader.tag()?;
        reader.skip(tag)?;
        if tag.number == number {
            out.extend_from_slice(before.get(..before.len() - reader.rest().len())?);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back_as_they_were_put() {
        let mut out = Vec::new();
        put_bytes(1, b"ab", &mut out);
        put_tag(300, 0, &mut out);
        put_varint(&mut out, u64::MAX);
        put_bytes(2, b"", &mut out);
        put_tag(4, 3, &mut out);
        put_bytes(1, b"in a group", &mut out);
        put_tag(4, 4, &mut out);
        put_bytes(1, b"c", &mut out);
        let found: Vec<_> = texts(&out).collect();
        assert_eq!(found, [Some((1, &b"ab"[..])), Some((2, b"")), Some((1, b"c"))]);
        let mut ones = Vec::new();
        assert_eq!(only(&out, 1, &mut ones), Some(()));
        assert_eq!(ones, b"\x0a\x02ab\x0a\x01c");
    }

    #[test]
    fn what_is_malformed_ends_with_a_word_on_it() {
        for bytes in [&b"\x0a"[..], b"\x0a\x05ab", b"\x08", b"\x0b", b"\x00\x00", b"\x0d\x00", &[0xff; 12]] {
            let found: Vec<_> = texts(bytes).collect();
            assert_eq!(found, [None], "{bytes:?}");
            assert_eq!(only(bytes, 1, &mut Vec::new()), None, "{bytes:?}");
        }
    }
}
