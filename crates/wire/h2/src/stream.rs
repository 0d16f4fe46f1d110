use leat_message::{Method, Reason};

use crate::FieldList;
use crate::closed::Cause;
use crate::response::Response;

/// Memory that a place keeps for its next stream, for each of its buffers, in bytes.
const KEPT_BYTES: usize = 4 * 1024;

/// One stream of a connection. A key of a stream that is gone finds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    pub(crate) index: u32,
    pub(crate) id: u32,
}

impl Key {
    /// The place of the stream, which another takes when it is gone: small, for tables beside the connection.
    pub fn index(self) -> usize {
        self.index as usize
    }
}

/// What there is of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// Bytes.
    Data,
    /// Nothing more, and nothing to come.
    End,
    /// Nothing yet.
    Wait,
    /// Nothing, and what was to come never will: the stream was reset.
    Gone,
}

/// Who looks at the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Handle {
    /// Nobody yet.
    #[default]
    Queued,
    /// The caller has its key.
    Held,
    /// Nobody any more.
    Released,
}

/// The peer's side of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Receiving {
    /// No final head of a response has come.
    Head,
    #[default]
    Open,
    Ended,
}

/// Our side of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sending {
    /// No final head of a reply was sent.
    #[default]
    Waiting,
    /// Body bytes may follow.
    Open,
    /// The end waits behind held bytes.
    Ending,
    Ended,
}

/// One stream, or a place for one.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    /// 0 in an empty place.
    pub(crate) id: u32,
    pub(crate) handle: Handle,
    pub(crate) receiving: Receiving,
    pub(crate) sending: Sending,
    /// How it ended; `None` while it lives.
    pub(crate) closed: Option<Cause>,
    /// Whether something changed that nobody was told of yet.
    pub(crate) is_told: bool,
    /// When its head came whole.
    pub(crate) began_ms: u64,
    /// The request's head as text.
    pub(crate) head: Vec<u8>,
    pub(crate) problem: Option<Reason>,
    /// Received body bytes that were not taken.
    pub(crate) body: Vec<u8>,
    /// The request's trailers as text; empty where there are none.
    pub(crate) trailers: Vec<u8>,
    /// What of a response comes beside its body; made with the first request in this place.
    pub(crate) response: Option<Box<Response>>,
    /// Of the request that we sent.
    pub(crate) method: Method,
    /// Body bytes that are still to come, where that is known.
    pub(crate) announced: Option<u64>,
    /// What the peer may still send.
    pub(crate) receive_window: u32,
    /// Received bytes that were not consumed.
    pub(crate) unconsumed: u32,
    /// Consumed bytes that the peer was not told of.
    pub(crate) owed: u32,
    /// What we may send; below zero after the peer has narrowed it (RFC 9113 section 6.9.2).
    pub(crate) send_window: i64,
    /// Bytes that wait for a window or for room in the output, from `held_start` on.
    pub(crate) held: Vec<u8>,
    pub(crate) held_start: usize,
    /// The trailers that we send, behind what is held.
    pub(crate) own_trailers: FieldList,
    /// Whether it stands in the line of those that may send.
    pub(crate) is_in_line: bool,
    /// What an empty place's buffers are counted with.
    pub(crate) kept_bytes: usize,
}

impl Stream {
    /// Whether it was cut off, by whom ever.
    pub(crate) fn is_reset(&self) -> bool {
        self.closed.is_some_and(|cause| cause != Cause::Ended)
    }

    pub(crate) fn held_bytes(&self) -> usize {
        self.held.len() - self.held_start
    }

    /// Memory of its buffers.
    pub(crate) fn buffers_bytes(&self) -> usize {
        let buffers = [&self.head, &self.body, &self.trailers, &self.held];
        let response = self.response.as_ref().map_or(0, |response| response.capacity());
        buffers.map(Vec::capacity).iter().sum::<usize>() + self.own_trailers.capacity() + response
    }

    /// Makes the place ready for another stream; keeps a little of its memory.
    pub(crate) fn clear(&mut self) {
        let take = |buffer: &mut Vec<u8>| {
            let mut buffer = std::mem::take(buffer);
            buffer.clear();
            if buffer.capacity() > KEPT_BYTES { Vec::new() } else { buffer }
        };
        let (head, body, trailers, held) =
            (take(&mut self.head), take(&mut self.body), take(&mut self.trailers), take(&mut self.held));
        let mut own_trailers = std::mem::take(&mut self.own_trailers);
        own_trailers.clear();
        if own_trailers.capacity() > KEPT_BYTES {
            own_trailers = FieldList::default();
        }
        let mut response = self.response.take();
        if let Some(response) = &mut response {
            response.clear(KEPT_BYTES);
        }
        *self = Self { head, body, trailers, held, own_trailers, response, ..Self::default() };
    }
}
