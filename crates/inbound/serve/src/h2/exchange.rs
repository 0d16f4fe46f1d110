use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use leat_h2::Body;
use leat_message::{
    BodyLimits, BreakOff, Ended, Exchange, Fault, Fields, Fixed, Handler, Head, Length, Limits, Method, Peer, Piece,
    Reason, Record, Reply, Step,
};
use leat_stream::Timer;

use super::connection::Running;
use super::head::{OwnedHead, Trailers};
use super::link::{Direction, Ending};
use super::reply::H2Reply;
use crate::refusal::write_problem;
use crate::service::{OnError, Site};
use crate::wait::Wait;

/// What is read off of a body that nobody wants.
struct Rest {
    timer: Timer,
    left: u64,
}

impl Rest {
    fn new(limits: &Limits) -> Self {
        let mut timer = Timer::default();
        timer.set_after(limits.drain_time_ms);
        Self { timer, left: limits.drain_bytes_max }
    }
}

/// One stream: its request, its reply, and the handler that brings them together.
pub(super) struct H2Exchange<H> {
    head: OwnedHead,
    peer: Rc<Peer>,
    site: Rc<Site<H>>,
    /// The piece of the body that is lent, from `chunk_start` on.
    chunk: Vec<u8>,
    chunk_start: usize,
    /// Whether that came with the head, and was not counted yet.
    came_with_head: bool,
    body_done: bool,
    continue_owed: bool,
    trailers: Option<Trailers>,
    bytes_max: u64,
    reply: H2Reply,
    wait: Wait,
    /// Bytes of the reply that waited for the client when they were looked at last.
    held_bytes: usize,
    started: Instant,
    _running: Running,
}

/// What is to be done after the raw step.
pub(super) enum Begun<P> {
    /// Nothing: the reply is with its stream.
    Ended,
    /// The rest of the reply waits for the client.
    Ending,
    /// The reply is with its stream; the rest of the request is to be read off.
    Draining,
    /// The exchange step.
    Exchange(P),
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
    #[inline]
    pub(super) fn new(
        head: OwnedHead,
        peer: Rc<Peer>,
        site: Rc<Site<H>>,
        body: Vec<u8>,
        reply: H2Reply,
        started: Instant,
        running: Running,
    ) -> Self {
        let lines = head.view().lines();
        let mut wait = Wait::new();
        if lines.length != Length::None {
            wait.limit_body(site.limits.body_time_ms);
        }
        Self {
            came_with_head: !body.is_empty(),
            chunk: body,
            chunk_start: 0,
            body_done: lines.length == Length::None,
            continue_owed: lines.expect_continue,
            trailers: None,
            bytes_max: site.limits.body_bytes_max,
            reply,
            wait,
            held_bytes: 0,
            started,
            head,
            peer,
            site,
            _running: running,
        }
    }

    /// What is lent of the body.
    fn lent(&self) -> &[u8] {
        self.chunk.get(self.chunk_start..).unwrap_or_default()
    }

    /// Whether all of the request has come and was taken.
    fn has_ended(&self) -> bool {
        self.reply.link.look(|h2| h2.has_ended(self.reply.key))
    }

    /// Whether something of the request is on its way that nobody wants.
    fn is_unread(&self) -> bool {
        !self.has_ended() && !self.continue_owed
    }

    /// Takes the next bytes of the body into the chunk.
    fn poll_chunk(&mut self, cx: &Context<'_>) -> Poll<Body> {
        let (link, key) = (&self.reply.link, self.reply.key);
        self.chunk_start = 0;
        match link.look(|h2| h2.take_body(key, &mut self.chunk)) {
            Body::Wait => {
                link.wait(key, Direction::Receive, cx);
                Poll::Pending
            }
            body => Poll::Ready(body),
        }
    }

    /// The client may send as much again.
    fn let_go(&self, count: usize) {
        let key = self.reply.key;
        self.reply.link.act(|h2, out| h2.consumed(key, count, out));
    }

    /// Says how to go on after the raw step, if the reply was not complete with it.
    pub(super) fn go_on(&mut self, raw: Result<Step<H::Plan>, Reason>) -> Begun<H::Plan> {
        let (complete, drains) = match raw {
            Ok(Step::Exchange(plan)) => return Begun::Exchange(plan),
            Ok(Step::Done) => (self.complete(), self.is_unread()),
            Err(reason) => (self.fail(reason), false),
        };
        if complete && drains {
            return Begun::Draining;
        }
        if complete && !self.reply.is_done() {
            return Begun::Ending;
        }
        self.finish(complete);
        Begun::Ended
    }

    /// Runs the exchange step to its end.
    #[expect(clippy::manual_async_fn, reason = "a future of one holds it twice")]
    pub(super) fn run(mut self, plan: H::Plan) -> impl Future<Output = ()> {
        async move {
            let outcome = self.run_handler(plan).await;
            let complete = match outcome {
                Ok(()) => self.complete(),
                Err(fault) => self.fail(fault.reason),
            };
            match complete {
                true => {
                    let is_tunnel = self.head.view().method() == Method::Connect;
                    let drains = self.site.handler.reads_off() && self.is_unread() && !is_tunnel;
                    self.end_running(drains).await;
                }
                false => self.finish(false),
            }
        }
    }

    /// Reads off a body that the raw step left unread.
    pub(super) async fn run_draining(mut self) {
        self.end_running(true).await;
    }

    /// Waits until the client took what is left of a reply that the handler has ended.
    pub(super) async fn run_ending(mut self) {
        self.end_running(false).await;
    }

