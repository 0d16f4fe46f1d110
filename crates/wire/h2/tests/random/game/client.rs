//! What the client sends: mostly what one may send, in any order.

use std::collections::HashMap;

use leat_h2::PREFACE;
use leat_h2::hpack::Encoder;

use super::frames::*;
use super::source::Source;

const SIZES: [usize; 8] = [0, 1, 5, 60, 200, 1_000, 8_000, 16_000];
const INCREMENTS: [u32; 8] = [1, 9, 100, 1_000, 16_384, 65_535, 1 << 20, 1 << 28];
const WINDOWS: [u32; 8] = [0, 1, 10, 100, 1_000, 65_535, 1 << 20, 1 << 30];
const FRAME_SIZES: [u32; 4] = [16_384, 16_385, 20_000, 0xff_ffff];
const TABLES: [u32; 4] = [4_096, 0, 100, 65_536];
const NAMES: [&[u8]; 4] = [b"accept", b"x-a", b"cookie", b"x-longer-than-others"];

pub(super) struct Client {
    encoder: Encoder,
    next_id: u32,
    /// Streams whose request has not ended, for all that the client knows.
    open: Vec<u32>,
    /// How the text of each head must begin that is known.
    pub(super) heads: HashMap<u32, String>,
    /// Whether nothing was sent that could bring the tables of both sides apart.
    is_in_step: bool,
}

impl Client {
    pub(super) fn new() -> Self {
        Self { encoder: Encoder::new(), next_id: 1, open: Vec::new(), heads: HashMap::new(), is_in_step: true }
    }

    /// The preface and the first SETTINGS; now and then others.
    pub(super) fn begin(&mut self, source: &mut Source<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(PREFACE);
        if source.once_in(128) {
            out[source.below(PREFACE.len())] ^= 1;
        }
        self.settings(source, out);
    }

    /// Some frames.
    pub(super) fn frames(&mut self, source: &mut Source<'_>, out: &mut Vec<u8>) {
        for _ in 0..source.below(7) {
            self.frame(source, out);
        }
    }

    fn frame(&mut self, source: &mut Source<'_>, out: &mut Vec<u8>) {
        match if self.next_id == 1 { 0 } else { source.below(20) } {
            0..=4 => self.head(source, out),
            5..=9 => self.data(source, out),
            10 | 11 => {
                let id = if source.once_in(2) { 0 } else { self.id(source) };
                let odd = source.once_in(100);
                let increment = if odd { source.pick(&[0, 0x7fff_ffff]) } else { source.pick(&INCREMENTS) };
                put(out, WINDOW_UPDATE, 0, id, &increment.to_be_bytes());
            }
            12 => self.settings(source, out),
            13 => {
                let id = self.id(source);
                self.open.retain(|&open| open != id);
                put(out, RST_STREAM, 0, id, &u32::from(source.byte() % 16).to_be_bytes());
            }
            14 => match source.below(3) {
                0 => put(out, PING, 0, 0, &[source.byte(); 8]),
                // The answer to the PING behind GOAWAY, whether there was one or not.
                1 => put(out, PING, ACK, 0, b"farewell"),
                _ => put(out, SETTINGS, ACK, 0, &[]),
            },
            15 => put(out, PRIORITY, 0, self.id(source) | 1, &[0x80, 0, source.byte(), 0, 7]),
            16 | 17 => self.trailers(source, out),
            18 => put(out, 0x20 + source.byte() % 100, source.byte(), self.id(source), source.take(5)),
            _ if source.once_in(12) => self.wrong(source, out),
            _ => self.head(source, out),
        }
    }

    /// A stream that was opened, rather a late one; seldom one that was not.
    fn id(&self, source: &mut Source<'_>) -> u32 {
        let opened = (self.next_id / 2) as usize;
        if source.once_in(240) {
            return source.below(300) as u32;
        }
        let back = if source.once_in(4) { source.below(opened) } else { source.below(opened.min(3)) };
        self.next_id - 2 * (back as u32 + 1)
    }

    /// A stream on which more may be sent; seldom any.
    fn open(&mut self, ends: bool, source: &mut Source<'_>) -> Option<u32> {
        if source.once_in(60) {
            return Some(self.id(source));
        }
        let at = self.open.len().checked_sub(1 + source.below(self.open.len().min(3)))?;
        Some(if ends { self.open.remove(at) } else { self.open[at] })
    }

    fn head(&mut self, source: &mut Source<'_>, out: &mut Vec<u8>) {
        let id = self.next_id;
        self.next_id += 2;
        let length = source.once_in(4).then(|| source.pick(&SIZES));
        let ends = length.is_none() && source.once_in(2);
        let method = if ends { "GET" } else { "POST" };
        if !ends {
            self.open.push(id);
        }
        let mut block = Vec::new();
        self.encoder.field(&mut block, b":method", method.as_bytes());
        self.encoder.field(&mut block, b":scheme", b"http");
        self.encoder.field(&mut block, b":authority", b"leat.test");
        self.encoder.field(&mut block, b":path", format!("/{id}").as_bytes());
        if let Some(length) = length {
            self.encoder.field(&mut block, b"content-length", length.to_string().as_bytes());
        }
        self.fields(source, &mut block);
        if self.is_in_step {
            self.heads.insert(id, format!("{method} /{id} HTTP/1.1\r\nhost: leat.test\r\n"));
        }
        self.block(id, ends, &block, source, out);
    }

