use std::cell::RefCell;
use std::task::{Context, Poll};

use leat_h2::{Body, Cause, Code, FieldList, Key, Section};
use leat_message::{Fields, Length, Method, Name, Piece, Reason, ResponseHead, decimal};

use super::connection::Seat;
use super::request;
use crate::EndpointLimits;

thread_local! {
    /// Exchanges that have ended, for the next ones.
    #[expect(clippy::vec_box)]
    static SPARE: RefCell<Vec<Box<Exchange>>> = const { RefCell::new(Vec::new()) };
}

/// Exchanges whose memory a core keeps for reuse.
const SPARE_MAX: usize = 256;
/// Memory that one keeps, for each of its buffers, in bytes.
const KEPT_BYTES: usize = 4 * 1024;

/// One exchange: a stream. Whoever has it calls [`Exchange::finish`]; before it is complete, that resets the stream with CANCEL.
#[derive(Default)]
pub(crate) struct Exchange {
    request: FieldList,
    method: Method,
    sending: Sending,
    receiving: Receiving,
    /// The stream, once the request's head was sent.
    key: Option<Key>,
    head: Section,
    trailers: Section,
    has_trailers: bool,
    /// The piece of the body that is lent, from `chunk_start` on.
    chunk: Vec<u8>,
    chunk_start: usize,
    interims: usize,
    started: bool,
    body_taken: bool,
    refused: bool,
    /// `None` in one that has ended.
    seat: Option<Seat>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Sending {
    /// The head is being put together.
    #[default]
    Head,
    /// Something in the head cannot be sent over HTTP/2.
    Unfit(Reason),
    /// So many bytes of the body are still to come.
    Known(u64),
    /// The body, or a tunnel's bytes, until they end.
    Stream,
    /// The request is complete.
    Done,
    /// The peer takes no more; how the exchange ended is for the other direction to tell.
    Broken,
    /// More or fewer bytes were sent than announced: our own fault.
    Wrong,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Receiving {
    /// The request did not go out.
    #[default]
    Nothing,
    Head,
    Body,
    Done,
    Failed(Reason),
}

impl Exchange {
    /// One with a seat. No allocation in the steady state.
    pub(crate) fn new(seat: Seat) -> Box<Self> {
        let mut exchange = SPARE.with_borrow_mut(Vec::pop).unwrap_or_default();
        exchange.seat = Some(seat);
        exchange
    }

    /// Ends it, complete or not.
    pub(crate) fn finish(mut self: Box<Self>) {
        self.give_up();
        // The thread may be ending, its spares gone.
        let _ = SPARE.try_with(|spare| {
            if let Ok(mut spare) = spare.try_borrow_mut()
                && spare.len() < SPARE_MAX
            {
                self.clear();
                spare.push(self);
            }
        });
    }

    fn give_up(&mut self) {
        let Some(seat) = self.seat.take() else { return };
        if self.receiving == Receiving::Head {
            seat.link().doubt();
        }
        // The stream is given up before its room is.
        if let Some(key) = self.key.take() {
            seat.link().release(key, self.lent().len());
        }
    }

    /// Makes it ready for the next one; keeps a little memory.
    fn clear(&mut self) {
        let kept = [self.request.capacity(), self.head.capacity(), self.trailers.capacity(), self.chunk.capacity()];
        if kept.into_iter().any(|bytes| bytes > KEPT_BYTES) {
            *self = Self::default();
            return;
        }
        self.request.clear();
        self.head.clear();
        self.trailers.clear();
        self.chunk.clear();
        (self.sending, self.receiving) = (Sending::Head, Receiving::Nothing);
        (self.chunk_start, self.interims) = (0, 0);
        (self.has_trailers, self.started, self.body_taken, self.refused) = (false, false, false, false);
    }

    pub(crate) fn was_reused(&self) -> bool {
        self.seat.as_ref().is_some_and(Seat::was_reused)
    }

    pub(crate) fn request(&mut self, method: &[u8], authority: &[u8], scheme: &str, target: &[u8]) {
        self.method = Method::from_bytes(method);
        if let Err(reason) = request::begin(&mut self.request, method, authority, scheme, target) {
            self.sending = Sending::Unfit(reason);
        }
    }

    #[inline]
    pub(crate) fn field(&mut self, name: &[u8], value: &[u8]) {
        if !request::add(&mut self.request, name, value) {
            self.sending = Sending::Unfit(Reason::HeadControlByte);
        }
    }

    pub(crate) fn length(&mut self, length: Length) {
        if let Sending::Unfit(reason) = self.sending {
            self.receiving = Receiving::Failed(reason);
            return;
        }
        if let Length::Known(count) = length {
            self.chunk.clear();
            decimal(count, &mut self.chunk);
            self.request.push(b"content-length", &self.chunk);
            self.chunk.clear();
        }
        let is_tunnel = self.method == Method::Connect;
        let ends = !is_tunnel && !matches!(length, Length::Known(1..) | Length::Stream);
        let Some(seat) = &self.seat else { return };
        let (method, fields) = (self.method, &self.request);
        self.key = seat.link().act(|h2, out| h2.open(method, fields, ends, out));
        if self.key.is_none() {
            // Nothing went out: the connection has ended since the seat was taken, or its peer allows no more streams.
            self.refused = true;
            self.sending = Sending::Broken;
            self.receiving = Receiving::Failed(Reason::UpstreamReset);
            return;
        }
        self.receiving = Receiving::Head;
        self.sending = match length {
            _ if is_tunnel => Sending::Stream,
            Length::Known(count @ 1..) => Sending::Known(count),
            Length::Stream => Sending::Stream,
            _ => Sending::Done,
        };
    }

    pub(crate) fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Reason>> {
        let left = match self.sending {
            _ if bytes.is_empty() => return Poll::Ready(Ok(0)),
            Sending::Known(left) if bytes.len() as u64 <= left => Some(left),
            Sending::Stream => None,
            Sending::Broken => return Poll::Ready(Ok(bytes.len())),
            Sending::Unfit(reason) => return Poll::Ready(Err(reason)),
            Sending::Head | Sending::Known(_) | Sending::Done | Sending::Wrong => {
                self.sending = Sending::Wrong;
                return Poll::Ready(Err(Reason::HandlerFailed));
            }
        };
        let (Some(seat), Some(key)) = (&self.seat, self.key) else {
            return Poll::Ready(Err(Reason::HandlerFailed));
        };
        let is_last = left == Some(bytes.len() as u64);
        match seat.link().send(key, bytes, is_last) {
            None => {
                self.sending = Sending::Broken;
                Poll::Ready(Ok(bytes.len()))
            }
            Some(0) => {
                seat.link().wait(key, cx);
                Poll::Pending
            }
            Some(taken) => {
                self.body_taken = true;
                if let Some(left) = left {
                    let left = left - taken as u64;
                    self.sending = if left == 0 { Sending::Done } else { Sending::Known(left) };
                }
                Poll::Ready(Ok(taken))
            }
        }
    }

    pub(crate) fn end(&mut self, trailers: Option<Fields<'_>>) {
        self.sending = match self.sending {
            Sending::Stream => {
                self.request.clear();
                if let Some(trailers) = trailers {
                    request::trailers(&mut self.request, trailers);
                }
                if let (Some(seat), Some(key)) = (&self.seat, self.key) {
                    let trailers = &self.request;
                    seat.link().act(|h2, out| h2.end(key, Some(trailers), out));
                }
                Sending::Done
            }
            Sending::Head | Sending::Known(_) => Sending::Wrong,
            other => other,
        };
    }

    /// The connection's own task writes; there is nothing to wait for here.
    pub(crate) fn poll_flush(&mut self) -> Poll<Result<(), Reason>> {
        match self.sending {
            Sending::Unfit(reason) => Poll::Ready(Err(reason)),
            Sending::Wrong => Poll::Ready(Err(Reason::HandlerFailed)),
            _ => Poll::Ready(Ok(())),
        }
    }

    pub(crate) fn poll_response(&mut self, cx: &mut Context<'_>, limits: &EndpointLimits) -> Poll<Result<u16, Reason>> {
        match self.receiving {
            Receiving::Head => {}
            Receiving::Failed(reason) => return Poll::Ready(Err(reason)),
            Receiving::Nothing => return Poll::Ready(Err(Reason::HandlerFailed)),
            Receiving::Body | Receiving::Done => return Poll::Ready(Ok(self.head.lines.status)),
        }
        let (Some(seat), Some(key)) = (&self.seat, self.key) else {
            return Poll::Ready(Err(Reason::HandlerFailed));
        };
        let head = &mut self.head;
        let (is_there, cause) = seat.link().look(|h2| (h2.take_head(key, head), h2.cause(key)));
        if is_there {
            self.started = true;
            return Poll::Ready(self.take_head(limits).map_err(|reason| self.fail(reason)));
        }
        match cause {
            None => {
                seat.link().wait(key, cx);
                Poll::Pending
            }
            Some(cause) => Poll::Ready(Err(self.broken(cause))),
        }
    }

    /// Judges a head that has come.
    fn take_head(&mut self, limits: &EndpointLimits) -> Result<u16, Reason> {
        let (status, fields_count) = (self.head.lines.status, self.head.lines.fields.len());
        match status {
            // RFC 9113 section 8.6: HTTP/2 has no such status.
            101 => return Err(Reason::UpstreamUpgrade),
            100..=199 => {
                self.interims += 1;
                if self.interims > limits.interim_max || fields_count > limits.fields_max {
                    return Err(Reason::UpstreamInvalid);
                }
                self.head.lines.length = Length::None;
                return Ok(status);
            }
            _ if fields_count > limits.fields_max => return Err(Reason::UpstreamHeadBytes),
            200..=599 => {}
            _ => return Err(Reason::UpstreamInvalid),
        }
        self.head.lines.length = self.body_length(status);
        self.receiving = Receiving::Body;
        Ok(status)
    }

    /// How the body is delimited: by END_STREAM, unless there is none or its length was announced.
    fn body_length(&self, status: u16) -> Length {
        match (self.method, status) {
            (Method::Connect, 200..=299) => Length::Tunnel,
            (Method::Head, _) | (_, 204 | 304) => Length::None,
            _ => match self.announced() {
                Some(length) => Length::Known(length),
                None if self.head.ends => Length::None,
                None => Length::Stream,
            },
        }
    }

    fn announced(&self) -> Option<u64> {
        let value = self.response().fields().get(Name::ContentLength)?;
        std::str::from_utf8(value).ok()?.parse().ok()
    }

    pub(crate) fn response(&self) -> ResponseHead<'_> {
        ResponseHead::new(&self.head.bytes, &self.head.lines)
    }

    fn lent(&self) -> &[u8] {
        self.chunk.get(self.chunk_start..).unwrap_or_default()
    }

    pub(crate) fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Result<Piece<'_>, Reason>> {
        if self.lent().is_empty() {
            match self.receiving {
                Receiving::Body => {}
                Receiving::Done => return Poll::Ready(Ok(Piece::End)),
                Receiving::Failed(reason) => return Poll::Ready(Err(reason)),
                Receiving::Nothing | Receiving::Head => return Poll::Ready(Err(Reason::HandlerFailed)),
            }
            let (Some(seat), Some(key)) = (&self.seat, self.key) else {
                return Poll::Ready(Err(Reason::HandlerFailed));
            };
            self.chunk_start = 0;
            let (chunk, trailers) = (&mut self.chunk, &mut self.trailers);
            let body = seat.link().look(|h2| match h2.take_body(key, chunk) {
                Body::End => {
                    self.has_trailers = h2.take_response_trailers(key, trailers);
                    Ok(true)
                }
                // RFC 9113 section 8.1: a response may be complete although the rest of the request is not wanted.
                Body::Gone => match h2.cause(key) {
                    Some(Cause::ResetByPeer(Code::NO_ERROR)) if !h2.is_short(key) => Ok(true),
                    Some(Cause::ResetByPeer(Code::NO_ERROR)) | None => Err(Some(Cause::Lost)),
                    Some(cause) => Err(Some(cause)),
                },
                Body::Data => Ok(false),
                Body::Wait => Err(None),
            });
            match body {
                Ok(true) => {
                    self.receiving = Receiving::Done;
                    return Poll::Ready(Ok(Piece::End));
                }
                Ok(false) => seat.link().lend(self.chunk.len()),
                Err(None) => {
                    seat.link().wait(key, cx);
                    return Poll::Pending;
                }
                Err(Some(cause)) => return Poll::Ready(Err(self.broken(cause))),
            }
        }
        Poll::Ready(Ok(Piece::Data(self.lent())))
    }

