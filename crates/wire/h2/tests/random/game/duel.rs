//! A client and a server of ours play against each other: what each sends arrives in pieces of any size, at any time. Neither
//! ever finds fault with the other, and in the end each has got what the other has sent.

use std::collections::HashMap;

use leat_h2::{Body, Cause, Code, Connection, FieldList, Key, Section, Settings};
use leat_message::{Fields, Method};

use super::source::Source;

const SIZES: [usize; 8] = [0, 1, 10, 100, 1_000, 16_384, 16_385, 65_536];

/// What happened in duels.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Duels {
    pub(crate) requests: u64,
    /// Exchanges of which both sides got all.
    pub(crate) whole: u64,
    /// Those that one side cut off.
    pub(crate) cut: u64,
    pub(crate) body_bytes: u64,
}

impl std::ops::AddAssign for Duels {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.whole += other.whole;
        self.cut += other.cut;
        self.body_bytes += other.body_bytes;
    }
}

struct Side {
    h2: Connection,
    /// What it was sent and has not taken.
    input: Vec<u8>,
    out: Vec<u8>,
}

impl Side {
    fn receive(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
        let count = self.h2.receive(&self.input, 1_000, &mut self.out).expect("an honest peer");
        self.input.drain(..count);
    }

    /// Writes so many bytes, and fills the output again.
    fn write(&mut self, count: usize) -> Vec<u8> {
        self.h2.flushing();
        let written = self.out.drain(..count).collect();
        self.h2.pump(&mut self.out);
        written
    }
}

/// One direction of an exchange: what was sent, and what of it has come.
#[derive(Debug, Default)]
struct Way {
    heads: Vec<String>,
    body: Vec<u8>,
    trailers: String,
    has_ended: bool,
    got_heads: Vec<String>,
    got_body: Vec<u8>,
    got_trailers: String,
    got_end: bool,
}

impl Way {
    fn is_whole(&self) -> bool {
        (&self.heads, &self.body, &self.trailers) == (&self.got_heads, &self.got_body, &self.got_trailers)
            && self.has_ended
            && self.got_end
    }
}

struct Call {
    /// `None`: the client has let it go.
    key: Option<Key>,
    request: Way,
    reply: Way,
    is_cut: bool,
    /// Whether the client has found nothing to read, or no room, and was told of nothing since.
    waits_to_read: bool,
    waits_to_send: bool,
}

struct Duel {
    client: Side,
    server: Side,
    calls: Vec<Call>,
    /// What the server looks at, with the number of the call.
    held: Vec<(Key, usize)>,
    by_id: HashMap<u32, usize>,
    tally: Duels,
}

fn id(key: Key) -> u32 {
    let text = format!("{key:?}");
    text.trim_end_matches(" }").rsplit(' ').next().and_then(|number| number.parse().ok()).expect("Key { index, id }")
}

fn settings(source: &mut Source<'_>) -> Settings {
    Settings {
        streams_max: source.pick(&[100, 5, 1]),
        stream_window_bytes: source.pick(&[262_144, 65_535, 1_000]),
        connection_window_bytes: source.pick(&[1 << 20, 65_535]),
        head_bytes_max: 65_536,
        output_bytes_max: source.pick(&[65_536, 5_000, 200]),
    }
}

/// Plays a duel.
///
/// # Panics
/// Where something comes out that may not.
pub(crate) fn duel(script: &[u8]) -> Duels {
    let source = &mut Source::new(script);
    let (mut client_out, mut server_out) = (Vec::new(), Vec::new());
    let client = Connection::client(settings(source), 1_000, &mut client_out);
    let server = Connection::new(settings(source), &mut server_out);
    let mut duel = Duel {
        client: Side { h2: client, input: Vec::new(), out: client_out },
        server: Side { h2: server, input: Vec::new(), out: server_out },
        calls: Vec::new(),
        held: Vec::new(),
        by_id: HashMap::new(),
        tally: Duels::default(),
    };
    while !source.is_empty() {
        duel.act(source);
    }
    duel.settle(source);
    duel.tally
}

