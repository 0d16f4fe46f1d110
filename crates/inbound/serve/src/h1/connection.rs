use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::task::{Poll, ready};
use std::time::Instant;

use leat_h1::{Progress, parse_request};
use leat_message::{
    Ended, Fault, Handler, Head, Length, Limits, Method, Peer, Reason, Record, RequestLines, Step, WHOLE_BODY_BYTES_MAX,
};
use leat_stream::clock::{NEVER, now_ms};
use leat_stream::{BULK_BYTES, Buffer, Plain, Socket, memory};

use super::body::{Expect, IncomingBody, Next as BodyNext};
use super::reply::H1Reply;
use super::transport::lost;
use crate::refusal::{admit, write_problem};
use crate::service::{OnError, Service, Site};
use crate::wait::Wait;

/// One HTTP/1.x connection. The connection is its own exchange: requests on it are answered one after the other, so the
/// state of "the current exchange" lives here and is reused.
pub(super) struct Connection<H: Handler> {
    pub(super) socket: Socket,
    pub(super) input: Buffer,
    pub(super) lines: RequestLines,
    pub(super) reply: H1Reply,
    pub(super) body: IncomingBody,
    pub(super) peer: Rc<Peer>,
    pub(super) site: Rc<Site<H>>,
    pub(super) service: Rc<Service<H>>,
    progress: Progress,
    /// When the head that is arriving must be complete; `NEVER` while none is.
    head_deadline_ms: u64,
    pub(super) wait: Wait,
    served: u64,
    /// When the read returned that the current requests came with.
    started: Instant,
    /// Whether the connection ends by a reset.
    pub(super) resets: bool,
}

/// What to do after the requests in the buffer were looked at.
enum Next<P> {
    /// All complete requests are answered: write the replies, then read more.
    Read,
    /// The batch is full: write the replies, then go on with what is buffered.
    Write,
    /// The request at the front of the buffer (pinned) is for the exchange step.
    Exchange(P),
    /// The reply is there but the request body is not: write, read the body off, go on.
    Drain,
    /// The last reply announced the end.
    Close,
    /// The next request is refused.
    Refuse(Reason),
}

/// How a connection ends.
pub(super) enum End {
    /// Every byte is accounted for: close at once.
    Clean,
    /// The client may still be sending: let it read the reply before the close destroys it.
    Linger,
    /// The connection is of no use any more, or the client must see that the reply is incomplete.
    Abort,
}

impl<H: Handler> Connection<H> {
    pub(super) fn new(socket: Socket, first_bytes: &[u8], peer: Rc<Peer>, service: Rc<Service<H>>) -> Self {
        let mut input = Buffer::default();
        if !first_bytes.is_empty() {
            input.extend(first_bytes);
        }
        let site = service.current();
        // The core's clock stands still while there is no timer: from here on deadlines can be reckoned from it.
        let mut wait = Wait::new();
        wait.timer.set_after(site.limits.idle_time_ms);
        Self {
            socket,
            input,
            lines: RequestLines::default(),
            reply: H1Reply::new(),
            body: IncomingBody::new(),
            peer,
            site,
            service,
            progress: Progress::default(),
            head_deadline_ms: NEVER,
            wait,
            served: 0,
            started: Instant::now(),
            resets: false,
        }
    }

    pub(super) async fn run(&mut self) {
        let end = self.serve().await;
        if self.resets {
            return;
        }
        match end {
            End::Clean => {
                // Plain sockets: the drop closes. TLS: the close is announced first (RFC 8446 section 6.1).
                if matches!(self.socket, Socket::Tls(_)) {
                    self.shut_down().await;
                }
            }
            End::Linger => self.linger().await,
            End::Abort => {
                // A body that ends with the connection looks complete unless the end is a reset.
                self.resets = self.reply.ends_with_connection();
            }
        }
    }

    async fn serve(&mut self) -> End {
        loop {
            match self.answer() {
                Next::Read => {
                    if !self.reply.output.is_empty() && !self.flushed().await {
                        return End::Abort;
                    }
                    match self.read_head().await {
                        Ok(true) => {}
                        Ok(false) => return End::Clean,
                        Err(reason) => return self.refuse(reason).await,
                    }
                }
                Next::Write => {
                    if !self.flushed().await {
                        return End::Abort;
                    }
                }
                Next::Exchange(plan) => {
                    if let Some(end) = self.exchange(plan).await {
                        return end;
                    }
                }
                Next::Drain => {
                    if !self.flushed().await {
                        return End::Abort;
                    }
                    if !self.drain_body().await {
                        return End::Linger;
                    }
                }
                Next::Close => return if self.flushed().await { self.after_last_reply() } else { End::Abort },
                Next::Refuse(reason) => return self.refuse(reason).await,
            }
        }
    }

