use std::cell::Ref;
use std::rc::Rc;

use leat_message::{Head, ResponseHead};

use super::Plugins;
use super::patch::Patch;
use super::prepared::{Called, Prepared, Step};
use super::seat::Seat;

/// The bits of a step, as `leat:plugins` has them.
const CHANGED: u32 = 1;
const OPEN: u32 = 2;
const RESPONDED: u32 = 4;
const PENDING: u32 = 8;
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
    /// A plug-in threw, ran too long, or lost its world: [`Run::failure`] says what it was.
    Failed,
}

/// One request's way through the plug-ins. Dropped before its response, it ends for them with an error.
pub struct Run {
    plugins: Rc<Plugins>,
    /// `None` once it is over.
    prepared: Option<Rc<Prepared>>,
    seat: Option<Rc<Seat>>,
    decision: Decision,
    /// Plug-ins want the response.
    open: bool,
    failure: String,
}

impl Run {
    pub(super) fn begin(plugins: Rc<Plugins>, prepared: Rc<Prepared>, head: Head<'_>) -> Self {
        let seat = prepared.seats.take();
        seat.request.head.borrow_mut().request(head);
        let called = prepared.call(&seat, Step::Begin, "");
        let mut run = Self {
            plugins,
            prepared: Some(prepared),
            seat: Some(seat),
            decision: Decision::Unchanged,
            open: false,
            failure: String::new(),
        };
        run.take(called);
        run
    }

    pub(super) fn failed(plugins: Rc<Plugins>, failure: String) -> Self {
        Self { plugins, prepared: None, seat: None, decision: Decision::Failed, open: false, failure }
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

    /// Waits until a pending decision is made, not longer than plug-ins may wait.
    pub async fn decided(&mut self) -> Decision {
        let (Some(seat), Decision::Pending) = (self.seat.clone(), self.decision) else { return self.decision };
        let wait = self.plugins.limits.wait;
        let step = tokio::time::timeout(wait, async {
            loop {
                if let Some(step) = seat.take_decided() {
                    return Some(step);
                }
                if self.is_lost() {
                    return None;
                }
                seat.moved.notified().await;
            }
        });
        match step.await {
            Ok(Some(step)) => self.take(Called::Step(step)),
            Ok(None) => self.take(Called::Lost),
            Err(_) => {
                let message = format!("a plug-in waited for more than {} ms", wait.as_millis());
                self.fail(message, false);
            }
        }
        self.decision
    }

    /// Shows plug-ins the response. Only where they want it.
    pub fn response(&mut self, head: ResponseHead<'_>) -> Decision {
        if let Some(seat) = &self.seat {
            seat.response.head.borrow_mut().response(head);
        }
        self.next(Step::Answered, "")
    }

    /// Tells plug-ins that there is no response, and why: a reason such as `upstream.connect`. They may respond instead.
    pub fn no_response(&mut self, reason: &str) -> Decision {
        self.next(Step::Unanswered, reason)
    }

    fn next(&mut self, step: Step, reason: &str) -> Decision {
        let (Some(prepared), Some(seat), true) = (self.prepared.clone(), self.seat.clone(), self.open) else {
            return Decision::Unchanged;
        };
        self.open = false;
        seat.patch.borrow_mut().clear();
        // One that gave up while it was under way has decided before.
        let called = match seat.take_decided() {
            Some(early) => Called::Step(early),
            None => prepared.call(&seat, step, reason),
        };
        self.take(called);
        self.decision
    }

    fn is_lost(&self) -> bool {
        self.prepared.as_ref().is_none_or(|prepared| prepared.is_lost())
    }

    fn take(&mut self, called: Called) {
        let step = match called {
            // What it waited for may have come in the same turn.
            Called::Step(PENDING) => self.seat.as_ref().and_then(|seat| seat.take_decided()).unwrap_or(PENDING),
            Called::Step(step) => step,
            Called::Stopped => {
                let limit = self.plugins.limits.turn.as_millis();
                return self.fail(format!("a plug-in ran for more than {limit} ms and was stopped"), false);
            }
            Called::Lost => {
                let why =
                    self.prepared.as_ref().map_or("the world of plug-ins is lost", |prepared| prepared.why_lost());
                self.fail(why.to_owned(), false);
                if let Some(prepared) = self.prepared.take() {
                    self.plugins.lose(&prepared);
                }
                return;
            }
        };
        self.open = step & OPEN != 0;
        self.decision = match step {
            PENDING => Decision::Pending,
            step if step & FAILED != 0 => {
                let failure = self.seat.as_ref().map(|seat| std::mem::take(&mut *seat.failure.borrow_mut()));
                return self.fail(failure.unwrap_or_default(), true);
            }
            step if step & RESPONDED != 0 => Decision::Respond,
            step if step & CHANGED != 0 => Decision::Changed,
            _ => Decision::Unchanged,
        };
    }

    fn fail(&mut self, failure: String, whole: bool) {
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
        let whole = self.decision != Decision::Pending && !self.open;
        if let (Some(prepared), Some(seat)) = (&self.prepared, self.seat.take()) {
            prepared.give_back(&seat, whole);
        }
    }
}
