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
use leat_message::{Ended, Handler, Limits, Method, Peer, Reason, Record, Step};
use leat_stream::clock::{NEVER, TICK_MS, now_ms};
use leat_stream::{BUFFER_BYTES, Socket, Timer, memory};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::spawn_local;

use super::ahead::Ahead;
use super::exchange::{Begun, H2Exchange, Receive, raw_step};
use super::head::OwnedHead;
use super::io::{Ending, Io};
use super::reply::H2Reply;
use super::wake::Bell;
use crate::refusal::{admit, write_problem};
use crate::{Service, Site};

/// Flow-control window of one stream, in bytes: a bulk upload on a loopback or LAN is not held up by it.
const STREAM_WINDOW_BYTES: u32 = 256 * 1024;
/// Flow-control window of a connection, in bytes: what one client can make us hold.
const CONNECTION_WINDOW_BYTES: u32 = 1024 * 1024;
/// Bytes that may wait in one stream for the client's window.
pub(super) const SEND_BUFFER_BYTES: usize = 64 * 1024;
/// Streams that we reset for the client's errors before it is told to calm down (CVE-2025-8671, MadeYouReset).
const LOCAL_RESETS_MAX: usize = 64;
/// Streams that the client reset before we looked at them, before it is told to calm down (CVE-2023-44487).
const PENDING_RESETS_MAX: usize = 20;
/// Exchanges that may run on one connection, as a multiple of the streams it may have open: one whose stream was reset
/// runs until its handler notices.
const RUNNING_FACTOR: usize = 2;

/// A request as the h2 crate hands it over.
type Incoming = (Request<RecvStream>, SendResponse<Bytes>);

type H2 = h2::server::Connection<Io, Bytes>;