    /// Writes out all replies; `false` where the client took them too slowly, which is recorded, or is gone.
    pub(super) async fn flushed(&mut self) -> bool {
        let flushed = self.flush().await;
        if flushed == Err(Reason::SlowReader) {
            self.reply.record = Record { reason: Some(Reason::SlowReader), ..Record::default() };
            self.record_refusal();
        }
        flushed.is_ok()
    }

    /// How to close behind a reply that announced it. A client that did not ask for that may have sent more meanwhile.
    fn after_last_reply(&self) -> End {
        let expected = !self.lines.keep_alive && self.body.is_done() && self.input.is_empty();
        if expected { End::Clean } else { End::Linger }
    }

    /// Parses and answers every complete request in the buffer, up to the byte cap of a batch.
    fn answer(&mut self) -> Next<H::Plan> {
        loop {
            if self.input.is_empty() {
                return Next::Read;
            }
            if self.reply.output.len() >= self.site.limits.batch_bytes_max {
                return Next::Write;
            }
            let limits = &self.site.limits;
            let parsed =
                parse_request(self.input.bytes(), &mut self.progress, self.site.profile, limits, &mut self.lines);
            let len = match parsed {
                Ok(Some(len)) => len,
                Ok(None) => return Next::Read,
                Err(reason) => return Next::Refuse(reason),
            };
            self.progress = Progress::default();
            self.head_deadline_ms = NEVER;
            match self.begin(len) {
                Ok(Step::Exchange(plan)) => {
                    self.input.pin(len);
                    // Where a body is on its way, it wants the room.
                    if self.body.is_done() {
                        self.input.shrink();
                    }
                    return Next::Exchange(plan);
                }
                Ok(Step::Done) => {}
                Err(reason) => self.fail(reason),
            }
            self.record_end(self.input.bytes().get(..len).unwrap_or_default());
            self.input.consume(len);
            if !self.body.is_done() && !self.skip_buffered_body() {
                return if self.reply.keep_alive { Next::Drain } else { Next::Close };
            }
            if !self.reply.keep_alive {
                return Next::Close;
            }
        }
    }

    /// Starts the exchange whose head is the first `len` bytes of the buffer, and takes its raw step.
    fn begin(&mut self, len: usize) -> Result<Step<H::Plan>, Reason> {
        self.served += 1;
        let limits = &self.site.limits;
        // What follows a CONNECT may be meant for a tunnel that is not opened: it is never read as a request.
        let keep_alive = self.lines.keep_alive
            && self.lines.method != Method::Connect
            && self.served < limits.requests_per_connection_max
            && !self.service.is_ending();
        if self.lines.expect_continue && self.input.bytes().len() > len {
            // Who has sent some of the body already waits for nothing (RFC 9110 section 10.1.1).
            self.lines.expect_continue = false;
        }
        let has_body = !matches!(self.lines.length, Length::None | Length::Known(0));
        let undrainable = matches!(self.lines.length, Length::Known(count) if count > limits.drain_bytes_max);
        let close_if_unread = has_body && (self.lines.expect_continue || undrainable);
        self.reply.begin(&self.lines, keep_alive, close_if_unread);
        if has_body || !self.body.is_done() || self.body.is_tunnel() {
            self.body.begin(self.lines.length, limits, self.site.profile, self.lines.expect_continue);
            self.wait.limit_body(if self.body.is_done() { None } else { limits.body_time_ms });
        }
        if memory::in_use() > limits.memory_bytes_max {
            return Err(Reason::LimitMemory);
        }
        let (head, rest) = self.input.bytes().split_at_checked(len).unwrap_or_default();
        let body = whole_body(&self.lines, rest, limits).filter(|_| !close_if_unread);
        let head = Head::new(head, &self.lines);
        admit(head, &self.peer)?;
        let reply = &mut self.reply;
        let handler = &self.site.handler;
        let raw = catch_unwind(AssertUnwindSafe(|| match body {
            Some(body) => handler.raw_with_body(head, body, &self.peer, reply),
            None => handler.raw(head, &self.peer, reply),
        }));
        match raw {
            Ok(Step::Done) if !self.reply.is_whole() => Err(Reason::HandlerFailed),
            Ok(step) => Ok(step),
            Err(_) => Err(Reason::HandlerPanic),
        }
    }

