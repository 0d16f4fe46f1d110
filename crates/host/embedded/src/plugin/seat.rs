//! What belongs to one request at a time: copies of its heads, the objects over them, and what has become of it.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::task::Waker;

use rquickjs::{Ctx, Object, Persistent, Result};

use super::head::Prepared;
use super::patch::Patch;

/// Seats without a request that are kept for the next ones.
const SPARE_MAX: usize = 256;
/// Messages of plug-ins that are kept until somebody takes them.
const BYPASSED_MAX: usize = 16;

/// A request's place. Its memory and its objects are another's afterwards.
pub(super) struct Seat {
    pub(super) number: u32,
    pub(super) request: Rc<Prepared>,
    pub(super) response: Rc<Prepared>,
    pub(super) patch: RefCell<Patch>,
    /// What a plug-in threw.
    pub(super) failure: RefCell<String>,
    pub(super) objects: RefCell<Option<Objects>>,
    /// What it came to while nobody asked.
    decided: Cell<Option<u32>>,
    /// Who waits for that, or for the end of the world.
    waiting: RefCell<Option<Waker>>,
}

/// The run's objects in JavaScript.
#[derive(Clone)]
pub(super) struct Objects {
    pub(super) run: Persistent<Object<'static>>,
    pub(super) request: Persistent<Object<'static>>,
    pub(super) response: Persistent<Object<'static>>,
}

impl Seat {
    pub(super) fn decide(&self, step: u32) {
        self.decided.set(Some(step));
        self.wake();
    }

    fn wake(&self) {
        if let Some(waiting) = self.waiting.take() {
            waiting.wake();
        }
    }

    /// Wakes a task when it has come to something, or its world has ended.
    pub(super) fn wait(&self, waker: &Waker) {
        let mut waiting = self.waiting.borrow_mut();
        match &*waiting {
            Some(known) if known.will_wake(waker) => {}
            _ => *waiting = Some(waker.clone()),
        }
    }

    /// What it came to, once.
    pub(super) fn take_decided(&self) -> Option<u32> {
        self.decided.take()
    }

    /// Whether JavaScript still has one of the objects, other than as the seat's.
    fn is_kept(&self, ctx: &Ctx<'_>) -> bool {
        /// The run's, the seat's, and the one that is looked at.
        const OWN: i32 = 3;
        let Some(objects) = self.objects.borrow().clone() else { return true };
        let kept = |prepared: &Prepared, view: Persistent<Object<'static>>| {
            view.restore(ctx).map_or(true, |view| prepared.is_kept(view.as_value(), OWN))
        };
        // `objects` is a copy, which is used up by looking.
        kept(&self.request, objects.request) || kept(&self.response, objects.response)
    }

    /// Lets go of all objects. What a plug-in has kept of them stays what it is.
    fn release(&self, ctx: &Ctx<'_>) -> Result<()> {
        let Some(Objects { request, response, .. }) = self.objects.take() else { return Ok(()) };
        self.request.release(ctx, &request.restore(ctx)?)?;
        self.response.release(ctx, &response.restore(ctx)?)
    }
}

/// All seats of a world.
#[derive(Default)]
pub(super) struct Seats {
    taken: RefCell<HashMap<u32, Rc<Seat>>>,
    spare: RefCell<Vec<Rc<Seat>>>,
    last: Cell<u32>,
    /// What plug-ins threw that requests go on without.
    bypassed: RefCell<Vec<(String, String)>>,
}

impl Seats {
    /// The seat of a run that goes on.
    pub(super) fn get(&self, number: u32) -> Option<Rc<Seat>> {
        self.taken.borrow().get(&number).map(Rc::clone)
    }

    /// A seat with all that belongs to it; a new one only if all are taken.
    pub(super) fn take(&self) -> Rc<Seat> {
        let seat = self.spare.borrow_mut().pop().unwrap_or_else(|| {
            self.last.set(self.last.get().wrapping_add(1));
            Rc::new(Seat {
                number: self.last.get(),
                request: Rc::default(),
                response: Rc::default(),
                patch: RefCell::default(),
                failure: RefCell::default(),
                objects: RefCell::default(),
                decided: Cell::new(None),
                waiting: RefCell::default(),
            })
        });
        self.taken.borrow_mut().insert(seat.number, Rc::clone(&seat));
        seat
    }

    /// A plug-in threw, and its request goes on without it.
    pub(super) fn bypass(&self, name: String, message: String) {
        let mut bypassed = self.bypassed.borrow_mut();
        if bypassed.len() < BYPASSED_MAX {
            bypassed.push((name, message));
        }
    }

    pub(super) fn take_bypassed(&self) -> Vec<(String, String)> {
        self.bypassed.take()
    }

    /// A run is over. Its seat is used again if `whole`: nothing of it goes on, and nobody has kept its objects.
    pub(super) fn give_back(&self, ctx: &Ctx<'_>, seat: &Rc<Seat>, whole: bool) -> Result<()> {
        self.taken.borrow_mut().remove(&seat.number);
        let mut spare = self.spare.borrow_mut();
        if whole && spare.len() < SPARE_MAX && !seat.is_kept(ctx) {
            seat.patch.borrow_mut().clear();
            seat.decided.set(None);
            seat.waiting.take();
            spare.push(Rc::clone(seat));
            return Ok(());
        }
        drop(spare);
        seat.release(ctx)
    }

    /// The world ends: nothing of it is kept, and whoever waits is told.
    pub(super) fn forget(&self) {
        let taken = self.taken.take();
        for seat in taken.values().chain(self.spare.take().iter()) {
            seat.objects.take();
            seat.request.forget();
            seat.response.forget();
            seat.wake();
        }
    }
}
