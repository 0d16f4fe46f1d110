use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use leat_h1::encode;
use leat_message::{Fields, Length, Method, Piece, Reason, ResponseHead};
use leat_stream::clock::now_ms;
use leat_stream::{Plain, Socket};
use tokio::io::{AsyncRead, ReadBuf};

use super::receive::Receive;
use super::send::Send;
use crate::EndpointLimits;

/// How much earlier than announced an unused connection is given up, in milliseconds, though not more than half of the
/// time: the request must get there before the peer's timer ends.
const KEEP_ALIVE_MARGIN_MS: u64 = 1_000;

/// A connection and the exchange on it. Unused it holds no buffer.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: Socket,
    ip: Option<IpAddr>,
    send: Send,
    receive: Receive,
    unused_until_ms: u64,
    /// Whether a byte of the request's body was taken.
    body_taken: bool,
}

impl Connection {
    pub(crate) fn new(socket: Socket, ip: Option<IpAddr>) -> Self {
        Self { socket, ip, send: Send::new(), receive: Receive::new(), unused_until_ms: 0, body_taken: false }
    }

    pub(crate) fn ip(&self) -> Option<IpAddr> {
        self.ip
    }

    /// Whether an unused connection may be used: not too old, nothing received, not closed. The runtime knows without a
    /// system call unless the socket has become readable.
    #[inline]
    pub(crate) fn is_fresh(&mut self, now: u64) -> bool {
        now < self.unused_until_ms && is_silent(&mut self.socket)
    }

    /// Makes ready for the next exchange, after a wait of at most `unused_ms`.
    pub(crate) fn rest(&mut self, unused_ms: u64) {
        // Taken and given back unused, its time goes on.
        if self.unused_until_ms == 0 || !self.is_untouched() {
            let announced = self.receive.keep_alive_ms().map(|ms| ms - KEEP_ALIVE_MARGIN_MS.min(ms / 2));
            self.unused_until_ms = now_ms().saturating_add(announced.map_or(unused_ms, |ms| ms.min(unused_ms)));
        }
        self.send.reset();
        self.receive.reset();
        self.body_taken = false;
    }

    /// Whether the exchange is complete in both directions and has left nothing behind, or did not begin.
    pub(crate) fn is_reusable(&self) -> bool {
        self.is_untouched() || self.send.is_complete() && self.receive.is_reusable()
    }

    fn is_untouched(&self) -> bool {
        self.send.is_untouched() && self.receive.is_untouched()
    }

    pub(crate) fn request(&mut self, method: &[u8], authority: &[u8], target: &[u8]) {
        let known = Method::from_bytes(method);
        self.receive.expect(known);
        let target = if known == Method::Connect { authority } else { target };
        encode::request_line(self.send.head(), method, target);
    }

    #[inline]
    pub(crate) fn field(&mut self, name: &[u8], value: &[u8]) {
        if name.eq_ignore_ascii_case(b"upgrade") {
            self.receive.expect_switch();
        }
        self.send.field(name, value);
    }

    pub(crate) fn length(&mut self, length: Length) {
        self.send.length(length);
    }

    pub(crate) fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Reason>> {
        if self.receive.is_tunnel() {
            self.send.open_tunnel();
        }
        let sent = self.send.poll_send(&mut self.socket, cx, bytes);
        self.body_taken |= matches!(sent, Poll::Ready(Ok(1..)));
        sent
    }

    pub(crate) fn end(&mut self, trailers: Option<Fields<'_>>) {
        if self.receive.is_tunnel() {
            self.send.open_tunnel();
        }
        self.send.end(trailers);
    }

    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        self.send.poll_flush(&mut self.socket, cx)
    }

    pub(crate) fn poll_response(&mut self, cx: &mut Context<'_>, limits: &EndpointLimits) -> Poll<Result<u16, Reason>> {
        // Nothing is answered that was not sent.
        if self.send.is_waiting() {
            let _ = self.send.poll_flush(&mut self.socket, cx);
        }
        self.receive.poll_head(&mut self.socket, cx, limits)
    }

    pub(crate) fn response(&self) -> ResponseHead<'_> {
        self.receive.head()
    }

    pub(crate) fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Result<Piece<'_>, Reason>> {
        if self.send.is_waiting() {
            let _ = self.send.poll_flush(&mut self.socket, cx);
        }
        self.receive.poll_body(&mut self.socket, cx)
    }

    pub(crate) fn consume(&mut self, count: usize) {
        self.receive.consume(count);
    }

    pub(crate) fn trailers(&self) -> Option<Fields<'_>> {
        self.receive.trailers()
    }

    pub(crate) fn response_started(&self) -> bool {
        self.receive.has_started()
    }

    pub(crate) fn body_taken(&self) -> bool {
        self.body_taken
    }

    pub(crate) fn detail(&self) -> Option<Reason> {
        self.receive.detail()
    }
}

/// Whether nothing was received and the peer has not closed.
fn is_silent(socket: &mut Socket) -> bool {
    let mut byte = [0; 1];
    let read = match socket {
        Socket::Plain(Plain::Tcp(stream)) => stream.try_read(&mut byte),
        Socket::Plain(Plain::Unix(stream)) => stream.try_read(&mut byte),
        Socket::Tls(stream) => {
            // A session ticket or a key update is no application data: the session swallows it.
            let mut cx = Context::from_waker(Waker::noop());
            return Pin::new(stream).poll_read(&mut cx, &mut ReadBuf::new(&mut byte)).is_pending();
        }
    };
    matches!(read, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
}
