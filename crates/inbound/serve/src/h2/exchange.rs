use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::{Buf, Bytes};
use h2::RecvStream;
use leat_message::{
    BodyLimits, Ended, Exchange, Fault, Fields, Fixed, Handler, Head, Length, Peer, Piece, Reason, Record, Reply, Step,
};
use leat_stream::Timer;
use leat_stream::clock::{NEVER, now_ms};

use super::head::{OwnedFields, OwnedHead};
use super::reply::{H2Reply, HELD_BYTES_MAX};
use crate::pace::Pace;
use crate::refusal::write_problem;
use crate::service::{OnError, Site};

/// One stream: its request, its reply, and the handler that brings them together.
pub(super) struct H2Exchange<H> {
    head: OwnedHead,
    peer: Rc<Peer>,
    site: Rc<Site<H>>,
    recv: RecvStream,
    /// The piece of the body that is lent.
    chunk: Bytes,
    body_done: bool,
    continue_owed: bool,
    trailers: Option<OwnedFields>,
    bytes_max: u64,
    timed: bool,
    body_deadline_ms: u64,
    reply: H2Reply,
    pace_in: Pace,
    pace_out: Pace,
    timer: Timer,
    started: Instant,
}

impl<H: Handler> H2Exchange<H> {
    pub(super) fn new(head: OwnedHead, peer: Rc<Peer>, site: Rc<Site<H>>, recv: RecvStream, reply: H2Reply) -> Self {
        let lines = head.view().lines();
        Self {
            chunk: Bytes::new(),
            body_done: lines.length == Length::None,
            continue_owed: lines.expect_continue,
            trailers: None,
            bytes_max: site.limits.body_bytes_max,
            timed: site.limits.body_time_ms.is_some(),
            body_deadline_ms: site.limits.body_time_ms.map_or(NEVER, |ms| now_ms().saturating_add(ms)),
            reply,
            pace_in: Pace::new(),
            pace_out: Pace::new(),
            timer: Timer::default(),
            started: Instant::now(),
            head,
            peer,
            site,
            recv,
        }
    }

    /// Takes the raw step. `Some`: the exchange step is still to be run, by a task.
    pub(super) fn begin(mut self) -> Option<(Self, H::Plan)> {
        let head = self.head.view();
        let reply = &mut self.reply;
        let raw = catch_unwind(AssertUnwindSafe(|| self.site.handler.raw(head, &self.peer, reply)));
        let complete = match raw {
            Ok(Step::Exchange(plan)) => return Some((self, plan)),
            Ok(Step::Done) => self.complete(),
            Err(_) => self.fail(Reason::HandlerPanic),
        };
        self.finish(complete);
        None
    }

    /// Runs the exchange step to its end.
    pub(super) async fn run(mut self, plan: H::Plan) {
        let outcome = self.run_handler(plan).await;
        let complete = match outcome {
            Ok(()) => self.complete(),
            Err(fault) => self.fail(fault.reason),
        };
        self.finish(complete);
    }

    async fn run_handler(&mut self, plan: H::Plan) -> Result<(), Fault> {
        let site = Rc::clone(&self.site);
        let mut future = std::pin::pin!(site.handler.exchange(plan, self));
        poll_fn(|cx| {
            catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx)))
                .unwrap_or(Poll::Ready(Err(Fault::from(Reason::HandlerPanic))))
        })
        .await
    }

    /// Ends the reply if the handler left that to us; says whether it is complete.
    fn complete(&mut self) -> bool {
        match self.reply.end(None) {
            Ok(()) => true,
            Err(reason) => self.fail(reason),
        }
    }

    /// Answers with an error if that is still possible.
    fn fail(&mut self, reason: Reason) -> bool {
        if self.site.on_error == OnError::Crash && matches!(reason, Reason::HandlerPanic | Reason::HandlerFailed) {
            std::process::abort();
        }
        self.reply.record.reason = Some(reason);
        if reason.status() == 0 || !self.reply.take_back() {
            self.reply.cut(reason);
            return false;
        }
        write_problem(&mut self.reply, reason);
        self.reply.end(None).is_ok()
    }

    fn finish(self, complete: bool) {
        debug_assert!(complete || self.reply.record.reason.is_some(), "a reply is only cut off for a reason");
        self.site.handler.ended(Ended {
            request: Some(self.head.view()),
            peer: &self.peer,
            record: &self.reply.record,
            started: self.started,
        });
    }

    /// Waits for the first of the deadlines that apply now. Ready with `Ok` where one passed but the peer is in time.
    fn poll_wait(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        let limits = &self.site.limits;
        let now = now_ms();
        if self.pace_out.is_slow(now, limits) {
            return Poll::Ready(Err(Reason::SlowReader));
        }
        if self.pace_in.is_slow(now, limits) {
            return Poll::Ready(Err(Reason::SlowSender));
        }
        let body_deadline = if self.body_done { NEVER } else { self.body_deadline_ms };
        if body_deadline <= now {
            return Poll::Ready(Err(Reason::TimeBody));
        }
        self.timer.set(body_deadline.min(self.pace_out.due_ms(limits)).min(self.pace_in.due_ms(limits)));
        self.timer.poll_due(cx).map(Ok)
    }

    fn poll_push(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        loop {
            let before = self.reply.held_bytes();
            let pushed = self.reply.poll_push(cx);
            self.pace_out.moved(before - self.reply.held_bytes(), now_ms());
            if pushed.is_ready() {
                return pushed;
            }
            self.pace_out.wait(now_ms());
            ready!(self.poll_wait(cx))?;
        }
    }

    /// Receives the next piece of the body. Ready with `false` at its end.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, Reason>> {
        loop {
            match self.recv.poll_data(cx) {
                Poll::Ready(Some(Ok(bytes))) if bytes.is_empty() => {}
                Poll::Ready(Some(Ok(bytes))) => {
                    self.pace_in.moved(bytes.len(), now_ms());
                    self.reply.record.bytes_in += bytes.len() as u64;
                    if self.reply.record.bytes_in > self.bytes_max {
                        return Poll::Ready(Err(Reason::LimitBodyBytes));
                    }
                    self.chunk = bytes;
                    return Poll::Ready(Ok(true));
                }
                Poll::Ready(Some(Err(_))) => return Poll::Ready(Err(Reason::PeerCancelled)),
                Poll::Ready(None) => {
                    let trailers = ready!(self.recv.poll_trailers(cx)).map_err(|_| Reason::PeerCancelled)?;
                    self.trailers = trailers.map(|map| OwnedFields::new(&map));
                    return Poll::Ready(Ok(false));
                }
                Poll::Pending => {
                    if self.timed {
                        self.pace_in.wait(now_ms());
                    }
                    ready!(self.poll_wait(cx))?;
                }
            }
        }
    }
}

