use std::collections::VecDeque;

use leat_message::Reason;

use crate::closed::{Cause, Closed};
use crate::frame::{self, kind};
use crate::hpack::{Decoder, Encoder, TABLE_BYTES_INITIAL};
use crate::meter::Meter;
use crate::request::RequestText;
use crate::response::ResponseReader;
use crate::role::Role;
use crate::settings::{PeerSettings, WINDOW_BYTES_INITIAL};
use crate::stream::{Body, Handle, Key, Receiving, Stream};
use crate::streams::Streams;
use crate::{Code, Settings};

/// The first bytes of every connection (RFC 9113 section 3.4).
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Bytes that are owed to a peer which has nothing left of a window are told from here on: smaller steps cost more than they
/// bring.
const GIVEN_BACK_BYTES_MIN: u32 = 16 * 1024;
/// Memory that a stream's buffers keep while nothing is in them, each, in bytes.
pub(crate) const REST_BYTES: usize = 16 * 1024;

/// What our PING behind the first GOAWAY carries: its answer tells that the client has read that.
const FAREWELL: [u8; 8] = *b"farewell";

/// How far the end of a connection has come (section 6.8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goodbye {
    /// Nobody thinks of it.
    #[default]
    None,
    /// The peer was told; streams that it had opened by then are still taken.
    Announced,
    /// No further stream is taken.
    Said {
        /// The last one that was.
        last_stream: u32,
    },
}

/// How far what arrives has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arriving {
    /// The preface, of which so many bytes have come.
    Preface(usize),
    /// The SETTINGS that must follow it.
    FirstSettings,
    Frames,
    /// The payload of a DATA frame.
    Data(Incoming),
    /// Nothing is read any more.
    Nothing,
}

/// The rest of a DATA frame's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Incoming {
    pub(crate) stream: u32,
    /// `None`: it is thrown away.
    pub(crate) key: Option<Key>,
    pub(crate) data: usize,
    pub(crate) padding: usize,
    pub(crate) ends: bool,
}

/// A field block that is under way in several frames.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// 0 while there is none.
    pub(crate) stream: u32,
    pub(crate) ends: bool,
    pub(crate) depends_on_itself: bool,
    pub(crate) bytes: Vec<u8>,
}

/// The DATA frame at the end of the output, to which more may be added.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tail {
    pub(crate) key: Key,
    /// Where its header begins.
    pub(crate) start: usize,
    /// Where it ends: the length of the output, while nothing else is appended.
    pub(crate) end: usize,
}

/// One side of a connection.
///
/// `out` is always the same buffer, which the caller writes to the socket; see [`Connection::flushing`]. In the steady state
/// nothing is allocated.
#[derive(Debug)]
pub struct Connection {
    pub(crate) role: Role,
    pub(crate) own: Settings,
    pub(crate) peer: PeerSettings,
    pub(crate) arriving: Arriving,
    pub(crate) decoder: Decoder,
    pub(crate) encoder: Encoder,
    pub(crate) streams: Streams,
    pub(crate) closed: Closed,
    pub(crate) meter: Meter,
    pub(crate) request: RequestText,
    pub(crate) response: ResponseReader,
    pub(crate) block: Block,
    /// The highest stream that the client opened.
    pub(crate) last_stream: u32,
    pub(crate) goodbye: Goodbye,
    /// The last stream that the peer's GOAWAY names, if it has said one.
    pub(crate) peer_leaves: Option<u32>,
    /// Whether an answer to our PING is awaited.
    pub(crate) is_asking: bool,
    pub(crate) receive_window: u32,
    /// Consumed bytes that the peer was not told of.
    pub(crate) owed: u32,
    pub(crate) send_window: i64,
    /// Streams that have something to send, and a window for it.
    pub(crate) line: VecDeque<Key>,
    /// Streams that the caller has not looked at.
    pub(crate) opened: VecDeque<Key>,
    /// Streams on which something happened.
    pub(crate) told: Vec<Key>,
    /// Bytes that wait: of bodies in both directions, and of responses' heads.
    pub(crate) waiting_bytes: usize,
    pub(crate) tail: Option<Tail>,
    pub(crate) in_head_since_ms: Option<u64>,
}

