use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use leat_policy::concurrency::Gradient;

use super::clock::now;
use crate::config::Concurrency;

/// How many requests an upstream is given at once, by all cores together, and those that wait for their turn. A lock of a
/// few nanoseconds, twice a try; those who wait are woken one by one, first come, first served.
#[derive(Debug)]
pub(crate) struct Gate {
    queue_max: usize,
    queue_time_ms: u64,
    inner: Mutex<Inner>,
    refused: AtomicU64,
}

#[derive(Debug)]
struct Inner {
    gradient: Gradient,
    in_flight: u32,
    waiting: VecDeque<Arc<Waiter>>,
}

#[derive(Debug, Default)]
struct Waiter {
    /// Its turn has come: it is counted among those under way. Written under the gate's lock.
    is_in: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

/// What becomes of a request that wants to go in.
pub(crate) enum Entry {
    In(Slot),
    Wait(Place),
    /// As many wait as may.
    Full,
}

/// The right to be under way. Dropped, it goes to the next who waits, and says nothing of the upstream.
#[derive(Debug)]
pub(crate) struct Slot {
    /// `None` once it was told what it has shown of the upstream.
    gate: Option<Arc<Gate>>,
}

/// A place in the queue. Dropped, it is given up.
#[derive(Debug)]
pub(crate) struct Place {
    gate: Arc<Gate>,
    /// `None` once it became a slot.
    waiter: Option<Arc<Waiter>>,
}

/// How a gate is at one moment, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GateReport {
    pub(super) limit: u32,
    pub(super) in_flight: u32,
    pub(super) waiting: usize,
    /// Requests that were turned away so far.
    pub(super) refused: u64,
}

impl Gate {
    pub(super) fn new(settings: &Concurrency) -> Self {
        let gradient = Gradient::new(settings.gradient().clone());
        Self {
            queue_max: settings.queue_max(),
            queue_time_ms: settings.queue_time_ms(),
            inner: Mutex::new(Inner { gradient, in_flight: 0, waiting: VecDeque::new() }),
            refused: AtomicU64::new(0),
        }
    }

    /// A slot, a place in the queue, or neither. Allocates for those who have to wait.
    pub(crate) fn enter(self: &Arc<Self>) -> Entry {
        let mut inner = self.lock();
        if inner.has_room() {
            inner.in_flight += 1;
            return Entry::In(Slot { gate: Some(Arc::clone(self)) });
        }
        if inner.waiting.len() >= self.queue_max {
            self.count_refused();
            return Entry::Full;
        }
        let waiter = Arc::<Waiter>::default();
        inner.waiting.push_back(Arc::clone(&waiter));
        Entry::Wait(Place { gate: Arc::clone(self), waiter: Some(waiter) })
    }

    /// A slot for what can do without: `None` where there is no room.
    pub(crate) fn try_enter(self: &Arc<Self>) -> Option<Slot> {
        let mut inner = self.lock();
        inner.has_room().then(|| {
            inner.in_flight += 1;
            Slot { gate: Some(Arc::clone(self)) }
        })
    }

    /// How long a request waits for its turn, in milliseconds.
    pub(crate) fn queue_time_ms(&self) -> u64 {
        self.queue_time_ms
    }

    /// A request is turned away.
    pub(crate) fn count_refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn report(&self) -> GateReport {
        let inner = self.lock();
        GateReport {
            limit: inner.gradient.limit(),
            in_flight: inner.in_flight,
            waiting: inner.waiting.len(),
            refused: self.refused.load(Ordering::Relaxed),
        }
    }

    /// One less is under way; `took` is what it has shown of the upstream, if anything.
    fn leave(&self, took: Option<Duration>) {
        let mut inner = self.lock();
        if let Some(took) = took {
            let in_flight = inner.in_flight;
            inner.gradient.record(now(), took, in_flight);
        }
        inner.in_flight = inner.in_flight.saturating_sub(1);
        let mut next = Vec::new();
        while inner.in_flight < inner.gradient.limit()
            && let Some(waiter) = inner.waiting.pop_front()
        {
            inner.in_flight += 1;
            waiter.is_in.store(true, Ordering::Release);
            next.push(waiter);
        }
        drop(inner);
        // Outside the lock: a waker may run code of another core's.
        next.iter().for_each(|waiter| waiter.wake());
    }

    /// Nothing that holds the lock can leave it half-changed, so a panic elsewhere is no reason to stop.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Nobody goes past those who wait.
    fn has_room(&self) -> bool {
        self.waiting.is_empty() && self.in_flight < self.gradient.limit()
    }
}

impl Waiter {
    fn wake(&self) {
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Slot {
    /// The upstream has answered, which took so long, or it was waited for so long in vain.
    pub(super) fn answered(mut self, took: Duration) {
        self.leave(Some(took));
    }

    fn leave(&mut self, took: Option<Duration>) {
        if let Some(gate) = self.gate.take() {
            gate.leave(took);
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.leave(None);
    }
}

impl Place {
    /// Ready when the turn has come.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Slot> {
        let Some(waiter) = &self.waiter else { return Poll::Pending };
        // In this order: who lets us in stores first and wakes then, so that one of the two sees the other.
        *waiter.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(cx.waker().clone());
        if !waiter.is_in.load(Ordering::Acquire) {
            return Poll::Pending;
        }
        self.waiter = None;
        Poll::Ready(Slot { gate: Some(Arc::clone(&self.gate)) })
    }

    /// The gate that it is at.
    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(waiter) = self.waiter.take() else { return };
        let mut inner = self.gate.lock();
        if waiter.is_in.load(Ordering::Acquire) {
            drop(inner);
            self.gate.leave(None);
        } else {
            inner.waiting.retain(|other| !Arc::ptr_eq(other, &waiter));
        }
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
