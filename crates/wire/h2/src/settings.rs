use crate::Code;
use crate::code::Fault;
use crate::frame::{self, PAYLOAD_BYTES_MAX, kind};
use crate::role::Role;

/// Window of a connection, and of each stream, until something else is said (RFC 9113 section 6.9.2).
pub(crate) const WINDOW_BYTES_INITIAL: u32 = 65_535;
/// Widest window (section 6.9.1).
pub(crate) const WINDOW_BYTES_MAX: u32 = 0x7fff_ffff;

const HEADER_TABLE_SIZE: u16 = 0x1;
const ENABLE_PUSH: u16 = 0x2;
const MAX_CONCURRENT_STREAMS: u16 = 0x3;
const INITIAL_WINDOW_SIZE: u16 = 0x4;
const MAX_FRAME_SIZE: u16 = 0x5;
const MAX_HEADER_LIST_SIZE: u16 = 0x6;

/// What we let the peer do.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Streams that a client may have open at once. As a client: those that we open at most, which is the caller's to keep.
    pub streams_max: u32,
    /// Window of one stream, in bytes.
    pub stream_window_bytes: u32,
    /// Window of the connection, in bytes: what it can make us hold of bodies that nobody reads. At least 65,535.
    pub connection_window_bytes: u32,
    /// A list of fields, in bytes as HPACK counts them (section 6.5.2), and of a head's text.
    pub head_bytes_max: usize,
    /// Length of the caller's buffer above which no body bytes are put into it.
    pub output_bytes_max: usize,
}

impl Settings {
    /// Appends the frames that a connection begins with (section 3.4), behind a client's preface.
    pub(crate) fn put(&self, role: Role, out: &mut Vec<u8>) {
        let head_bytes_max = u32::try_from(self.head_bytes_max).unwrap_or(u32::MAX);
        let values = [
            match role {
                Role::Server => (MAX_CONCURRENT_STREAMS, self.streams_max),
                Role::Client { .. } => (ENABLE_PUSH, 0),
            },
            (INITIAL_WINDOW_SIZE, self.stream_window_bytes.min(WINDOW_BYTES_MAX)),
            (MAX_HEADER_LIST_SIZE, head_bytes_max),
        ];
        let mut payload = [0; 18];
        for (entry, (id, value)) in payload.chunks_exact_mut(6).zip(values) {
            let ([a, b], [c, d, e, f]) = (id.to_be_bytes(), value.to_be_bytes());
            entry.copy_from_slice(&[a, b, c, d, e, f]);
        }
        frame::put(out, kind::SETTINGS, 0, 0, &payload);
        let more = self.connection_window_bytes.min(WINDOW_BYTES_MAX).saturating_sub(WINDOW_BYTES_INITIAL);
        if more > 0 {
            frame::window_update(out, 0, more);
        }
    }
}

/// What the peer lets us do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PeerSettings {
    /// Streams that we may have open at once; a client has no word in that.
    pub(crate) streams_max: u32,
    /// Window of a new stream.
    pub(crate) window_bytes: u32,
    pub(crate) frame_bytes_max: u32,
}

impl Default for PeerSettings {
    fn default() -> Self {
        let frame_bytes_max = PAYLOAD_BYTES_MAX as u32;
        Self { streams_max: u32::MAX, window_bytes: WINDOW_BYTES_INITIAL, frame_bytes_max }
    }
}

impl PeerSettings {
    /// Takes the values of a SETTINGS frame over, in their order (section 6.5.3).
    pub(crate) fn apply(&mut self, role: Role, payload: &[u8]) -> Result<(), Fault> {
        // A server never pushes to a server, and is told not to push to us (section 6.5.2).
        let push_max = if role == Role::Server { 1 } else { 0 };
        for entry in payload.chunks(6) {
            let &[a, b, c, d, e, f] = entry else { return Err(Code::FRAME_SIZE_ERROR.into()) };
            let value = u32::from_be_bytes([c, d, e, f]);
            match u16::from_be_bytes([a, b]) {
                ENABLE_PUSH if value > push_max => return Err(Code::PROTOCOL_ERROR.into()),
                INITIAL_WINDOW_SIZE if value > WINDOW_BYTES_MAX => return Err(Code::FLOW_CONTROL_ERROR.into()),
                MAX_CONCURRENT_STREAMS => self.streams_max = value,
                INITIAL_WINDOW_SIZE => self.window_bytes = value,
                MAX_FRAME_SIZE if !(PAYLOAD_BYTES_MAX as u32..1 << 24).contains(&value) => {
                    return Err(Code::PROTOCOL_ERROR.into());
                }
                MAX_FRAME_SIZE => self.frame_bytes_max = value,
                // The encoder's is [`table_sizes`]. A head that is too long for the peer is its own matter.
                _ => {}
            }
        }
        Ok(())
    }
}

/// Every size of the encoder's table that a SETTINGS frame names: the smallest counts too, if a larger one follows
/// (RFC 7541 section 4.2).
pub(crate) fn table_sizes(payload: &[u8]) -> impl Iterator<Item = u32> {
    payload.chunks_exact(6).filter_map(|entry| match *entry {
        [a, b, c, d, e, f] if u16::from_be_bytes([a, b]) == HEADER_TABLE_SIZE => Some(u32::from_be_bytes([c, d, e, f])),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    type Entries<'a> = &'a [(u16, u32)];

    fn entry(id: u16, value: u32) -> Vec<u8> {
        [&id.to_be_bytes()[..], &value.to_be_bytes()].concat()
    }

    #[test]
    fn settings_are_taken_over_or_refused_with_their_code() {
        let cases: [(Entries<'_>, Result<PeerSettings, Code>); 11] = [
            (&[], Ok(PeerSettings::default())),
            (&[(1, 0)], Ok(PeerSettings::default())),
            (&[(2, 1), (9, 7)], Ok(PeerSettings::default())),
            (&[(3, 1), (3, 0)], Ok(PeerSettings { streams_max: 0, ..PeerSettings::default() })),
            (&[(2, 2)], Err(Code::PROTOCOL_ERROR)),
            (&[(4, 5), (4, 6)], Ok(PeerSettings { window_bytes: 6, ..PeerSettings::default() })),
            (&[(4, 0x8000_0000)], Err(Code::FLOW_CONTROL_ERROR)),
            (&[(5, 16_383)], Err(Code::PROTOCOL_ERROR)),
            (&[(5, 16_777_216)], Err(Code::PROTOCOL_ERROR)),
            (&[(5, 16_777_215)], Ok(PeerSettings { frame_bytes_max: 16_777_215, ..PeerSettings::default() })),
            (&[(6, 1)], Ok(PeerSettings::default())),
        ];
        for (entries, expected) in cases {
            let payload: Vec<u8> = entries.iter().flat_map(|&(id, value)| entry(id, value)).collect();
            let mut settings = PeerSettings::default();
            let result = settings.apply(Role::Server, &payload).map(|()| settings);
            assert_eq!(result, expected.map_err(Fault::Connection), "{entries:?}");
        }
        assert_eq!(
            PeerSettings::default().apply(Role::Server, &[0; 5]),
            Err(Fault::Connection(Code::FRAME_SIZE_ERROR))
        );
        let client = Role::Client { interims_max: 1 };
        assert_eq!(PeerSettings::default().apply(client, &entry(2, 0)), Ok(()));
        assert_eq!(PeerSettings::default().apply(client, &entry(2, 1)), Err(Fault::Connection(Code::PROTOCOL_ERROR)));
    }
}
