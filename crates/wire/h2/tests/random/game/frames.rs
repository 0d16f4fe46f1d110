pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const PRIORITY: u8 = 2;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PUSH_PROMISE: u8 = 5;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;

pub(super) const ACK: u8 = 1;
pub(super) const END_STREAM: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;
pub(super) const PADDED: u8 = 8;
pub(super) const PRIORITIZED: u8 = 0x20;

/// A frame with as much of its payload as there is.
pub(super) struct Frame<'a> {
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
    /// Of the payload, whether all of it is there or not.
    pub(super) len: usize,
    pub(super) payload: &'a [u8],
}

impl Frame<'_> {
    pub(super) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    pub(super) fn is_whole(&self) -> bool {
        self.payload.len() == self.len
    }

    /// What there is of the payload without its padding; nothing where the padding is too long.
    pub(super) fn unpadded(&self) -> &[u8] {
        if !self.has(PADDED) {
            return self.payload;
        }
        let Some((&padding, rest)) = self.payload.split_first() else { return &[] };
        let data = (self.len - 1).saturating_sub(usize::from(padding));
        &rest[..rest.len().min(data)]
    }

    pub(super) fn number(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.payload[at..at + 4].try_into().unwrap())
    }

    /// The settings that it names.
    pub(super) fn settings(&self) -> impl Iterator<Item = (u16, u32)> {
        self.payload
            .chunks_exact(6)
            .map(|entry| (u16::from_be_bytes([entry[0], entry[1]]), u32::from_be_bytes(entry[2..].try_into().unwrap())))
    }
}

/// The frame at the front, and how many bytes of it are there.
pub(super) fn first(bytes: &[u8]) -> Option<(Frame<'_>, usize)> {
    let header = bytes.get(..9)?;
    let len = u32::from_be_bytes([0, header[0], header[1], header[2]]) as usize;
    let stream = u32::from_be_bytes(header[5..].try_into().unwrap()) & 0x7fff_ffff;
    let payload = &bytes[9..bytes.len().min(9 + len)];
    Some((Frame { kind: header[3], flags: header[4], stream, len, payload }, 9 + payload.len()))
}

pub(super) fn put(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    out.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}
