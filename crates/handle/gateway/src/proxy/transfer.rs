use std::future::poll_fn;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use leat_dial::Call;
use leat_message::{Exchange, Fields, Length, Piece, Reason, Record};
use leat_route::Params;
use leat_stream::Timer;
use leat_stream::clock::{NEVER, now_ms};

use super::hedges::{Hedges, Sending, Won};
use super::request::body_length;
use super::respond::{write_interim, write_response};
use super::route::ProxyRoute;
use super::tries::Tries;
use crate::admit::Admitted;
use crate::pick::{HedgeEnd, Held};

/// How long a client that asked for 100 (Continue) waits for the upstream's word before we send it ourselves, in
/// milliseconds (RFC 9110 section 10.1.1: a client need not wait for ever, and neither do we).
const CONTINUE_WAIT_MS: u64 = 1_000;

/// How far the request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Upload {
    /// The client's body is held back until the upstream says 100 (Continue), or this time has come.
    AwaitContinue(u64),
    /// Body bytes move.
    Body,
    /// All bytes are with the call; the last are being written.
    Flushing,
    /// Nothing more to send.
    Done,
    /// The upstream takes no more; its reply may still come.
    Failed(Reason),
}

/// How far the response has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Download {
    Head,
    Body,
    /// A tunnel's upstream has ended its direction, the client has not, and is about to be told.
    Closing,
    /// A tunnel's upstream has ended its direction, and ours to the client is closed.
    HalfClosed,
    Done,
}

/// Moves one exchange through one call: both directions in one poll loop of one task, each piece lent by the side that
/// read it to the side that writes it.
pub(super) struct Transfer<'a, 'u> {
    route: &'a ProxyRoute,
    admitted: Option<&'a Admitted>,
    params: &'a Params,
    held: &'a mut Held<'u>,
    tries: &'a mut Tries<'u>,
    /// Bytes of the body that this try has sent.
    sent: usize,
    /// The wait before another try, where the answer is one that is tried again.
    again: Option<Duration>,
    upload: Upload,
    download: Download,
    tunnel: bool,
    /// Whether the upstream may switch protocols.
    upgrade: bool,
    /// When the request's head was written.
    started: Instant,
    /// Since when we wait for the upstream alone.
    waited: Instant,
    timer: Timer,
    response_deadline_ms: u64,
    try_deadline_ms: u64,
    total_deadline_ms: u64,
    /// When a second try begins beside this one.
    hedge_due_ms: u64,
    hedges: Option<Box<Hedges<'u>>>,
    /// Until when the latest of those must have brought a response's head.
    hedge_deadline_ms: u64,
    moved_ms: u64,
    /// What it is called if nothing moves for too long: it depends on who has to act.
    standstill: Reason,
}

/// When a try began, and until when it and its exchange must have come to their ends.
#[derive(Clone, Copy)]
pub(super) struct Times {
    pub(super) started: Instant,
    pub(super) try_deadline_ms: u64,
    pub(super) total_deadline_ms: u64,
}

impl<'a, 'u> Transfer<'a, 'u> {
    pub(super) fn new(
        route: &'a ProxyRoute,
        params: &'a Params,
        admitted: Option<&'a Admitted>,
        held: &'a mut Held<'u>,
        tries: &'a mut Tries<'u>,
        times: Times,
        upgrade: bool,
    ) -> Self {
        let Times { started, try_deadline_ms, total_deadline_ms } = times;
        Self {
            route,
            params,
            admitted,
            held,
            tries,
            sent: 0,
            again: None,
            upload: Upload::Body,
            download: Download::Head,
            tunnel: false,
            upgrade,
            started,
            waited: started,
            timer: Timer::default(),
            response_deadline_ms: NEVER,
            try_deadline_ms,
            total_deadline_ms,
            hedge_due_ms: NEVER,
            hedges: None,
            hedge_deadline_ms: NEVER,
            moved_ms: now_ms(),
            standstill: Reason::UpstreamIdleTime,
        }
    }

