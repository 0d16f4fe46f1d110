use std::rc::Rc;
use std::task::{Context, Poll};

use leat_message::{Fields, Length, Piece, Reason, ResponseHead, ResponseLines};

use crate::pool::Pool;
use crate::{Endpoint, h1, h2};

/// One exchange with an endpoint, over a connection that is leased for it. Driven by one task in both directions, in the
/// manner of `leat_message::Exchange`: `request`, any number of `field`, `length`, then the body is sent while the response
/// is awaited and read. A response may come, and end, before the request is complete.
///
/// Dropped after a complete and clean exchange, the connection goes back to its pool, at once and without a task; dropped
/// earlier, it is closed (HTTP/2: the stream is reset with CANCEL).
pub struct Call {
    inner: Inner,
}

enum Inner {
    H1 {
        connection: Box<h1::Connection>,
        pool: Rc<Pool>,
        endpoint: Rc<Endpoint>,
        reused: bool,
    },
    H2 {
        exchange: Box<h2::Exchange>,
        endpoint: Rc<Endpoint>,
    },
    /// Only while it is dropped.
    Gone,
}

static NOTHING: ResponseLines = ResponseLines {
    version: leat_message::Version::Http11,
    status: 0,
    reason: leat_message::Span { start: 0, end: 0 },
    fields: Vec::new(),
    length: Length::None,
    keep_alive: false,
};

macro_rules! each {
    ($self:expr, $call:ident => $h1:expr, $h2:expr, $gone:expr) => {
        match $self {
            Inner::H1 { connection: $call, .. } => $h1,
            Inner::H2 { exchange: $call, .. } => $h2,
            Inner::Gone => $gone,
        }
    };
    ($self:expr, $call:ident => $either:expr, $gone:expr) => {
        each!($self, $call => $either, $either, $gone)
    };
}

const GONE: Reason = Reason::HandlerFailed;

impl Call {
    #[inline]
    pub(crate) fn h1(pool: Rc<Pool>, connection: Box<h1::Connection>, reused: bool) -> Self {
        pool.begin(reused);
        let endpoint = pool.endpoint();
        Self { inner: Inner::H1 { connection, pool, endpoint, reused } }
    }

    pub(crate) fn h2(seat: h2::Seat) -> Self {
        let endpoint = seat.pool().endpoint();
        Self { inner: Inner::H2 { exchange: h2::Exchange::new(seat), endpoint } }
    }

    /// Starts the request. `target` is the path with its query, or `*`; for CONNECT it is ignored, and `authority` is
    /// where to connect to. HTTP/1.1 writes the request line only: `Host` is a field like the others and the caller's to
    /// write, in its order. HTTP/2 writes the pseudo fields, and leaves `Host` out.
    pub fn request(&mut self, method: &[u8], authority: &[u8], scheme: &str, target: &[u8]) {
        each!(&mut self.inner, call => call.request(method, authority, target), call.request(method, authority, scheme, target), ());
    }

    /// Appends a field line, copied as it is. The caller has checked both (no CR, LF or NUL) and leaves out the framing
    /// fields, but for a `content-length` that is to keep its place and says the same as [`Call::length`] then. HTTP/2 writes the name in lower case and skips what concerns one connection only, but for `te: trailers`.
    #[inline]
    pub fn field(&mut self, name: &[u8], value: &[u8]) {
        each!(&mut self.inner, call => call.field(name, value), ());
    }

    /// Ends the head with the framing fields: `Known` writes `content-length`, `Stream` writes
    /// `transfer-encoding: chunked` (HTTP/1.1), everything else neither. For an upgrade and for CONNECT it is `None`: the
    /// tunnel opens with the response.
    pub fn length(&mut self, length: Length) {
        each!(&mut self.inner, call => call.length(length), ());
    }

    /// Sends bytes of the body, or of a tunnel once the response has opened one. Says how many were taken: small pieces
    /// are copied, so that the head and the first of them leave in one write; large ones are written without a copy.
    ///
    /// A peer that takes no more is no error here: the bytes go nowhere, and `poll_response` or `poll_body` tells whether
    /// it had answered.
    ///
    /// # Errors
    /// `HandlerFailed` for more bytes than were announced.
    pub fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Reason>> {
        each!(&mut self.inner, call => call.poll_send(cx, bytes), Poll::Ready(Err(GONE)))
    }

