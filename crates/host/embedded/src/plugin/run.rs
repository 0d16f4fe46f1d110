use std::cell::Ref;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use leat_message::{Fields, Head};
use tokio::time::Sleep;

use super::Plugins;
use super::failure::Failure;
use super::patch::Patch;
use super::prepared::{Called, Prepared, Step};
use super::seat::Seat;

/// The bits of a step, as `leat:plugins` has them.
const CHANGED: u32 = 1;
const OPEN: u32 = 2;
const RESPONDED: u32 = 4;
pub(super) const PENDING: u32 = 8;
const FAILED: u32 = 16;

/// What plug-ins want done with a request or a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It goes on as it is.
    Unchanged,
    /// It goes on with the changes of [`Run::patch`].
    Changed,
    /// [`Run::patch`] is the whole reply to the client.
    Respond,
    /// A plug-in waits for something: [`Run::decided`] tells when it is known.
    Pending,
    /// A plug-in waits for the body of what it was shown last: [`Run::body`].
    WantsBody,
    /// A plug-in threw, ran too long, or lost its world: [`Run::failure`] says what it was.
    Failed,
}

/// One request's way through the plug-ins. Dropped before its response, it ends for them with an error.
pub struct Run {
    pub(super) plugins: Rc<Plugins>,
    /// Dropped before its world.
    pub(super) seat: Option<Rc<Seat>>,
    /// `None` once it is over.
    pub(super) prepared: Option<Rc<Prepared>>,
    pub(super) decision: Decision,
    /// Whose plug-ins they are.
    pub(super) set: usize,
    /// Plug-ins want the response.
    open: bool,
    failure: String,
    failed: Failure,
    /// Bytes of bodies that it was given.
    pub(super) held_bytes: usize,
    /// How long it may wait; there while it does.
    wait: Option<Pin<Box<Sleep>>>,
}

impl Run {
    pub(super) fn begin(plugins: Rc<Plugins>, prepared: Rc<Prepared>, set: usize, head: Head<'_>) -> Self {
        let Some(seat) = prepared.seats.take() else {
            let why = prepared.why_lost().to_owned();
            return Self::failed(plugins, why);
        };
        seat.request.head.borrow_mut().request(head);
        let called = prepared.call(&seat, Step::Begin { set });
        let mut run = Self {
            plugins,
            prepared: Some(prepared),
            seat: Some(seat),
            decision: Decision::Unchanged,
            set,
            open: false,
            failure: String::new(),
            failed: Failure::Threw,
            held_bytes: 0,
            wait: None,
        };
        run.take(called);
        run
    }

    pub(super) fn failed(plugins: Rc<Plugins>, failure: String) -> Self {
        Self {
            plugins,
            prepared: None,
            seat: None,
            decision: Decision::Failed,
            set: 0,
            open: false,
            failure,
            failed: Failure::Lost,
            held_bytes: 0,
            wait: None,
        }
    }

    /// What they want done with what they were shown last.
    pub fn decision(&self) -> Decision {
        self.decision
    }

    /// Whether they want to see the response: [`Run::response`], or [`Run::no_response`].
    pub fn wants_response(&self) -> bool {
        self.open
    }