    /// Runs until the reply is complete in the client's connection.
    // No `async fn`: that has room for its arguments three times.
    pub(super) fn run<X: Exchange>(&mut self, x: &mut X, call: &mut Call) -> impl Future<Output = Result<(), Reason>> {
        let head = x.request();
        self.upload = match body_length(head) {
            Length::None => {
                call.end(None);
                Upload::Flushing
            }
            _ if head.lines().expect_continue && self.tries.replay.is_unread() => {
                Upload::AwaitContinue(now_ms() + CONTINUE_WAIT_MS)
            }
            _ => Upload::Body,
        };
        poll_fn(move |cx| self.poll(cx, x, call))
    }

    /// The wait before another try, where the answer was one that is tried again.
    pub(super) fn again(&self) -> Option<Duration> {
        self.again
    }

    /// Whether a time has passed in which the endpoint was still waiting for the client's body: that says nothing of it. One that
    /// does not take what is there waits for nobody.
    pub(super) fn is_late_by_client(&self, reason: Reason) -> bool {
        let is_owed = match self.upload {
            Upload::AwaitContinue(_) => true,
            Upload::Body => self.standstill == Reason::SlowSender,
            Upload::Flushing | Upload::Done | Upload::Failed(_) => false,
        };
        is_owed && is_late(reason)
    }

    /// How long a response was waited for, where that is why there is none.
    pub(super) fn waited_in_vain(&self, reason: Reason) -> Option<Duration> {
        let is_in_vain = is_late(reason) || reason == Reason::UpstreamIdleTime;
        (is_in_vain && self.download == Download::Head).then(|| self.since().elapsed())
    }

    /// Since when the endpoint can answer: before it has all of the request it is not the one that is slow.
    fn since(&self) -> Instant {
        if self.upload == Upload::Done { self.waited } else { self.started }
    }

