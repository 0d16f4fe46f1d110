//! What the client does with its streams, and what is true at all times.

use leat_h2::{Body, Cause, Connection, FieldList, Key, Section};
use leat_message::{Fields, Method};

use super::Tally;
use super::answers::Answers;
use super::frames::{self, SETTINGS, WINDOW_UPDATE};
use super::server::Options;
use super::source::Source;
use super::view::View;

const SIZES: [usize; 8] = [0, 1, 10, 100, 1_000, 16_384, 16_385, 65_536];
/// What one stream may hold.
const HELD_BYTES_MAX: usize = 65_536;
/// Interim responses to one request.
const INTERIMS_MAX: u32 = 4;
/// Frames that a DATA frame of the output may need besides its bytes: generous.
const FRAMING_BYTES: usize = 200;

/// A stream that the client looks at.
struct Call {
    key: Key,
    id: u32,
    has_head: bool,
    /// Whether it took all of the response.
    has_all: bool,
    taken: usize,
    unconsumed: usize,
}

pub(super) struct Caller {
    h2: Connection,
    options: Options,
    input: Vec<u8>,
    out: Vec<u8>,
    /// Bytes at the front of the output that are written.
    written: usize,
    view: View,
    calls: Vec<Call>,
    opened: u32,
    /// What may stand in the output besides bodies.
    budget: usize,
    now_ms: u64,
    tally: Tally,
    trace: Vec<String>,
}

impl Caller {
    pub(super) fn new(options: Options) -> Self {
        let (mut out, settings) = (Vec::new(), options.settings);
        let h2 = Connection::client(settings, INTERIMS_MAX, &mut out);
        let view = View::of_server(u64::from(settings.connection_window_bytes) - 65_535);
        let budget = out.len();
        let (tally, trace) = (Tally::default(), Vec::new());
        Self {
            h2,
            options,
            input: Vec::new(),
            out,
            written: 0,
            view,
            calls: Vec::new(),
            opened: 0,
            budget,
            now_ms: 1_000,
            tally,
            trace,
        }
    }

    pub(super) fn is_lost(&self) -> bool {
        self.h2.is_lost()
    }

    pub(super) fn result(self) -> (Tally, Vec<String>) {
        (self.tally, self.trace)
    }

    /// Streams that the server may have heard of.
    pub(super) fn opened(&self) -> u32 {
        self.opened
    }

    fn note(&mut self, what: String) {
        self.trace.push(what);
    }

    /// Takes what the server sends, and the heads in it.
    pub(super) fn receive(&mut self, bytes: &[u8], source: &mut Source<'_>, answers: &mut Answers) {
        self.view.sends(bytes);
        self.now_ms += u64::from(source.pick(&[0_u16, 1, 100, 11_000]));
        self.budget += 4 * bytes.len() + FRAMING_BYTES;
        let mut rest = bytes;
        while !rest.is_empty() && !self.h2.is_lost() {
            let (piece, behind) = rest.split_at(self.options.cut.len().min(rest.len()));
            rest = behind;
            self.input.extend_from_slice(piece);
            match self.h2.receive(&self.input, self.now_ms, &mut self.out) {
                Ok(count) => drop(self.input.drain(..count)),
                Err(code) => self.note(format!("ends: {code:?}")),
            }
        }
        while let Some(key) = self.h2.next_told() {
            self.note(format!("told {key:?}"));
        }
        for at in 0..self.calls.len() {
            self.take_heads(at, answers);
        }
        self.check();
    }

    fn take_heads(&mut self, at: usize, answers: &mut Answers) {
        let mut head = Section::default();
        let (key, id) = (self.calls[at].key, self.calls[at].id);
        while self.h2.take_head(key, &mut head) {
            let fields = Fields::new(&head.bytes, &head.lines.fields);
            let listed: Vec<String> = fields
                .iter()
                .map(|(_, name, value)| format!("{}={}", name.escape_ascii(), value.escape_ascii()))
                .collect();
            let text = format!("{} {}", head.lines.status, listed.join("|"));
            assert!(!self.calls[at].has_head, "a head behind the final one");
            self.calls[at].has_head = head.lines.status >= 200;
            if answers.is_in_step {
                let expected = answers.heads.get_mut(&id).and_then(std::collections::VecDeque::pop_front);
                assert_eq!(Some(&text), expected.as_ref());
            }
            self.note(format!("head of {id}: {text} {}", head.ends));
        }
    }