    /// Sends what is left of the reply. `drains`: reads the rest of the body off meanwhile and afterwards, under the limits for that. As
    /// long as its stream lives, frames that arrive for it can be told from those in error, and those in error be answered; and
    /// some clients throw a reply away that is followed by a reset at once (RFC 9113 section 8.1 forbids it).
    async fn end_running(&mut self, drains: bool) {
        let mut rest = drains.then(|| Rest::new(&self.site.limits)).filter(|rest| rest.left > 0);
        if drains {
            self.let_go(self.lent().len());
        }
        let mut complete = true;
        if !self.reply.is_done()
            && let Err(reason) = poll_fn(|cx| {
                let _ = self.poll_drain(cx, &mut rest);
                self.poll_push(cx)
            })
            .await
        {
            complete = self.fail(reason);
        }
        self.finish(complete);
        if complete {
            poll_fn(|cx| self.poll_drain(cx, &mut rest)).await;
        }
    }

    /// Ready when nothing more is read off, and `rest` is `None` then.
    fn poll_drain(&mut self, cx: &mut Context<'_>, rest: &mut Option<Rest>) -> Poll<()> {
        while let Some(Rest { timer, left }) = rest {
            match self.poll_chunk(cx) {
                Poll::Ready(Body::Data) => {
                    *left = left.saturating_sub(self.chunk.len() as u64);
                    let is_over = *left == 0;
                    self.let_go(self.chunk.len());
                    if is_over {
                        *rest = None;
                    }
                }
                Poll::Ready(_) => *rest = None,
                Poll::Pending => {
                    ready!(timer.poll_due(cx));
                    *rest = None;
                }
            }
        }
        self.chunk = Vec::new();
        Poll::Ready(())
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

    fn finish(&self, complete: bool) {
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
            let pushed = self.reply.poll_push(cx);
            self.note_sent();
            if pushed.is_ready() {
                return pushed;
            }
            ready!(self.wait.poll_reader(cx, &self.site.limits))?;
        }
    }

    /// Counts what the client has taken since this was looked at last.
    fn note_sent(&mut self) {
        let held_bytes = self.reply.held_bytes();
        self.wait.sent(self.held_bytes.saturating_sub(held_bytes));
        self.held_bytes = held_bytes;
    }

    /// Receives the next piece of the body. Ready with `false` at its end.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, Reason>> {
        loop {
            match self.poll_chunk(cx) {
                Poll::Ready(Body::Data) => {
                    self.wait.received(self.chunk.len());
                    return Poll::Ready(self.count_chunk().map(|()| true));
                }
                Poll::Ready(Body::End) => {
                    let (link, key) = (&self.reply.link, self.reply.key);
                    if link.look(|h2| h2.take_trailers(key, &mut self.chunk)) {
                        let section = std::mem::take(&mut self.chunk);
                        self.trailers = Some(Trailers::new(&section, self.site.profile, &self.site.limits)?);
                    }
                    return Poll::Ready(Ok(false));
                }
                Poll::Ready(Body::Gone | Body::Wait) => return Poll::Ready(Err(Reason::PeerCancelled)),
                Poll::Pending => ready!(self.wait.poll_sender(cx, &self.site.limits))?,
            }
        }
    }

    /// Counts a piece of the body that came.
    fn count_chunk(&mut self) -> Result<(), Reason> {
        let record = &mut self.reply.record;
        record.bytes_in += self.chunk.len() as u64;
        if record.bytes_in > self.bytes_max { Err(Reason::LimitBodyBytes) } else { Ok(()) }
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
        if self.lent().is_empty() && !self.body_done {
            if matches!(self.head.view().length(), Length::Known(count) if count > self.bytes_max) {
                return Poll::Ready(Err(Reason::LimitBodyBytes));
            }
            if std::mem::take(&mut self.continue_owed) {
                self.reply.interim(100, Fields::new(&[], &[]));
            }
            self.body_done = !ready!(self.poll_piece(cx))?;
        } else if std::mem::take(&mut self.came_with_head) {
            self.count_chunk()?;
        }
        match self.lent() {
            [] => Poll::Ready(Ok(Piece::End)),
            bytes => Poll::Ready(Ok(Piece::Data(bytes))),
        }
    }

    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<Reason> {
        self.reply.poll_reset(cx)
    }

    fn consume(&mut self, count: usize) {
        let count = count.min(self.lent().len());
        self.chunk_start += count;
        if count > 0 {
            self.let_go(count);
        }
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
        loop {
            // A client is waited for only while something is held.
            if self.held_bytes > 0 {
                self.note_sent();
            }
            match self.reply.poll_body(cx, bytes) {
                Poll::Ready(Ok(count)) => {
                    // What was taken now is to leave yet.
                    self.held_bytes = self.reply.held_bytes();
                    self.reply.record.bytes_out += count as u64;
                    return Poll::Ready(Ok(count));
                }
                Poll::Ready(Err(reason)) => return Poll::Ready(Err(reason)),
                Poll::Pending => {
                    self.held_bytes = self.reply.held_bytes();
                    ready!(self.wait.poll_reader(cx, &self.site.limits))?;
                }
            }
        }
    }

    fn end(&mut self, trailers: Option<Fields<'_>>) {
        // A handler that announced more than it sent is found out after it returned: its reply is not done.
        let _ = self.reply.end(trailers);
    }

    fn reads_on(&self) -> bool {
        self.reply.has_ended()
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
            BreakOff::GoAway { code } => self.reply.link.end(Ending::GoAway(code)),
            BreakOff::Close => self.reply.link.end(Ending::Silent),
        }
    }
}
