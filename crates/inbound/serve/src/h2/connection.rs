use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Instant;

use leat_h2::{Body, Code, Key};
use leat_message::{Ended, Handler, Limits, Peer, Reason, Record, Step, WHOLE_BODY_BYTES_MAX};
use leat_stream::clock::{NEVER, TICK_MS, now_ms};
use leat_stream::{BUFFER_BYTES, BULK_BYTES, Buffer, Socket, Timer, memory};
use tokio::task::spawn_local;

use super::closing::linger;
use super::exchange::{Begun, H2Exchange, raw_step};
use super::head::OwnedHead;
use super::link::{Ending, Link, OUTPUT_BYTES_MAX};
use super::reply::H2Reply;
use crate::refusal::{admit, write_problem};
use crate::{Service, Site};

/// Exchanges that may run on one connection, as a multiple of the streams it may have open: one whose stream was reset
/// runs until its handler notices.
const RUNNING_FACTOR: usize = 2;

/// Memory that a connection at rest keeps for the next body that comes with its head, in bytes.
const SPARE_BYTES_KEPT: usize = 4 * 1024;

/// One HTTP/2 connection.
pub(super) struct Connection<H: Handler> {
    link: Link,
    socket: Socket,
    input: Buffer,
    peer: Rc<Peer>,
    service: Rc<Service<H>>,
    /// Exchanges that run as tasks.
    running: Rc<Cell<usize>>,
    accepted: u64,
    timer: Timer,
    /// When a connection ends whose preface has not come.
    begin_deadline_ms: u64,
    /// When a connection on which nothing runs ends.
    idle_deadline_ms: u64,
    closing: bool,
    /// When no further request is taken of a client that was told of the end, and has not said that it knows.
    farewell_deadline_ms: u64,
    /// Since when writes find no room.
    blocked_since_ms: Option<u64>,
    /// What a body that came with its head is taken into.
    spare: Vec<u8>,
}

/// How a connection ended.
enum End {
    /// The client may still read what was said last.
    Linger,
    /// Without a word.
    Silent,
}

impl<H: Handler> Connection<H> {
    /// Serves the connection until it ends.
    pub(super) async fn serve(socket: Socket, first_bytes: Vec<u8>, peer: Rc<Peer>, service: Rc<Service<H>>) {
        let site = service.current();
        let limits = &site.limits;
        let mut input = Buffer::default();
        if !first_bytes.is_empty() {
            input.extend(&first_bytes);
        }
        // The core's clock stands still while there is no timer: from here on deadlines can be reckoned from it.
        let mut timer = Timer::default();
        timer.set_after(limits.head_time_ms);
        let mut connection = Self {
            link: Link::new(limits),
            socket,
            input,
            peer,
            service,
            running: Rc::new(Cell::new(0)),
            accepted: 0,
            timer,
            begin_deadline_ms: now_ms().saturating_add(limits.head_time_ms),
            idle_deadline_ms: now_ms().saturating_add(limits.idle_time_ms),
            closing: false,
            farewell_deadline_ms: NEVER,
            blocked_since_ms: None,
            spare: Vec::new(),
        };
        let lose = Lose(connection.link.clone());
        let end = poll_fn(|cx| connection.poll(cx)).await;
        connection.link.look(leat_h2::Connection::lose);
        connection.link.wake_told();
        let Self { link, socket, timer, .. } = connection;
        if matches!(end, End::Linger) {
            linger(link, socket, timer, &site.limits).await;
        }
        drop(lose);
    }