    /// What is true at all times.
    fn check(&mut self) {
        let (h2, settings) = (&self.h2, &self.options.settings);
        let held: Vec<usize> = self.calls.iter().map(|call| h2.held_bytes(call.key)).collect();
        assert!(held.iter().all(|&bytes| bytes <= HELD_BYTES_MAX));
        let unread = h2.waiting_bytes().checked_sub(held.iter().sum()).expect("what waits is what streams hold");
        // Bodies, and trailers that nobody took; heads are taken at once.
        let trailers_bytes_max = settings.head_bytes_max * self.calls.len();
        assert!(unread <= settings.connection_window_bytes as usize + trailers_bytes_max, "{unread} bytes wait");
        assert!(h2.live_streams() <= self.calls.len());
        let output_bytes_max = 2 * settings.output_bytes_max + FRAMING_BYTES + self.budget;
        assert!(self.out.len() <= output_bytes_max, "{} bytes of output", self.out.len());
        let state = (h2.live_streams(), h2.waiting_bytes(), h2.has_held(), h2.is_over(), h2.takes_streams());
        let sum = self.out.iter().fold(7, |sum: u32, &byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        let causes: Vec<Option<Cause>> = self.calls.iter().map(|call| h2.cause(call.key)).collect();
        self.note(format!("{state:?} {} {sum} {causes:?}", self.out.len()));
    }

    /// Does some things with streams.
    pub(super) fn act(&mut self, source: &mut Source<'_>) {
        for _ in 0..source.below(8) {
            if self.calls.is_empty() || source.once_in(3) {
                self.open(source);
            } else {
                let at = source.below(self.calls.len());
                self.act_on(at, source);
            }
        }
        if source.once_in(100) {
            self.budget += FRAMING_BYTES;
            self.h2.close(&mut self.out);
        }
        if source.once_in(30) {
            self.budget += FRAMING_BYTES;
            self.h2.ask(&mut self.out);
        }
        match source.below(4) {
            0 => {}
            1 => {
                let count = source.below(self.out.len() - self.written + 1);
                self.flush(count);
            }
            _ => self.flush(self.out.len() - self.written),
        }
        self.check();
    }

    /// Writes so many bytes of the output, and fills it again.
    fn flush(&mut self, count: usize) {
        self.h2.flushing();
        let (data, _) = self.view.gets(&self.out[self.written..self.written + count]);
        self.tally.data_bytes += data;
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

    fn open(&mut self, source: &mut Source<'_>) {
        let ends = source.once_in(3);
        let (mut list, mut fields) = (FieldList::default(), Vec::new());
        for (name, value) in [(":method", "ANY"), (":path", "/"), ("X-Upper", "1")] {
            list.push(name.as_bytes(), value.as_bytes());
            fields.push((name.to_ascii_lowercase().into_bytes(), value.as_bytes().to_vec()));
        }
        self.more_fields(source, &mut list, &mut fields);
        let may_open = self.h2.takes_streams() && self.h2.live_streams() < self.h2.streams_max() as usize;
        let Some(key) = self.h2.open(Method::Other, &list, ends, &mut self.out) else {
            assert!(!may_open);
            return;
        };
        assert!(may_open);
        let id = 2 * self.opened + 1;
        self.opened += 1;
        self.tally.requests += 1;
        let stream = self.view.streams.entry(id).or_default();
        stream.blocks.push_back((fields, ends));
        stream.is_whole = ends;
        self.calls.push(Call { key, id, has_head: false, has_all: false, taken: 0, unconsumed: 0 });
    }

    fn more_fields(&mut self, source: &mut Source<'_>, list: &mut FieldList, fields: &mut Vec<(Vec<u8>, Vec<u8>)>) {
        for _ in 0..source.below(4) {
            let name = source.pick(&[&b"accept"[..], b"cookie", b"x-one-of-ours"]);
            let len = if source.once_in(40) { 20_000 } else { source.below(30) };
            let value = vec![b'0' + source.byte() % 10; len];
            match source.once_in(4) {
                true => list.push_secret(name, &value),
                false => list.push(name, &value),
            }
            fields.push((name.to_vec(), value));
        }
        self.budget += FRAMING_BYTES + fields.iter().map(|(name, value)| name.len() + value.len() + 20).sum::<usize>();
    }

    fn act_on(&mut self, at: usize, source: &mut Source<'_>) {
        match source.below(12) {
            0..=4 => self.take_body(at, source),
            5..=7 => self.send(at, source),
            8 | 9 => self.end(at, source),
            10 if source.once_in(3) => self.release(at),
            _ => {}
        }
    }

    fn take_body(&mut self, at: usize, source: &mut Source<'_>) {
        let mut chunk = b"rest".to_vec();
        let (key, id) = (self.calls[at].key, self.calls[at].id);
        let taken = self.h2.take_body(key, &mut chunk);
        self.note(format!("body of {id}: {taken:?} {}", chunk.len()));
        assert_eq!(taken == Body::Data, !chunk.is_empty());
        let (all, call) = (self.view.request_body(id), &mut self.calls[at]);
        assert!(all.get(call.taken..call.taken + chunk.len()) == Some(&chunk[..]), "other bytes than were sent");
        call.taken += chunk.len();
        call.unconsumed += chunk.len();
        self.tally.body_bytes += chunk.len() as u64;
        if taken == Body::End {
            assert!(call.has_head && self.view.streams[&id].has_ended && call.taken == all.len(), "an early end");
            self.tally.whole_replies += u64::from(!std::mem::replace(&mut self.calls[at].has_all, true));
            self.h2.take_response_trailers(key, &mut Section::default());
        }
        let call = &mut self.calls[at];
        let more = if source.once_in(20) { 10 } else { 0 };
        let count = if source.once_in(3) { source.below(call.unconsumed + 1) } else { call.unconsumed } + more;
        call.unconsumed = call.unconsumed.saturating_sub(count);
        self.budget += FRAMING_BYTES;
        self.h2.consumed(key, count, &mut self.out);
    }

    fn is_open(&self, at: usize) -> bool {
        let stream = &self.view.streams[&self.calls[at].id];
        !stream.is_whole && self.h2.cause(self.calls[at].key).is_none()
    }

    fn send(&mut self, at: usize, source: &mut Source<'_>) {
        let (is_open, key, id) = (self.is_open(at), self.calls[at].key, self.calls[at].id);
        let count = source.pick(&SIZES).min(self.h2.room(key));
        let first = source.byte();
        let bytes: Vec<u8> = (0..count).map(|at| first.wrapping_add((at % 253) as u8)).collect();
        assert_eq!(self.h2.send(key, &bytes, &mut self.out), is_open);
        if is_open {
            self.view.streams.get_mut(&id).unwrap().body.extend_from_slice(&bytes);
        }
    }

    fn end(&mut self, at: usize, source: &mut Source<'_>) {
        let (mut list, mut fields) = (FieldList::default(), Vec::new());
        if source.once_in(3) {
            self.more_fields(source, &mut list, &mut fields);
        }
        let (is_open, key, id) = (self.is_open(at), self.calls[at].key, self.calls[at].id);
        assert_eq!(self.h2.end(key, Some(&list), &mut self.out), is_open);
        if is_open {
            let stream = self.view.streams.get_mut(&id).unwrap();
            stream.is_whole = true;
            stream.blocks.extend((!fields.is_empty()).then_some((fields, true)));
        }
    }

    fn release(&mut self, at: usize) {
        let call = self.calls.swap_remove(at);
        self.budget += FRAMING_BYTES;
        self.h2.release(call.key, &mut self.out);
        self.note(format!("release {}", call.id));
    }

    /// The server opens all windows, and the client ends all requests: everything must come to its end.
    pub(super) fn settle(&mut self, source: &mut Source<'_>, answers: &mut Answers) {
        self.flush(self.out.len() - self.written);
        if self.is_lost() || !self.view.is_between_frames() {
            return;
        }
        let mut bytes = Vec::new();
        let mut ids = vec![0];
        if self.options.opens_each {
            ids.extend(self.calls.iter().map(|call| call.id));
        } else {
            frames::put(&mut bytes, SETTINGS, 0, 0, &[0, 4, 0x20, 0, 0, 0]);
        }
        for id in ids {
            let lacks = self.view.lacks(id, 1 << 30);
            if lacks > 0 {
                frames::put(&mut bytes, WINDOW_UPDATE, 0, id, &lacks.to_be_bytes());
            }
        }
        self.receive(&bytes, source, answers);
        for at in 0..self.calls.len() {
            self.end(at, source);
        }
        while !self.out.is_empty() || self.h2.has_held() {
            assert!(!self.out.is_empty(), "something is held, and nothing holds it back");
            self.flush(self.out.len() - self.written);
        }
        if self.is_lost() {
            return;
        }
        for call in &self.calls {
            let stream = &self.view.streams[&call.id];
            let is_done = stream.is_seen_whole || stream.is_reset || self.h2.cause(call.key).is_some();
            assert!(is_done, "half a request {}", call.id);
        }
        for at in (0..self.calls.len()).rev() {
            // What is left of its body, and then the end.
            self.take_body(at, source);
            self.take_body(at, source);
            self.release(at);
        }
        assert_eq!((self.h2.waiting_bytes(), self.h2.live_streams(), self.h2.has_held()), (0, 0, false));
        self.flush(self.out.len() - self.written);
        self.tally.settled += 1;
        self.check();
    }
}
