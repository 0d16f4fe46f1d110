use std::future::Future;
use std::mem::MaybeUninit;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use crate::{BodyLimits, Fields, Head, Length, Peer, Reason, Record};

/// Longest body that a handler is given together with the head, in bytes: as much as one read of Node's brings.
pub const WHOLE_BODY_BYTES_MAX: usize = 64 * 1024;

/// Answers requests. Generic over the connection's protocol; dispatch between kinds of handlers is an enum, never a box.
pub trait Handler: 'static {
    /// What the raw step found out and the exchange step needs (such as the matched route), so that nothing is done twice.
    type Plan: 'static;

    /// The raw step: looks at the head, and either writes a whole reply at once or asks for the exchange step. No future,
    /// no task, no allocation. A body that it leaves unread is drained under the connection's limits.
    ///
    /// Before returning [`Step::Exchange`] it must have written nothing.
    fn raw<R: Reply>(&self, request: Head<'_>, peer: &Peer, reply: &mut R) -> Step<Self::Plan>;

    /// The raw step for a request whose body, not empty and of at most [`WHOLE_BODY_BYTES_MAX`], has come with its head:
    /// `body` is all of it. Behind [`Step::Exchange`] it is still there to be polled. On HTTP/1 with a known length only.
    ///
    /// What it used of the body it counts in the record.
    fn raw_with_body<R: Reply>(&self, request: Head<'_>, body: &[u8], peer: &Peer, reply: &mut R) -> Step<Self::Plan> {
        let _ = body;
        self.raw(request, peer, reply)
    }

    /// The exchange step: reads the body, waits, answers. An `Err` before the reply's head went out becomes an error
    /// reply; after it, the connection (HTTP/1) or the stream (HTTP/2) is cut so that the client sees it incomplete.
    fn exchange<X: Exchange>(&self, plan: Self::Plan, exchange: &mut X) -> impl Future<Output = Result<(), Fault>>;

    /// The engine refuses bytes that are no HTTP/1 request, or that did not become one in time. `Some`: the handler
    /// answers them itself, in an exchange that has been taken over already ([`Exchange::take_over`]): its request is an
    /// empty head, and `poll_body` lends the refused bytes first. The connection ends with it. Where the handler fails
    /// before it has sent a byte, or always with `None`, the client gets the engine's error reply.
    fn refused(&self, reason: Reason, peer: &Peer) -> Option<Self::Plan> {
        let _ = (reason, peer);
        None
    }

    /// Whether what is left of a request is read off behind the reply of an exchange over HTTP/2, under the limits for that. `false`: the
    /// handler reads as much of it as it wants before it returns, and the stream ends then.
    fn reads_off(&self) -> bool {
        true
    }

    /// Called once for every exchange and every refusal, after its reply was written to the outgoing buffer or cut off.
    fn ended(&self, ended: Ended<'_>) {
        let _ = ended;
    }

    /// The connection ends between two requests, with nothing refused, by something else than the client's ordinary end:
    /// `peer.reset` or `time.idle`. Told by HTTP/1 only.
    fn broke_off(&self, reason: Reason) {
        let _ = reason;
    }
}

/// Listeners of one core share a handler.
impl<H: Handler> Handler for Rc<H> {
    type Plan = H::Plan;

    #[inline]
    fn raw<R: Reply>(&self, request: Head<'_>, peer: &Peer, reply: &mut R) -> Step<Self::Plan> {
        H::raw(self, request, peer, reply)
    }

    #[inline]
    fn raw_with_body<R: Reply>(&self, request: Head<'_>, body: &[u8], peer: &Peer, reply: &mut R) -> Step<Self::Plan> {
        H::raw_with_body(self, request, body, peer, reply)
    }

    #[inline]
    fn exchange<X: Exchange>(&self, plan: Self::Plan, exchange: &mut X) -> impl Future<Output = Result<(), Fault>> {
        H::exchange(self, plan, exchange)
    }

    fn refused(&self, reason: Reason, peer: &Peer) -> Option<Self::Plan> {
        H::refused(self, reason, peer)
    }

    fn reads_off(&self) -> bool {
        H::reads_off(self)
    }

    fn ended(&self, ended: Ended<'_>) {
        H::ended(self, ended);
    }

    fn broke_off(&self, reason: Reason) {
        H::broke_off(self, reason);
    }
}

/// What is known at the end of an exchange.
#[derive(Debug)]
pub struct Ended<'a> {
    /// The request; `None` where its head was refused.
    pub request: Option<Head<'a>>,
    /// Who asked.
    pub peer: &'a Peer,
    /// What happened.
    pub record: &'a Record,
    /// When the read that completed the head returned.
    pub started: Instant,
}

/// What the raw step decided.
#[derive(Debug)]
pub enum Step<P> {
    /// The reply is complete in the outgoing buffer.
    Done,
    /// Go on with [`Handler::exchange`].
    Exchange(P),
}

/// Why an exchange ended without a whole reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The stable reason.
    pub reason: Reason,
    /// What exactly was wrong, where `reason` only says which side failed.
    pub detail: Option<Reason>,
}