impl Duel {
    fn act(&mut self, source: &mut Source<'_>) {
        match source.below(16) {
            0 | 1 => self.open(source),
            2..=4 => self.client_sends(source),
            5 | 6 => self.client_reads(source),
            7..=9 => self.server_acts(source),
            10 | 11 => {
                let count = self.client.out.len().min(source.pick(&SIZES));
                self.carry_up(count);
            }
            12 | 13 => {
                let count = self.server.out.len().min(source.pick(&SIZES));
                self.carry_down(count);
            }
            14 if source.once_in(8) => {
                let at = source.below(self.calls.len().max(1));
                self.cancel(at);
            }
            _ if source.once_in(100) => self.server.h2.close(&mut self.server.out),
            _ => {
                self.carry_up(self.client.out.len());
                self.carry_down(self.server.out.len());
            }
        }
    }

    fn carry_up(&mut self, count: usize) {
        let bytes = self.client.write(count);
        self.client_is_told();
        self.server.receive(&bytes);
        while let Some((key, problem)) = self.server.h2.next_request(&mut self.server.out) {
            assert_eq!(problem, Ok(()));
            let at = self.by_id[&id(key)];
            let mut text = Vec::new();
            self.server.h2.swap_head(key, &mut text);
            self.calls[at].request.got_heads.push(String::from_utf8(text).unwrap());
            self.held.push((key, at));
        }
        while self.server.h2.next_told().is_some() {}
    }

    fn carry_down(&mut self, count: usize) {
        let bytes = self.server.write(count);
        self.client.receive(&bytes);
        self.client_is_told();
    }

    /// Whoever waits looks again only where it was told to, as a task does.
    fn client_is_told(&mut self) {
        while let Some(key) = self.client.h2.next_told() {
            let call = &mut self.calls[self.by_id[&id(key)]];
            (call.waits_to_read, call.waits_to_send) = (false, false);
        }
        for call in self.calls.iter().filter(|call| call.waits_to_send) {
            let is_woken =
                call.key.is_some_and(|key| self.client.h2.room(key) > 0 || self.client.h2.cause(key).is_some());
            assert!(!is_woken, "there is room, and nobody was told");
        }
    }

    fn open(&mut self, source: &mut Source<'_>) {
        let at = self.calls.len();
        let (has_room, ends) =
            (self.client.h2.live_streams() < self.client.h2.streams_max() as usize, source.once_in(3));
        let method = if ends { "GET" } else { "POST" };
        let path = format!("/{at}");
        let mut list = FieldList::default();
        for (name, value) in [(":method", method), (":scheme", "http"), (":path", &path), (":authority", "leat.test")] {
            list.push(name.as_bytes(), value.as_bytes());
        }
        let mut text = format!("{method} {path} HTTP/1.1\r\nhost: leat.test\r\n");
        fields(source, &mut list).into_iter().for_each(|(name, value)| text += &format!("{name}: {value}\r\n"));
        let takes = self.client.h2.takes_streams() && has_room;
        let key = self.client.h2.open(Method::from_bytes(method.as_bytes()), &list, ends, &mut self.client.out);
        assert_eq!(key.is_some(), takes);
        let Some(key) = key else { return };
        self.tally.requests += 1;
        self.by_id.insert(id(key), at);
        let request = Way { heads: vec![text + "\r\n"], has_ended: ends, ..Way::default() };
        let call = Call {
            key: Some(key),
            request,
            reply: Way::default(),
            is_cut: false,
            waits_to_read: false,
            waits_to_send: false,
        };
        self.calls.push(call);
    }

    fn client_sends(&mut self, source: &mut Source<'_>) {
        let at = source.below(self.calls.len().max(1));
        let Some(call) = self.calls.get_mut(at) else { return };
        let Some(key) = call.key.filter(|_| !call.request.has_ended) else { return };
        let (h2, out) = (&mut self.client.h2, &mut self.client.out);
        if source.once_in(4) {
            let mut list = FieldList::default();
            let trailers = if source.once_in(2) { fields(source, &mut list) } else { Vec::new() };
            if h2.end(key, Some(&list), out) {
                call.request.has_ended = true;
                call.request.trailers = section(&trailers);
            }
            return;
        }
        let bytes = bytes(source, h2.room(key));
        let is_sent = h2.send(key, &bytes, out);
        assert!(is_sent || h2.cause(key).is_some());
        call.waits_to_send = is_sent && h2.room(key) == 0;
        if is_sent {
            call.request.body.extend_from_slice(&bytes);
        }
        assert!(h2.held_bytes(key) <= 65_536);
    }

    fn client_reads(&mut self, source: &mut Source<'_>) {
        let at = source.below(self.calls.len().max(1));
        self.client_reads_from(at);
    }

