use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::Bytes;
use h2::server::{Builder, SendResponse};
use h2::{Reason as Code, RecvStream};
use http::Request;
use leat_message::{Ended, Handler, Method, Peer, Reason, Record};
use leat_stream::clock::now_ms;
use leat_stream::{BUFFER_BYTES, Socket, Timer, memory};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::spawn_local;

use super::exchange::H2Exchange;
use super::head::OwnedHead;
use super::io::Io;
use super::reply::H2Reply;
use crate::Service;
use crate::refusal::{admit, write_problem};

/// Flow-control window of one stream, in bytes: a bulk upload on a loopback or LAN is not held up by it.
const STREAM_WINDOW_BYTES: u32 = 256 * 1024;
/// Flow-control window of a connection, in bytes: what one client can make us hold.
const CONNECTION_WINDOW_BYTES: u32 = 1024 * 1024;
/// Bytes that may wait in one stream for the client's window.
const SEND_BUFFER_BYTES: usize = 64 * 1024;
/// Streams that we reset for the client's errors before it is told to calm down (CVE-2025-8671, MadeYouReset).
const LOCAL_RESETS_MAX: usize = 64;
/// Streams that the client reset before we looked at them, before it is told to calm down (CVE-2023-44487).
const PENDING_RESETS_MAX: usize = 20;

type H2 = h2::server::Connection<Io, Bytes>;

/// One HTTP/2 connection.
pub(super) struct Connection<H: Handler> {
    h2: H2,
    io: Io,
    peer: Rc<Peer>,
    service: Rc<Service<H>>,
    /// Exchanges that run as tasks.
    running: Rc<Cell<usize>>,
    accepted: u64,
    timer: Timer,
    idle_deadline_ms: u64,
    /// When a head that has begun, or output that finds no room, must have moved on; 0 while neither is the case.
    stall_deadline_ms: u64,
    closing: bool,
}

impl<H: Handler> Connection<H> {
    /// Serves the connection until it ends.
    pub(super) async fn serve(socket: Socket, first_bytes: Vec<u8>, peer: Rc<Peer>, service: Rc<Service<H>>) {
        let site = service.current();
        let limits = &site.limits;
        let io = Io::new(socket, first_bytes);
        let mut builder = Builder::new();
        builder
            .initial_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .max_concurrent_streams(limits.h2_streams_max)
            .max_header_list_size(u32::try_from(limits.head_bytes_max).unwrap_or(u32::MAX))
            .max_send_buffer_size(SEND_BUFFER_BYTES)
            .max_local_error_reset_streams(Some(LOCAL_RESETS_MAX))
            .max_pending_accept_reset_streams(PENDING_RESETS_MAX);
        let mut handshake = std::pin::pin!(builder.handshake::<_, Bytes>(io.clone()));
        let mut timer = Timer::default();
        timer.set_after(limits.head_time_ms);
        let shaken = poll_fn(|cx| match handshake.as_mut().poll(cx) {
            Poll::Ready(shaken) => Poll::Ready(shaken.ok()),
            Poll::Pending => timer.poll_due(cx).map(|()| None),
        })
        .await;
        let Some(h2) = shaken else { return };
        let idle_deadline_ms = now_ms().saturating_add(limits.idle_time_ms);
        let running = Rc::new(Cell::new(0));
        let mut connection = Self {
            h2,
            io,
            peer,
            service,
            running,
            accepted: 0,
            timer,
            idle_deadline_ms,
            stall_deadline_ms: 0,
            closing: false,
        };
        connection.run().await;
        let Self { h2, io, timer, .. } = connection;
        drop(h2);
        linger(io, timer, &site.limits).await;
    }

    async fn run(&mut self) {
        loop {
            match poll_fn(|cx| self.poll_next(cx)).await {
                Some(Ok((request, respond))) => self.accept(request, respond),
                Some(Err(_)) | None => return,
            }
        }
    }

