use leat_h2::hpack::Encoder;
use leat_h2::{Body, Code, Connection, FieldList, Key, PREFACE, Section, Settings};
use leat_message::Method;

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const PRIORITY: u8 = 2;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PUSH_PROMISE: u8 = 5;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
pub(crate) const PADDED: u8 = 8;
pub(crate) const PRIORITIZED: u8 = 0x20;

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend_from_slice(&[kind, flags]);
    frame.extend_from_slice(&stream.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}

pub(crate) fn window_update(stream: u32, bytes: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes())
}

pub(crate) fn reset(stream: u32, code: Code) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &code.0.to_be_bytes())
}

pub(crate) fn setting(id: u16, value: u32) -> Vec<u8> {
    frame(SETTINGS, 0, 0, &[&id.to_be_bytes()[..], &value.to_be_bytes()].concat())
}

/// A block without use of a table that lasts.
pub(crate) fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.extend_from_slice(&[0x10, name.len() as u8]);
        block.extend_from_slice(name.as_bytes());
        block.push(value.len() as u8);
        block.extend_from_slice(value.as_bytes());
    }
    block
}

pub(crate) fn head(method: &str, fields: &[(&str, &str)]) -> Vec<u8> {
    let pseudo = [(":method", method), (":scheme", "http"), (":path", "/a"), (":authority", "leat.test")];
    block(&[&pseudo[..], fields].concat())
}

pub(crate) fn get(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_STREAM | END_HEADERS, stream, &head("GET", &[]))
}

pub(crate) fn post(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, stream, &head("POST", &[]))
}

pub(crate) fn data(stream: u32, bytes: &[u8], ends: bool) -> Vec<u8> {
    frame(DATA, u8::from(ends), stream, bytes)
}

/// A response's head.
pub(crate) fn answer(stream: u32, status: &str, fields: &[(&str, &str)], ends: bool) -> Vec<u8> {
    let fields = [&[(":status", status)], fields].concat();
    frame(HEADERS, END_HEADERS | u8::from(ends), stream, &block(&fields))
}

pub(crate) fn go_away(last_stream: u32, code: Code) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[last_stream.to_be_bytes(), code.0.to_be_bytes()].concat())
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
    pub(crate) payload: Vec<u8>,
}

impl Frame {
    pub(crate) fn number(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.payload[at..at + 4].try_into().unwrap())
    }
}

/// The other end of a connection, and the connection that it talks to.
pub(crate) struct Peer {
    pub(crate) h2: Connection,
    pub(crate) out: Vec<u8>,
    pub(crate) now_ms: u64,
    rest: Vec<u8>,
}

/// Interim responses that a client takes for one request.
pub(crate) const INTERIMS_MAX: u32 = 2;

pub(crate) const SETTINGS_OF_TESTS: Settings = Settings {
    streams_max: 8,
    stream_window_bytes: 1_000,
    connection_window_bytes: 70_000,
    head_bytes_max: 4_000,
    output_bytes_max: 10_000,
};

impl Peer {
    /// Before a byte was sent.
    pub(crate) fn silent() -> Self {
        let mut out = Vec::new();
        let h2 = Connection::new(SETTINGS_OF_TESTS, &mut out);
        Self { h2, out, now_ms: 0, rest: Vec::new() }
    }

    /// Behind the preface and empty settings of both sides.
    pub(crate) fn begun() -> Self {
        let mut peer = Self::silent();
        peer.give(&[PREFACE, &frame(SETTINGS, 0, 0, &[])].concat()).unwrap();
        peer.frames();
        peer
    }

    /// A server that a client of ours has begun to talk to, behind the settings of both sides.
    pub(crate) fn called() -> Self {
        let mut peer = Self::called_silent();
        peer.give(&frame(SETTINGS, 0, 0, &[])).unwrap();
        peer.frames();
        peer
    }

    /// The same before the server has sent a byte, behind the client's preface.
    pub(crate) fn called_silent() -> Self {
        let mut out = Vec::new();
        let h2 = Connection::client(SETTINGS_OF_TESTS, INTERIMS_MAX, &mut out);
        assert!(out.starts_with(PREFACE));
        out.drain(..PREFACE.len());
        Self { h2, out, now_ms: 0, rest: Vec::new() }
    }

    /// Our client opens a stream.
    pub(crate) fn open(&mut self, method: Method, ends: bool) -> Key {
        let mut fields = FieldList::default();
        fields.push(b":method", b"ANY");
        self.h2.open(method, &fields, ends, &mut self.out).expect("a stream")
    }

    /// The next head that came: its status, its fields, and whether it ends the stream.
    pub(crate) fn head(&mut self, key: Key) -> Option<(u16, String, bool)> {
        let mut section = Section::default();
        let text = |section: &Section| {
            let fields = leat_message::Fields::new(&section.bytes, &section.lines.fields);
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            fields
                .iter()
                .map(|(_, name, value)| format!("{}={}", text(name), text(value)))
                .collect::<Vec<_>>()
                .join("|")
        };
        self.h2.take_head(key, &mut section).then(|| (section.lines.status, text(&section), section.ends))
    }

    /// Sends bytes, whole frames or not.
    pub(crate) fn give(&mut self, bytes: &[u8]) -> Result<(), Code> {
        self.rest.extend_from_slice(bytes);
        let taken = self.h2.receive(&self.rest, self.now_ms, &mut self.out)?;
        self.rest.drain(..taken);
        Ok(())
    }

    /// Takes everything that was sent to the client.
    pub(crate) fn frames(&mut self) -> Vec<Frame> {
        self.h2.flushing();
        let mut frames = Vec::new();
        let mut rest = &self.out[..];
        while let Some((&[l0, l1, l2, kind, flags, s0, s1, s2, s3], after)) = rest.split_first_chunk() {
            let (payload, after) = after.split_at(u32::from_be_bytes([0, l0, l1, l2]) as usize);
            let stream = u32::from_be_bytes([s0, s1, s2, s3]);
            frames.push(Frame { kind, flags, stream, payload: payload.to_vec() });
            rest = after;
        }
        assert!(rest.is_empty());
        self.out.clear();
        self.h2.pump(&mut self.out);
        frames
    }

    /// The next request, which must be there.
    pub(crate) fn request(&mut self) -> Key {
        let (key, problem) = self.h2.next_request(&mut self.out).expect("a request");
        assert_eq!(problem, Ok(()));
        key
    }

    pub(crate) fn has_request(&mut self) -> bool {
        self.h2.next_request(&mut self.out).is_some()
    }

    pub(crate) fn body(&mut self, key: Key) -> (Body, Vec<u8>) {
        let mut bytes = Vec::new();
        let body = self.h2.take_body(key, &mut bytes);
        (body, bytes)
    }

    /// A table-free encoder's block, to compare with.
    pub(crate) fn block_len(fields: &[(&str, &str)]) -> usize {
        let mut out = Vec::new();
        let mut encoder = Encoder::new();
        fields.iter().for_each(|(name, value)| encoder.field(&mut out, name.as_bytes(), value.as_bytes()));
        out.len()
    }
}
