//! What the server sends: mostly what one may send to the requests that came, in any order.

use std::collections::{HashMap, VecDeque};

use leat_h2::hpack::Encoder;

use super::frames::*;
use super::source::Source;

const SIZES: [usize; 8] = [0, 1, 5, 60, 200, 1_000, 8_000, 16_000];
const INCREMENTS: [u32; 8] = [1, 9, 100, 1_000, 16_384, 65_535, 1 << 20, 1 << 28];
const WINDOWS: [u32; 8] = [0, 1, 10, 100, 1_000, 65_535, 1 << 20, 1 << 30];
const FRAME_SIZES: [u32; 4] = [16_384, 16_385, 20_000, 0xff_ffff];
const TABLES: [u32; 4] = [4_096, 0, 100, 65_536];
const STREAMS: [u32; 4] = [100, 1, 5, 0];
const NAMES: [&[u8]; 4] = [b"server", b"x-a", b"set-cookie", b"x-longer-than-others"];

/// How far the server is with an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Waiting,
    Open,
    Ended,
}

pub(super) struct Answers {
    encoder: Encoder,
    phases: HashMap<u32, Phase>,
    /// The heads of each stream, as the client is to get them.
    pub(super) heads: HashMap<u32, VecDeque<String>>,
    /// Whether nothing was sent that could bring the tables of both sides apart.
    pub(super) is_in_step: bool,
}

impl Answers {
    pub(super) fn new() -> Self {
        Self { encoder: Encoder::new(), phases: HashMap::new(), heads: HashMap::new(), is_in_step: true }
    }

    /// The first SETTINGS; now and then something else.
    pub(super) fn begin(&mut self, source: &mut Source<'_>, out: &mut Vec<u8>) {
        if source.once_in(128) {
            put(out, PING, 0, 0, &[0; 8]);
        }
        self.settings(source, out);
    }

    /// Some frames for streams that were opened, and a few for others.
    pub(super) fn frames(&mut self, opened: u32, source: &mut Source<'_>, out: &mut Vec<u8>) {
        for _ in 0..source.below(7) {
            self.frame(opened, source, out);
        }
    }

    fn frame(&mut self, opened: u32, source: &mut Source<'_>, out: &mut Vec<u8>) {
        let id = id(opened, source);
        match source.below(20) {
            0..=5 => self.head(id, source, out),
            6..=9 => self.data(id, source, out),
            10 | 11 => {
                let id = if source.once_in(2) { 0 } else { id };
                let odd = source.once_in(100);
                let increment = if odd { source.pick(&[0, 0x7fff_ffff]) } else { source.pick(&INCREMENTS) };
                put(out, WINDOW_UPDATE, 0, id, &increment.to_be_bytes());
            }
            12 => self.settings(source, out),
            13 if source.once_in(3) => {
                self.phases.insert(id, Phase::Ended);
                put(out, RST_STREAM, 0, id, &u32::from(source.byte() % 16).to_be_bytes());
            }
            14 => match source.below(3) {
                0 => put(out, PING, 0, 0, &[source.byte(); 8]),
                1 => put(out, PING, ACK, 0, b"you here"),
                _ => put(out, SETTINGS, ACK, 0, &[]),
            },
            15 => put(out, PRIORITY, 0, id | 1, &[0x80, 0, source.byte(), 0, 7]),
            16 | 17 => self.trailers(id, source, out),
            18 => put(out, 0x20 + source.byte() % 100, source.byte(), id, source.take(5)),
            _ if source.once_in(12) => self.wrong(id, source, out),
            _ => self.head(id, source, out),
        }
    }

    fn phase(&self, id: u32) -> Phase {
        self.phases.get(&id).copied().unwrap_or(Phase::Waiting)
    }

    fn head(&mut self, id: u32, source: &mut Source<'_>, out: &mut Vec<u8>) {
        // Seldom a second one.
        if id == 0 || self.phase(id) != Phase::Waiting && !source.once_in(60) {
            return;
        }
        let status = source.pick(&[200_u16, 200, 404, 103]);
        let length = (status == 200 && source.once_in(8)).then(|| source.pick(&SIZES));
        let ends = status != 103 && length.is_none() && source.once_in(4);
        let mut block = Vec::new();
        self.encoder.status(&mut block, status);
        let mut listed = Vec::new();
        if let Some(length) = length {
            self.encoder.field(&mut block, b"content-length", length.to_string().as_bytes());
            listed.push(format!("content-length={length}"));
        }
        self.fields(source, &mut block, &mut listed);
        if self.phase(id) == Phase::Waiting {
            self.heads.entry(id).or_default().push_back(format!("{status} {}", listed.join("|")));
            if status != 103 {
                self.phases.insert(id, if ends { Phase::Ended } else { Phase::Open });
            }
        }
        blocks(id, ends, &block, source, out);
    }