impl Connection {
    /// Begins the server's side of a connection: appends our settings.
    pub fn new(own: Settings, out: &mut Vec<u8>) -> Self {
        Self::begin(Role::Server, own, own.streams_max as usize, out)
    }

    /// `resets_known`: streams that we reset of which we still know.
    pub(crate) fn begin(role: Role, own: Settings, resets_known: usize, out: &mut Vec<u8>) -> Self {
        own.put(role, out);
        Self {
            role,
            own,
            peer: PeerSettings::default(),
            arriving: if role == Role::Server { Arriving::Preface(0) } else { Arriving::FirstSettings },
            decoder: Decoder::new(TABLE_BYTES_INITIAL),
            encoder: Encoder::new(),
            streams: Streams::default(),
            closed: Closed::new(resets_known),
            meter: Meter::default(),
            request: RequestText::default(),
            response: ResponseReader::default(),
            block: Block::default(),
            last_stream: 0,
            goodbye: Goodbye::None,
            peer_leaves: None,
            is_asking: false,
            receive_window: own.connection_window_bytes.max(WINDOW_BYTES_INITIAL),
            owed: 0,
            send_window: i64::from(WINDOW_BYTES_INITIAL),
            line: VecDeque::new(),
            opened: VecDeque::new(),
            told: Vec::new(),
            waiting_bytes: 0,
            tail: None,
            in_head_since_ms: None,
        }
    }

    /// The next request that came. Its head is to be taken with [`Connection::swap_head`]; what is wrong with it beyond its
    /// text comes here. Whoever takes a key gives it back with [`Connection::release`].
    pub fn next_request(&mut self, out: &mut Vec<u8>) -> Option<(Key, Result<(), Reason>)> {
        while let Some(key) = self.opened.pop_front() {
            let Some(stream) = self.streams.get_mut(key) else { continue };
            if stream.closed.is_none() {
                stream.handle = Handle::Held;
                return Some((key, stream.problem.map_or(Ok(()), Err)));
            }
            // It was reset before anybody looked.
            self.release(key, out);
        }
        None
    }

    /// The next stream on which something happened that whoever looks at it may wait for.
    pub fn next_told(&mut self) -> Option<Key> {
        while let Some(key) = self.told.pop() {
            if let Some(stream) = self.streams.get_mut(key) {
                stream.is_told = false;
                return Some(key);
            }
        }
        None
    }

    /// Swaps the text of a request's head for `into`, whose memory the next stream uses.
    pub fn swap_head(&mut self, key: Key, into: &mut Vec<u8>) {
        if let Some(stream) = self.streams.get_mut(key) {
            std::mem::swap(&mut stream.head, into);
        }
    }

    /// Whether the peer ended its side, and everything before that was taken.
    pub fn has_ended(&self, key: Key) -> bool {
        self.streams.get(key).is_none_or(|stream| {
            stream.receiving == Receiving::Ended && stream.body.is_empty() && stream.trailers.is_empty()
        })
    }

    /// Whether all of a body is here, and no trailers behind it; says how many bytes it is.
    pub fn whole_body(&self, key: Key) -> Option<usize> {
        let stream = self.streams.get(key)?;
        let is_whole = stream.closed.is_none() && stream.receiving == Receiving::Ended && stream.trailers.is_empty();
        is_whole.then_some(stream.body.len())
    }

    /// Takes what has come of a body, in exchange for an empty buffer. The bytes count as received but not as consumed.
    pub fn take_body(&mut self, key: Key, into: &mut Vec<u8>) -> Body {
        into.clear();
        let Some(stream) = self.streams.get_mut(key) else { return Body::Gone };
        if !stream.body.is_empty() {
            std::mem::swap(&mut stream.body, into);
            self.waiting_bytes -= into.len();
            return Body::Data;
        }
        // A stream at rest does not keep what a burst took.
        for buffer in [&mut stream.body, into] {
            if buffer.capacity() > REST_BYTES {
                *buffer = Vec::new();
            }
        }
        let is_reset = stream.is_reset();
        match stream.receiving {
            // A response that is whole stays so (section 8.1); a request is of no use without a stream for its reply.
            Receiving::Ended if !is_reset || self.role != Role::Server => Body::End,
            _ if is_reset => Body::Gone,
            _ => Body::Wait,
        }
    }