    /// Answers a request whose raw step failed.
    fn fail(&mut self, reason: Reason) {
        self.on_error(reason);
        self.reply.record.reason = Some(reason);
        let handler_broke = matches!(reason, Reason::HandlerPanic | Reason::HandlerFailed);
        if !handler_broke || self.site.on_error == OnError::Close {
            self.reply.keep_alive = false;
        }
        if self.reply.take_back() {
            write_problem(&mut self.reply, reason);
        }
    }

    pub(super) fn on_error(&self, reason: Reason) {
        if self.site.on_error == OnError::Crash && matches!(reason, Reason::HandlerPanic | Reason::HandlerFailed) {
            std::process::abort();
        }
    }

    /// Runs the exchange step for the pinned request. `None`: the connection goes on.
    async fn exchange(&mut self, plan: H::Plan) -> Option<End> {
        self.wait.gone_at_ms = NEVER;
        let outcome = self.run_handler(plan).await;
        let complete = match outcome {
            Ok(()) if self.reply.is_whole() => self.reply.end(None).is_ok(),
            Ok(()) => self.cut_short(Reason::HandlerFailed),
            Err(fault) => self.cut_short(fault.reason),
        };
        self.record_end(self.input.pinned());
        if self.resets {
            return Some(End::Abort);
        }
        // Where there is no answer to this request, those to earlier ones of the batch still leave.
        let unanswered = !complete && self.reply.take_back();
        let flushed = (complete || unanswered) && self.flushed().await;
        self.input.unpin();
        self.site = self.service.current();
        if !flushed {
            return Some(End::Abort);
        }
        if unanswered {
            return Some(End::Linger);
        }
        if self.reply.tunnel {
            return Some(if self.body.is_done() { End::Clean } else { End::Linger });
        }
        if self.reply.keep_alive && (self.body.is_done() || self.drain_body().await) {
            return None;
        }
        Some(self.after_last_reply())
    }