    /// Reads, answers and writes until nothing is left to do for now, and keeps the deadlines of the connection as a whole.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        self.link.awake();
        loop {
            match self.link.ending() {
                Some(Ending::GoAway(code)) => {
                    self.link.act(|h2, out| h2.abort(Code(code), out));
                    return Poll::Ready(End::Linger);
                }
                Some(Ending::Silent) => return Poll::Ready(End::Silent),
                None => {}
            }
            self.accept_all();
            self.link.wake_told();
            let is_full = self.link.output_bytes() >= OUTPUT_BYTES_MAX;
            if !is_full {
                match self.poll_receive(cx) {
                    Poll::Ready(Ok(true)) => continue,
                    Poll::Ready(Ok(false)) => return Poll::Ready(End::Linger),
                    Poll::Ready(Err(code)) => {
                        let flood = code == Code::ENHANCE_YOUR_CALM;
                        self.refuse(if flood { Reason::H2Flood } else { Reason::H2Protocol });
                        return Poll::Ready(End::Linger);
                    }
                    Poll::Pending => {}
                }
            }
            // Nothing more is there to be read: all replies leave at once.
            let flushed = match self.poll_flush(cx, !is_full) {
                Poll::Ready(Err(_)) => return Poll::Ready(End::Linger),
                flushed => flushed.is_ready(),
            };
            self.link.wake_told();
            // Reading comes before bodies that would fill it again, or a long one could shut out all that is said to it.
            if is_full && self.link.output_bytes() < OUTPUT_BYTES_MAX {
                continue;
            }
            if flushed && self.link.look(|h2| h2.is_over()) {
                return Poll::Ready(End::Linger);
            }
            if let Some(end) = self.keep_deadlines() {
                return Poll::Ready(end);
            }
            if self.link.output_bytes() > 0 && flushed {
                continue;
            }
            if self.timer.poll_due(cx).is_pending() {
                self.link.sleep(cx);
                return Poll::Pending;
            }
        }
    }

    /// Reads once and takes what came. Ready with `false` at the end of the connection.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, Code>> {
        let taken = self.take_input()?;
        if taken {
            return Poll::Ready(Ok(true));
        }
        match self.input.poll_fill(&mut self.socket, cx, BULK_BYTES) {
            Poll::Ready(Ok(0) | Err(_)) => Poll::Ready(Ok(false)),
            Poll::Ready(Ok(_)) => {
                self.take_input()?;
                Poll::Ready(Ok(true))
            }
            Poll::Pending => {
                self.rest();
                Poll::Pending
            }
        }
    }

    /// Lets go what a connection does not need while nothing comes. Not before: a read that filled its block wants a
    /// larger one.
    fn rest(&mut self) {
        if self.input.is_empty() {
            self.input.release();
        }
        if self.spare.capacity() > SPARE_BYTES_KEPT {
            self.spare = Vec::new();
        }
    }

    /// Takes whole frames from the input; says whether there were any.
    fn take_input(&mut self) -> Result<bool, Code> {
        if self.input.is_empty() {
            return Ok(false);
        }
        let input = &self.input;
        let count = self.link.act(|h2, out| h2.receive(input.bytes(), now_ms(), out))?;
        self.input.consume(count);
        Ok(count > 0)
    }

    /// `tops_up` as in [`Link::poll_flush`].
    fn poll_flush(&mut self, cx: &mut Context<'_>, tops_up: bool) -> Poll<io::Result<()>> {
        let (flushed, moved) = self.link.poll_flush(&mut self.socket, cx, tops_up);
        if moved || flushed.is_ready() {
            self.blocked_since_ms = None;
        }
        if flushed.is_pending() {
            self.blocked_since_ms.get_or_insert_with(now_ms);
        }
        flushed
    }

    /// Looks at what the connection may wait for, and sets the timer to the first of it.
    fn keep_deadlines(&mut self) -> Option<End> {
        let site = self.service.current();
        let now = now_ms();
        if !self.closing && (self.service.is_ending() || self.accepted >= site.limits.requests_per_connection_max) {
            self.close();
        }
        if self.running.get() > 0 {
            self.idle_deadline_ms = self.rest_deadline_ms(&site.limits, now);
        }
        let has_begun = self.link.look(|h2| h2.has_begun());
        let begin_deadline_ms = if has_begun { NEVER } else { self.begin_deadline_ms };
        let head_deadline_ms = self.head_deadline_ms(&site.limits);
        let reader_deadline_ms = self.reader_deadline_ms(&site.limits);
        if head_deadline_ms <= now || reader_deadline_ms <= now {
            self.refuse(if head_deadline_ms <= now { Reason::TimeHead } else { Reason::SlowReader });
            self.link.act(|h2, out| h2.abort(Code::ENHANCE_YOUR_CALM, out));
            return Some(End::Linger);
        }
        if begin_deadline_ms <= now {
            return Some(End::Silent);
        }
        if self.idle_deadline_ms <= now {
            if self.closing {
                return Some(End::Linger);
            }
            self.close();
        }
        if self.farewell_deadline_ms <= now {
            self.farewell_deadline_ms = NEVER;
            self.link.act(leat_h2::Connection::close);
        }
        // While something runs this only looks again: nothing else says when the last exchange has ended.
        let rest = [self.idle_deadline_ms, self.farewell_deadline_ms];
        let deadlines = [begin_deadline_ms, head_deadline_ms, reader_deadline_ms].into_iter().chain(rest);
        self.timer.set(deadlines.min().unwrap_or(NEVER));
        None
    }

    /// When a head that has begun must have ended.
    fn head_deadline_ms(&self, limits: &Limits) -> u64 {
        let since = self.link.look(|h2| h2.in_head_since_ms());
        since.map_or(NEVER, |since| since.saturating_add(limits.head_time_ms))
    }

    /// When output that finds no room must have moved on.
    fn reader_deadline_ms(&self, limits: &Limits) -> u64 {
        match self.blocked_since_ms {
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
        self.farewell_deadline_ms = self.idle_deadline_ms;
        self.link.act(leat_h2::Connection::close);
    }

    /// Takes every request that came, as long as its reply has a place.
    fn accept_all(&mut self) {
        while self.link.output_bytes() < OUTPUT_BYTES_MAX
            && let Some((key, problem)) = self.link.act(leat_h2::Connection::next_request)
        {
            self.accept(key, problem);
        }
    }

    fn accept(&mut self, key: Key, problem: Result<(), Reason>) {
        self.accepted += 1;
        let site = self.service.current();
        self.idle_deadline_ms = self.rest_deadline_ms(&site.limits, now_ms());
        if self.running.get() >= RUNNING_FACTOR.saturating_mul(site.limits.h2_streams_max as usize) {
            self.link.reset(key, Code::REFUSED_STREAM);
            self.link.release(key);
            self.refuse(Reason::H2Flood);
            return;
        }
        let mut head = OwnedHead::spare();
        let ended = self.link.look(|h2| {
            h2.swap_head(key, head.text());
            h2.has_ended(key)
        });
        let mut reply = H2Reply::new(self.link.clone(), key, head.is_head_request());
        let judged = problem.and_then(|()| {
            head.parse(ended, site.profile, &site.limits)?;
            admit(head.view(), &self.peer)?;
            if memory::in_use() > site.limits.memory_bytes_max { Err(Reason::LimitMemory) } else { Ok(()) }
        });
        if let Err(reason) = judged {
            write_problem(&mut reply, reason);
            if reply.end(None).is_err() {
                reply.cut(reason);
            }
            self.refuse(reason);
            return;
        }
        let started = Instant::now();
        let body = self.whole_body(key, &head, &site.limits);
        let raw = raw_step(&site, head.view(), body.as_deref(), &self.peer, &mut reply);
        let is_done = matches!(raw, Ok(Step::Done));
        let body = match body {
            Some(body) if is_done => {
                self.link.act(|h2, out| h2.consumed(key, body.len(), out));
                self.spare = body;
                Vec::new()
            }
            body => body.unwrap_or_default(),
        };
        if is_done && self.link.look(|h2| h2.has_ended(key)) && reply.is_whole() && reply.end(None).is_ok() {
            if reply.is_done() {
                let (request, record) = (Some(head.view()), &reply.record);
                site.handler.ended(Ended { request, peer: &self.peer, record, started });
                return;
            }
            spawn_local(self.exchange(head, site, body, reply, started).run_ending());
            return;
        }
        let mut exchange = self.exchange(head, site, body, reply, started);
        match exchange.go_on(raw) {
            Begun::Ended => {}
            Begun::Ending => drop(spawn_local(exchange.run_ending())),
            Begun::Draining => drop(spawn_local(exchange.run_draining())),
            // Boxed: a task copies its future three times when it begins and as often when it ends, and this one is of 4 KiB.
            Begun::Exchange(plan) => drop(spawn_local(Box::pin(exchange.run(plan)))),
        }
    }

    /// The body, where all of it has come with its head. Nothing is taken of one that the client waits to be asked for, and
    /// of one beyond a limit: the exchange step says what is wrong with such a body.
    fn whole_body(&mut self, key: Key, head: &OwnedHead, limits: &Limits) -> Option<Vec<u8>> {
        if head.view().lines().expect_continue {
            return None;
        }
        let bytes_max = usize::try_from(limits.body_bytes_max).unwrap_or(usize::MAX).min(WHOLE_BODY_BYTES_MAX);
        let spare = &mut self.spare;
        self.link.look(|h2| {
            let is_fit = h2.whole_body(key).is_some_and(|bytes| (1..=bytes_max).contains(&bytes));
            (is_fit && h2.take_body(key, spare) == Body::Data).then(|| std::mem::take(spare))
        })
    }

    #[inline]
    fn exchange(
        &self,
        head: OwnedHead,
        site: Rc<Site<H>>,
        body: Vec<u8>,
        reply: H2Reply,
        started: Instant,
    ) -> H2Exchange<H> {
        let running = Running::new(&self.running);
        H2Exchange::new(head, Rc::clone(&self.peer), site, body, reply, started, running)
    }

    /// Records something that was refused before there was an exchange.
    fn refuse(&self, reason: Reason) {
        let record = Record { reason: Some(reason), status: reason.status(), ..Record::default() };
        let ended = Ended { request: None, peer: &self.peer, record: &record, started: Instant::now() };
        self.service.current().handler.ended(ended);
    }
}

/// Tells the exchanges of a connection's end, however it comes.
struct Lose(Link);

impl Drop for Lose {
    fn drop(&mut self) {
        self.0.lose();
    }
}

/// Counts an exchange that does not end in the raw step.
pub(super) struct Running(Rc<Cell<usize>>);

impl Running {
    fn new(count: &Rc<Cell<usize>>) -> Self {
        count.set(count.get() + 1);
        // What an exchange holds besides bodies.
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