    fn client_reads_from(&mut self, at: usize) {
        let Some(call) = self.calls.get_mut(at) else { return };
        let Some(key) = call.key.filter(|_| !call.waits_to_read) else { return };
        let (h2, out) = (&mut self.client.h2, &mut self.client.out);
        let mut head = Section::default();
        while h2.take_head(key, &mut head) {
            call.reply.got_heads.push(format!("{} {}", head.lines.status, text_of(&head)));
        }
        let mut chunk = Vec::new();
        loop {
            match h2.take_body(key, &mut chunk) {
                Body::Data => {
                    call.reply.got_body.extend_from_slice(&chunk);
                    self.tally.body_bytes += chunk.len() as u64;
                    h2.consumed(key, chunk.len(), out);
                }
                Body::End => {
                    if h2.take_response_trailers(key, &mut head) {
                        call.reply.got_trailers = text_of(&head);
                    }
                    call.reply.got_end = true;
                    return;
                }
                Body::Wait => {
                    call.waits_to_read = true;
                    return;
                }
                Body::Gone => {
                    let cause = h2.cause(key).unwrap();
                    assert!(matches!(cause, Cause::ResetByPeer(_) | Cause::Unprocessed), "{cause:?}");
                    call.is_cut = true;
                    return;
                }
            }
        }
    }

    /// The client lets a call go, ended or not.
    fn cancel(&mut self, at: usize) {
        let Some(call) = self.calls.get_mut(at) else { return };
        if let Some(key) = call.key.take() {
            call.waits_to_send = false;
            call.is_cut |= !(call.request.has_ended && call.reply.got_end);
            self.client.h2.release(key, &mut self.client.out);
        }
    }

    fn server_acts(&mut self, source: &mut Source<'_>) {
        if self.held.is_empty() {
            return;
        }
        let at = source.below(self.held.len());
        let (key, call) = self.held[at];
        match source.below(10) {
            0..=2 => self.server_reads(at),
            3..=5 => self.server_sends(at, source),
            6 => self.server_replies(at, source),
            7 => self.server_ends(at, source),
            8 if source.once_in(12) => {
                self.calls[call].is_cut = true;
                self.server.h2.reset(key, source.pick(&[Code::CANCEL, Code::REFUSED_STREAM]), &mut self.server.out);
            }
            9 if self.calls[call].reply.has_ended && source.once_in(2) => self.server_releases(at),
            _ => {}
        }
    }

    /// The reply is complete; the rest of the request is not wanted.
    fn server_releases(&mut self, at: usize) {
        let (key, call) = self.held.swap_remove(at);
        self.calls[call].is_cut |= !self.calls[call].request.got_end;
        self.server.h2.release(key, &mut self.server.out);
    }

    fn server_reads(&mut self, at: usize) {
        let (key, call) = self.held[at];
        let (h2, out, request) = (&mut self.server.h2, &mut self.server.out, &mut self.calls[call].request);
        let mut chunk = Vec::new();
        loop {
            match h2.take_body(key, &mut chunk) {
                Body::Data => {
                    request.got_body.extend_from_slice(&chunk);
                    h2.consumed(key, chunk.len(), out);
                }
                Body::End => {
                    if h2.take_trailers(key, &mut chunk) {
                        request.got_trailers = String::from_utf8(std::mem::take(&mut chunk)).unwrap();
                    }
                    request.got_end = true;
                    return;
                }
                Body::Wait => return,
                Body::Gone => {
                    self.calls[call].is_cut = true;
                    return;
                }
            }
        }
    }

    fn server_replies(&mut self, at: usize, source: &mut Source<'_>) {
        let (key, call) = self.held[at];
        let (h2, out, reply) = (&mut self.server.h2, &mut self.server.out, &mut self.calls[call].reply);
        if reply.heads.iter().any(|head| head.starts_with('2')) || h2.is_reset(key) {
            return;
        }
        let mut list = FieldList::default();
        let listed = fields(source, &mut list);
        let status = source.pick(&[200_u16, 200, 103, 204]);
        let ends = status == 204 || status == 200 && source.once_in(4);
        let listed: Vec<String> = listed.iter().map(|(name, value)| format!("{name}={value}")).collect();
        reply.heads.push(format!("{status} {}", listed.join("|")));
        if status == 103 {
            return h2.interim(key, status, &list, out);
        }
        assert!(h2.head(key, status, &list, ends, out));
        reply.has_ended = ends;
    }