    /// Polls the handler's future so that a panic ends this exchange alone; costs nothing while there is none.
    pub(super) async fn run_handler(&mut self, plan: H::Plan) -> Result<(), Fault> {
        let site = Rc::clone(&self.site);
        // Made where it stays, and not on the stack first: a kilobyte that is not copied.
        let mut future = Box::into_pin(Box::write(Box::new_uninit(), site.handler.exchange(plan, self)));
        std::future::poll_fn(|cx| {
            catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx)))
                .unwrap_or(Poll::Ready(Err(Fault::from(Reason::HandlerPanic))))
        })
        .await
    }

    /// An exchange failed: answers with an error if the reply's head is still ours, and says whether the client has a
    /// complete reply then.
    fn cut_short(&mut self, reason: Reason) -> bool {
        self.on_error(reason);
        self.reply.record.reason = Some(reason);
        // The engine has no word to say in an exchange that was taken over.
        if reason.status() == 0 || self.reply.is_taken_over() || !self.reply.take_back() {
            return false;
        }
        let peer_broke_framing = !self.body.is_done() && reason.blame() == leat_message::Blame::Peer;
        let handler_broke = matches!(reason, Reason::HandlerPanic | Reason::HandlerFailed);
        if peer_broke_framing || handler_broke && self.site.on_error == OnError::Close {
            self.reply.keep_alive = false;
        }
        self.announce_ending();
        write_problem(&mut self.reply, reason);
        true
    }

    /// To be called before an exchange writes its head: the connection may have to end since the request came.
    pub(super) fn announce_ending(&mut self) {
        if self.service.is_ending() {
            self.reply.keep_alive = false;
        }
    }

    /// Tells the handler that the exchange with this head is over.
    fn record_end(&self, head: &[u8]) {
        self.site.handler.ended(Ended {
            request: Some(Head::new(head, &self.lines)),
            peer: &self.peer,
            record: &self.reply.record,
            started: self.started,
        });
    }

    /// Tells the handler that something was refused that is no request, or not any more.
    pub(super) fn record_refusal(&self) {
        self.site.handler.ended(Ended {
            request: None,
            peer: &self.peer,
            record: &self.reply.record,
            started: self.started,
        });
    }

    /// Skips what is here of a body that nobody reads; says whether that was all of it.
    fn skip_buffered_body(&mut self) -> bool {
        loop {
            match self.body.next(&mut self.input) {
                Ok(BodyNext::Data(count)) => {
                    self.body.consume(&mut self.input, count);
                }
                Ok(BodyNext::End) => return true,
                Ok(BodyNext::Read) | Err(_) => return false,
            }
        }
    }

    /// Reads off a body that nobody read, under the limits for that; says whether its end was reached.
    async fn drain_body(&mut self) -> bool {
        if matches!(self.body.expect, Expect::Owed | Expect::Waived) {
            return false;
        }
        let deadline = now_ms().saturating_add(self.site.limits.drain_time_ms);
        let mut left = self.site.limits.drain_bytes_max;
        std::future::poll_fn(|cx| {
            loop {
                let before = self.input.bytes().len();
                match self.body.next(&mut self.input) {
                    Ok(BodyNext::Data(count)) => {
                        let Some(rest) = left.checked_sub(count as u64) else { return Poll::Ready(false) };
                        left = rest;
                        self.body.consume(&mut self.input, count);
                    }
                    Ok(BodyNext::End) => return Poll::Ready(true),
                    Ok(BodyNext::Read) => {
                        let framing = before - self.input.bytes().len();
                        let Some(rest) = left.checked_sub(framing as u64) else { return Poll::Ready(false) };
                        left = rest;
                        match self.input.poll_fill(&mut self.socket, cx, BULK_BYTES) {
                            Poll::Ready(Ok(count)) if count > 0 => {}
                            Poll::Ready(_) => return Poll::Ready(false),
                            Poll::Pending => {
                                self.wait.timer.set(deadline);
                                ready!(self.wait.timer.poll_due(cx));
                                return Poll::Ready(false);
                            }
                        }
                    }
                    Err(_) => return Poll::Ready(false),
                }
            }
        })
        .await
    }

    /// Waits for more bytes of a head. `Ok(false)`: the connection ends here, which is nobody's fault.
    async fn read_head(&mut self) -> Result<bool, Reason> {
        let limits = &self.site.limits;
        // Empty lines between requests are no request: the connection is still idle, and owes nothing.
        let first = self.input.is_empty() || !self.progress.has_begun();
        if !first && self.head_deadline_ms == NEVER {
            self.head_deadline_ms = now_ms().saturating_add(limits.head_time_ms);
        }
        let idle_ms = limits.first_time_ms.filter(|_| self.served == 0).unwrap_or(limits.idle_time_ms);
        let mut deadline = if first { now_ms().saturating_add(idle_ms) } else { self.head_deadline_ms };
        // The parser refuses a head above its limit, so there is always room for one more read.
        let bytes_max = limits.head_bytes_max + BULK_BYTES;
        let mut graced = false;
        std::future::poll_fn(|cx| {
            if let Poll::Ready(read) = self.input.poll_fill(&mut self.socket, cx, bytes_max) {
                self.started = Instant::now();
                self.site = self.service.current();
                return Poll::Ready(match read {
                    Ok(0) if first => Ok(false),
                    Ok(0) => Err(Reason::HeadCutOff),
                    Ok(_) => Ok(true),
                    Err(error) if first => self.break_off(lost(&error)),
                    Err(error) => Err(lost(&error)),
                });
            }
            if first {
                if self.input.is_empty() {
                    self.rest();
                }
                if self.service.is_ending() && !graced {
                    graced = true;
                    deadline = deadline.min(now_ms().saturating_add(self.site.drain_grace_ms));
                }
            }
            self.wait.timer.set(deadline);
            ready!(self.wait.timer.poll_due(cx));
            // Where the first request has a time of its own, its absence is told.
            let owed = self.served == 0 && self.site.limits.first_time_ms.is_some() && !self.service.is_ending();
            Poll::Ready(match first && !owed {
                true if self.service.is_ending() => Ok(false),
                true => self.break_off(Reason::TimeIdle),
                false => Err(Reason::TimeHead),
            })
        })
        .await
    }

    /// The connection ends while nothing is owed.
    fn break_off(&self, reason: Reason) -> Result<bool, Reason> {
        if reason != Reason::PeerEnded {
            self.site.handler.broke_off(reason);
        }
        Ok(false)
    }

    /// Gives back all memory that an idle connection does not need.
    fn rest(&mut self) {
        self.input.release();
        self.reply.output.release();
    }
}

/// The body of the request with these lines, if it has one, its length is known, and all of it is at the front of `rest`.
fn whole_body<'a>(lines: &RequestLines, rest: &'a [u8], limits: &Limits) -> Option<&'a [u8]> {
    let Length::Known(count @ 1..) = lines.length else { return None };
    let is_short = count <= (WHOLE_BODY_BYTES_MAX as u64).min(limits.body_bytes_max);
    // A tunnel's bytes, or another protocol's, are no body.
    if !is_short || lines.upgrade || lines.method == Method::Connect {
        return None;
    }
    rest.get(..count as usize)
}

impl<H: Handler> Drop for Connection<H> {
    fn drop(&mut self) {
        if let (true, Socket::Plain(Plain::Tcp(stream))) = (self.resets || self.service.resets(), &self.socket) {
            // A socket that is gone already takes no option.
            let _ = stream.set_zero_linger();
        }
    }
}