    /// The next request, or the end. Keeps the deadlines of the connection as a whole.
    #[allow(clippy::type_complexity)]
    fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<(Request<RecvStream>, SendResponse<Bytes>), h2::Error>>> {
        loop {
            if let Poll::Ready(next) = self.h2.poll_accept(cx) {
                return Poll::Ready(next);
            }
            if self.io.is_flooded() {
                self.refuse(Reason::H2Flood);
                self.h2.abrupt_shutdown(Code::ENHANCE_YOUR_CALM);
                // One more poll writes the GOAWAY, as far as there is room for it.
                let _ = self.h2.poll_closed(cx);
                return Poll::Ready(None);
            }
            let site = self.service.current();
            let now = now_ms();
            if !self.closing && self.service.is_ending() {
                // The client answers the first GOAWAY and is gone; one that does not is not waited for longer.
                self.close(now.saturating_add(site.drain_grace_ms));
                continue;
            }
            if !self.closing && self.accepted >= site.limits.requests_per_connection_max {
                self.close(now.saturating_add(site.limits.idle_time_ms));
                continue;
            }
            if self.running.get() > 0 && !self.closing {
                self.idle_deadline_ms = now.saturating_add(site.limits.idle_time_ms);
            }
            let stalled = self.io.in_head() || self.io.is_blocked() && self.running.get() == 0;
            match (stalled, self.stall_deadline_ms) {
                (false, _) => self.stall_deadline_ms = 0,
                (true, 0) => self.stall_deadline_ms = now.saturating_add(site.limits.head_time_ms),
                (true, deadline) if deadline <= now => {
                    self.refuse(if self.io.in_head() { Reason::TimeHead } else { Reason::SlowReader });
                    return Poll::Ready(None);
                }
                (true, _) => {}
            }
            if self.idle_deadline_ms <= now && self.running.get() == 0 {
                if self.closing {
                    return Poll::Ready(None);
                }
                self.close(now.saturating_add(site.limits.drain_time_ms));
                continue;
            }
            let deadline = self.idle_deadline_ms.min(if stalled { self.stall_deadline_ms } else { u64::MAX });
            self.timer.set(deadline);
            ready!(self.timer.poll_due(cx));
        }
    }

    /// Says GOAWAY; what is under way still ends, by `deadline_ms` if it stands still.
    fn close(&mut self, deadline_ms: u64) {
        self.closing = true;
        self.idle_deadline_ms = deadline_ms;
        self.h2.graceful_shutdown();
    }

    fn accept(&mut self, request: Request<RecvStream>, respond: SendResponse<Bytes>) {
        self.accepted += 1;
        let site = self.service.current();
        if !self.closing {
            self.idle_deadline_ms = now_ms().saturating_add(site.limits.idle_time_ms);
        }
        let (parts, recv) = request.into_parts();
        let mut reply = H2Reply::new(respond, parts.method == http::Method::HEAD);
        let head = OwnedHead::new(&parts, recv.is_end_stream(), site.profile, &site.limits).and_then(|head| {
            admit(head.view(), &self.peer)?;
            if memory::in_use() > site.limits.memory_bytes_max { Err(Reason::LimitMemory) } else { Ok(head) }
        });
        let head = match head {
            Ok(head) => head,
            Err(reason) => {
                write_problem(&mut reply, reason);
                if reply.end(None).is_err() {
                    reply.cut(reason);
                }
                self.refuse(reason);
                return;
            }
        };
        debug_assert_eq!(parts.method == http::Method::HEAD, head.view().method() == Method::Head);
        if let Some((exchange, plan)) = H2Exchange::new(head, Rc::clone(&self.peer), site, recv, reply).begin() {
            let running = Running::new(&self.running);
            spawn_local(async move {
                exchange.run(plan).await;
                drop(running);
            });
        }
    }

    /// Records something that was refused before there was an exchange.
    fn refuse(&self, reason: Reason) {
        let record = Record { reason: Some(reason), status: reason.status(), ..Record::default() };
        let ended = Ended { request: None, peer: &self.peer, record: &record, started: Instant::now() };
        self.service.current().handler.ended(ended);
    }
}

/// Counts an exchange that runs as a task.
struct Running(Rc<Cell<usize>>);

impl Running {
    fn new(count: &Rc<Cell<usize>>) -> Self {
        count.set(count.get() + 1);
        // The stream of a client that reads nothing must not keep the buffers of the connection uncounted.
        memory::add(BUFFER_BYTES as i64);
        Self(Rc::clone(count))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(1));
        memory::add(-(BUFFER_BYTES as i64));
    }
}

/// Ends our direction and reads the client's off for a while, so that a GOAWAY is read before a reset destroys it.
async fn linger(mut io: Io, mut timer: Timer, limits: &leat_message::Limits) {
    let deadline = now_ms().saturating_add(limits.drain_time_ms);
    let mut left = limits.drain_bytes_max;
    let mut shut = false;
    let mut block = [0; 1024];
    poll_fn(|cx| {
        loop {
            if !shut {
                shut = Pin::new(&mut io).poll_shutdown(cx).is_ready();
            }
            let mut buf = ReadBuf::new(&mut block);
            match Pin::new(&mut io).poll_read(cx, &mut buf) {
                Poll::Ready(Ok(())) if !buf.filled().is_empty() && left > 0 => {
                    left = left.saturating_sub(buf.filled().len() as u64);
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => {
                    timer.set(deadline);
                    return timer.poll_due(cx);
                }
            }
        }
    })
    .await;
}
