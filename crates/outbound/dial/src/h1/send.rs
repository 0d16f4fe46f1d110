use std::pin::Pin;
use std::task::{Context, Poll, ready};

use leat_h1::{BodyEncoder, encode};
use leat_message::{Fields, Length, Reason};
use leat_stream::{Output, Socket};
use tokio::io::AsyncWrite;

/// Body bytes that are copied behind what waits rather than written apart: below it, a copy costs less than a write.
const COPY_BYTES_MAX: usize = 4 * 1024;
/// Bytes that may wait before the socket has to take some of them.
const WAITING_BYTES_MAX: usize = 16 * 1024;
/// One chunk on the way, in bytes: what may have to be copied where the socket takes only a part of it.
const CHUNK_BYTES_MAX: usize = 64 * 1024;

/// The request's direction of an exchange.
#[derive(Debug)]
pub(crate) struct Send {
    out: Output,
    state: State,
    /// Whether the caller wrote `content-length` itself, to keep its place among the fields.
    length_seen: bool,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// The head is being written.
    Head,
    /// So many bytes of the body are still to come.
    Known(u64),
    /// The body comes in chunks.
    Chunked(BodyEncoder),
    /// The request is complete, up to what waits to be written.
    Done,
    /// Opaque bytes.
    Tunnel,
    /// Opaque bytes, of which no more come: this side is to be closed once all are written.
    TunnelEnd,
    /// This side of a tunnel is closed.
    Closed,
    /// The peer takes no more, though it may have sent a response. What is sent from here on goes nowhere; how the
    /// exchange ended is for the other direction to tell.
    Broken,
    /// More or fewer bytes were sent than announced: our own fault.
    Wrong,
}

impl Send {
    pub(crate) fn new() -> Self {
        Self { out: Output::default(), state: State::Head, length_seen: false }
    }

    /// Makes ready for the next request; holds no memory then.
    pub(crate) fn reset(&mut self) {
        self.out.release();
        self.state = State::Head;
        self.length_seen = false;
    }

    /// Appends a field line.
    #[inline]
    pub(crate) fn field(&mut self, name: &[u8], value: &[u8]) {
        const CONTENT_LENGTH: &[u8] = b"content-length";
        self.length_seen |= name.len() == CONTENT_LENGTH.len() && name.eq_ignore_ascii_case(CONTENT_LENGTH);
        encode::field(self.out.buffer(), name, value);
    }

    /// Where to append the lines of the head.
    #[inline]
    pub(crate) fn head(&mut self) -> &mut Vec<u8> {
        self.out.buffer()
    }

    /// Ends the head with the fields that frame the body.
    pub(crate) fn length(&mut self, length: Length) {
        let out = self.out.buffer();
        self.state = match length {
            Length::Known(count) => {
                if !self.length_seen {
                    encode::content_length(out, count);
                }
                if count == 0 { State::Done } else { State::Known(count) }
            }
            Length::Stream => {
                encode::chunked(out);
                State::Chunked(BodyEncoder::new(length))
            }
            Length::None | Length::Close | Length::Tunnel => State::Done,
        };
        encode::end(out);
    }

    /// From here on bytes go through as they are: the response has opened a tunnel.
    pub(crate) fn open_tunnel(&mut self) {
        if matches!(self.state, State::Done) {
            self.state = State::Tunnel;
        }
    }

    /// Whether the whole request was given to the socket.
    pub(crate) fn is_complete(&self) -> bool {
        matches!(self.state, State::Done) && self.out.is_empty()
    }

    /// Whether nothing of a request was written yet.
    pub(crate) fn is_untouched(&self) -> bool {
        matches!(self.state, State::Head) && self.out.is_empty()
    }

