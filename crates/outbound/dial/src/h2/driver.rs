use std::io;
use std::pin::Pin;
use std::rc::Weak;
use std::task::{Context, Poll, ready};

use leat_h2::Code;
use leat_message::Reason;
use leat_stream::clock::now_ms;
use leat_stream::{BULK_BYTES, Buffer, Socket, Timer};
use tokio::io::AsyncWrite;

use super::connection::Connection;
use super::link::{Link, UNREAD_BYTES_MAX};
use crate::pool::Pool;
use crate::within::within;

/// How long a connection that is given up may take to say so, in milliseconds.
const LINGER_MS: u64 = 2_000;
/// Shortest time between two PINGs, in milliseconds: servers take many of them for an attack.
const PING_GAP_MS: u64 = 10_000;

/// Reads and writes for all exchanges of a connection.
pub(super) struct Driver {
    link: Link,
    socket: Socket,
    input: Buffer,
    /// Longest wait for the answer to a PING.
    ping_time_ms: u64,
    /// Whether it is awaited.
    asking: bool,
    next_ping_ms: u64,
    timer: Timer,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// What was said last may still be read.
    Said,
    /// The peer broke the rules, and is told so.
    Invalid,
    /// The socket has broken, or the peer does not answer.
    Lost,
}

impl Driver {
    pub(super) fn new(link: Link, socket: Socket, ping_time_ms: u64) -> Self {
        let (input, timer) = (Buffer::default(), Timer::default());
        Self { link, socket, input, ping_time_ms, asking: false, next_ping_ms: 0, timer }
    }

    /// Ready once the peer's settings have come, which let us open streams.
    pub(super) fn poll_begin(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        match self.poll(cx) {
            Poll::Ready(End::Invalid) => Poll::Ready(Err(Reason::UpstreamInvalid)),
            Poll::Ready(End::Said | End::Lost) => Poll::Ready(Err(Reason::UpstreamConnect)),
            Poll::Pending if self.link.look(|h2| h2.has_begun() && h2.streams_max() > 0) => Poll::Ready(Ok(())),
            Poll::Pending => Poll::Pending,
        }
    }

    /// Runs until the connection ends or nobody holds it any more.
    pub(super) async fn run(mut self, shared: Weak<Connection>, pool: Weak<Pool>) {
        let end = std::future::poll_fn(|cx| self.poll(cx)).await;
        self.link.lose();
        if let (Some(shared), Some(pool)) = (shared.upgrade(), pool.upgrade()) {
            shared.leave();
            pool.part(&shared);
        }
        if end != End::Lost {
            // A peer that does not read is not waited for.
            within(LINGER_MS, std::future::poll_fn(|cx| self.poll_close(cx))).await;
        }
    }

    /// Reads and writes until nothing is left to do for now.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        self.link.awake();
        loop {
            self.link.wake_told();
            let is_full = self.link.output_bytes() >= UNREAD_BYTES_MAX;
            if !is_full {
                match self.poll_receive(cx) {
                    Poll::Ready(Ok(true)) => continue,
                    Poll::Ready(Ok(false)) => return Poll::Ready(End::Lost),
                    Poll::Ready(Err(_)) => return Poll::Ready(End::Invalid),
                    Poll::Pending => {}
                }
            }
            if self.link.is_unwanted() {
                self.link.act(|h2, out| h2.close(out));
                return Poll::Ready(End::Said);
            }
            // Nothing more is there to be read: all requests leave at once.
            let flushed = match self.link.poll_flush(&mut self.socket, cx, !is_full) {
                Poll::Ready(Err(_)) => return Poll::Ready(self.read_last(cx)),
                flushed => flushed.is_ready(),
            };
            self.link.wake_told();
            if is_full && self.link.output_bytes() < UNREAD_BYTES_MAX {
                continue;
            }
            if flushed && self.link.look(|h2| h2.is_over()) {
                return Poll::Ready(End::Said);
            }
            self.ask();
            if self.link.output_bytes() > 0 && flushed {
                continue;
            }
            if self.asking && self.timer.poll_due(cx).is_ready() {
                return Poll::Ready(End::Lost);
            }
            self.link.sleep(cx);
            return Poll::Pending;
        }
    }

    /// Reads once and takes what came. Ready with `false` at the end of the connection.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, Code>> {
        match self.input.poll_fill(&mut self.socket, cx, BULK_BYTES) {
            Poll::Ready(Ok(0) | Err(_)) => Poll::Ready(Ok(false)),
            Poll::Ready(Ok(_)) => {
                let input = &self.input;
                let count = self.link.act(|h2, out| h2.receive(input.bytes(), now_ms(), out))?;
                self.input.consume(count);
                Poll::Ready(Ok(true))
            }
            Poll::Pending => {
                if self.input.is_empty() {
                    self.input.release();
                }
                Poll::Pending
            }
        }
    }

    /// The peer takes no more; what it has said before that is still heard.
    fn read_last(&mut self, cx: &mut Context<'_>) -> End {
        while let Poll::Ready(Ok(true)) = self.poll_receive(cx) {}
        End::Lost
    }

    /// Asks the peer whether it is still there, if that is in doubt: it comes up when a request is given up without any
    /// response. All others on this connection would be lost too, and the system may notice a dead peer only after many minutes.
    fn ask(&mut self) {
        if self.asking {
            if self.link.look(|h2| h2.is_asking()) {
                return;
            }
            self.asking = false;
            self.timer = Timer::default();
            self.next_ping_ms = now_ms() + PING_GAP_MS;
        }
        if self.link.take_doubt() && now_ms() >= self.next_ping_ms {
            self.link.act(|h2, out| h2.ask(out));
            self.asking = true;
            self.timer.set_after(self.ping_time_ms);
        }
    }

    /// Writes what is left and ends our direction.
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.link.poll_flush(&mut self.socket, cx, false))?;
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // However it ends, every exchange hears of it.
        self.link.lose();
    }
}