    fn trailers(&mut self, id: u32, source: &mut Source<'_>, out: &mut Vec<u8>) {
        if self.phase(id) != Phase::Open && !source.once_in(60) {
            return;
        }
        let ends = !source.once_in(20);
        self.phases.insert(id, Phase::Ended);
        let mut block = Vec::new();
        self.fields(source, &mut block, &mut Vec::new());
        blocks(id | 1, ends, &block, source, out);
    }

    fn fields(&mut self, source: &mut Source<'_>, block: &mut Vec<u8>, listed: &mut Vec<String>) {
        for _ in 0..source.below(4) {
            let len = if source.once_in(30) { 9_000 } else { source.below(40) };
            let value = vec![b'a' + source.byte() % 26; len];
            let name = source.pick(&NAMES);
            match source.once_in(5) {
                true => self.encoder.secret(block, name, &value),
                false => self.encoder.field(block, name, &value),
            }
            listed.push(format!("{}={}", name.escape_ascii(), value.escape_ascii()));
        }
    }

    fn data(&mut self, id: u32, source: &mut Source<'_>, out: &mut Vec<u8>) {
        if self.phase(id) != Phase::Open && !source.once_in(60) {
            return;
        }
        let ends = source.once_in(4);
        if ends {
            self.phases.insert(id, Phase::Ended);
        }
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
            let (id, value) = match source.below(6) {
                0 => (1, source.pick(&TABLES)),
                1 | 2 => (4, source.pick(&WINDOWS)),
                3 => (5, source.pick(&FRAME_SIZES)),
                4 => (3, source.pick(&STREAMS)),
                _ => (u16::from(source.byte() | 0x10), u32::from(source.byte())),
            };
            payload.extend_from_slice(&u16::to_be_bytes(id));
            payload.extend_from_slice(&value.to_be_bytes());
        }
        put(out, SETTINGS, 0, 0, &payload);
    }

    /// What one may not send, or has no reason to.
    fn wrong(&mut self, id: u32, source: &mut Source<'_>, out: &mut Vec<u8>) {
        let what = source.below(6);
        // From here on a head may be another than it was meant to be.
        self.is_in_step &= what < 2;
        match what {
            0 => {
                let last = source.pick(&[0, id, 0x7fff_ffff]);
                put(out, GOAWAY, 0, 0, &[last.to_be_bytes(), [0; 4]].concat());
            }
            1 => put(out, PUSH_PROMISE, END_HEADERS, id, &[0, 0, 0, 2]),
            2 => {
                let count = source.below(100);
                out.extend_from_slice(source.take(count));
            }
            3 => {
                let count = source.below(60);
                put(out, HEADERS, END_HEADERS | source.byte() & END_STREAM, id, source.take(count));
            }
            4 => {
                let count = source.below(9);
                put(out, source.byte() % 10, source.byte(), id, source.take(count));
            }
            // A stream of its own.
            _ => put(out, HEADERS, END_HEADERS | END_STREAM, id + 1, &[0x88]),
        }
    }
}

/// One of so many streams that were opened, rather a late one; seldom one that was not.
fn id(opened: u32, source: &mut Source<'_>) -> u32 {
    if opened == 0 || source.once_in(240) {
        return if opened == 0 { 0 } else { source.below(300) as u32 };
    }
    let opened = opened as usize;
    let back = if source.once_in(4) { source.below(opened) } else { source.below(opened.min(3)) };
    2 * (opened - 1 - back) as u32 + 1
}

/// HEADERS, and CONTINUATION where it is cut.
fn blocks(id: u32, ends: bool, block: &[u8], source: &mut Source<'_>, out: &mut Vec<u8>) {
    let step = if source.once_in(4) { block.len() / (1 + source.below(5)) + 1 } else { 16_000 };
    let mut pieces = block.chunks(step).peekable();
    let mut payload = Vec::new();
    let mut flags = if ends { END_STREAM } else { 0 };
    let padding = if source.once_in(6) { source.below(100) } else { 0 };
    if padding > 0 {
        flags |= PADDED;
        payload.push(padding as u8);
    }
    payload.extend_from_slice(pieces.next().unwrap_or_default());
    payload.resize(payload.len() + padding, 0);
    flags |= if pieces.peek().is_none() { END_HEADERS } else { 0 };
    put(out, HEADERS, flags, id, &payload);
    while let Some(piece) = pieces.next() {
        put(out, CONTINUATION, if pieces.peek().is_none() { END_HEADERS } else { 0 }, id, piece);
    }
}