    /// Whether anything waits to be written.
    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        !self.out.is_empty()
    }

    pub(crate) fn poll_send(
        &mut self,
        socket: &mut Socket,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize, Reason>> {
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        match self.state {
            State::Known(left) if bytes.len() as u64 > left => self.wrong(),
            State::Known(left) => {
                let taken = ready!(self.poll_plain(socket, cx, bytes));
                if let State::Known(_) = self.state {
                    let left = left - taken as u64;
                    self.state = if left == 0 { State::Done } else { State::Known(left) };
                }
                Poll::Ready(Ok(taken))
            }
            State::Chunked(encoder) => self.poll_chunk(socket, cx, encoder, bytes),
            State::Tunnel => self.poll_plain(socket, cx, bytes).map(Ok),
            State::Broken => Poll::Ready(Ok(bytes.len())),
            State::Head | State::Done | State::TunnelEnd | State::Closed | State::Wrong => self.wrong(),
        }
    }

    fn wrong(&mut self) -> Poll<Result<usize, Reason>> {
        self.state = State::Wrong;
        Poll::Ready(Err(Reason::HandlerFailed))
    }

    /// Sends bytes as they are, small ones by copying them behind what waits. Ready with how many were taken.
    fn poll_plain(&mut self, socket: &mut Socket, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<usize> {
        loop {
            if self.fits(bytes.len()) {
                self.out.buffer().extend_from_slice(bytes);
                return Poll::Ready(bytes.len());
            }
            match ready!(self.out.poll_write_with(socket, cx, [bytes, &[], &[]])) {
                // What waited before is not all written yet.
                Ok(0) => {}
                Ok(taken) => return Poll::Ready(taken),
                Err(_) => {
                    self.break_off();
                    return Poll::Ready(bytes.len());
                }
            }
        }
    }

    /// Sends one chunk: small ones by copying, large ones beside what waits. What the socket does not take of a chunk that
    /// it has begun is copied, so that a chunk is always taken whole.
    fn poll_chunk(
        &mut self,
        socket: &mut Socket,
        cx: &mut Context<'_>,
        mut encoder: BodyEncoder,
        bytes: &[u8],
    ) -> Poll<Result<usize, Reason>> {
        let data = bytes.get(..CHUNK_BYTES_MAX).unwrap_or(bytes);
        let Ok(framed) = encoder.piece(data.len()) else {
            return self.wrong();
        };
        let parts = [framed.prefix(), data, framed.suffix];
        loop {
            let mut written = 0;
            if !self.fits(data.len()) {
                match ready!(self.out.poll_write_with(socket, cx, parts)) {
                    // What waited before is not all written yet.
                    Ok(0) => continue,
                    Ok(count) => written = count,
                    Err(_) => {
                        self.break_off();
                        return Poll::Ready(Ok(data.len()));
                    }
                }
            }
            for part in parts {
                self.out.buffer().extend_from_slice(part.get(written..).unwrap_or_default());
                written = written.saturating_sub(part.len());
            }
            return Poll::Ready(Ok(data.len()));
        }
    }

    /// Whether so many bytes are few enough to be copied behind what waits.
    #[inline]
    fn fits(&self, count: usize) -> bool {
        count <= COPY_BYTES_MAX && self.out.len() + count <= WAITING_BYTES_MAX
    }

    /// Ends the body; in a tunnel, this side of it.
    pub(crate) fn end(&mut self, trailers: Option<Fields<'_>>) {
        match self.state {
            State::Chunked(mut encoder) => {
                let out = self.out.buffer();
                // A trailer that must not be one is left out with the others: RFC 9110 section 6.5.1 lets them be dropped.
                let ended = encoder.end(trailers, out).or_else(|_| encoder.end(None, out));
                self.state = if ended.is_ok() { State::Done } else { State::Wrong };
            }
            State::Tunnel => self.state = State::TunnelEnd,
            State::Head | State::Known(_) => self.state = State::Wrong,
            State::Done | State::TunnelEnd | State::Closed | State::Broken | State::Wrong => {}
        }
    }

    /// Gives all that waits to the socket, and closes this side of a tunnel that has ended.
    ///
    /// # Errors
    /// `HandlerFailed` where the request was not sent as announced. A peer that takes no more is no error here.
    pub(crate) fn poll_flush(&mut self, socket: &mut Socket, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        match self.state {
            State::Wrong => return Poll::Ready(Err(Reason::HandlerFailed)),
            State::Broken | State::Closed => return Poll::Ready(Ok(())),
            _ => {}
        }
        if ready!(self.out.poll_flush(socket, cx)).is_err() {
            self.break_off();
        } else if let State::TunnelEnd = self.state {
            match ready!(Pin::new(socket).poll_shutdown(cx)) {
                Ok(()) => self.state = State::Closed,
                Err(_) => self.break_off(),
            }
        } else if let State::Done = self.state {
            // Nothing more comes, and the answer may be long in coming.
            self.out.release();
        }
        Poll::Ready(Ok(()))
    }

    fn break_off(&mut self) {
        self.out.release();
        self.state = State::Broken;
    }
}
