//! What belongs to one request at a time: copies of its heads, the objects over them, and what has become of it.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;
use std::task::Waker;

use rquickjs::{Ctx, Object, Result, Undefined};

use super::head::Prepared;
use super::kit::Kit;
use super::patch::Patch;
use super::shapes::are_alike;
use super::straight::{Straight, Walk};
use crate::serve::Held;

/// Seats without a request that are kept for the next ones.
const SPARE_MAX: usize = 256;
/// Messages of plug-ins that are kept until somebody takes them.
const BYPASSED_MAX: usize = 16;

/// A request's place. Its memory and its objects are another's afterwards.
pub(super) struct Seat {
    pub(super) number: u32,
    /// Whether it is a run's.
    is_taken: Cell<bool>,
    pub(super) request: Rc<Prepared>,
    pub(super) response: Rc<Prepared>,
    pub(super) patch: RefCell<Patch>,
    /// What a plug-in threw.
    pub(super) failure: RefCell<String>,
    pub(super) objects: RefCell<Option<Objects>>,
    /// Where the host goes through the run itself.
    pub(super) straight: Straight,
    pub(super) kit: Rc<Kit>,
    /// Whether somebody has asked for the run's signal.
    pub(super) is_signalled: Cell<bool>,
    /// What it came to while nobody asked.
    decided: Cell<Option<u32>>,
    /// Who waits for that, or for the end of the world.
    waiting: RefCell<Option<Waker>>,
}

/// The run's objects in JavaScript, and what makes others. To be dropped before the world ends.
pub(super) struct Objects {
    pub(super) run: Held,
    pub(super) request: Held,
    pub(super) response: Held,
    /// What hooks are handed that the host calls itself.
    pub(super) record: Held,
    pub(super) walk: Rc<Walk>,
}

impl Objects {
    /// The run's signal is no other run's.
    fn forget_signal(&self, ctx: &Ctx<'_>) -> Result<()> {
        self.run.value(ctx).get::<Object<'_>>()?.set("aborts", Undefined)
    }
}

impl Seat {
    pub(super) fn decide(&self, step: u32) {
        self.decided.set(Some(step));
        self.wake();
    }

