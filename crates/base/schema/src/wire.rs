//! The binary form's own bytes: tags, varints, lengths. Hostile input gives `None`, never a panic.

/// How a value stands in the bytes ([encoding](https://protobuf.dev/programming-guides/encoding/#structure)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireType {
    /// A varint.
    Varint,
    /// Eight bytes.
    Fixed64,
    /// A length and as many bytes.
    Length,
    /// The beginning of a group, whose fields follow.
    GroupStart,
    /// The end of a group.
    GroupEnd,
    /// Four bytes.
    Fixed32,
}

/// Reads fields one after the other from a slice that it borrows. No allocation.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

/// A tag: the field's number, and how its value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// From 1 to 2^29 - 1.
    pub number: u32,
    /// How the value stands.
    pub wire: WireType,
}

/// Groups inside groups, and messages inside messages, that are followed; protobuf's own libraries have the same limit.
pub const DEPTH_MAX: u32 = 100;

impl<'a> Reader<'a> {
    /// A reader of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Whether all bytes were read.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// What was not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next tag. `None` if its number is 0 or too large, or its wire type does not exist.
    #[inline]
    pub fn tag(&mut self) -> Option<Tag> {
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).ok().filter(|number| (1..1 << 29).contains(number))?;
        let wire = match key & 7 {
            0 => WireType::Varint,
            1 => WireType::Fixed64,
            2 => WireType::Length,
            3 => WireType::GroupStart,
            4 => WireType::GroupEnd,
            5 => WireType::Fixed32,
            _ => return None,
        };
        Some(Tag { number, wire })
    }

    /// A varint of at most ten bytes; bits beyond the 64th are refused.
    #[inline]
    pub fn varint(&mut self) -> Option<u64> {
        let (&first, rest) = self.rest.split_first()?;
        if first < 0x80 {
            self.rest = rest;
            return Some(u64::from(first));
        }
        self.long_varint()
    }

    fn long_varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for (at, &byte) in self.rest.iter().enumerate().take(10) {
            if at == 9 && byte > 1 {
                return None;
            }
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte < 0x80 {
                self.rest = self.rest.get(at + 1..)?;
                return Some(value);
            }
        }
        None
    }

    /// Four bytes, little-endian.
    #[inline]
    pub fn fixed32(&mut self) -> Option<u32> {
        let (bytes, rest) = self.rest.split_first_chunk::<4>()?;
        self.rest = rest;
        Some(u32::from_le_bytes(*bytes))
    }

    /// Eight bytes, little-endian.
    #[inline]
    pub fn fixed64(&mut self) -> Option<u64> {
        let (bytes, rest) = self.rest.split_first_chunk::<8>()?;
        self.rest = rest;
        Some(u64::from_le_bytes(*bytes))
    }

    /// A length, and as many bytes.
    #[inline]
    pub fn length_delimited(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.varint()?).ok()?;
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(bytes)
    }

    /// The fields of the group that begins here, without its end tag, which is read too.
    pub fn group(&mut self, number: u32) -> Option<&'a [u8]> {
        let whole = self.rest;
        let mut open = one_open(number);
        loop {
            let before = self.rest.len();
            let tag = self.tag()?;
            match tag.wire {
                WireType::GroupEnd => {
                    if open.pop()? != tag.number {
                        return None;
                    }
                    if open.is_empty() {
                        return whole.get(..whole.len() - before);
                    }
                }
                WireType::GroupStart => open.push(tag.number)?,
                wire => self.skip_plain(wire)?,
            }
        }
    }

    /// Passes over the value behind `tag`.
    #[inline]
    pub fn skip(&mut self, tag: Tag) -> Option<()> {
        match tag.wire {
            WireType::GroupStart => self.group(tag.number).map(drop),
            wire => self.skip_plain(wire),
        }
    }

    #[inline]
    fn skip_plain(&mut self, wire: WireType) -> Option<()> {
        match wire {
            WireType::Varint => self.varint().map(drop),
            WireType::Fixed64 => self.fixed64().map(drop),
            WireType::Length => self.length_delimited().map(drop),
            WireType::Fixed32 => self.fixed32().map(drop),
            WireType::GroupStart | WireType::GroupEnd => None,
        }
    }
}

