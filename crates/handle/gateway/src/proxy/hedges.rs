use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Instant;

use leat_dial::Call;
use leat_message::{Exchange, Fault, Fields, Reason, Trace};
use leat_route::Params;

use super::request::Try;
use super::request::{Sent, write_request};
use super::route::ProxyRoute;
use super::tries::Tries;
use crate::admit::Admitted;
use crate::pick::{Held, Upstream};

/// Second tries beside one that takes long: all of them race for the head of a response. Made when the first begins.
pub(super) struct Hedges<'u> {
    upstream: &'u Upstream,
    legs: Vec<Leg<'u>>,
    /// How the first try has ended, where it is over and a hedge may still have a better answer.
    first: Option<Result<u16, Reason>>,
}

/// One of them. Dropped, its connection is closed (HTTP/2: the stream is reset with CANCEL).
struct Leg<'u> {
    held: Held<'u>,
    started: Instant,
    state: State,
}

enum State {
    /// A connection is waited for; whether that is the endpoint's doing.
    Leasing(Pin<Box<dyn Future<Output = Result<Call, Fault>>>>, Rc<Cell<bool>>),
    Running {
        call: Call,
        sent: Sent,
        body_sent: usize,
        is_ended: bool,
    },
}

/// A hedge that has the head of a response.
pub(super) struct Won<'u> {
    pub(super) call: Call,
    pub(super) held: Held<'u>,
    pub(super) started: Instant,
    pub(super) sent: Sent,
    pub(super) status: u16,
}

/// What a leg sends, and to whom it says so.
pub(super) struct Sending<'a, 'u, X> {
    pub(super) x: &'a X,
    pub(super) route: &'a ProxyRoute,
    pub(super) params: &'a Params,
    pub(super) admitted: Option<&'a Admitted>,
    pub(super) tries: &'a Tries<'u>,
    /// The trace of the request, and the id that it was sent with: a hedge has the same.
    pub(super) trace: Option<Trace>,
    pub(super) request_id: Option<[u8; 32]>,
    pub(super) trailers: Option<Fields<'a>>,
}

impl<'u> Hedges<'u> {
    pub(super) fn new(upstream: &'u Upstream) -> Self {
        Self { upstream, legs: Vec::new(), first: None }
    }

    /// Begins one at an endpoint that is held for it.
    pub(super) fn begin(&mut self, held: Held<'u>) {
        let (pools, endpoint) = (Rc::clone(&self.upstream.pools), Rc::clone(&held.seat().endpoint));
        let connecting = Rc::new(Cell::new(false));
        let told = Rc::clone(&connecting);
        let state = State::Leasing(Box::pin(async move { pools.lease_telling(&endpoint, &told).await }), connecting);
        self.legs.push(Leg { held, started: Instant::now(), state });
    }

    /// The first try is over without an answer, or with one that only tells of a failure. The hedges that are under way may still
    /// have another.
    pub(super) fn first_ended(&mut self, end: Result<u16, Reason>) {
        self.first = Some(end);
    }

    pub(super) fn is_first_over(&self) -> bool {
        self.first.is_some()
    }

    /// Whether any is under way.
    pub(super) fn is_any(&self) -> bool {
        !self.legs.is_empty()
    }

    /// What the first try has brought, where it is over and no hedge is left.
    pub(super) fn left(&self) -> Option<Result<u16, Reason>> {
        self.first.filter(|_| self.legs.is_empty())
    }

    /// The time of all of them is over, as `reason` says. They had the whole request, so that each has kept it waiting; but for those
    /// that found no room in our own queue.
    #[cold]
    pub(super) fn gave_up(&mut self, reason: Reason) {
        for leg in &self.legs {
            if !matches!(&leg.state, State::Leasing(_, connecting) if !connecting.get()) {
                leg.held.gave_up(leg.started.elapsed());
                leg.held.failed(reason);
            }
        }
    }

    /// The first that has the head of a response. One that fails, or that has only a failure to tell, ends there: it was to
    /// help, and whatever the first try brings is no worse.
    pub(super) fn poll<X: Exchange>(&mut self, cx: &mut Context<'_>, sending: &Sending<'_, 'u, X>) -> Option<Won<'u>> {
        let mut at = 0;
        while let Some(leg) = self.legs.get_mut(at) {
            match leg.poll(cx, sending) {
                Poll::Pending => at += 1,
                Poll::Ready(Err(reason)) => {
                    let leg = self.legs.swap_remove(at);
                    leg.held.failed(reason);
                }
                Poll::Ready(Ok(status)) if self.upstream.is_failure(status) => {
                    let leg = self.legs.swap_remove(at);
                    let now = Instant::now();
                    leg.held.answered(status, now.saturating_duration_since(leg.started), now);
                }
                Poll::Ready(Ok(status)) => {
                    let Leg { held, started, state } = self.legs.swap_remove(at);
                    let State::Running { call, sent, .. } = state else { continue };
                    return Some(Won { call, held, started, sent, status });
                }
            }
        }
        None
    }
}

/// Those that are left are given up. What they were waited for counts as what their requests take at least: else
/// nobody would learn of the slow ones.
impl Drop for Hedges<'_> {
    fn drop(&mut self) {
        for leg in &self.legs {
            self.upstream.took(leg.started.elapsed());
        }
    }
}

impl Leg<'_> {
    /// Goes on; ready with the status of the final head.
    fn poll<X: Exchange>(&mut self, cx: &mut Context<'_>, sending: &Sending<'_, '_, X>) -> Poll<Result<u16, Reason>> {
        loop {
            match &mut self.state {
                State::Leasing(leasing, _) => match leasing.as_mut().poll(cx) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Err(fault)) => return Poll::Ready(Err(fault.reason)),
                    Poll::Ready(Ok(mut call)) => {
                        let Sending { x, route, params, admitted, tries, trace, request_id, .. } = sending;
                        let scratch = &mut *tries.upstream().scratch.borrow_mut();
                        let to = Try::beside(self.held.seat(), *trace, *request_id, tries.target.as_deref());
                        let sent = write_request(*x, &mut call, &to, route, params, *admitted, scratch);
                        self.started = Instant::now();
                        self.state = State::Running { call, sent, body_sent: 0, is_ended: false };
                    }
                },
                State::Running { call, body_sent, is_ended, .. } => {
                    if !*is_ended {
                        let rest = sending.tries.replay.rest(*body_sent);
                        if rest.is_empty() {
                            call.end(sending.trailers);
                            *is_ended = true;
                        } else if let Poll::Ready(taken) = call.poll_send(cx, rest) {
                            *body_sent += taken?;
                            continue;
                        }
                    }
                    if *is_ended && let Poll::Ready(flushed) = call.poll_flush(cx) {
                        flushed?;
                    }
                    match call.poll_response(cx) {
                        // A final head. The first try is of another protocol, so nothing can become of a tunnel.
                        Poll::Ready(Ok(101)) => return Poll::Ready(Err(Reason::UpstreamUpgrade)),
                        // An interim head of a hedge goes nowhere: the client may have had the first try's.
                        Poll::Ready(Ok(status)) if status < 200 => {}
                        other => return other,
                    }
                }
            }
        }
    }
}