    pub(crate) fn consume(&mut self, count: usize) {
        let count = count.min(self.lent().len());
        self.chunk_start += count;
        if count > 0
            && let (Some(seat), Some(key)) = (&self.seat, self.key)
        {
            seat.link().consumed(key, count);
        }
    }

    pub(crate) fn trailers(&self) -> Option<Fields<'_>> {
        let is_there = self.receiving == Receiving::Done && self.has_trailers;
        is_there.then(|| Fields::new(&self.trailers.bytes, &self.trailers.lines.fields))
    }

    pub(crate) fn response_started(&self) -> bool {
        self.started
    }

    pub(crate) fn body_taken(&self) -> bool {
        self.body_taken
    }

    pub(crate) fn was_refused(&self) -> bool {
        self.refused
    }

    /// Notes why the stream ended early.
    fn broken(&mut self, cause: Cause) -> Reason {
        // RFC 9113 section 8.7: the peer says that it did nothing with this request.
        let refused = matches!(cause, Cause::Unprocessed | Cause::ResetByPeer(Code::REFUSED_STREAM));
        self.refused |= refused && !self.started;
        self.fail(if cause == Cause::Faulty { Reason::UpstreamInvalid } else { Reason::UpstreamReset })
    }

    fn fail(&mut self, reason: Reason) -> Reason {
        self.receiving = Receiving::Failed(reason);
        reason
    }
}