/// One HTTP/2 connection.
pub(super) struct Connection<H: Handler> {
    h2: H2,
    io: Io,
    /// What the crate wakes.
    bell: Bell,
    peer: Rc<Peer>,
    service: Rc<Service<H>>,
    /// Exchanges that run as tasks.
    running: Rc<Cell<usize>>,
    accepted: u64,
    timer: Timer,
    /// When a connection on which nothing runs ends.
    idle_deadline_ms: u64,
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
        let shaken = poll_fn(|cx| {
            let shaken = handshake.as_mut().poll(cx);
            // The client may wait for our settings. What finds no room goes with the next poll.
            let _ = io.poll_send(cx);
            match shaken {
                Poll::Ready(shaken) => Poll::Ready(shaken.ok()),
                Poll::Pending => timer.poll_due(cx).map(|()| None),
            }
        })
        .await;
        let Some(h2) = shaken else { return };
        let idle_deadline_ms = now_ms().saturating_add(limits.idle_time_ms);
        let running = Rc::new(Cell::new(0));
        let mut connection = Self {
            h2,
            io,
            bell: Bell::new(),
            peer,
            service,
            running,
            accepted: 0,
            timer,
            idle_deadline_ms,
            closing: false,
        };
        connection.run().await;
        let Self { h2, io, timer, .. } = connection;
        drop(h2);
        if matches!(io.ending(), Some(Ending::Silent)) {
            return;
        }
        linger(io, timer, &site.limits).await;
    }

    async fn run(&mut self) {
        loop {
            match poll_fn(|cx| self.poll_next(cx)).await {
                Some(Ok((request, respond))) => self.accept(request, respond),
                Some(Err(error)) => {
                    if !error.is_io() {
                        let flood = error.reason() == Some(Code::ENHANCE_YOUR_CALM);
                        self.refuse(if flood { Reason::H2Flood } else { Reason::H2Protocol });
                    }
                    return;
                }
                None => return,
            }
        }
    }

    /// The next request, or the end. Keeps the deadlines of the connection as a whole.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Incoming, h2::Error>>> {
        loop {
            if let Some(ending) = self.io.ending() {
                if let Ending::GoAway(code) = ending {
                    self.h2.abrupt_shutdown(Code::from(code));
                    let _ = self.h2.poll_closed(cx);
                }
                return Poll::Ready(None);
            }
            let waker = self.bell.waker(cx);
            let next = self.h2.poll_accept(&mut Context::from_waker(waker));
            if self.io.is_flooded() {
                self.refuse(Reason::H2Flood);
                self.h2.abrupt_shutdown(Code::ENHANCE_YOUR_CALM);
                // One more poll writes the GOAWAY, as far as there is room for it.
                let _ = self.h2.poll_closed(cx);
                return Poll::Ready(None);
            }
            if next.is_ready() {
                // The next poll follows behind what is accepted.
                self.bell.mute();
                return next;
            }
            // Nothing more is there to be read: all replies leave at once.
            if let Poll::Ready(Err(_)) = self.io.poll_send(cx) {
                return Poll::Ready(None);
            }
            let site = self.service.current();
            let now = now_ms();
            if !self.closing && (self.service.is_ending() || self.accepted >= site.limits.requests_per_connection_max) {
                self.close();
                continue;
            }
            if self.running.get() > 0 {
                self.idle_deadline_ms = self.rest_deadline_ms(&site.limits, now);
            }
            let head_deadline_ms = self.head_deadline_ms(&site.limits);
            let reader_deadline_ms = self.reader_deadline_ms(&site.limits);
            if head_deadline_ms <= now || reader_deadline_ms <= now {
                self.refuse(if head_deadline_ms <= now { Reason::TimeHead } else { Reason::SlowReader });
                return Poll::Ready(None);
            }
            if self.idle_deadline_ms <= now {
                if self.closing {
                    return Poll::Ready(None);
                }
                self.close();
                continue;
            }
            // While something runs this only looks again: nothing else says when the last exchange has ended.
            self.timer.set(self.idle_deadline_ms.min(head_deadline_ms).min(reader_deadline_ms));
            ready!(self.timer.poll_due(cx));
        }
    }

    /// When a head that has begun must have ended.
    fn head_deadline_ms(&self, limits: &Limits) -> u64 {
        self.io.in_head_since_ms().map_or(NEVER, |since| since.saturating_add(limits.head_time_ms))
    }

    /// When output that finds no room must have moved on.
    fn reader_deadline_ms(&self, limits: &Limits) -> u64 {
        match self.io.blocked_since_ms() {
            Some(since) if limits.throughput_bytes_min > 0 => since.saturating_add(limits.throughput_grace_ms),
            _ => NEVER,
        }
    }

    /// Until when a connection stays on which nothing runs any more from now on.
    fn rest_deadline_ms(&self, limits: &Limits, now: u64) -> u64 {
        let ms = match self.closing {
            false => limits.idle_time_ms,
            true if self.service.is_ending() => self.service.current().drain_grace_ms,
            true => limits.drain_time_ms,
        };
        // Never due at once: it would be looked at for ever.
        now.saturating_add(ms.max(TICK_MS))
    }

    /// Says GOAWAY; what is under way still ends.
    fn close(&mut self) {
        self.closing = true;
        self.idle_deadline_ms = self.rest_deadline_ms(&self.service.current().limits, now_ms());
        self.h2.graceful_shutdown();
    }

    fn accept(&mut self, request: Request<RecvStream>, mut respond: SendResponse<Bytes>) {
        self.accepted += 1;
        let site = self.service.current();
        self.idle_deadline_ms = self.rest_deadline_ms(&site.limits, now_ms());
        if self.running.get() >= RUNNING_FACTOR.saturating_mul(site.limits.h2_streams_max as usize) {
            respond.send_reset(Code::REFUSED_STREAM);
            self.refuse(Reason::H2Flood);
            return;
        }
        let (parts, mut recv) = request.into_parts();
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
        let started = Instant::now();
        let ahead = Ahead::read(&mut recv, &head, site.limits.body_bytes_max);
        let raw = raw_step(&site, head.view(), ahead.whole(), &self.peer, &mut reply);
        let ahead = if matches!(raw, Ok(Step::Done)) { ahead.let_go(&mut recv) } else { ahead };
        if matches!(raw, Ok(Step::Done)) && recv.is_end_stream() && reply.is_whole() && reply.end(None).is_ok() {
            if reply.is_done() {
                let (request, record) = (Some(head.view()), &reply.record);
                site.handler.ended(Ended { request, peer: &self.peer, record, started });
                return;
            }
            return self.spawn(self.exchange(head, site, recv, ahead, reply).run_ending());
        }
        match self.exchange(head, site, recv, ahead, reply).go_on(raw) {
            Begun::Ended => {}
            Begun::Ending(exchange) => self.spawn(exchange.run_ending()),
            Begun::Draining(exchange) => self.spawn(exchange.run_draining()),
            Begun::Exchange(exchange, plan) => self.spawn(exchange.run(plan)),
        }
    }

    fn exchange(
        &self,
        head: OwnedHead,
        site: Rc<Site<H>>,
        recv: RecvStream,
        ahead: Ahead,
        reply: H2Reply,
    ) -> H2Exchange<H> {
        H2Exchange::new(head, Rc::clone(&self.peer), site, Receive { recv, ahead }, reply, self.io.clone())
    }

    fn spawn(&self, exchange: impl Future<Output = ()> + 'static) {
        let running = Running::new(&self.running);
        spawn_local(async move {
            exchange.await;
            drop(running);
        });
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
async fn linger(mut io: Io, mut timer: Timer, limits: &Limits) {
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
