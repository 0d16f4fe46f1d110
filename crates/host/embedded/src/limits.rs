//! Stops JavaScript that runs too long or holds too much.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::heap::Heap;

/// Why JavaScript was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// It ran longer than one turn may.
    Time,
    /// The world holds more than it may.
    Memory,
    /// However often it is stopped, there is more.
    Endless,
}

impl Stopped {
    /// Whether the world is not entered again.
    pub(crate) fn is_final(self) -> bool {
        matches!(self, Self::Memory | Self::Endless)
    }
}

/// Where a turn is.
#[derive(Clone, Copy, Debug)]
enum Turn {
    /// Nothing runs, or it may run for ever.
    Free,
    /// It has begun since the engine asked last. Time is read when the engine asks, not for every turn: most end before.
    Begun,
    Until(Instant),
}

/// What the engine asks every few thousand calls and jumps back (also within a regular expression), about 0.1 ms apart.
#[derive(Debug)]
pub(crate) struct Guard {
    heap: Rc<Heap>,
    limit: Cell<Option<Duration>>,
    turn: Cell<Turn>,
    stopped: Cell<Option<Stopped>>,
}

impl Guard {
    pub(crate) fn new(heap: Rc<Heap>, limit: Option<Duration>) -> Rc<Self> {
        Rc::new(Self { heap, limit: Cell::new(limit), turn: Cell::new(Turn::Free), stopped: Cell::new(None) })
    }

    /// How long a turn may be; `None` is for ever.
    pub(crate) fn limit(&self) -> Option<Duration> {
        self.limit.get()
    }

    /// Sets that for the turns that begin from now on.
    pub(crate) fn set_limit(&self, limit: Option<Duration>) {
        self.limit.set(limit);
    }

    /// A turn begins, with all the time that one has. Costs one store.
    #[inline]
    pub(crate) fn begin(&self) {
        if self.limit.get().is_some() {
            self.turn.set(Turn::Begun);
        }
    }

    /// The turn has ended, or may run for ever.
    #[inline]
    pub(crate) fn end(&self) {
        self.turn.set(Turn::Free);
    }

    /// Whether what runs must stop. Once it must, it must until [`Guard::take_stopped`] is called, whatever catches.
    pub(crate) fn must_stop(&self) -> bool {
        if self.stopped.get().is_some() {
            return true;
        }
        if self.heap.is_full() {
            self.stopped.set(Some(Stopped::Memory));
            return true;
        }
        match (self.turn.get(), self.limit.get()) {
            (Turn::Begun, Some(limit)) => {
                self.turn.set(Instant::now().checked_add(limit).map_or(Turn::Free, Turn::Until));
                false
            }
            (Turn::Until(end), _) if Instant::now() >= end => {
                self.stopped.set(Some(Stopped::Time));
                true
            }
            _ => false,
        }
    }

    /// Whether something was stopped that has not been told of, and why.
    #[inline]
    pub(crate) fn stopped(&self) -> Option<Stopped> {
        // Memory may have run out without the engine having asked since.
        self.stopped.get().or_else(|| self.heap.is_full().then_some(Stopped::Memory))
    }

    /// The same, once; what runs next has all its time again. A world that is lost stays so.
    pub(crate) fn take_stopped(&self) -> Option<Stopped> {
        let stopped = self.stopped();
        if !stopped.is_some_and(Stopped::is_final) {
            self.stopped.set(None);
        }
        if stopped == Some(Stopped::Time) {
            self.begin();
        }
        stopped
    }

    /// What runs is stopped for ever.
    pub(crate) fn give_up(&self) {
        self.stopped.set(Some(Stopped::Endless));
    }
}
