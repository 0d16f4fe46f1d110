use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use leat_stream::{Socket, clock};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::meter::Meter;

/// The socket below an h2 connection: shared, so that it can still be closed with care when the connection is gone.
#[derive(Clone)]
pub(super) struct Io(Rc<RefCell<State>>);

struct State {
    socket: Socket,
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
            first_bytes,
            meter,
            flood: false,
            blocked_since_ms: None,
            ending: None,
        })))
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
        let state = &mut *self.0.borrow_mut();
        let written = Pin::new(&mut state.socket).poll_write(cx, buf);
        state.note_write(written.is_ready());
        written
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let state = &mut *self.0.borrow_mut();
        let written = Pin::new(&mut state.socket).poll_write_vectored(cx, bufs);
        state.note_write(written.is_ready());
        written
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // A TLS session takes writes that the socket has no room for; this tells.
        let state = &mut *self.0.borrow_mut();
        let flushed = Pin::new(&mut state.socket).poll_flush(cx);
        state.note_write(flushed.is_ready());
        flushed
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.borrow_mut().socket).poll_shutdown(cx)
    }
}