    fn poll<X: Exchange>(&mut self, cx: &mut Context<'_>, x: &mut X, call: &mut Call) -> Poll<Result<(), Reason>> {
        loop {
            self.standstill = Reason::UpstreamIdleTime;
            let up = self.poll_upload(cx, x, call)?;
            let down = self.poll_download(cx, x, call)?;
            if self.download == Download::Done {
                return Poll::Ready(Ok(()));
            }
            if up || down {
                self.moved_ms = now_ms();
                continue;
            }
            if self.download != Download::HalfClosed
                && let Poll::Ready(()) = x.poll_flush(cx)?
                && self.download == Download::Closing
            {
                self.download = Download::HalfClosed;
            }
            // In a tunnel a client may end its direction and still read the other.
            if !self.tunnel
                && let Poll::Ready(reason) = x.poll_gone(cx)
            {
                return Poll::Ready(Err(reason));
            }
            match self.poll_deadlines(cx) {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(())) => {}
                Err(reason) => {
                    if let Some(hedges) = self.hedges.as_mut().filter(|_| is_late(reason)) {
                        hedges.gave_up(reason);
                    }
                    return Poll::Ready(Err(reason));
                }
            }
        }
    }

    /// Moves request bytes; says whether any moved. Errors are the client's: the upstream's are kept for later, since
    /// it may have answered before it stopped reading.
    fn poll_upload<X: Exchange>(&mut self, cx: &mut Context<'_>, x: &mut X, call: &mut Call) -> Result<bool, Reason> {
        let mut moved = false;
        let mut client_owes = false;
        if matches!(self.upload, Upload::AwaitContinue(_)) && !x.request().lines().expect_continue {
            self.upload = Upload::Body;
        }
        if self.upload == Upload::Body {
            let replay = &mut self.tries.replay;
            let again = replay.rest(self.sent);
            if !again.is_empty() {
                match call.poll_send(cx, again) {
                    Poll::Ready(Ok(count)) => {
                        self.sent += count;
                        return Ok(true);
                    }
                    Poll::Ready(Err(reason)) => self.upload = Upload::Failed(reason),
                    Poll::Pending => {}
                }
            } else {
                match if replay.is_ended() { Poll::Ready(Ok(Piece::End)) } else { x.poll_body(cx) } {
                    Poll::Ready(Ok(Piece::Data(bytes))) => match call.poll_send(cx, bytes) {
                        Poll::Ready(Ok(count)) => {
                            self.sent += count;
                            let taken = bytes.get(..count).unwrap_or_default();
                            replay.keep(taken);
                            self.tries.copy(taken);
                            x.consume(count);
                            return Ok(true);
                        }
                        Poll::Ready(Err(reason)) => self.upload = Upload::Failed(reason),
                        Poll::Pending => {}
                    },
                    Poll::Ready(Ok(Piece::End)) => {
                        replay.end();
                        self.tries.send_copy();
                        call.end(trailers(x, self.route));
                        self.upload = Upload::Flushing;
                        moved = true;
                    }
                    Poll::Ready(Err(reason)) => return Err(reason),
                    Poll::Pending => client_owes = true,
                }
            }
        }
        if !matches!(self.upload, Upload::Done | Upload::Failed(_)) {
            match call.poll_flush(cx) {
                Poll::Ready(Ok(())) if self.upload == Upload::Flushing => {
                    self.upload = Upload::Done;
                    if self.sent > 0 && self.held.is_watched() {
                        self.waited = Instant::now();
                    }
                    self.response_deadline_ms = now_ms().saturating_add(self.route.response_time_ms);
                    // A response that has begun needs no other try.
                    let may_hedge = !self.upgrade && self.download == Download::Head;
                    self.hedge_due_ms = if may_hedge { self.tries.hedge_due_ms() } else { NEVER };
                }
                Poll::Ready(Err(reason)) => self.upload = Upload::Failed(reason),
                Poll::Ready(Ok(())) if client_owes && self.download == Download::Head => {
                    self.standstill = Reason::SlowSender;
                }
                _ => {}
            }
        }
        Ok(moved)
    }

    /// Moves response bytes; says whether any moved.
    fn poll_download<X: Exchange>(&mut self, cx: &mut Context<'_>, x: &mut X, call: &mut Call) -> Result<bool, Reason> {
        match self.download {
            Download::Head => match self.poll_head(cx, x, call) {
                Poll::Ready(Ok(status)) => self.take_head(status, x, call).map(|()| true),
                Poll::Ready(Err(reason)) => Err(match self.upload {
                    Upload::Failed(first) => first,
                    _ => reason,
                }),
                Poll::Pending => Ok(false),
            },
            Download::Body => match call.poll_body(cx) {
                Poll::Ready(Ok(Piece::Data(bytes))) => match x.poll_send(cx, bytes) {
                    Poll::Ready(Ok(count)) => {
                        call.consume(count);
                        Ok(true)
                    }
                    Poll::Ready(Err(reason)) => Err(reason),
                    Poll::Pending => {
                        self.standstill = Reason::SlowReader;
                        Ok(false)
                    }
                },
                Poll::Ready(Ok(Piece::End)) => {
                    x.end(call.trailers());
                    let both_ended = !self.tunnel || matches!(self.upload, Upload::Done | Upload::Failed(_));
                    self.download = if both_ended { Download::Done } else { Download::Closing };
                    Ok(true)
                }
                Poll::Ready(Err(reason)) => Err(reason),
                Poll::Pending => Ok(false),
            },
            Download::Closing | Download::HalfClosed => {
                if matches!(self.upload, Upload::Done | Upload::Failed(_)) {
                    self.download = Download::Done;
                }
                Ok(false)
            }
            Download::Done => Ok(false),
        }
    }

    /// The status of a response's head, of whichever try has one first.
    fn poll_head<X: Exchange>(
        &mut self,
        cx: &mut Context<'_>,
        x: &mut X,
        call: &mut Call,
    ) -> Poll<Result<u16, Reason>> {
        if self.hedge_due_ms == NEVER && self.hedges.is_none() {
            return call.poll_response(cx);
        }
        self.poll_hedged(cx, x, call)
    }

    #[cold]
    fn poll_hedged<X: Exchange>(
        &mut self,
        cx: &mut Context<'_>,
        x: &mut X,
        call: &mut Call,
    ) -> Poll<Result<u16, Reason>> {
        if !self.hedges.as_ref().is_some_and(|hedges| hedges.is_first_over()) {
            match (call.poll_response(cx), &mut self.hedges) {
                (Poll::Pending, _) => {}
                (Poll::Ready(Err(reason)), Some(hedges)) => {
                    self.held.failed(reason);
                    hedges.first_ended(Err(reason));
                    self.try_deadline_ms = self.hedge_deadline_ms;
                }
                (Poll::Ready(Ok(status)), Some(hedges))
                    if hedges.is_any() && self.tries.upstream().is_failure(status) =>
                {
                    let now = Instant::now();
                    self.held.answered(status, now.saturating_duration_since(self.waited), now);
                    hedges.first_ended(Ok(status));
                    self.try_deadline_ms = self.hedge_deadline_ms;
                }
                (ready, _) => {
                    if matches!(ready, Poll::Ready(Ok(status)) if status >= 200) {
                        self.hedges = None;
                        self.hedge_due_ms = NEVER;
                    }
                    return ready;
                }
            }
        }
        if self.hedge_due_ms <= now_ms() {
            self.hedge_due_ms = NEVER;
            if let Some(held) = self.tries.hedge(self.route.asking(&*x, self.admitted)) {
                x.record().attempts = self.tries.number;
                let upstream = self.tries.upstream();
                let hedges = self.hedges.get_or_insert_with(|| Box::new(Hedges::new(upstream)));
                hedges.begin(held);
                self.hedge_due_ms = self.tries.hedge_due_ms();
                self.hedge_deadline_ms = self.tries.try_deadline_ms();
                if hedges.is_first_over() {
                    self.try_deadline_ms = self.hedge_deadline_ms;
                }
            }
        }
        let Some(hedges) = &mut self.hedges else { return Poll::Pending };
        let &mut Record { trace, request_id, .. } = x.record();
        let sending = Sending {
            x: &*x,
            route: self.route,
            params: self.params,
            admitted: self.admitted,
            tries: self.tries,
            trace,
            request_id,
            trailers: trailers(x, self.route),
        };
        if let Some(won) = hedges.poll(cx, &sending) {
            return Poll::Ready(Ok(self.take_over(won, x, call)));
        }
        match hedges.left() {
            Some(end) => {
                self.hedges = None;
                self.hedge_due_ms = NEVER;
                Poll::Ready(end)
            }
            None => Poll::Pending,
        }
    }

    /// Goes on with a hedge that has the head of a response; all others are cancelled.
    fn take_over<X: Exchange>(&mut self, won: Won<'u>, x: &mut X, call: &mut Call) -> u16 {
        if !self.hedges.as_ref().is_some_and(|hedges| hedges.is_first_over()) {
            self.tries.upstream().took(self.started.elapsed());
        }
        if let Some((_, group)) = self.tries.upstream().retries() {
            group.count_hedge(HedgeEnd::Won);
        }
        self.hedges = None;
        self.hedge_due_ms = NEVER;
        *call = won.call;
        *self.held = won.held;
        self.started = won.started;
        self.waited = won.started;
        self.upgrade = won.sent.upgrade;
        let record = x.record();
        record.endpoint = Some(self.held.seat().index);
        record.request_id = won.sent.request_id;
        won.status
    }

    /// Passes a response head on.
    fn take_head<X: Exchange>(&mut self, status: u16, x: &mut X, call: &mut Call) -> Result<(), Reason> {
        let head = call.response();
        if status < 200 && status != 101 {
            write_interim(x, head, &self.route.response_edits);
            if status == 100 && matches!(self.upload, Upload::AwaitContinue(_)) {
                self.upload = Upload::Body;
            }
            return Ok(());
        }
        if matches!(self.upload, Upload::AwaitContinue(_)) {
            // A final answer in place of 100: after an error the client keeps its body, and the call can't be used again.
            // After a success some send it, and an upstream that answers piece by piece waits for it.
            self.upload = if status < 300 { Upload::Body } else { Upload::Done };
        }
        let now = Instant::now();
        let took = now.saturating_duration_since(self.started);
        x.record().phases.answered(now);
        x.record().upstream_us = u32::try_from(took.as_micros()).unwrap_or(u32::MAX);
        self.held.answered(status, now.saturating_duration_since(self.since()), now);
        self.again = self.tries.after_status(status, head.fields());
        if self.again.is_some() {
            return Err(Reason::UpstreamStatus);
        }
        self.tries.replay.stop();
        self.tunnel = head.length() == Length::Tunnel;
        write_response(x, head, self.route, self.admitted, self.upgrade)?;
        if self.tunnel {
            self.upload = Upload::Body;
        }
        self.download = Download::Body;
        self.response_deadline_ms = NEVER;
        self.try_deadline_ms = NEVER;
        self.hedge_due_ms = NEVER;
        Ok(())
    }

    /// The time of the try is over. Those beside it have times of their own.
    #[cold]
    fn end_try(&mut self) -> Result<(), Reason> {
        let reason = Reason::UpstreamResponseTime;
        let Some(hedges) = self.hedges.as_mut().filter(|hedges| !hedges.is_first_over()) else { return Err(reason) };
        self.held.gave_up(self.waited.elapsed());
        self.held.failed(reason);
        hedges.first_ended(Err(reason));
        self.try_deadline_ms = self.hedge_deadline_ms;
        Ok(())
    }

    /// Ready with `Ok` where a deadline passed that only moves the exchange on.
    fn poll_deadlines(&mut self, cx: &mut Context<'_>) -> Result<Poll<()>, Reason> {
        let now = now_ms();
        let idle_deadline = self.moved_ms.saturating_add(self.route.idle_time_ms);
        let mut deadline = self.total_deadline_ms.min(idle_deadline);
        if self.total_deadline_ms <= now {
            return Err(Reason::UpstreamTotalTime);
        }
        if self.try_deadline_ms <= now {
            return self.end_try().map(Poll::Ready);
        }
        deadline = deadline.min(self.try_deadline_ms).min(self.hedge_due_ms);
        // The clock of the response runs while we wait for nothing but the upstream.
        if self.download == Download::Head && self.response_deadline_ms != NEVER {
            if self.response_deadline_ms <= now {
                return Err(Reason::UpstreamResponseTime);
            }
            deadline = self.total_deadline_ms.min(self.response_deadline_ms).min(self.try_deadline_ms);
            deadline = deadline.min(self.hedge_due_ms);
        } else if idle_deadline <= now {
            return Err(self.standstill);
        }
        if let Upload::AwaitContinue(until) = self.upload {
            if until <= now {
                self.upload = Upload::Body;
                return Ok(Poll::Ready(()));
            }
            deadline = deadline.min(until);
        }
        self.timer.set(deadline);
        Ok(self.timer.poll_due(cx))
    }
}

/// Whether a time was over within which the endpoint should have answered.
fn is_late(reason: Reason) -> bool {
    matches!(reason, Reason::UpstreamResponseTime | Reason::UpstreamTotalTime)
}

/// The request's trailers. A server that merges them into the head would take some for what authentication says.
fn trailers<'x, X: Exchange>(x: &'x X, route: &ProxyRoute) -> Option<Fields<'x>> {
    x.trailers().filter(|fields| !fields.iter().any(|(_, name, _)| route.owns(name)))
}