/// The numbers of open groups, without the heap.
struct Open {
    numbers: [u32; DEPTH_MAX as usize],
    len: usize,
}

fn one_open(number: u32) -> Open {
    let mut open = Open { numbers: [0; DEPTH_MAX as usize], len: 0 };
    let _ = open.push(number);
    open
}

impl Open {
    fn push(&mut self, number: u32) -> Option<()> {
        *self.numbers.get_mut(self.len)? = number;
        self.len += 1;
        Some(())
    }

    fn pop(&mut self) -> Option<u32> {
        self.len = self.len.checked_sub(1)?;
        self.numbers.get(self.len).copied()
    }

    fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// All values of the length-delimited field `number` at the top of `bytes`, one behind the other: what merging them means for
/// a message. `None` if there is none, or the bytes are no message.
pub fn joined(bytes: &[u8], number: u32) -> Option<Vec<u8>> {
    let mut reader = Reader::new(bytes);
    let mut found: Option<Vec<u8>> = None;
    while !reader.is_empty() {
        let tag = reader.tag()?;
        if tag == (Tag { number, wire: WireType::Length }) {
            found.get_or_insert_default().extend_from_slice(reader.length_delimited()?);
        } else {
            reader.skip(tag)?;
        }
    }
    found
}

/// Appends a varint.
#[inline]
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a length-delimited field.
pub fn put_bytes(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    put_varint(out, u64::from(number) << 3 | 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Bytes that [`put_varint`] takes for `value`.
#[inline]
pub fn varint_len(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

/// `sint32` and `sint64` stand zigzag.
#[inline]
pub fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// The other way of [`unzigzag`].
#[inline]
pub fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

#[cfg(test)]
mod tests {
    use super::{Reader, Tag, WireType, joined, put_varint, unzigzag, varint_len, zigzag};

    #[test]
    fn varints_come_back() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), 1 << 62, u64::MAX] {
            let mut out = Vec::new();
            put_varint(&mut out, value);
            assert_eq!(out.len(), varint_len(value), "{value}");
            let mut reader = Reader::new(&out);
            assert_eq!(reader.varint(), Some(value));
            assert!(reader.is_empty());
        }
        for value in [0, 1, -1, i64::MAX, i64::MIN] {
            assert_eq!(unzigzag(zigzag(value)), value);
        }
    }

    #[test]
    fn what_is_cut_or_too_long_is_refused() {
        for bytes in [&[][..], &[0x80], &[0xff; 10], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]] {
            assert_eq!(Reader::new(bytes).varint(), None, "{bytes:?}");
        }
        for bytes in [&[0x00][..], &[0x06], &[0x07], &[0xff, 0xff, 0xff, 0xff, 0x7f]] {
            assert_eq!(Reader::new(bytes).tag(), None, "{bytes:?}");
        }
        assert_eq!(Reader::new(&[5, 1, 2]).length_delimited(), None);
        assert_eq!(Reader::new(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]).length_delimited(), None);
    }

    #[test]
    fn groups_end_where_they_began_and_are_not_endless() {
        // Group 1 { 2: 7, group 3 {} }, and then 4: 1.
        let bytes = [0x10, 7, 0x1b, 0x1c, 0x0c, 0x20, 1];
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.group(1), Some(&bytes[..4]));
        assert_eq!(reader.tag(), Some(Tag { number: 4, wire: WireType::Varint }));
        assert_eq!(Reader::new(&[0x14]).group(1), None, "the end of another group");
        assert_eq!(Reader::new(&[0x0b; 1000]).group(1), None, "too deep");
    }

    #[test]
    fn parts_of_a_message_are_joined() {
        let bytes = [0x0a, 1, b'a', 0x10, 1, 0x0a, 1, b'b'];
        assert_eq!(joined(&bytes, 1).as_deref(), Some(&b"ab"[..]));
        assert_eq!(joined(&bytes, 3), None);
        assert_eq!(joined(&[0x0a, 9], 1), None);
    }
}