    /// Ends the request's body; needed after `length(Stream)` only. In a tunnel it closes this side of it. Trailers are
    /// left out where the framing cannot carry them.
    pub fn end(&mut self, trailers: Option<Fields<'_>>) {
        each!(&mut self.inner, call => call.end(trailers), ());
    }

    /// Writes out all that waits.
    ///
    /// # Errors
    /// `HandlerFailed` where fewer or more bytes were sent than announced.
    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        each!(&mut self.inner, call => call.poll_flush(cx), call.poll_flush(), Poll::Ready(Err(GONE)))
    }

    /// The status of the next response head: an interim one (1xx but 101), after which it is to be called again, or the
    /// final one. A final 101 comes to those only who have written an `upgrade` field, over HTTP/1.1; which protocol it names is theirs
    /// to look at. Also writes out what waits.
    ///
    /// # Errors
    /// `UpstreamReset`, `UpstreamInvalid`, `UpstreamHeadBytes`; `UpstreamUpgrade` for a 101 that was not asked for.
    pub fn poll_response(&mut self, cx: &mut Context<'_>) -> Poll<Result<u16, Reason>> {
        match &mut self.inner {
            Inner::H1 { connection, endpoint, .. } => connection.poll_response(cx, endpoint.limits()),
            Inner::H2 { exchange, endpoint } => exchange.poll_response(cx, endpoint.limits()),
            Inner::Gone => Poll::Ready(Err(GONE)),
        }
    }

    /// The head that `poll_response` has found. It stays while the body is read.
    pub fn response(&self) -> ResponseHead<'_> {
        each!(&self.inner, call => call.response(), ResponseHead::new(&[], &NOTHING))
    }

    /// Lends the next bytes of the body; the same again until they are consumed. In a tunnel: the peer's bytes. Also
    /// writes out what waits.
    ///
    /// # Errors
    /// `UpstreamReset` where the body is cut off, `UpstreamInvalid` where its framing is malformed.
    pub fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Result<Piece<'_>, Reason>> {
        each!(&mut self.inner, call => call.poll_body(cx), Poll::Ready(Err(GONE)))
    }

    /// Gives back the first `count` of the lent bytes.
    pub fn consume(&mut self, count: usize) {
        each!(&mut self.inner, call => call.consume(count), ());
    }

    /// The response's trailers, once `poll_body` has said `End`.
    pub fn trailers(&self) -> Option<Fields<'_>> {
        each!(&self.inner, call => call.trailers(), None)
    }

    /// Whether the connection had served an exchange before: a failure may be due to the peer closing it meanwhile.
    pub fn was_reused(&self) -> bool {
        match &self.inner {
            Inner::H1 { reused, .. } => *reused,
            Inner::H2 { exchange, .. } => exchange.was_reused(),
            Inner::Gone => false,
        }
    }

    /// Whether any byte of a response has arrived.
    pub fn response_started(&self) -> bool {
        each!(&self.inner, call => call.response_started(), false)
    }

    /// Whether any byte of the request's body was taken, so that the request cannot be sent again from its start.
    pub fn body_taken(&self) -> bool {
        each!(&self.inner, call => call.body_taken(), false)
    }

    /// Whether the endpoint is known to have done nothing with the request (HTTP/2: the stream was refused, or began after
    /// the last one that a GOAWAY names). Then any method may be sent again.
    pub fn was_refused(&self) -> bool {
        match &self.inner {
            Inner::H2 { exchange, .. } => exchange.was_refused(),
            Inner::H1 { .. } | Inner::Gone => false,
        }
    }

    /// What exactly the parser found wrong with a response that was refused as `UpstreamInvalid`, for the log.
    pub fn detail(&self) -> Option<Reason> {
        match &self.inner {
            Inner::H1 { connection, .. } => connection.detail(),
            Inner::H2 { .. } | Inner::Gone => None,
        }
    }

    /// Whether the exchange runs over HTTP/2.
    pub fn is_h2(&self) -> bool {
        matches!(self.inner, Inner::H2 { .. })
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        match std::mem::replace(&mut self.inner, Inner::Gone) {
            Inner::H1 { connection, pool, .. } => {
                let reusable = connection.is_reusable();
                pool.give_back(connection, reusable);
            }
            Inner::H2 { exchange, .. } => exchange.finish(),
            Inner::Gone => {}
        }
    }
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call").field("h2", &self.is_h2()).field("reused", &self.was_reused()).finish_non_exhaustive()
    }
}
