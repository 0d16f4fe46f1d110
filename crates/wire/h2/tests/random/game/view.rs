//! How the other end sees the connection, a client or a server: what it may be sent, and whether that is what it gets.

use std::collections::{HashMap, VecDeque};

use leat_h2::PREFACE;
use leat_h2::hpack::{Decoder, TABLE_BYTES_INITIAL};

use super::frames::*;

pub(super) type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// A stream, from both sides.
#[derive(Default)]
pub(super) struct Stream {
    /// What the client sent of a body, until it ended it.
    pub(super) request_body: Vec<u8>,
    pub(super) has_ended: bool,
    /// Bytes of DATA that the client sent, with padding, and those that it was given back.
    flow_bytes: u64,
    given_back: u64,
    /// WINDOW_UPDATE of the client, and DATA that it got.
    credit: i64,
    data_bytes: i64,
    /// What the server wants to reply: heads and trailers, and whether they end it, and the body.
    pub(super) blocks: VecDeque<(Fields, bool)>,
    pub(super) body: Vec<u8>,
    pub(super) is_whole: bool,
    has_head: bool,
    seen: usize,
    pub(super) is_seen_whole: bool,
    pub(super) is_reset: bool,
    /// Whether the client reset it.
    pub(super) is_left: bool,
}

pub(super) struct View {
    sent: Vec<u8>,
    preface_left: usize,
    /// What of a preface it has to get.
    preface_owed: &'static [u8],
    in_block: bool,
    /// SETTINGS without an answer.
    settings: VecDeque<Vec<(u16, u32)>>,
    pub(super) streams: HashMap<u32, Stream>,
    window_bytes: i64,
    frame_bytes_max: usize,
    credit: i64,
    data_bytes: i64,
    flow_bytes: u64,
    given_back: u64,
    got: Vec<u8>,
    decoder: Decoder,
    block: Option<(u32, bool, Vec<u8>)>,
    pub(super) last_stream: Option<u32>,
    has_failed: bool,
}

impl View {
    /// `more` is what the connection's window is wider than at first.
    pub(super) fn new(more: u64) -> Self {
        Self {
            sent: Vec::new(),
            preface_left: PREFACE.len(),
            preface_owed: &[],
            in_block: false,
            settings: VecDeque::new(),
            streams: HashMap::new(),
            window_bytes: 65_535,
            frame_bytes_max: 16_384,
            credit: 65_535,
            data_bytes: 0,
            flow_bytes: more,
            given_back: 0,
            got: Vec::new(),
            decoder: Decoder::new(TABLE_BYTES_INITIAL),
            block: None,
            last_stream: None,
            has_failed: false,
        }
    }

    /// The same for a server, which sends no preface and gets one.
    pub(super) fn of_server(more: u64) -> Self {
        Self { preface_left: 0, preface_owed: PREFACE, ..Self::new(more) }
    }

    /// Whether what the client sent ended with a frame, and with a block.
    pub(super) fn is_between_frames(&self) -> bool {
        self.preface_left == 0 && self.sent.is_empty() && !self.in_block
    }

    /// What the window of a stream, or of the connection, lacks to be `bytes` wide.
    pub(super) fn lacks(&self, id: u32, bytes: i64) -> u32 {
        let window = match id {
            0 => self.credit - self.data_bytes,
            id => self.window_bytes + self.streams[&id].credit - self.streams[&id].data_bytes,
        };
        u32::try_from((bytes - window).clamp(0, bytes)).unwrap()
    }

    /// The client sends this.
    pub(super) fn sends(&mut self, bytes: &[u8]) {
        let (preface, bytes) = bytes.split_at(self.preface_left.min(bytes.len()));
        self.preface_left -= preface.len();
        self.sent.extend_from_slice(bytes);
        let sent = std::mem::take(&mut self.sent);
        let mut rest = &sent[..];
        while let Some((frame, len)) = first(rest).filter(|(frame, _)| frame.is_whole()) {
            self.sends_frame(&frame);
            rest = &rest[len..];
        }
        self.sent = rest.to_vec();
    }

