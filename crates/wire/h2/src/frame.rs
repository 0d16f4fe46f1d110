//! Frames on the wire (RFC 9113 section 4.1): nine bytes of header, then the payload.

use crate::Code;

/// Length of a frame's header in bytes.
pub(crate) const HEADER_BYTES: usize = 9;
/// Longest payload that we take, and that everybody takes: SETTINGS_MAX_FRAME_SIZE at first (section 6.5.2).
pub(crate) const PAYLOAD_BYTES_MAX: usize = 16_384;

pub(crate) mod kind {
    pub(crate) const DATA: u8 = 0x0;
    pub(crate) const HEADERS: u8 = 0x1;
    pub(crate) const PRIORITY: u8 = 0x2;
    pub(crate) const RST_STREAM: u8 = 0x3;
    pub(crate) const SETTINGS: u8 = 0x4;
    pub(crate) const PUSH_PROMISE: u8 = 0x5;
    pub(crate) const PING: u8 = 0x6;
    pub(crate) const GOAWAY: u8 = 0x7;
    pub(crate) const WINDOW_UPDATE: u8 = 0x8;
    pub(crate) const CONTINUATION: u8 = 0x9;
}

pub(crate) mod flag {
    pub(crate) const ACK: u8 = 0x1;
    pub(crate) const END_STREAM: u8 = 0x1;
    pub(crate) const END_HEADERS: u8 = 0x4;
    pub(crate) const PADDED: u8 = 0x8;
    pub(crate) const PRIORITY: u8 = 0x20;
}

/// A frame's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) len: usize,
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    /// 0 is the connection as a whole.
    pub(crate) stream: u32,
}

impl Header {
    /// The header at the front of `bytes`, if all of it is there.
    #[inline]
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let &[l0, l1, l2, kind, flags, s0, s1, s2, s3] = bytes.first_chunk::<HEADER_BYTES>()?;
        let len = u32::from_be_bytes([0, l0, l1, l2]) as usize;
        // The reserved bit has no meaning to a recipient.
        let stream = u32::from_be_bytes([s0, s1, s2, s3]) & 0x7fff_ffff;
        Some(Self { len, kind, flags, stream })
    }

    pub(crate) fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The header's bytes. The length must be below 2^24.
    #[inline]
    pub(crate) fn bytes(self) -> [u8; HEADER_BYTES] {
        let [_, l0, l1, l2] = (self.len as u32).to_be_bytes();
        let [s0, s1, s2, s3] = self.stream.to_be_bytes();
        [l0, l1, l2, self.kind, self.flags, s0, s1, s2, s3]
    }
}

/// Appends a whole frame.
#[inline]
pub(crate) fn put(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    out.reserve(HEADER_BYTES + payload.len());
    out.extend_from_slice(&Header { len: payload.len(), kind, flags, stream }.bytes());
    out.extend_from_slice(payload);
}

/// Appends RST_STREAM (section 6.4).
pub(crate) fn reset(out: &mut Vec<u8>, stream: u32, code: Code) {
    put(out, kind::RST_STREAM, 0, stream, &code.0.to_be_bytes());
}

/// Appends WINDOW_UPDATE (section 6.9).
pub(crate) fn window_update(out: &mut Vec<u8>, stream: u32, bytes: u32) {
    put(out, kind::WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes());
}

/// Appends GOAWAY (section 6.8).
pub(crate) fn go_away(out: &mut Vec<u8>, last_stream: u32, code: Code) {
    let [a, b, c, d] = last_stream.to_be_bytes();
    let [e, f, g, h] = code.0.to_be_bytes();
    put(out, kind::GOAWAY, 0, 0, &[a, b, c, d, e, f, g, h]);
}

/// The number that four bytes are.
pub(crate) fn number(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|&bytes| u32::from_be_bytes(bytes))
}

/// What is left of a payload without its padding (sections 6.1 and 6.2); `None` where the padding is longer than it.
pub(crate) fn unpad(header: Header, payload: &[u8]) -> Option<&[u8]> {
    if !header.has(flag::PADDED) {
        return Some(payload);
    }
    let (&padding, rest) = payload.split_first()?;
    rest.get(..rest.len().checked_sub(usize::from(padding))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_they_are_written() {
        let header = Header { len: 0x01_02_03, kind: 7, flags: 0xa5, stream: 0x7fff_fffe };
        assert_eq!(Header::parse(&header.bytes()), Some(header));
        let mut reserved = header.bytes();
        reserved[5] |= 0x80;
        assert_eq!(Header::parse(&reserved), Some(header));
        assert_eq!(Header::parse(&reserved[..8]), None);
    }

    #[test]
    fn padding_comes_off_and_is_never_longer_than_its_frame() {
        let header = |flags| Header { len: 0, kind: 0, flags, stream: 1 };
        for (flags, payload, rest) in [
            (0, &b"\x02ab"[..], Some(&b"\x02ab"[..])),
            (flag::PADDED, b"\x00ab", Some(b"ab")),
            (flag::PADDED, b"\x01ab", Some(b"a")),
            (flag::PADDED, b"\x02ab", Some(b"")),
            (flag::PADDED, b"\x03ab", None),
            (flag::PADDED, b"", None),
        ] {
            assert_eq!(unpad(header(flags), payload), rest, "{flags} {payload:?}");
        }
    }
}
