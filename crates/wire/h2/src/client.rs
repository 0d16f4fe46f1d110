//! What only a client does: it opens streams, and takes responses.

use leat_message::Method;

use crate::closed::Cause;
use crate::code::Fault;
use crate::connection::{Arriving, Connection, Goodbye, PREFACE};
use crate::frame::{self, flag, kind, number};
use crate::role::Role;
use crate::send::Block;
use crate::stream::{Handle, Key, Receiving, Sending};
use crate::{Code, FieldList, Section, Settings};

/// Streams that we reset of which we still know: more than are given up while a server does not know yet.
const RESETS_KNOWN: usize = 1_024;
/// The highest id that a stream may have (RFC 9113 section 5.1.1).
const ID_MAX: u32 = 0x7fff_ffff;
/// What our PING carries: other answers are none to it.
const QUESTION: [u8; 8] = *b"you here";

impl Connection {
    /// Begins the client's side of a connection: appends the preface and our settings. More than `interims_max` interim
    /// responses to one request are an error of the server.
    pub fn client(own: Settings, interims_max: u32, out: &mut Vec<u8>) -> Self {
        out.extend_from_slice(PREFACE);
        Self::begin(Role::Client { interims_max }, own, RESETS_KNOWN, out)
    }

    /// Whether the connection takes new streams: its end was not said by anybody, and there are ids left.
    pub fn takes_streams(&self) -> bool {
        self.peer_leaves.is_none() && self.goodbye == Goodbye::None && self.next_id().is_some()
    }

    /// Streams that the server lets us have open at once.
    pub fn streams_max(&self) -> u32 {
        self.peer.streams_max
    }

    fn next_id(&self) -> Option<u32> {
        if self.last_stream == 0 { Some(1) } else { (self.last_stream + 2 <= ID_MAX).then(|| self.last_stream + 2) }
    }

    /// Sends a request's head, pseudo-header fields first; `ends`: there is no body. Whoever has the key gives it back with
    /// [`Connection::release`], which resets a stream that is not ended.
    ///
    /// `None`: nothing was sent, since the connection takes no new streams or has as many as the server allows.
    pub fn open(&mut self, method: Method, fields: &FieldList, ends: bool, out: &mut Vec<u8>) -> Option<Key> {
        let id = self.next_id()?;
        if !self.takes_streams() || self.streams.live() >= self.peer.streams_max as usize {
            return None;
        }
        self.last_stream = id;
        let began_ms = self.meter.opened();
        let (send_window, receive_window) = (i64::from(self.peer.window_bytes), self.own.stream_window_bytes);
        let key = self.streams.insert(id);
        if let Some(stream) = self.streams.get_mut(key) {
            stream.handle = Handle::Held;
            stream.method = method;
            stream.began_ms = began_ms;
            stream.receiving = Receiving::Head;
            stream.sending = if ends { Sending::Ended } else { Sending::Open };
            stream.send_window = send_window;
            stream.receive_window = receive_window;
            stream.response.get_or_insert_default();
        }
        self.put_block(id, if ends { flag::END_STREAM } else { 0 }, Block::Request(fields), out);
        Some(key)
    }

    /// Swaps the next head for `into`, if one has come: an interim one, or the final one.
    pub fn take_head(&mut self, key: Key, into: &mut Section) -> bool {
        let Some(response) = self.streams.get_mut(key).and_then(|stream| stream.response.as_deref_mut()) else {
            return false;
        };
        if let Some(interim) = response.interims.pop_front() {
            *into = interim;
        } else if std::mem::take(&mut response.has_head) {
            std::mem::swap(&mut response.head, into);
        } else {
            return false;
        }
        self.waiting_bytes -= into.bytes.len();
        true
    }

    /// Swaps a response's trailers for `into`; `false` where there are none.
    pub fn take_response_trailers(&mut self, key: Key, into: &mut Section) -> bool {
        let response = self.streams.get_mut(key).and_then(|stream| stream.response.as_deref_mut());
        let Some(response) = response.filter(|response| response.has_trailers) else { return false };
        response.has_trailers = false;
        std::mem::swap(&mut response.trailers, into);
        self.waiting_bytes -= into.bytes.len();
        true
    }

    /// How the stream ended; `None` while it lives.
    pub fn cause(&self, key: Key) -> Option<Cause> {
        self.streams.get(key).map_or(Some(Cause::Lost), |stream| stream.closed)
    }

    /// Whether a response has announced more bytes than have come.
    pub fn is_short(&self, key: Key) -> bool {
        self.streams.get(key).is_some_and(|stream| stream.announced.is_some_and(|left| left > 0))
    }