    fn sends_frame(&mut self, frame: &Frame<'_>) {
        match frame.kind {
            DATA => {
                self.flow_bytes += frame.len as u64;
                let stream = self.streams.entry(frame.stream).or_default();
                stream.flow_bytes += frame.len as u64;
                if !stream.has_ended {
                    stream.request_body.extend_from_slice(frame.unpadded());
                }
                stream.has_ended |= frame.has(END_STREAM);
            }
            HEADERS => {
                self.in_block = !frame.has(END_HEADERS);
                self.streams.entry(frame.stream).or_default().has_ended |= frame.has(END_STREAM);
            }
            CONTINUATION => self.in_block &= !frame.has(END_HEADERS),
            SETTINGS if !frame.has(ACK) => self.settings.push_back(frame.settings().collect()),
            WINDOW_UPDATE if frame.len == 4 => {
                let increment = i64::from(frame.number(0) & 0x7fff_ffff);
                match frame.stream {
                    0 => self.credit += increment,
                    id => self.streams.entry(id).or_default().credit += increment,
                }
            }
            RST_STREAM => self.streams.entry(frame.stream).or_default().is_left = true,
            _ => {}
        }
    }

    /// What the client has sent of a stream's body.
    pub(super) fn request_body(&self, id: u32) -> Vec<u8> {
        let stream = &self.streams[&id];
        let mut body = stream.request_body.clone();
        let under_way = first(&self.sent).filter(|(frame, _)| frame.kind == DATA && frame.stream == id);
        if let Some((frame, _)) = under_way.filter(|_| !stream.has_ended) {
            body.extend_from_slice(frame.unpadded());
        }
        body
    }

    /// The client gets this. Returns the bytes of bodies, and how many replies are whole by it.
    pub(super) fn gets(&mut self, bytes: &[u8]) -> (u64, u64) {
        let (preface, bytes) = bytes.split_at(bytes.len().min(self.preface_owed.len()));
        let (expected, owed) = self.preface_owed.split_at(preface.len());
        assert_eq!(preface, expected);
        self.preface_owed = owed;
        self.got.extend_from_slice(bytes);
        let got = std::mem::take(&mut self.got);
        let (mut rest, mut data, mut whole) = (&got[..], 0, 0);
        while let Some((frame, len)) = first(rest).filter(|(frame, _)| frame.is_whole()) {
            assert!(frame.len <= self.frame_bytes_max, "a frame of {} bytes", frame.len);
            assert!(!self.has_failed, "a frame behind the end of the connection");
            assert!(self.block.is_none() || frame.kind == CONTINUATION, "a frame in a block");
            let before = self.streams.get(&frame.stream).is_some_and(|stream| stream.is_seen_whole);
            self.gets_frame(&frame);
            let after = self.streams.get(&frame.stream).is_some_and(|stream| stream.is_seen_whole);
            whole += u64::from(after && !before);
            data += if frame.kind == DATA { frame.len as u64 } else { 0 };
            rest = &rest[len..];
        }
        self.got = rest.to_vec();
        (data, whole)
    }