impl Fault {
    /// What went wrong, as exactly as it is known.
    pub fn cause(self) -> Reason {
        self.detail.unwrap_or(self.reason)
    }
}

impl From<Reason> for Fault {
    fn from(reason: Reason) -> Self {
        Self { reason, detail: None }
    }
}

/// Where a reply is written to: `status`, any number of `field`, `length`, then the body. Calls out of this order are
/// ignored in release builds and asserted in debug builds.
///
/// The implementation adds what belongs to the connection: the framing fields (`content-length`, `transfer-encoding`),
/// `connection`, and `date` unless a `date` field was written. Of these a handler may write `content-length` itself, to
/// keep its place among passed-on fields, with the value that it then gives to `length`; it never writes the others.
pub trait Reply {
    /// Starts the final head. `status` is 200 to 599, or 101 to become a tunnel.
    fn status(&mut self, status: u16);

    /// Appends a field line, in order, copied as it is. The caller has checked both: no CR, LF or NUL.
    fn field(&mut self, name: &[u8], value: &[u8]);

    /// Ends the head and says how the body will be delimited. For a reply to HEAD, and for 204 and 304, the length is
    /// what would have been sent; no body byte goes out.
    fn length(&mut self, length: Length);

    /// Appends the whole of a small body, copied. After `length(Known(n))`, called once with `n` bytes.
    fn body(&mut self, bytes: &[u8]);

    /// Appends the whole of a body and trailers behind it: `parts` are its bytes, copied one after the other. After
    /// `length(Stream)`; ends the reply. For the raw step: in the exchange step a layer may want to see the body, which
    /// `poll_send` and `end` are for.
    fn body_with_trailers(&mut self, parts: &[&[u8]], trailers: Fields<'_>);

    /// Writes a whole reply that was prepared when the configuration was loaded: one copy, no formatting.
    fn fixed(&mut self, reply: &Fixed) {
        self.status(reply.status());
        for (name, value) in reply.fields() {
            self.field(name.as_bytes(), value.as_bytes());
        }
        self.length(Length::whole(reply.status(), reply.body().len()));
        self.body(reply.body());
    }

    /// Writes a whole reply whose head the handler formatted: status line, fields, empty line, with the framing and connection
    /// fields, which are the handler's to say. `keep` as in [`Exchange::keep_alive`]. One copy, no look at the text (HTTP/2
    /// parses it, as in [`Exchange::verbatim`]). `false`, and nothing was written, where this reply can't be written so.
    fn whole(&mut self, status: u16, head: &[u8], body: &[u8], keep: bool) -> bool {
        let _ = (status, head, body, keep);
        false
    }

    /// The access record of this exchange.
    fn record(&mut self) -> &mut Record;
}

/// A reply prepared once, at configuration time.
#[derive(Clone, Debug)]
pub struct Fixed {
    status: u16,
    fields: Vec<(String, String)>,
    body: Vec<u8>,
    lines: Vec<u8>,
}

impl Fixed {
    /// Prepares a reply. The caller has checked that names and values are legal and that no framing field is among them.
    pub fn new(status: u16, fields: Vec<(String, String)>, body: Vec<u8>) -> Self {
        let mut lines = Vec::new();
        for (name, value) in &fields {
            lines.extend_from_slice(name.as_bytes());
            lines.extend_from_slice(b": ");
            lines.extend_from_slice(value.as_bytes());
            lines.extend_from_slice(b"\r\n");
        }
        Self { status, fields, body, lines }
    }

    /// The status.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The fields.
    pub fn fields(&self) -> &[(String, String)] {
        &self.fields
    }

    /// The fields as HTTP/1 lines, each ended by CRLF.
    pub fn lines(&self) -> &[u8] {
        &self.lines
    }

    /// The body.
    pub fn body(&self) -> &[u8] {
        &self.body
    }
}

/// A piece of a body, lent by the connection that read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Bytes that arrived and were not consumed yet; never empty.
    Data(&'a [u8]),
    /// The body is complete (trailers are known now), or for a tunnel: the peer ended its direction.
    End,
}

impl Piece<'_> {
    /// Copies it to the front of `into`, as far as there is room; says how many bytes that were, 0 for the end.
    pub fn copy_to(self, into: &mut [MaybeUninit<u8>]) -> usize {
        let Self::Data(bytes) = self else { return 0 };
        into.iter_mut().zip(bytes).for_each(|(place, &byte)| {
            place.write(byte);
        });
        bytes.len().min(into.len())
    }
}

/// One request and its reply, of any protocol. Everything is polled by the one task that runs the exchange, so both
/// directions can be driven from one loop without locks, tasks or channels.
///
/// Back pressure is in the signatures: bytes are lent by `poll_body` and stay with the connection until `consume`, and
/// `poll_send` takes only what the connection can hold.
pub trait Exchange: Reply {
    /// The request's head.
    fn request(&self) -> Head<'_>;

