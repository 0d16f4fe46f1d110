use std::cell::Cell;
use std::time::{Duration, Instant};

use leat_message::Reason;
use leat_policy::breaker::Permit;

use super::clock::at;
use super::gate::Slot;
use super::upstream::{Seat, Upstream};

/// A try's hold on its endpoint. It must be told how the try went; dropped before, the try says nothing of the endpoint.
pub(crate) struct Held<'a> {
    upstream: &'a Upstream,
    seat: &'a Seat,
    at: usize,
    permit: Cell<Option<Permit>>,
    /// What lets it be under way, until the response's head.
    slot: Cell<Option<Slot>>,
    /// How long a response was waited for in vain.
    waited: Cell<Duration>,
    is_told: Cell<bool>,
}

impl<'a> Held<'a> {
    pub(super) fn new(upstream: &'a Upstream, seat: &'a Seat, at: usize, permit: Option<Permit>) -> Self {
        if upstream.balancer.counts() {
            upstream.balancer.begin(at);
        }
        if let Some(cells) = &seat.cells {
            cells.under_way.up();
        }
        Self {
            upstream,
            seat,
            at,
            permit: Cell::new(permit),
            slot: Cell::new(None),
            waited: Cell::default(),
            is_told: Cell::new(false),
        }
    }

    /// The try is one of those that are counted as under way.
    pub(crate) fn occupy(&self, slot: Option<Slot>) {
        self.slot.set(slot);
    }

    pub(crate) fn seat(&self) -> &'a Seat {
        self.seat
    }

    /// Its number among the upstream's endpoints.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Whether anybody wants to know how the try goes.
    pub(crate) fn is_watched(&self) -> bool {
        self.upstream.group.is_some() || self.upstream.balancer.counts()
    }

    /// The head of a response came at `now`. What follows it says little of the endpoint, and may take for ever.
    pub(crate) fn answered(&self, status: u16, took: Duration, now: Instant) {
        if self.is_told.get() {
            return;
        }
        self.upstream.took(took);
        if self.is_watched() {
            if let Some(slot) = self.slot.take() {
                slot.answered(took);
            }
            self.tell(self.upstream.is_failure(status), took, now);
        }
    }

    /// A response was waited for so long in vain: it takes at least that.
    pub(crate) fn gave_up(&self, waited: Duration) {
        self.waited.set(waited);
        if let Some(slot) = self.slot.take() {
            slot.answered(waited);
        }
    }

    /// There was no response. Only what the endpoint is to blame for counts: not the client's end, nor our own queue.
    pub(crate) fn failed(&self, reason: Reason) {
        let is_its_fault = reason.blame() == leat_message::Blame::Upstream && reason != Reason::UpstreamPool;
        if is_its_fault && self.is_watched() {
            self.tell(true, self.waited.get(), Instant::now());
        }
    }

    fn tell(&self, failed: bool, took: Duration, now: Instant) {
        if self.is_told.replace(true) {
            return;
        }
        let now = at(now);
        self.upstream.balancer.record(self.at, failed, took, now);
        if let Some(group) = &self.upstream.group {
            group.record(self.at, self.permit.take(), failed, took, now);
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Some(cells) = &self.seat.cells {
            cells.under_way.down();
        }
        if self.upstream.balancer.counts() {
            self.upstream.balancer.end(self.at);
        }
        if let Some(group) = &self.upstream.group {
            group.release(self.at, self.permit.take());
        }
    }
}
