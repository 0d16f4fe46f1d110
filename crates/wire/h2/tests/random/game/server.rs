//! What the server does with its streams, and what is true at all times.

use std::collections::HashMap;

use leat_h2::{Body, Code, Connection, FieldList, Key, Settings};

use super::frames::{self, SETTINGS, WINDOW_UPDATE};
use super::source::Source;
use super::view::{Fields, View};
use super::{Cut, Tally};

const STATUSES: [u16; 6] = [200, 204, 404, 500, 206, 299];
const SIZES: [usize; 8] = [0, 1, 10, 100, 1_000, 16_384, 16_385, 65_536];
const CODES: [Code; 4] = [Code::CANCEL, Code::NO_ERROR, Code::INTERNAL_ERROR, Code::REFUSED_STREAM];
/// What one stream may hold.
const HELD_BYTES_MAX: usize = 65_536;
/// Frames that a DATA frame of the output may need besides its bytes: generous.
const FRAMING_BYTES: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Waiting,
    Open,
    Ended,
}

/// A stream that the server looks at.
struct Held {
    key: Key,
    id: u32,
    phase: Phase,
    taken: usize,
    unconsumed: usize,
}

/// How the server is driven.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    pub(super) settings: Settings,
    pub(super) cut: Cut,
    /// Whether what is written stays in the output until all of it is.
    pub(super) keeps_written: bool,
    /// Whether the client opens its streams' windows one by one in the end, not with SETTINGS.
    pub(super) opens_each: bool,
}

pub(super) struct Server {
    h2: Connection,
    cut: Cut,
    input: Vec<u8>,
    out: Vec<u8>,
    /// Bytes at the front of the output that are written.
    written: usize,
    options: Options,
    view: View,
    held: Vec<Held>,
    /// Streams that nobody looks at any more; something of their replies may be left.
    released: Vec<Key>,
    /// What may stand in the output besides bodies.
    budget: usize,
    now_ms: u64,
    tally: Tally,
    trace: Vec<String>,
}

impl Server {
    pub(super) fn new(options: Options) -> Self {
        let (mut out, settings) = (Vec::new(), options.settings);
        let h2 = Connection::new(settings, &mut out);
        let view = View::new(u64::from(settings.connection_window_bytes) - 65_535);
        let budget = out.len();
        Self {
            h2,
            cut: options.cut,
            input: Vec::new(),
            out,
            written: 0,
            options,
            view,
            held: Vec::new(),
            released: Vec::new(),
            budget,
            now_ms: 1_000,
            tally: Tally::default(),
            trace: Vec::new(),
        }
    }

    pub(super) fn is_lost(&self) -> bool {
        self.h2.is_lost()
    }

    pub(super) fn result(self) -> (Tally, Vec<String>) {
        (self.tally, self.trace)
    }

    fn note(&mut self, what: String) {
        self.trace.push(what);
    }

    /// Takes what the client sends, and the requests in it.
    pub(super) fn receive(&mut self, bytes: &[u8], source: &mut Source<'_>, heads: &HashMap<u32, String>) {
        self.view.sends(bytes);
        self.now_ms += u64::from(source.pick(&[0_u16, 1, 100, 11_000]));
        self.budget += 4 * bytes.len() + FRAMING_BYTES;
        let mut rest = bytes;
        while !rest.is_empty() && !self.h2.is_lost() {
            let (piece, behind) = rest.split_at(self.cut.len().min(rest.len()));
            rest = behind;
            self.input.extend_from_slice(piece);
            match self.h2.receive(&self.input, self.now_ms, &mut self.out) {
                Ok(count) => drop(self.input.drain(..count)),
                Err(code) => self.note(format!("ends: {code:?}")),
            }
        }
        while let Some((key, problem)) = self.h2.next_request(&mut self.out) {
            let id = id(key);
            assert!(self.view.last_stream.is_none_or(|last| id <= last), "a stream behind GOAWAY");
            let mut head = Vec::new();
            self.h2.swap_head(key, &mut head);
            if let (Ok(()), Some(begin)) = (problem, heads.get(&id)) {
                assert!(head.starts_with(begin.as_bytes()), "{}", head.escape_ascii());
                assert!(head.ends_with(b"\r\n\r\n"), "{}", head.escape_ascii());
            }
            self.tally.requests += 1;
            self.note(format!("request {id}: {problem:?} {}", head.escape_ascii()));
            self.held.push(Held { key, id, phase: Phase::Waiting, taken: 0, unconsumed: 0 });
        }
        while let Some(key) = self.h2.next_told() {
            self.note(format!("told {}", id(key)));
        }
        self.check();
    }