    pub(super) fn wake(&self) {
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

    /// Whether a hook waits for a body.
    pub(super) fn wants_body(&self) -> bool {
        self.request.body.is_wanted() || self.response.body.is_wanted()
    }

    /// Whether it came to something that nobody has taken.
    pub(super) fn has_decided(&self) -> bool {
        self.decided.get().is_some()
    }

    /// What it came to, once.
    pub(super) fn take_decided(&self) -> Option<u32> {
        self.decided.take()
    }

    /// Something of the objects; `None` where there are none, or no more.
    pub(super) fn object<T>(&self, of: impl FnOnce(&Objects) -> T) -> Option<T> {
        self.objects.borrow().as_ref().map(of)
    }

    /// Whether JavaScript still has one of the objects, other than as the seat's.
    fn is_kept(&self) -> bool {
        /// The run's, and the seat's.
        const OWN: i32 = 2;
        let kept = |objects: &Objects| {
            self.request.is_kept(&objects.request, OWN) || self.response.is_kept(&objects.response, OWN)
        };
        self.object(kept).unwrap_or(true)
    }

    /// Whether its objects have the properties that those of `clean` have: what a plug-in puts there is no other request's to see.
    fn is_like(&self, clean: &Self) -> bool {
        let (own, clean) = (self.objects.borrow(), clean.objects.borrow());
        let (Some(own), Some(clean)) = (&*own, &*clean) else { return own.is_none() };
        [(&own.record, &clean.record), (&own.request, &clean.request), (&own.response, &clean.response)]
            .into_iter()
            .all(|(own, clean)| are_alike(own, clean))
    }

    /// Lets go of all objects. What a plug-in has kept of them stays what it is.
    fn release(&self, ctx: &Ctx<'_>) -> Result<()> {
        let Some(Objects { request, response, .. }) = self.objects.take() else { return Ok(()) };
        self.request.release(ctx, &request)?;
        self.response.release(ctx, &response)
    }
}

/// A hash of numbers that are counted here, which no peer has a say in.
#[derive(Default)]
struct Counted(u64);

impl Hasher for Counted {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32((*byte).into());
        }
    }

    fn write_u32(&mut self, number: u32) {
        // By the golden ratio, so that the upper bits, which tables look at first, differ too.
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// All seats of a world.
#[derive(Default)]
pub(super) struct Seats {
    /// Those with a run, and spare ones.
    all: RefCell<HashMap<u32, Rc<Seat>, BuildHasherDefault<Counted>>>,
    spare: RefCell<Vec<Rc<Seat>>>,
    last: Cell<u32>,
    /// What seats are made with; there while the world is.
    kit: RefCell<Option<Rc<Kit>>>,
    /// One whose objects nobody is shown.
    clean: RefCell<Option<Rc<Seat>>>,
    /// What plug-ins threw that requests go on without.
    bypassed: RefCell<Vec<(String, String)>>,
}

impl Seats {
    /// The seat of a run that goes on.
    pub(super) fn get(&self, number: u32) -> Option<Rc<Seat>> {
        self.all.borrow().get(&number).filter(|seat| seat.is_taken.get()).map(Rc::clone)
    }

    /// What seats are made with from now on.
    pub(super) fn furnish(&self, kit: Rc<Kit>) {
        *self.kit.borrow_mut() = Some(kit);
    }

    /// Seats are used again from now on, where their objects are still as those of this one.
    pub(super) fn compare_with(&self, clean: Rc<Seat>) {
        *self.clean.borrow_mut() = Some(clean);
    }

    /// A seat with all that belongs to it; a new one only if all are taken, and none once the world has ended.
    pub(super) fn take(&self) -> Option<Rc<Seat>> {
        let spare = self.spare.borrow_mut().pop();
        let make = || {
            self.last.set(self.last.get().wrapping_add(1));
            let made = Rc::new(Seat {
                number: self.last.get(),
                is_taken: Cell::new(true),
                request: Rc::default(),
                response: Rc::default(),
                patch: RefCell::default(),
                failure: RefCell::default(),
                objects: RefCell::default(),
                is_signalled: Cell::new(false),
                decided: Cell::new(None),
                waiting: RefCell::default(),
                straight: Straight::default(),
                kit: self.kit.borrow().clone()?,
            });
            self.all.borrow_mut().insert(made.number, Rc::clone(&made));
            Some(made)
        };
        let seat = spare.or_else(make)?;
        seat.is_taken.set(true);
        Some(seat)
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

    /// A run is over of which nothing goes on. Its seat is used again if nobody has kept its objects, or put something there; says
    /// whether it is.
    pub(super) fn keep(&self, seat: &Rc<Seat>) -> bool {
        seat.forget_straight();
        let mut spare = self.spare.borrow_mut();
        // Who listens to the signal still would hear of another run.
        let is_as_made = || self.clean.borrow().as_ref().is_some_and(|clean| seat.is_like(clean));
        if spare.len() >= SPARE_MAX || seat.is_signalled.get() || seat.is_kept() || !is_as_made() {
            return false;
        }
        seat.is_taken.set(false);
        seat.patch.borrow_mut().clear();
        seat.request.body.clear();
        seat.response.body.clear();
        seat.decided.set(None);
        seat.waiting.take();
        spare.push(Rc::clone(seat));
        true
    }

    /// A run is over. Its seat is used again if `whole`: nothing of it goes on, and nobody has kept its objects.
    pub(super) fn give_back(&self, ctx: &Ctx<'_>, seat: &Rc<Seat>, whole: bool) -> Result<()> {
        if whole && seat.is_signalled.take() {
            seat.object(|objects| objects.forget_signal(ctx)).transpose()?;
        }
        if whole && self.keep(seat) {
            return Ok(());
        }
        seat.forget_straight();
        self.all.borrow_mut().remove(&seat.number);
        seat.release(ctx)
    }

    /// The world is lost: whoever waits looks.
    pub(super) fn wake(&self) {
        let all: Vec<Rc<Seat>> = self.all.borrow().values().map(Rc::clone).collect();
        all.iter().for_each(|seat| seat.wake());
    }

    /// The world ends: nothing of it is kept, and whoever waits is told.
    pub(super) fn forget(&self) {
        self.kit.take();
        self.clean.take();
        let all = self.all.take();
        self.spare.take();
        for seat in all.values() {
            seat.forget_straight();
            seat.objects.take();
            seat.request.forget();
            seat.response.forget();
            seat.wake();
        }
    }
}
