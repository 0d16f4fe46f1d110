use std::cell::Cell;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use h2::{Ping, PingPong};
use leat_stream::clock::now_ms;
use leat_stream::{Socket, Timer};
use tokio::sync::oneshot;

use super::connection::Connection;
use crate::pool::Pool;
use crate::within::within;

/// How long a connection that is given up may take to say so, in milliseconds.
const LINGER_MS: u64 = 2_000;
/// Shortest time between two PINGs, in milliseconds: servers take many of them for an attack.
const PING_GAP_MS: u64 = 10_000;

/// The doubt whether a connection's peer is still there. It comes up when a request is given up without any response:
/// all others on this connection would be lost too, and the system may notice a dead peer only after many minutes.
#[derive(Default)]
pub(super) struct Doubt {
    raised: Cell<bool>,
    waker: Cell<Option<Waker>>,
}

impl Doubt {
    pub(super) fn raise(&self) {
        self.raised.set(true);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// Reads and writes for all exchanges of a connection.
pub(super) struct Driver {
    connection: h2::client::Connection<Socket, Bytes>,
    pings: Option<PingPong>,
    doubt: Rc<Doubt>,
    /// Longest wait for the answer to a PING.
    ping_time_ms: u64,
    asking: bool,
    next_ping_ms: u64,
    timer: Timer,
}

impl Driver {
    pub(super) fn new(
        mut connection: h2::client::Connection<Socket, Bytes>,
        doubt: Rc<Doubt>,
        ping_time_ms: u64,
    ) -> Self {
        let pings = connection.ping_pong();
        Self { connection, pings, doubt, ping_time_ms, asking: false, next_ping_ms: 0, timer: Timer::default() }
    }

    /// Runs until the connection ends or nobody holds it any more. Dropped, it ends every exchange left on it.
    pub(super) async fn run(mut self, gone: oneshot::Receiver<()>, shared: Weak<Connection>, pool: Weak<Pool>) {
        tokio::select! {
            () = std::future::poll_fn(|cx| self.poll(cx)) => {}
            _ = gone => {
                // It says GOAWAY and closes; a peer that does not read is not waited for.
                within(LINGER_MS, self.connection).await;
                return;
            }
        }
        drop(self);
        if let (Some(shared), Some(pool)) = (shared.upgrade(), pool.upgrade()) {
            shared.leave();
            pool.part(&shared);
        }
    }

    /// Ready once the connection has ended, or its peer does not answer.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if Pin::new(&mut self.connection).poll(cx).is_ready() {
                return Poll::Ready(());
            }
            let Some(pings) = &mut self.pings else { return Poll::Pending };
            if self.asking {
                match pings.poll_pong(cx) {
                    Poll::Ready(Ok(_)) => {
                        self.asking = false;
                        self.timer = Timer::default();
                        self.next_ping_ms = now_ms() + PING_GAP_MS;
                    }
                    Poll::Ready(Err(_)) => return Poll::Ready(()),
                    Poll::Pending => return self.timer.poll_due(cx),
                }
            }
            let doubtful = self.doubt.raised.replace(false) && now_ms() >= self.next_ping_ms;
            if !doubtful || pings.send_ping(Ping::opaque()).is_err() {
                self.doubt.waker.set(Some(cx.waker().clone()));
                return Poll::Pending;
            }
            self.asking = true;
            self.timer.set_after(self.ping_time_ms);
        }
    }
}