    /// Who asks.
    fn peer(&self) -> &Peer;

    /// Sets limits for this request's body; to be called before the first `poll_body`.
    fn limit_body(&mut self, limits: BodyLimits);

    /// Lends the next bytes of the request body; the same bytes again until they are consumed. The first call sends
    /// 100 (Continue) if the client waits for it.
    fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Result<Piece<'_>, Reason>>;

    /// Ready when nobody waits for the reply any more: the client closed, reset or cancelled. Costs no system call while
    /// nothing arrives. To be polled beside whatever the exchange waits for.
    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<Reason>;

    /// Gives back the first `count` of the lent bytes.
    fn consume(&mut self, count: usize);

    /// Puts the next bytes of the request body into `into`, which must have room for one, and consumes them; says how many
    /// they are, 0 at the end of the body. May be mixed with `poll_body`.
    ///
    /// Costs one copy, and none for what is still in the socket where a connection can read to where it is wanted: bodies of
    /// known length on HTTP/1.
    fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut [MaybeUninit<u8>]) -> Poll<Result<usize, Reason>> {
        let count = ready!(self.poll_body(cx))?.copy_to(into);
        self.consume(count);
        Poll::Ready(Ok(count))
    }

    /// The request's trailers, once `poll_body` has said `End`.
    fn trailers(&self) -> Option<Fields<'_>>;

    /// Writes an interim response (1xx other than 101) ahead of the final one. It leaves with the next flush. A client
    /// that may not be sent one (HTTP/1.0) gets none.
    fn interim(&mut self, status: u16, fields: Fields<'_>);

    /// Sends body bytes after `length`; says how many of them were taken (copied or written). With nothing else to do
    /// the head and the first bytes leave in one write.
    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Reason>>;

    /// Ends the reply's body. `trailers` are sent where the framing can carry them.
    fn end(&mut self, trailers: Option<Fields<'_>>);

    /// Whether `poll_body` may still be asked for the request though the reply has ended: on HTTP/2, whose directions end each
    /// by itself, where the reply is whole. Elsewhere an exchange that has ended its reply returns.
    fn reads_on(&self) -> bool {
        false
    }

    /// Writes out all that is buffered. An exchange that returns without flushing is flushed by the connection.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>>;

    /// Whether the reply's head was already written: an error can no longer become an error reply.
    fn head_sent(&self) -> bool;

    /// Writes a whole final head that the handler formatted: status line, fields, empty line. The engine adds nothing,
    /// and body bytes then pass as they are: framing and connection fields are the caller's. Only [`Exchange::end`]
    /// makes such a reply whole.
    ///
    /// HTTP/1: one copy, no look at the text. It says `Connection: close` where the connection ends with this reply; that
    /// it does is told with [`Exchange::keep_alive`]. HTTP/2: the text is parsed (a malformed one is `handler.failed`),
    /// connection-specific fields are left out, and a `content-length` is held against the body.
    fn verbatim(&mut self, status: u16, head: &[u8]);

    /// `false`: the connection ends after this reply, whatever the request and the limits would allow. `true` changes
    /// nothing. To be called before [`Exchange::end`]; nothing to HTTP/2.
    fn keep_alive(&mut self, keep: bool);

    /// Writes an interim response that the handler formatted, in the place and under the conditions of
    /// [`Exchange::interim`]. HTTP/2 parses it and leaves a malformed one out.
    fn interim_verbatim(&mut self, status: u16, head: &[u8]);

    /// The handler answers `Expect: 100-continue` itself: `poll_body` waits for the body without asking for it.
    fn waive_continue(&mut self);

    /// From now on both directions are opaque bytes: `poll_body` lends everything behind the request's head that was not
    /// consumed, `poll_send` writes as it is, `end(None)` ends our direction, and [`Piece::End`] is the end of the
    /// peer's. The engine writes no head; the connection ends with the exchange. `false` where that cannot be: on
    /// HTTP/2, and behind a head that the engine framed.
    fn take_over(&mut self) -> bool;

    /// The connection ends with this exchange by a reset (RST), which the client sees as an error, and which may take away
    /// what it has not read yet. To be called before the exchange fails; nothing to HTTP/2, where a stream is reset anyway,
    /// and an ordinary end where the transport knows no reset.
    fn reset(&mut self) {}

    /// Says how this exchange breaks off. To be called before it fails, with a reason that has no status; what was sent and
    /// flushed before may still arrive.
    fn break_off(&mut self, how: BreakOff) {
        if matches!(how, BreakOff::Reset { .. }) {
            self.reset();
        }
    }
}

/// A break that a client must get over, as somebody who tests clients asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakOff {
    /// HTTP/2: RST_STREAM with this error code (RFC 9113 section 7). HTTP/1: the connection is reset.
    Reset {
        /// The error code.
        code: u32,
    },
    /// HTTP/2: GOAWAY with this error code, and the end of the connection. HTTP/1: the connection ends.
    GoAway {
        /// The error code.
        code: u32,
    },
    /// The connection ends without another byte.
    Close,
}
