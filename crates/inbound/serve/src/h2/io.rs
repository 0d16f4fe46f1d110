use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use leat_stream::{BUFFER_BYTES, Output, Socket, clock};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::meter::Meter;

/// Longest write that is copied to wait for more, in bytes. A longer one goes to the socket at once, with all that waits.
const GATHERED_BYTES_MAX: usize = 4 * 1024;

/// The socket below an h2 connection: shared, so that it can still be closed with care when the connection is gone.
///
/// The crate writes and flushes once a stream, and once more behind each DATA frame of 256 bytes and more. Here its writes
/// are gathered, and leave with [`Io::poll_send`], which the connection calls when the crate has nothing more to do: the
/// replies to all requests of one read take one system call.
#[derive(Clone)]
pub(super) struct Io(Rc<RefCell<State>>);

struct State {
    socket: Socket,
    /// What the crate has written and the socket has not taken, up to [`BUFFER_BYTES`].
    output: Output,
    /// Bytes that were read before the protocol was known.
    first_bytes: Vec<u8>,
    meter: Meter,
    flood: bool,
    /// Since when writes find no room.
    blocked_since_ms: Option<u64>,
    /// How an exchange wants the connection to end.
    ending: Option<Ending>,
}

/// The end of a connection that an exchange asks for.
#[derive(Clone, Copy)]
pub(super) enum Ending {
    /// With GOAWAY and this error code.
    GoAway(u32),
    /// Without a word.
    Silent,
}

impl State {
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let waiting = self.output.len();
        let sent = self.output.poll_flush(&mut self.socket, cx);
        if self.output.len() < waiting {
            self.note_write(true);
        }
        if sent.is_pending() {
            self.note_write(false);
            return sent;
        }
        // A TLS session takes writes that the socket has no room for; this tells. A plain socket that had nothing to send
        // does not say whether the crate found room for a longer write.
        if matches!(self.socket, Socket::Tls(_)) {
            self.note_write(true);
        }
        self.output.release();
        sent
    }

    /// Keeps the parts for the next [`State::poll_send`], or writes them behind what waits.
    fn poll_put(&mut self, cx: &mut Context<'_>, parts: [&[u8]; 3]) -> Poll<io::Result<usize>> {
        let count = parts.iter().map(|part| part.len()).sum();
        if count <= GATHERED_BYTES_MAX && self.output.len() + count <= BUFFER_BYTES {
            let buffer = self.output.buffer();
            parts.iter().for_each(|part| buffer.extend_from_slice(part));
            return Poll::Ready(Ok(count));
        }
        loop {
            let written = self.output.poll_write_with(&mut self.socket, cx, parts);
            self.note_write(written.is_ready());
            // Zero: the socket took no more than what had waited.
            if !matches!(written, Poll::Ready(Ok(0))) {
                return written;
            }
        }
    }

    fn note_write(&mut self, finds_room: bool) {
        match finds_room {
            true => self.blocked_since_ms = None,
            false => {
                self.blocked_since_ms.get_or_insert_with(clock::now_ms);
            }
        }
    }
}

impl Io {
    pub(super) fn new(socket: Socket, first_bytes: Vec<u8>) -> Self {
        let meter = Meter::new();
        Self(Rc::new(RefCell::new(State {
            socket,
            output: Output::default(),
            first_bytes,
            meter,
            flood: false,
            blocked_since_ms: None,
            ending: None,
        })))
    }

    /// Sends what was written. Ready once the socket has taken it.
    ///
    /// # Errors
    /// Those of the socket.
    pub(super) fn poll_send(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.borrow_mut().poll_send(cx)
    }

    /// Whether the client floods us.
    pub(super) fn is_flooded(&self) -> bool {
        self.0.borrow().flood
    }

    /// Asks for the end of the connection; it looks when it is polled next.
    pub(super) fn end(&self, ending: Ending) {
        self.0.borrow_mut().ending = Some(ending);
    }

    /// The end that was asked for.
    pub(super) fn ending(&self) -> Option<Ending> {
        self.0.borrow().ending
    }

    /// Since when a request head has begun and not ended.
    pub(super) fn in_head_since_ms(&self) -> Option<u64> {
        self.0.borrow().meter.in_head_since_ms()
    }

    /// Since when no write has found room.
    pub(super) fn blocked_since_ms(&self) -> Option<u64> {
        self.0.borrow().blocked_since_ms
    }
}

impl AsyncRead for Io {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let state = &mut *self.0.borrow_mut();
        let before = buf.filled().len();
        if state.first_bytes.is_empty() {
            ready!(Pin::new(&mut state.socket).poll_read(cx, buf))?;
        } else {
            let count = state.first_bytes.len().min(buf.remaining());
            buf.put_slice(state.first_bytes.get(..count).unwrap_or_default());
            state.first_bytes.drain(..count);
        }
        let read = buf.filled().get(before..).unwrap_or_default();
        state.flood |= state.meter.is_flood(read, clock::now_ms());
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Io {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.0.borrow_mut().poll_put(cx, [buf, &[], &[]])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut parts = [&[][..]; 3];
        for (part, buf) in parts.iter_mut().zip(bufs) {
            *part = buf;
        }
        self.0.borrow_mut().poll_put(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The connection sends when the crate is done.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let state = &mut *self.0.borrow_mut();
        ready!(state.poll_send(cx))?;
        Pin::new(&mut state.socket).poll_shutdown(cx)
    }
}