    /// What is true at all times.
    fn check(&mut self) {
        let h2 = &self.h2;
        self.released.retain(|&key| h2.held_bytes(key) > 0);
        let keys = self.held.iter().map(|held| held.key).chain(self.released.iter().copied());
        let held: Vec<usize> = keys.map(|key| h2.held_bytes(key)).collect();
        assert!(held.iter().all(|&bytes| bytes <= HELD_BYTES_MAX));
        let unread = h2.waiting_bytes().checked_sub(held.iter().sum()).expect("what waits is what streams hold");
        assert!(unread <= self.options.settings.connection_window_bytes as usize, "{unread} bytes wait");
        assert!(h2.live_streams() <= self.options.settings.streams_max as usize);
        let output_bytes_max = 2 * self.options.settings.output_bytes_max + FRAMING_BYTES + self.budget;
        assert!(self.out.len() <= output_bytes_max, "{} bytes of output", self.out.len());
        let state = (h2.live_streams(), h2.waiting_bytes(), h2.has_held(), h2.is_over(), h2.in_head_since_ms());
        let sum = self.out.iter().fold(7, |sum: u32, &byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        self.note(format!("{state:?} {} {sum} {}", self.out.len(), self.is_lost()));
    }

    /// Does some things with streams.
    pub(super) fn act(&mut self, source: &mut Source<'_>) {
        for _ in 0..source.below(8) {
            if !self.held.is_empty() {
                let at = source.below(self.held.len());
                self.act_on(at, source);
            }
        }
        if source.once_in(60) {
            self.budget += FRAMING_BYTES;
            self.h2.close(&mut self.out);
        }
        if source.once_in(200) {
            self.budget += FRAMING_BYTES;
            self.h2.abort(source.pick(&CODES), &mut self.out);
        }
        match source.below(4) {
            0 => {}
            1 => {
                let count = source.below(self.out.len() - self.written + 1);
                self.flush(count);
            }
            _ => self.flush_all(),
        }
        self.check();
    }

    /// Writes so many bytes of the output, and fills it again.
    fn flush(&mut self, count: usize) {
        self.h2.flushing();
        let (data, whole) = self.view.gets(&self.out[self.written..self.written + count]);
        self.tally.data_bytes += data;
        self.tally.whole_replies += whole;
        self.written += count;
        if !self.options.keeps_written || self.written == self.out.len() {
            self.out.drain(..std::mem::take(&mut self.written));
        }
        if self.out.is_empty() {
            self.budget = 0;
        }
        // Ends and trailers of several streams may come with it.
        self.budget += 100_000;
        self.h2.pump(&mut self.out);
    }

    fn flush_all(&mut self) {
        self.flush(self.out.len() - self.written);
    }

    fn act_on(&mut self, at: usize, source: &mut Source<'_>) {
        match source.below(16) {
            0..=2 => self.take_body(at, source),
            3 => self.take_trailers(at),
            4 => self.interim(at, source),
            5..=7 => self.head(at, source),
            8..=10 => self.send(at, source),
            11 | 12 => self.end(at, source),
            13 if source.once_in(3) => {
                self.budget += FRAMING_BYTES;
                self.h2.reset(self.held[at].key, source.pick(&CODES), &mut self.out);
                assert!(self.h2.is_reset(self.held[at].key) || self.held[at].phase == Phase::Ended);
            }
            14 => self.release(at),
            _ => {}
        }
    }

    fn take_body(&mut self, at: usize, source: &mut Source<'_>) {
        let mut chunk = b"rest".to_vec();
        let (key, id) = (self.held[at].key, self.held[at].id);
        let taken = self.h2.take_body(key, &mut chunk);
        self.note(format!("body of {id}: {taken:?} {}", chunk.len()));
        assert_eq!(taken == Body::Data, !chunk.is_empty());
        let (all, held) = (self.view.request_body(id), &mut self.held[at]);
        assert!(all.get(held.taken..held.taken + chunk.len()) == Some(&chunk[..]), "other bytes than were sent");
        held.taken += chunk.len();
        held.unconsumed += chunk.len();
        self.tally.body_bytes += chunk.len() as u64;
        if taken == Body::End {
            assert!(self.view.streams[&id].has_ended && held.taken == all.len(), "an early end");
        }
        // Seldom more than there was.
        let more = if source.once_in(20) { 10 } else { 0 };
        let count = if source.once_in(3) { source.below(held.unconsumed + 1) } else { held.unconsumed } + more;
        held.unconsumed = held.unconsumed.saturating_sub(count);
        self.budget += FRAMING_BYTES;
        self.h2.consumed(key, count, &mut self.out);
    }

    fn take_trailers(&mut self, at: usize) {
        let mut text = Vec::new();
        if self.h2.take_trailers(self.held[at].key, &mut text) {
            assert!(text.starts_with(b"0\r\n") && text.ends_with(b"\r\n"));
            assert!(self.view.streams[&self.held[at].id].has_ended);
        }
        self.note(format!("trailers of {}: {}", self.held[at].id, text.escape_ascii()));
    }

    /// Fields, as they are sent and as they arrive.
    fn fields(&mut self, source: &mut Source<'_>, status: Option<u16>) -> (FieldList, Fields) {
        let (mut list, mut fields) = (FieldList::default(), Fields::new());
        if let Some(status) = status {
            fields.push((b":status".to_vec(), status.to_string().into_bytes()));
        }
        for _ in 0..source.below(4) {
            let name = source.pick(&[&b"server"[..], b"X-Upper", b"set-cookie", b"etag", b"x-one-of-ours"]);
            let len = if source.once_in(40) { 20_000 } else { source.below(30) };
            let value = vec![b'0' + source.byte() % 10; len];
            list.push(name, &value);
            fields.push((name.to_ascii_lowercase(), value));
        }
        self.budget += FRAMING_BYTES + fields.iter().map(|(name, value)| name.len() + value.len() + 20).sum::<usize>();
        (list, fields)
    }

    fn is_gone(&self, at: usize) -> bool {
        self.h2.is_reset(self.held[at].key)
    }

    fn interim(&mut self, at: usize, source: &mut Source<'_>) {
        let (list, fields) = self.fields(source, Some(103));
        let (key, id) = (self.held[at].key, self.held[at].id);
        if !self.is_gone(at) && self.held[at].phase == Phase::Waiting {
            self.view.streams.get_mut(&id).unwrap().blocks.push_back((fields, false));
        }
        self.h2.interim(key, 103, &list, &mut self.out);
    }

    fn head(&mut self, at: usize, source: &mut Source<'_>) {
        let (status, ends) = (source.pick(&STATUSES), source.once_in(4));
        let (list, fields) = self.fields(source, Some(status));
        let fits = !self.is_gone(at) && self.held[at].phase == Phase::Waiting;
        let held = &mut self.held[at];
        assert_eq!(self.h2.head(held.key, status, &list, ends, &mut self.out), fits);
        if fits {
            held.phase = if ends { Phase::Ended } else { Phase::Open };
            let stream = self.view.streams.get_mut(&held.id).unwrap();
            stream.blocks.push_back((fields, ends));
            stream.is_whole = ends;
        }
    }

    fn send(&mut self, at: usize, source: &mut Source<'_>) {
        let fits = !self.is_gone(at) && self.held[at].phase == Phase::Open;
        let held = &self.held[at];
        let count = source.pick(&SIZES).min(self.h2.room(held.key));
        let first = source.byte();
        let bytes: Vec<u8> = (0..count).map(|at| first.wrapping_add((at % 253) as u8)).collect();
        assert_eq!(self.h2.send(held.key, &bytes, &mut self.out), fits);
        if fits {
            self.view.streams.get_mut(&held.id).unwrap().body.extend_from_slice(&bytes);
        }
    }

    fn end(&mut self, at: usize, source: &mut Source<'_>) {
        let trailers = source.once_in(3).then(|| self.fields(source, None));
        let fits = !self.is_gone(at) && self.held[at].phase == Phase::Open;
        let held = &mut self.held[at];
        let list = trailers.as_ref().map(|(list, _)| list);
        assert_eq!(self.h2.end(held.key, list, &mut self.out), fits);
        if fits {
            held.phase = Phase::Ended;
            let stream = self.view.streams.get_mut(&held.id).unwrap();
            stream.is_whole = true;
            stream.blocks.extend(trailers.filter(|(_, fields)| !fields.is_empty()).map(|(_, fields)| (fields, true)));
        }
    }

    fn release(&mut self, at: usize) {
        let held = self.held.swap_remove(at);
        self.budget += FRAMING_BYTES;
        self.h2.release(held.key, &mut self.out);
        self.released.push(held.key);
        self.note(format!("release {}", held.id));
    }

    /// The client opens all windows, and the server ends all replies: everything must come to its end.
    pub(super) fn settle(&mut self, source: &mut Source<'_>, heads: &HashMap<u32, String>) {
        self.flush_all();
        if self.is_lost() || !self.view.is_between_frames() {
            return;
        }
        let mut bytes = Vec::new();
        let mut ids = vec![0];
        if self.options.opens_each {
            ids.extend(self.held.iter().map(|held| held.id).chain(self.released.iter().map(|&key| id(key))));
        } else {
            frames::put(&mut bytes, SETTINGS, 0, 0, &[0, 4, 0x20, 0, 0, 0]);
        }
        for id in ids {
            let lacks = self.view.lacks(id, 1 << 30);
            if lacks > 0 {
                frames::put(&mut bytes, WINDOW_UPDATE, 0, id, &lacks.to_be_bytes());
            }
        }
        self.receive(&bytes, source, heads);
        let mut ended = Vec::new();
        for at in (0..self.held.len()).rev() {
            self.head(at, source);
            self.end(at, source);
            ended.push(self.held[at].id);
            self.release(at);
        }
        while !self.out.is_empty() || self.h2.has_held() {
            assert!(!self.out.is_empty(), "something is held, and nothing holds it back");
            self.flush_all();
        }
        if self.is_lost() {
            return;
        }
        assert_eq!((self.h2.waiting_bytes(), self.h2.live_streams()), (0, 0));
        for id in ended {
            let stream = &self.view.streams[&id];
            assert!(stream.is_seen_whole || stream.is_reset || stream.is_left, "half a reply to {id}");
        }
        self.tally.settled += 1;
        self.check();
    }
}

/// The number of a key's stream, which it keeps to itself.
fn id(key: Key) -> u32 {
    let text = format!("{key:?}");
    text.trim_end_matches(" }").rsplit(' ').next().and_then(|number| number.parse().ok()).expect("Key { index, id }")
}