impl<H: Handler> Reply for H2Exchange<H> {
    fn status(&mut self, status: u16) {
        self.reply.status(status);
    }

    fn field(&mut self, name: &[u8], value: &[u8]) {
        self.reply.field(name, value);
    }

    fn length(&mut self, length: Length) {
        self.reply.length(length);
    }

    fn body(&mut self, bytes: &[u8]) {
        self.reply.body(bytes);
    }

    fn fixed(&mut self, reply: &Fixed) {
        self.reply.fixed(reply);
    }

    fn record(&mut self) -> &mut Record {
        &mut self.reply.record
    }
}

impl<H: Handler> Exchange for H2Exchange<H> {
    fn request(&self) -> Head<'_> {
        self.head.view()
    }

    fn peer(&self) -> &Peer {
        &self.peer
    }

    fn limit_body(&mut self, limits: BodyLimits) {
        self.bytes_max = limits.bytes_max;
        self.timed = limits.time_ms.is_some();
        self.body_deadline_ms = limits.time_ms.map_or(NEVER, |ms| now_ms().saturating_add(ms));
    }

    fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Result<Piece<'_>, Reason>> {
        if self.chunk.is_empty() && !self.body_done {
            if std::mem::take(&mut self.continue_owed) {
                self.reply.interim(100, Fields::new(&[], &[]));
            }
            self.body_done = !ready!(self.poll_piece(cx))?;
        }
        if self.chunk.is_empty() {
            return Poll::Ready(Ok(Piece::End));
        }
        Poll::Ready(Ok(Piece::Data(&self.chunk)))
    }

    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<Reason> {
        self.reply.poll_reset(cx)
    }

    fn consume(&mut self, count: usize) {
        let count = count.min(self.chunk.len());
        self.chunk.advance(count);
        // Fails only for more than was received, which the line above excludes.
        let _ = self.recv.flow_control().release_capacity(count);
    }

    fn trailers(&self) -> Option<Fields<'_>> {
        self.trailers.as_ref().map(OwnedFields::view)
    }

    fn interim(&mut self, status: u16, fields: Fields<'_>) {
        if status == 100 {
            self.continue_owed = false;
        }
        self.reply.interim(status, fields);
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Reason>> {
        if self.reply.bodiless || bytes.is_empty() {
            return Poll::Ready(Ok(bytes.len()));
        }
        if !self.reply.has_room_for(bytes.len()) {
            return Poll::Ready(Err(Reason::HandlerFailed));
        }
        if self.reply.held_bytes() >= HELD_BYTES_MAX {
            ready!(self.poll_push(cx))?;
        }
        let count = bytes.len().min(HELD_BYTES_MAX);
        self.reply.hold(bytes.get(..count).unwrap_or_default());
        self.reply.record.bytes_out += count as u64;
        Poll::Ready(Ok(count))
    }

    fn end(&mut self, trailers: Option<Fields<'_>>) {
        // A handler that announced more than it sent is found out after it returned: its reply is not done.
        let _ = self.reply.end(trailers);
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        if self.reply.is_done() {
            return Poll::Ready(Ok(()));
        }
        self.poll_push(cx)
    }

    fn head_sent(&self) -> bool {
        self.reply.head_sent()
    }
}