    /// Swaps the text of a request's trailers for `into`; `false` where there are none.
    pub fn take_trailers(&mut self, key: Key, into: &mut Vec<u8>) -> bool {
        into.clear();
        match self.streams.get_mut(key) {
            Some(stream) if !stream.trailers.is_empty() => {
                std::mem::swap(&mut stream.trailers, into);
                true
            }
            _ => false,
        }
    }

    /// Whether the stream was reset, by whom ever.
    pub fn is_reset(&self, key: Key) -> bool {
        self.streams.get(key).is_none_or(Stream::is_reset)
    }

    /// The peer may send `count` more bytes, which somebody was done with.
    pub fn consumed(&mut self, key: Key, count: usize, out: &mut Vec<u8>) {
        let Some(stream) = self.streams.get_mut(key) else { return };
        let count = u32::try_from(count).unwrap_or(u32::MAX).min(stream.unconsumed);
        stream.unconsumed -= count;
        self.give_back(Some(key), count, out);
    }

    /// Opens the windows again by `count` bytes; the peer is told once half of a window is owed, or as much as the peer
    /// has left: others may keep the rest of the window for long.
    pub(crate) fn give_back(&mut self, key: Option<Key>, count: u32, out: &mut Vec<u8>) {
        if self.arriving == Arriving::Nothing {
            return;
        }
        self.owed += count;
        if is_due(self.owed, self.own.connection_window_bytes, self.receive_window) {
            self.receive_window += self.owed;
            frame::window_update(out, 0, std::mem::take(&mut self.owed));
        }
        let Some(key) = key else { return };
        let window_bytes = self.own.stream_window_bytes;
        let Some(stream) = self.streams.get_mut(key) else { return };
        if stream.closed.is_some() || stream.receiving == Receiving::Ended {
            return;
        }
        stream.owed += count;
        if is_due(stream.owed, window_bytes, stream.receive_window) {
            stream.receive_window += stream.owed;
            frame::window_update(out, key.id, std::mem::take(&mut stream.owed));
        }
    }

    /// Says that the connection will end: streams that the client opens before it knows are still taken. As a client, we open
    /// no more. Said again, it waits no longer for the client's word that it knows: no further stream is taken.
    pub fn close(&mut self, out: &mut Vec<u8>) {
        match self.goodbye {
            _ if self.arriving == Arriving::Nothing => return,
            Goodbye::None => {}
            Goodbye::Announced => return self.say_goodbye(out),
            Goodbye::Said { .. } => return,
        }
        if self.role != Role::Server {
            // A server that is told not to push has opened none.
            self.goodbye = Goodbye::Said { last_stream: 0 };
            return frame::go_away(out, 0, Code::NO_ERROR);
        }
        self.goodbye = Goodbye::Announced;
        frame::go_away(out, 0x7fff_ffff, Code::NO_ERROR);
        frame::put(out, kind::PING, 0, 0, &FAREWELL);
    }

    /// An answer to a PING of ours came: if it is the one behind the first GOAWAY, the last one follows.
    pub(crate) fn farewell(&mut self, payload: &[u8], out: &mut Vec<u8>) {
        if self.goodbye == Goodbye::Announced && payload == FAREWELL {
            self.say_goodbye(out);
        }
    }

    fn say_goodbye(&mut self, out: &mut Vec<u8>) {
        self.goodbye = Goodbye::Said { last_stream: self.last_stream };
        frame::go_away(out, self.last_stream, Code::NO_ERROR);
    }

    /// Whether nothing is left to do: the end was said by one side, and no stream lives.
    pub fn is_over(&self) -> bool {
        let is_said = matches!(self.goodbye, Goodbye::Said { .. }) || self.peer_leaves.is_some();
        is_said && self.streams.live() == 0 && self.opened.is_empty()
    }