    fn trailers(&mut self, source: &mut Source<'_>, out: &mut Vec<u8>) {
        let ends = !source.once_in(20);
        let Some(id) = self.open(ends, source) else { return };
        let mut block = Vec::new();
        self.fields(source, &mut block);
        self.block(id | 1, ends, &block, source, out);
    }

    fn fields(&mut self, source: &mut Source<'_>, block: &mut Vec<u8>) {
        for _ in 0..source.below(4) {
            let len = if source.once_in(30) { 9_000 } else { source.below(40) };
            let value = vec![b'a' + source.byte() % 26; len];
            let name = source.pick(&NAMES);
            if source.once_in(5) {
                self.encoder.secret(block, name, &value);
            } else {
                self.encoder.field(block, name, &value);
            }
        }
    }

    /// HEADERS, and CONTINUATION where it is cut.
    fn block(&mut self, id: u32, ends: bool, block: &[u8], source: &mut Source<'_>, out: &mut Vec<u8>) {
        let step = if source.once_in(4) { block.len() / (1 + source.below(5)) + 1 } else { 16_000 };
        let mut pieces = block.chunks(step).peekable();
        let mut payload = Vec::new();
        let mut flags = if ends { END_STREAM } else { 0 };
        let padding = if source.once_in(6) { source.below(100) } else { 0 };
        if padding > 0 {
            flags |= PADDED;
            payload.push(padding as u8);
        }
        if source.once_in(6) {
            flags |= PRIORITIZED;
            payload.extend_from_slice(&[0, 0, 0, 0, 9]);
        }
        payload.extend_from_slice(pieces.next().unwrap_or_default());
        payload.resize(payload.len() + padding, 0);
        flags |= if pieces.peek().is_none() { END_HEADERS } else { 0 };
        put(out, HEADERS, flags, id, &payload);
        while let Some(piece) = pieces.next() {
            if source.once_in(200) {
                put(out, PING, 0, 0, &[0; 8]);
            }
            put(out, CONTINUATION, if pieces.peek().is_none() { END_HEADERS } else { 0 }, id, piece);
        }
    }

    fn data(&mut self, source: &mut Source<'_>, out: &mut Vec<u8>) {
        let ends = source.once_in(4);
        let Some(id) = self.open(ends, source) else { return };
        let size = source.pick(&SIZES).min(15_900);
        let first = source.byte();
        let mut payload: Vec<u8> = (0..size).map(|at| first.wrapping_add(at as u8)).collect();
        let mut flags = if ends { END_STREAM } else { 0 };
        if source.once_in(4) {
            let padding = source.byte();
            flags |= PADDED;
            payload.insert(0, padding);
            payload.resize(payload.len() + usize::from(padding), 0);
        }
        put(out, DATA, flags, id, &payload);
    }

    fn settings(&mut self, source: &mut Source<'_>, out: &mut Vec<u8>) {
        let mut payload = Vec::new();
        for _ in 0..source.below(3) {
            let (id, value) = match source.below(5) {
                0 => (1, source.pick(&TABLES)),
                1 | 2 => (4, source.pick(&WINDOWS)),
                3 => (5, source.pick(&FRAME_SIZES)),
                _ => (u16::from(source.byte() | 0x10), u32::from(source.byte())),
            };
            payload.extend_from_slice(&u16::to_be_bytes(id));
            payload.extend_from_slice(&value.to_be_bytes());
        }
        put(out, SETTINGS, 0, 0, &payload);
    }

    /// What one may not send, or has no reason to.
    fn wrong(&mut self, source: &mut Source<'_>, out: &mut Vec<u8>) {
        let what = source.below(6);
        // From here on a head may be another than it was meant to be.
        self.is_in_step &= what < 2;
        match what {
            0 => put(out, GOAWAY, 0, 0, &[0; 8]),
            1 => put(out, PUSH_PROMISE, END_HEADERS, self.id(source), &[0, 0, 0, 2]),
            2 => {
                let count = source.below(100);
                out.extend_from_slice(source.take(count));
            }
            3 => {
                let (id, count) = (self.next_id, source.below(60));
                self.next_id += 2;
                put(out, HEADERS, END_HEADERS | source.byte() & END_STREAM, id, source.take(count));
            }
            4 => {
                let count = source.below(9);
                put(out, source.byte() % 10, source.byte(), self.id(source), source.take(count));
            }
            // A stream that goes back.
            _ => put(out, HEADERS, END_HEADERS | END_STREAM, self.id(source), &[0x82, 0x86, 0x84]),
        }
    }
}
