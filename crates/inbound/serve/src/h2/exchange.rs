use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::{Buf, Bytes};
use h2::RecvStream;
use leat_message::{
    BodyLimits, BreakOff, Ended, Exchange, Fault, Fields, Fixed, Handler, Head, Length, Peer, Piece, Reason, Record,
    Reply, Step,
};
use leat_stream::{Timer, memory};

use super::ahead::Ahead;
use super::head::{OwnedHead, Trailers};
use super::io::{Ending, Io};
use super::reply::{H2Reply, HELD_BYTES_MAX};
use crate::refusal::write_problem;
use crate::service::{OnError, Site};
use crate::wait::Wait;

/// One stream: its request, its reply, and the handler that brings them together.
pub(super) struct H2Exchange<H> {
    head: OwnedHead,
    peer: Rc<Peer>,
    site: Rc<Site<H>>,
    recv: RecvStream,
    /// What came of the body before there was an exchange.
    ahead: Ahead,
    /// The connection, to ask for its end.
    io: Io,
    /// The piece of the body that is lent.
    chunk: Bytes,
    body_done: bool,
    continue_owed: bool,
    trailers: Option<Trailers>,
    bytes_max: u64,
    reply: H2Reply,
    wait: Wait,
    /// The memory of a reply that waits for the client's window.
    stuck: Option<Stuck>,
    started: Instant,
}

/// A request's body: its stream, and what was taken from it already.
pub(super) struct Receive {
    pub(super) recv: RecvStream,
    pub(super) ahead: Ahead,
}

/// What is to be done after the raw step.
pub(super) enum Begun<H: Handler> {
    /// Nothing: the reply is with its stream.
    Ended,
    /// The rest of the reply waits for the client.
    Ending(H2Exchange<H>),
    /// The reply waits for the end of the request.
    Draining(H2Exchange<H>),
    /// The exchange step.
    Exchange(H2Exchange<H>, H::Plan),
}

/// Counts bytes that a client does not take as memory in use.
struct Stuck(i64);

impl Stuck {
    fn new(bytes: usize) -> Self {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        memory::add(bytes);
        Self(bytes)
    }
}

impl Drop for Stuck {
    fn drop(&mut self) {
        memory::add(-self.0);
    }
}

/// Takes the raw step; a panic is a reason like others.
pub(super) fn raw_step<H: Handler>(
    site: &Site<H>,
    head: Head<'_>,
    body: Option<&[u8]>,
    peer: &Peer,
    reply: &mut H2Reply,
) -> Result<Step<H::Plan>, Reason> {
    catch_unwind(AssertUnwindSafe(|| match body {
        Some(body) => site.handler.raw_with_body(head, body, peer, reply),
        None => site.handler.raw(head, peer, reply),
    }))
    .map_err(|_| Reason::HandlerPanic)
}

impl<H: Handler> H2Exchange<H> {
    pub(super) fn new(
        head: OwnedHead,
        peer: Rc<Peer>,
        site: Rc<Site<H>>,
        Receive { recv, ahead }: Receive,
        reply: H2Reply,
        io: Io,
    ) -> Self {
        let lines = head.view().lines();
        let mut wait = Wait::new();
        if lines.length != Length::None {
            wait.limit_body(site.limits.body_time_ms);
        }
        Self {
            chunk: Bytes::new(),
            body_done: lines.length == Length::None,
            continue_owed: lines.expect_continue,
            trailers: None,
            bytes_max: site.limits.body_bytes_max,
            reply,
            wait,
            stuck: None,
            started: Instant::now(),
            head,
            peer,
            site,
            recv,
            ahead,
            io,
        }
    }

    /// Says how to go on after the raw step, if the reply was not complete with it.
    pub(super) fn go_on(mut self, raw: Result<Step<H::Plan>, Reason>) -> Begun<H> {
        let complete = match raw {
            Ok(Step::Exchange(plan)) => return Begun::Exchange(self, plan),
            Ok(Step::Done) if !self.recv.is_end_stream() && !self.continue_owed => return Begun::Draining(self),
            Ok(Step::Done) => self.complete(),
            Err(reason) => self.fail(reason),
        };
        if complete && !self.reply.is_done() {
            return Begun::Ending(self);
        }
        self.finish(complete);
        Begun::Ended
    }