    fn gets_frame(&mut self, frame: &Frame<'_>) {
        match (frame.kind, frame.stream) {
            (SETTINGS, 0) if frame.has(ACK) => self.gets_ack(),
            (SETTINGS, 0) => {}
            (PING, 0) => assert_eq!(frame.len, 8),
            (GOAWAY, 0) => {
                let (last, code) = (frame.number(0), frame.number(4));
                let before = self.last_stream.replace(last);
                assert!(before.is_none_or(|before| last <= before), "GOAWAY {last} after {before:?}");
                self.has_failed = code != 0;
            }
            (WINDOW_UPDATE, 0) => {
                self.given_back += self.increment(frame);
                assert!(self.given_back <= self.flow_bytes, "more is given back than was sent");
            }
            (WINDOW_UPDATE, _) => {
                let increment = self.increment(frame);
                let stream = self.stream(frame);
                stream.given_back += increment;
                assert!(stream.given_back <= stream.flow_bytes, "more is given back than was sent");
                assert!(!stream.is_reset, "WINDOW_UPDATE behind RST_STREAM");
            }
            (DATA, _) => self.gets_data(frame),
            (HEADERS, id) => {
                assert!(!frame.has(PADDED | PRIORITIZED));
                self.block = Some((id, frame.has(END_STREAM), Vec::new()));
                self.gets_block(frame);
            }
            (CONTINUATION, _) => self.gets_block(frame),
            (RST_STREAM, _) => {
                assert_eq!(frame.len, 4);
                self.stream(frame).is_reset = true;
            }
            (kind, id) => panic!("a frame of kind {kind} for {id}"),
        }
    }

    fn increment(&self, frame: &Frame<'_>) -> u64 {
        assert!(frame.len == 4 && (1..1 << 31).contains(&frame.number(0)), "an increment");
        u64::from(frame.number(0))
    }

    /// The stream of a frame, which the client must have opened.
    fn stream(&mut self, frame: &Frame<'_>) -> &mut Stream {
        let id = frame.stream;
        self.streams.get_mut(&id).unwrap_or_else(|| panic!("a frame of kind {} for {id}", frame.kind))
    }

    fn gets_ack(&mut self) {
        for (id, value) in self.settings.pop_front().expect("an answer to no SETTINGS") {
            match id {
                1 => self.decoder.set_table_bytes_max(value),
                4 => self.window_bytes = i64::from(value),
                5 => self.frame_bytes_max = value as usize,
                _ => {}
            }
        }
    }

    fn gets_data(&mut self, frame: &Frame<'_>) {
        assert!(!frame.has(PADDED));
        let (len, window_bytes) = (frame.len as i64, self.window_bytes);
        self.data_bytes += len;
        assert!(len == 0 || self.data_bytes <= self.credit, "the connection's window");
        let stream = self.stream(frame);
        stream.data_bytes += len;
        assert!(len == 0 || stream.data_bytes <= window_bytes + stream.credit, "a stream's window");
        assert!(stream.has_head && !stream.is_seen_whole && !stream.is_reset, "DATA out of order");
        let end = stream.seen + frame.len;
        assert!(stream.body.get(stream.seen..end) == Some(frame.payload), "other bytes than were sent");
        stream.seen = end;
        if frame.has(END_STREAM) {
            assert!(stream.is_whole && stream.blocks.is_empty() && end == stream.body.len(), "an early end");
            stream.is_seen_whole = true;
        }
    }

    fn gets_block(&mut self, frame: &Frame<'_>) {
        let (id, ends, mut block) = self.block.take().expect("CONTINUATION of nothing");
        assert_eq!(id, frame.stream);
        block.extend_from_slice(frame.payload);
        if !frame.has(END_HEADERS) {
            self.block = Some((id, ends, block));
            return;
        }
        let mut fields = Fields::new();
        let decoded = self.decoder.decode(&block, usize::MAX, &mut |name, value, _| {
            fields.push((name.to_vec(), value.to_vec()));
        });
        assert_eq!(decoded, Ok(()));
        let stream = self.stream(frame);
        assert!(!stream.is_seen_whole && !stream.is_reset, "HEADERS out of order");
        let expected = stream.blocks.pop_front().expect("a block that nobody sent");
        assert!(expected == (fields, ends), "another block than was sent");
        assert!(!stream.has_head || stream.seen == stream.body.len(), "trailers before the end of the body");
        let is_final =
            |(name, value): &(Vec<u8>, Vec<u8>)| name == b":method" || name == b":status" && value[0] != b'1';
        stream.has_head |= expected.0.first().is_some_and(is_final);
        stream.is_seen_whole = ends;
    }
}