    /// The changes, or the reply.
    pub fn patch(&self) -> Option<Ref<'_, Patch>> {
        self.seat.as_ref().map(|seat| seat.patch.borrow())
    }

    /// What a plug-in threw with its stack, or what was wrong with it.
    pub fn failure(&self) -> &str {
        &self.failure
    }

    /// Which kind of failure that was.
    pub fn failed_by(&self) -> Failure {
        self.failed
    }

    /// Waits until a pending decision is made, not longer than plug-ins may wait.
    pub async fn decided(&mut self) -> Decision {
        poll_fn(|cx| self.poll_decided(cx)).await
    }

    /// The same for whoever polls. One allocation where it waits for the first time since the last decision.
    pub fn poll_decided(&mut self, cx: &mut Context<'_>) -> Poll<Decision> {
        let (Some(seat), Decision::Pending) = (&self.seat, self.decision) else { return Poll::Ready(self.decision) };
        if let Some(step) = seat.take_decided() {
            self.take(Called::Step(step));
        } else if self.is_lost() {
            self.take(Called::Gone);
        } else if seat.wants_body() {
            self.wait = None;
            self.decision = Decision::WantsBody;
        } else {
            seat.wait(cx.waker());
            let wait = self.plugins.limits.wait;
            let timer = self.wait.get_or_insert_with(|| Box::pin(tokio::time::sleep(wait)));
            if timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.leave("plugin.wait_time");
            self.fail(Failure::WaitTime, format!("a plug-in waited for more than {} ms", wait.as_millis()), false);
        }
        Poll::Ready(self.decision)
    }

    /// Shows plug-ins the response. Only where they want it.
    pub fn response(&mut self, status: u16, fields: Fields<'_>) -> Decision {
        if let Some(seat) = &self.seat {
            seat.response.head.borrow_mut().response(status, fields);
        }
        self.next(Step::Answered)
    }

    /// Tells plug-ins that there is no response, and why: a reason such as `upstream.connect`. They may respond instead.
    pub fn no_response(&mut self, reason: &str) -> Decision {
        self.next(Step::Unanswered { reason })
    }

    fn next(&mut self, step: Step<'_>) -> Decision {
        let (Some(prepared), Some(seat), true) = (self.prepared.clone(), self.seat.clone(), self.open) else {
            return Decision::Unchanged;
        };
        self.open = false;
        seat.turn();
        seat.patch.borrow_mut().clear();
        seat.request.body.close();
        // One that gave up while it was under way has decided before.
        let called = match seat.take_decided() {
            Some(early) => Called::Step(early),
            None => prepared.call(&seat, step),
        };
        self.take(called);
        self.decision
    }

    fn is_lost(&self) -> bool {
        self.prepared.as_ref().is_none_or(|prepared| prepared.is_lost())
    }

    pub(super) fn take(&mut self, called: Called) {
        self.wait = None;
        let step = match called {
            // What it waited for may have come in the same turn.
            Called::Step(PENDING) => self.seat.as_ref().and_then(|seat| seat.take_decided()).unwrap_or(PENDING),
            Called::Step(step) => step,
            Called::Stopped => {
                let stack = self.prepared.as_ref().map(|prepared| prepared.take_stopped()).unwrap_or_default();
                return self.fail(Failure::TurnTime, self.plugins.limits.stopped(&stack), false);
            }
            Called::Lost | Called::Gone => {
                let by = matches!(called, Called::Lost).then_some(self.set);
                let why =
                    self.prepared.as_ref().map_or("the world of plug-ins is lost", |prepared| prepared.why_lost());
                self.fail(Failure::Lost, why.to_owned(), false);
                if let Some(prepared) = self.prepared.take() {
                    prepared.take_lost();
                    self.plugins.lose(&prepared, by);
                }
                return;
            }
        };
        self.open = step & OPEN != 0;
        self.decision = match step {
            PENDING if self.seat.as_ref().is_some_and(|seat| seat.wants_body()) => Decision::WantsBody,
            PENDING => Decision::Pending,
            step if step & FAILED != 0 => {
                let failure = self.seat.as_ref().map(|seat| std::mem::take(&mut *seat.failure.borrow_mut()));
                return self.fail(Failure::Threw, failure.unwrap_or_default(), true);
            }
            step if step & RESPONDED != 0 => Decision::Respond,
            step if step & CHANGED != 0 => Decision::Changed,
            _ => Decision::Unchanged,
        };
    }

    pub(super) fn fail(&mut self, failed: Failure, failure: String, whole: bool) {
        self.wait = None;
        self.failed = failed;
        self.decision = Decision::Failed;
        self.open = false;
        self.failure = failure;
        if let (Some(prepared), Some(seat)) = (&self.prepared, self.seat.take()) {
            prepared.give_back(&seat, whole);
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if self.open {
            self.no_response("peer.closed");
        }
        self.leave("peer.closed");
        let whole = !matches!(self.decision, Decision::Pending | Decision::WantsBody) && !self.open;
        if let (Some(prepared), Some(seat)) = (&self.prepared, self.seat.take()) {
            prepared.give_back(&seat, whole);
        }
        self.plugins.bodies_bytes.set(self.plugins.bodies_bytes.get().saturating_sub(self.held_bytes));
    }
}