    /// Runs the exchange step to its end.
    pub(super) async fn run(mut self, plan: H::Plan) {
        let outcome = self.run_handler(plan).await;
        let complete = match outcome {
            Ok(()) => self.complete(),
            Err(fault) => self.fail(fault.reason),
        };
        match complete {
            true => self.run_ending().await,
            false => self.finish(false),
        }
    }

    /// Reads off a body that the raw step left unread, under the limits for that, and then ends the reply: frames that
    /// arrive for a stream which is over already could not be told from an error, and those in error not be answered.
    pub(super) async fn run_draining(mut self) {
        let mut timer = Timer::default();
        timer.set_after(self.site.limits.drain_time_ms);
        let mut left = self.site.limits.drain_bytes_max;
        poll_fn(|cx| {
            while left > 0 {
                match self.recv.poll_data(cx) {
                    Poll::Ready(Some(Ok(bytes))) => {
                        left = left.saturating_sub(bytes.len().max(1) as u64);
                        // Fails only for more than was received.
                        let _ = self.recv.flow_control().release_capacity(bytes.len());
                    }
                    Poll::Ready(Some(Err(_)) | None) => return Poll::Ready(()),
                    Poll::Pending => return timer.poll_due(cx),
                }
            }
            Poll::Ready(())
        })
        .await;
        match self.complete() {
            true => self.run_ending().await,
            false => self.finish(false),
        }
    }

    /// Waits until the client took what is left of a reply that the handler has ended.
    pub(super) async fn run_ending(mut self) {
        let mut complete = true;
        if !self.reply.is_done()
            && let Err(reason) = poll_fn(|cx| self.poll_push(cx)).await
        {
            complete = self.fail(reason);
        }
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
        if !self.reply.is_whole() {
            return self.fail(Reason::HandlerFailed);
        }
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

    fn poll_push(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
        loop {
            let before = self.reply.held_bytes();
            let pushed = self.reply.poll_push(cx);
            self.wait.sent(before - self.reply.held_bytes());
            if pushed.is_ready() {
                self.stuck = None;
                return pushed;
            }
            if self.stuck.is_none() {
                self.stuck = Some(Stuck::new(self.reply.stuck_bytes()));
            }
            ready!(self.wait.poll_reader(cx, &self.site.limits))?;
        }
    }

    /// Receives the next piece of the body. Ready with `false` at its end.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, Reason>> {
        loop {
            let next = match self.ahead.take() {
                Some(bytes) => Poll::Ready(Some(Ok(bytes))),
                None => self.recv.poll_data(cx),
            };
            match next {
                Poll::Ready(Some(Ok(bytes))) if bytes.is_empty() => {}
                Poll::Ready(Some(Ok(bytes))) => {
                    self.wait.received(bytes.len());
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
                    if let Some(map) = trailers {
                        self.trailers = Some(Trailers::new(&map, self.site.profile, &self.site.limits)?);
                    }
                    return Poll::Ready(Ok(false));
                }
                Poll::Pending => ready!(self.wait.poll_sender(cx, &self.site.limits))?,
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

    fn body_with_trailers(&mut self, parts: &[&[u8]], trailers: Fields<'_>) {
        self.reply.body_with_trailers(parts, trailers);
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
        if !self.body_done {
            self.wait.limit_body(limits.time_ms);
        }
    }

    fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Result<Piece<'_>, Reason>> {
        if self.chunk.is_empty() && !self.body_done {
            if matches!(self.head.view().length(), Length::Known(count) if count > self.bytes_max) {
                return Poll::Ready(Err(Reason::LimitBodyBytes));
            }
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
        self.trailers.as_ref().and_then(Trailers::view)
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

    fn verbatim(&mut self, _status: u16, head: &[u8]) {
        self.reply.verbatim(head);
    }

    fn keep_alive(&mut self, _keep: bool) {}

    fn interim_verbatim(&mut self, status: u16, head: &[u8]) {
        if status == 100 {
            self.continue_owed = false;
        }
        self.reply.interim_verbatim(head);
    }

    fn waive_continue(&mut self) {
        self.continue_owed = false;
    }

    fn take_over(&mut self) -> bool {
        false
    }

    fn break_off(&mut self, how: BreakOff) {
        match how {
            BreakOff::Reset { code } => self.reply.reset_code = Some(code),
            BreakOff::GoAway { code } => self.io.end(Ending::GoAway(code)),
            BreakOff::Close => self.io.end(Ending::Silent),
        }
    }
}
