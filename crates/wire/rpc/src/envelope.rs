//! The five bytes before each message of gRPC, gRPC-Web and Connect streams: flags, and a length in network order.

/// Bytes before a message.
pub const PREFIX_BYTES: usize = 5;

/// The message is compressed.
pub const COMPRESSED: u8 = 0b0000_0001;
/// Connect: not a message but the end of the stream.
pub const END_STREAM: u8 = 0b0000_0010;
/// gRPC-Web: not a message but the trailers.
pub const TRAILERS: u8 = 0b1000_0000;

/// What stands before a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// A set of bits.
    pub flags: u8,
    /// Length of the message in bytes.
    pub length: u32,
}

impl Prefix {
    /// Reads one from the front of `bytes`; `None` where there are fewer than five.
    #[inline]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let &[flags, a, b, c, d] = bytes.first_chunk::<PREFIX_BYTES>()?;
        Some(Self { flags, length: u32::from_be_bytes([a, b, c, d]) })
    }

    /// As bytes.
    #[inline]
    pub fn to_bytes(self) -> [u8; PREFIX_BYTES] {
        let [a, b, c, d] = self.length.to_be_bytes();
        [self.flags, a, b, c, d]
    }
}

/// Appends `message` in an envelope. Its length must fit 32 bits, which every limit on messages sees to.
#[inline]
pub fn write(flags: u8, message: &[u8], out: &mut Vec<u8>) {
    out.reserve(PREFIX_BYTES + message.len());
    out.extend_from_slice(&Prefix { flags, length: message.len() as u32 }.to_bytes());
    out.extend_from_slice(message);
}

/// Appends an envelope whose content is written by `content`.
pub fn write_with(flags: u8, out: &mut Vec<u8>, content: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; PREFIX_BYTES]);
    content(out);
    let length = out.len().saturating_sub(start + PREFIX_BYTES) as u32;
    if let Some(place) = out.get_mut(start..start + PREFIX_BYTES) {
        place.copy_from_slice(&Prefix { flags, length }.to_bytes());
    }
}

/// The one message of a body that is whole: its flags and its bytes, by reference. `None` where the body is not exactly one
/// envelope.
#[inline]
pub fn only(body: &[u8]) -> Option<(u8, &[u8])> {
    let prefix = Prefix::read(body)?;
    let message = body.get(PREFIX_BYTES..)?;
    (message.len() as u64 == u64::from(prefix.length)).then_some((prefix.flags, message))
}

/// Gathers envelopes from pieces of any length.
#[derive(Debug, Default)]
pub struct Reader {
    prefix: [u8; PREFIX_BYTES],
    prefix_len: usize,
    content: Vec<u8>,
}

/// What [`Reader::read`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// All bytes were taken; the envelope is not complete.
    More,
    /// An envelope is complete: [`Reader::content`] has what is in it.
    Whole {
        /// Its flags.
        flags: u8,
    },
    /// It says that it is longer than the limit. Nothing of it was taken.
    TooLarge {
        /// What it says.
        bytes: u32,
    },
}

impl Reader {
    /// Takes bytes from the front of `input` up to the end of one envelope; says how many. After a whole one, the next call
    /// begins a new one. The content's memory grows with what arrives, not with what the prefix says.
    pub fn read(&mut self, input: &[u8], bytes_max: usize) -> (usize, Found) {
        let mut used = 0;
        if self.prefix_len == 0 {
            self.content.clear();
        }
        while self.prefix_len < PREFIX_BYTES {
            let (Some(&byte), Some(place)) = (input.get(used), self.prefix.get_mut(self.prefix_len)) else {
                return (used, Found::More);
            };
            *place = byte;
            self.prefix_len += 1;
            used += 1;
        }
        let Some(prefix) = Prefix::read(&self.prefix) else { return (used, Found::More) };
        let length = prefix.length as usize;
        if length > bytes_max {
            return (used, Found::TooLarge { bytes: prefix.length });
        }
        let missing = length.saturating_sub(self.content.len());
        let rest = input.get(used..).unwrap_or_default();
        let piece = rest.get(..missing).unwrap_or(rest);
        self.content.extend_from_slice(piece);
        used += piece.len();
        if self.content.len() < length {
            return (used, Found::More);
        }
        self.prefix_len = 0;
        (used, Found::Whole { flags: prefix.flags })
    }

    /// What the envelope that was completed last has in it.
    pub fn content(&self) -> &[u8] {
        &self.content
    }

    /// Takes the content out; [`Reader::give_back`] returns its memory.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.content)
    }

    /// Gives memory back for the next envelope.
    pub fn give_back(&mut self, memory: Vec<u8>) {
        if self.prefix_len == 0 && self.content.capacity() < memory.capacity() {
            self.content = memory;
            self.content.clear();
        }
    }

    /// Whether an envelope has begun and is not complete: the end of the body would cut it off.
    pub fn is_inside(&self) -> bool {
        self.prefix_len > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn envelopes_are_found_wherever_the_pieces_end() {
        let mut stream = Vec::new();
        write(0, b"", &mut stream);
        write(COMPRESSED, b"hello", &mut stream);
        write_with(END_STREAM, &mut stream, |out| out.extend_from_slice(b"{}"));
        for size in 1..=stream.len() {
            let mut reader = Reader::default();
            let mut all = Vec::new();
            for mut piece in stream.chunks(size) {
                loop {
                    let (used, found) = reader.read(piece, 5);
                    piece = &piece[used..];
                    match found {
                        Found::Whole { flags } => all.push((flags, reader.content().to_vec())),
                        Found::More => break,
                        Found::TooLarge { .. } => panic!("pieces of {size}"),
                    }
                }
            }
            assert_eq!(all, [(0, vec![]), (1, b"hello".to_vec()), (2, b"{}".to_vec())], "pieces of {size}");
            assert!(!reader.is_inside());
        }
    }

    #[test]
    fn a_length_over_the_limit_is_told_before_anything_is_kept() {
        let mut reader = Reader::default();
        assert_eq!(reader.read(&[0, 0xff, 0xff, 0xff, 0xff, 1], 100), (5, Found::TooLarge { bytes: u32::MAX }));
        assert_eq!(reader.content(), b"");
        let mut reader = Reader::default();
        assert_eq!(reader.read(&[0, 0, 0], 100), (3, Found::More));
        assert!(reader.is_inside());
    }

    #[test]
    fn a_whole_body_is_one_envelope_or_nothing() {
        for (body, expected) in [
            (&b"\0\0\0\0\x02ab"[..], Some((0, &b"ab"[..]))),
            (b"\x01\0\0\0\0", Some((1, b""))),
            (b"", None),
            (b"\0\0\0\0", None),
            (b"\0\0\0\0\x02a", None),
            (b"\0\0\0\0\x02abc", None),
        ] {
            assert_eq!(only(body), expected, "{body:?}");
        }
    }
}