    fn server_sends(&mut self, at: usize, source: &mut Source<'_>) {
        let (key, call) = self.held[at];
        let bytes = bytes(source, self.server.h2.room(key));
        if self.server.h2.send(key, &bytes, &mut self.server.out) {
            self.calls[call].reply.body.extend_from_slice(&bytes);
        }
    }

    fn server_ends(&mut self, at: usize, source: &mut Source<'_>) {
        let (key, call) = self.held[at];
        let mut list = FieldList::default();
        let trailers = if source.once_in(2) { fields(source, &mut list) } else { Vec::new() };
        if self.server.h2.end(key, Some(&list), &mut self.server.out) {
            let listed: Vec<String> = trailers.iter().map(|(name, value)| format!("{name}={value}")).collect();
            self.calls[call].reply.trailers = listed.join("|");
            self.calls[call].reply.has_ended = true;
        }
    }

    /// Everybody ends what is open and reads what comes: nothing is left.
    fn settle(&mut self, source: &mut Source<'_>) {
        for at in 0..self.calls.len() {
            let call = &mut self.calls[at];
            if let Some(key) = call.key.filter(|_| !call.request.has_ended) {
                call.request.has_ended = self.client.h2.end(key, None, &mut self.client.out);
            }
        }
        let mut quiet = 0;
        while quiet < 3 {
            let before = self.client.out.len() + self.server.out.len();
            self.carry_up(self.client.out.len());
            for at in 0..self.held.len() {
                self.server_reads(at);
                while !self.calls[self.held[at].1].reply.heads.iter().any(|head| head.starts_with('2'))
                    && !self.server.h2.is_reset(self.held[at].0)
                {
                    self.server_replies(at, source);
                    if source.is_empty() {
                        self.server_replies(at, &mut Source::new(&[0, 0, 0, 0]));
                    }
                }
                if !self.calls[self.held[at].1].reply.has_ended {
                    self.server_ends(at, source);
                }
            }
            self.carry_down(self.server.out.len());
            (0..self.calls.len()).for_each(|at| self.client_reads_from(at));
            quiet = if before == 0 && self.client.out.is_empty() && self.server.out.is_empty() { quiet + 1 } else { 0 };
        }
        for at in (0..self.held.len()).rev() {
            self.server_releases(at);
        }
        for (at, call) in self.calls.iter().enumerate() {
            if call.key.is_some() && !call.is_cut {
                assert!(call.request.is_whole() && call.reply.is_whole(), "{at}: {:?} {:?}", call.request, call.reply);
                self.tally.whole += 1;
            }
            self.tally.cut += u64::from(call.is_cut);
        }
        (0..self.calls.len()).for_each(|at| self.cancel(at));
        self.carry_up(self.client.out.len());
        self.carry_down(self.server.out.len());
        for side in [&self.client, &self.server] {
            assert_eq!((side.h2.live_streams(), side.h2.waiting_bytes(), side.h2.has_held()), (0, 0, false));
            assert!(!side.h2.is_lost());
        }
    }
}

fn bytes(source: &mut Source<'_>, room: usize) -> Vec<u8> {
    let (count, first) = (source.pick(&SIZES).min(room), source.byte());
    (0..count).map(|at| first.wrapping_add((at % 251) as u8)).collect()
}

fn fields(source: &mut Source<'_>, list: &mut FieldList) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    for _ in 0..source.below(4) {
        let name = source.pick(&["x-a", "server", "x-longer-than-others", "set-cookie"]);
        let len = if source.once_in(40) { 9_000 } else { source.below(30) };
        let value = (b'a' + source.byte() % 26) as char;
        let value: String = std::iter::repeat_n(value, len).collect();
        match source.once_in(4) {
            true => list.push_secret(name.as_bytes(), value.as_bytes()),
            false => list.push(name.as_bytes(), value.as_bytes()),
        }
        fields.push((name.to_owned(), value));
    }
    fields
}

/// Trailers as the server has them.
fn section(trailers: &[(String, String)]) -> String {
    if trailers.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = trailers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("0\r\n{}\r\n", lines.concat())
}

fn text_of(section: &Section) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let fields = Fields::new(&section.bytes, &section.lines.fields);
    fields.iter().map(|(_, name, value)| format!("{}={}", text(name), text(value))).collect::<Vec<_>>().join("|")
}