    /// Asks the server whether it is still there.
    pub fn ask(&mut self, out: &mut Vec<u8>) {
        if self.arriving != Arriving::Nothing {
            self.is_asking = true;
            frame::put(out, kind::PING, 0, 0, &QUESTION);
        }
    }

    /// Whether the answer to that is still to come.
    pub fn is_asking(&self) -> bool {
        self.is_asking
    }

    /// An answer to a PING came.
    pub(crate) fn answered(&mut self, payload: &[u8]) {
        self.is_asking &= payload != QUESTION;
    }

    /// The peer says goodbye. A server takes no streams behind the one that it names, and did nothing with those (section 6.8).
    pub(crate) fn leave_by_peer(&mut self, payload: &[u8]) -> Result<(), Fault> {
        let last_stream = number(payload).map_or(0, |last| last & ID_MAX);
        let before = self.peer_leaves.replace(last_stream);
        if self.role == Role::Server {
            return Ok(());
        }
        if before.is_some_and(|before| last_stream > before) {
            return Err(Code::PROTOCOL_ERROR.into());
        }
        for key in self.streams.keys().into_iter().filter(|key| key.id > last_stream) {
            self.end_stream(key, Cause::Unprocessed);
        }
        Ok(())
    }

    /// A whole field block of a live stream: a head, or trailers.
    pub(crate) fn response(&mut self, key: Key, ends: bool, block: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        let receiving = self.streams.get(key).map_or(Receiving::Ended, |stream| stream.receiving);
        match receiving {
            Receiving::Head => self.response.begin_head(),
            Receiving::Open => self.response.begin_trailers(),
            Receiving::Ended => self.response.begin_nothing(),
        }
        let is_whole = self.decode(block)?;
        let malformed = Fault::Stream(key.id, Code::PROTOCOL_ERROR);
        let Role::Client { interims_max } = self.role else { return Err(malformed) };
        if receiving == Receiving::Ended {
            return Err(Fault::Stream(key.id, Code::STREAM_CLOSED));
        }
        let content_length = self.response.finish().map_err(|_| malformed)?;
        let section = &mut self.response.section;
        section.ends = ends;
        let (status, len) = (section.lines.status, section.bytes.len());
        let is_interim = (100..=199).contains(&status);
        // An interim head never ends a stream, and what comes behind the final one always does (section 8.1).
        let is_out_of_place = if receiving == Receiving::Open { !ends } else { is_interim && ends };
        if !is_whole || is_out_of_place {
            return Err(malformed);
        }
        let Some(stream) = self.streams.get_mut(key) else { return Ok(()) };
        let response = stream.response.get_or_insert_default();
        if is_interim {
            response.interims_seen += 1;
            if response.interims_seen > interims_max {
                return Err(Fault::Stream(key.id, Code::ENHANCE_YOUR_CALM));
            }
            response.interims.push_back(std::mem::take(section));
        } else if receiving == Receiving::Open {
            std::mem::swap(&mut response.trailers, section);
            response.has_trailers = true;
        } else {
            stream.announced = match (stream.method, status) {
                (Method::Connect, 200..=299) => None,
                // These have no body, whatever they announce (RFC 9110 section 6.4.1).
                (Method::Head, _) | (_, 204 | 304) => Some(0),
                _ => content_length,
            };
            if ends && stream.announced.is_some_and(|length| length > 0) {
                return Err(malformed);
            }
            stream.receiving = Receiving::Open;
            std::mem::swap(&mut response.head, section);
            response.has_head = true;
        }
        self.waiting_bytes += len;
        self.tell(key);
        if ends { self.end_receiving(key, out) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_run_out() {
        let settings = Settings {
            streams_max: 8,
            stream_window_bytes: 1_000,
            connection_window_bytes: 70_000,
            head_bytes_max: 4_000,
            output_bytes_max: 10_000,
        };
        let mut out = Vec::new();
        let mut h2 = Connection::client(settings, 1, &mut out);
        h2.last_stream = ID_MAX - 4;
        let fields = FieldList::default();
        for left in [2, 0] {
            assert!(h2.takes_streams());
            let key = h2.open(Method::Get, &fields, true, &mut out).unwrap();
            assert_eq!(key.id, ID_MAX - left);
        }
        assert!(!h2.takes_streams() && h2.open(Method::Get, &fields, true, &mut out).is_none());
        assert_eq!(h2.live_streams(), 2);
    }
}