    /// Ends the connection at once, for what the peer did: GOAWAY with `code`, and every stream is reset.
    pub fn abort(&mut self, code: Code, out: &mut Vec<u8>) {
        if self.arriving != Arriving::Nothing {
            // It never names a later stream than one before did (section 6.8).
            let last_stream = match self.goodbye {
                Goodbye::Said { last_stream } => last_stream,
                Goodbye::None | Goodbye::Announced if self.role == Role::Server => self.last_stream,
                Goodbye::None | Goodbye::Announced => 0,
            };
            frame::go_away(out, last_stream, code);
        }
        self.lose_all(Cause::Faulty);
    }

    /// The connection is gone: every stream is reset, and nothing is read or framed any more.
    pub fn lose(&mut self) {
        self.lose_all(Cause::Lost);
    }

    fn lose_all(&mut self, cause: Cause) {
        self.arriving = Arriving::Nothing;
        self.goodbye = Goodbye::Said { last_stream: self.last_stream };
        self.in_head_since_ms = None;
        for key in self.streams.keys() {
            self.end_stream(key, cause);
        }
        self.line.clear();
    }

    /// Whether the connection is of no use any more.
    pub fn is_lost(&self) -> bool {
        self.arriving == Arriving::Nothing
    }

    /// Streams that are open, or closed by one side only.
    pub fn live_streams(&self) -> usize {
        self.streams.live()
    }

    /// Bytes that wait: of bodies, received ones for their exchange, sent ones for the peer's windows; and of responses' heads.
    pub fn waiting_bytes(&self) -> usize {
        self.waiting_bytes
    }

    /// Whether something is held that could be sent, if there were room for it.
    pub fn has_held(&self) -> bool {
        !self.line.is_empty()
    }

    /// Whether the peer's preface has come: of a server, its settings.
    pub fn has_begun(&self) -> bool {
        match self.arriving {
            Arriving::Preface(_) => false,
            Arriving::FirstSettings => self.role == Role::Server,
            Arriving::Frames | Arriving::Data(_) | Arriving::Nothing => true,
        }
    }

    /// Since when a head has begun and not ended.
    pub fn in_head_since_ms(&self) -> Option<u64> {
        self.in_head_since_ms
    }

    /// Nobody looks at the stream any more. What is held of a reply is still sent; a stream that is not ended is reset.
    pub fn release(&mut self, key: Key, out: &mut Vec<u8>) {
        let Some(stream) = self.streams.get_mut(key) else { return };
        stream.handle = Handle::Released;
        let mut unread = stream.body.len();
        stream.body.clear();
        if let Some(response) = &mut stream.response {
            unread += response.discard();
        }
        self.waiting_bytes -= unread;
        let unconsumed = std::mem::take(&mut stream.unconsumed);
        self.give_back(None, unconsumed, out);
        self.settle(key, out);
        self.streams.sweep(key);
    }

    /// Tells whoever looks at the stream.
    pub(crate) fn tell(&mut self, key: Key) {
        if let Some(stream) = self.streams.get_mut(key)
            && stream.handle == Handle::Held
            && !std::mem::replace(&mut stream.is_told, true)
        {
            self.told.push(key);
        }
    }

    /// The stream lives no more.
    pub(crate) fn end_stream(&mut self, key: Key, cause: Cause) {
        let Some(stream) = self.streams.get_mut(key) else { return };
        if stream.closed.is_some() {
            return;
        }
        stream.closed = Some(cause);
        self.waiting_bytes -= stream.held_bytes();
        if std::mem::take(&mut stream.is_in_line) {
            self.line.retain(|&other| other != key);
        }
        stream.held.clear();
        stream.held_start = 0;
        stream.own_trailers.clear();
        // What a server has sent before a stream broke is still read.
        if cause != Cause::Ended && self.role == Role::Server {
            self.waiting_bytes -= stream.body.len();
            stream.body.clear();
        }
        self.closed.push(key.id, cause);
        self.streams.unlist(key.id);
        self.tell(key);
        self.streams.sweep(key);
    }
}

/// Whether a peer with `left` bytes of a window is to be told of `owed` more.
fn is_due(owed: u32, window_bytes: u32, left: u32) -> bool {
    owed > 0 && owed >= (window_bytes / 2).min(left.max(GIVEN_BACK_BYTES_MIN))
}
