//! A run that the host goes through itself: plans of hooks without slots, whose hooks return nothing or plain changes of headers. What
//! else they return, and what they throw, is the walk's (`leat:plugins`), which goes on from there.
#![allow(unsafe_code, reason = "functions are called as QuickJS calls them")]

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rquickjs::{Array, Ctx, Error, FromJs, Function, Persistent, Result, Value, qjs};

use super::edits;
use super::patch::Patch;
use super::seat::{Objects, Seat};
use super::shapes::Usual;
use crate::serve::Held;

/// The bits of a step, as `leat:plugins` has them.
const CHANGED: u32 = 1;
const OPEN: u32 = 2;
const RESPONDED: u32 = 4;

/// Where a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// Over, not begun, or the walk's.
    #[default]
    Away,
    /// On its way to the upstream, or there.
    Inwards,
    /// On its way back with the response.
    Outwards,
}

/// What a seat has of such a run.
#[derive(Default)]
pub(super) struct Straight {
    pub(super) phase: Cell<Phase>,
    pub(super) attempt: Cell<i32>,
    set: Cell<usize>,
    /// What was changed of the request, once there is a response, whose changes the seat's patch has then.
    request: RefCell<Patch>,
    /// The messages with those changes, where somebody has asked for them.
    changed_request: RefCell<Option<Held>>,
    changed_response: RefCell<Option<Held>>,
}

/// The layers of a set, outermost first. To be dropped before their world ends.
pub(super) struct Layers {
    layers: Vec<Layer>,
    attempt_at: usize,
    is_outward: bool,
    /// Whether one hears of the end of a run without a response.
    pub(super) hears_errors: bool,
}

struct Layer {
    owner: Held,
    on_request: Option<Held>,
    on_response: Option<Held>,
    on_complete: Option<Held>,
    /// The next one on the way outwards.
    outer: Option<usize>,
    usual_request: Usual,
    usual_response: Usual,
}

/// What the walk needs of the host. To be dropped before their world ends.
pub(super) struct Walk {
    pub(super) changed_request: Persistent<Function<'static>>,
    pub(super) changed_response: Persistent<Function<'static>>,
    pub(super) adopt: Persistent<Function<'static>>,
    pub(super) went: Persistent<Function<'static>>,
}

/// What a hook came to.
enum Came {
    Nothing,
    Value(Held),
    Threw(Held),
}

/// What `straightLayers` gives.
type Given<'js> = (Array<'js>, usize, bool, bool);

impl Layer {
    /// Whether nobody hears of a reply that it gives itself.
    fn leaves_alone(&self) -> bool {
        self.on_complete.is_none() && self.outer.is_none()
    }
}

impl Layers {
    /// # Errors
    /// None that `straightLayers` has to do with.
    pub(super) fn new<'js>((layers, attempt_at, is_outward, hears_errors): Given<'js>) -> Result<Self> {
        let hook = |value: Value<'js>| value.is_function().then(|| Held::from_value(value));
        let layers = layers.iter::<Array<'js>>().map(|layer| {
            let layer = layer?;
            let outer: i32 = layer.get(4)?;
            Ok(Layer {
                owner: Held::from_value(layer.get(0)?),
                on_request: hook(layer.get(1)?),
                on_response: hook(layer.get(2)?),
                on_complete: hook(layer.get(3)?),
                outer: usize::try_from(outer).ok(),
                usual_request: Usual::default(),
                usual_response: Usual::default(),
            })
        });
        Ok(Self { layers: layers.collect::<Result<_>>()?, attempt_at, is_outward, hears_errors })
    }
}

/// Takes a request through the hooks on the way to the upstream. Gives the bits of a step.
///
/// # Errors
/// What can't be caught: JavaScript was stopped.
pub(super) fn begin(ctx: &Ctx<'_>, walk: &Walk, seat: &Rc<Seat>, layers: &Layers, set: usize) -> Result<u32> {
    let Straight { phase, attempt, set: of, .. } = &seat.straight;
    of.set(set);
    phase.set(Phase::Inwards);
    attempt.set(0);
    for (at, layer) in layers.layers.iter().enumerate() {
        if at == layers.attempt_at {
            attempt.set(1);
        }
        let Some(hook) = &layer.on_request else { continue };
        match call(ctx, seat, layer, hook)? {
            Came::Nothing => {}
            Came::Value(value) if edits::of_request(ctx, seat, &layer.usual_request, &value) => {}
            Came::Value(value) if layer.leaves_alone() && edits::of_answer(ctx, seat, &value) => {
                phase.set(Phase::Away);
                return Ok(RESPONDED);
            }
            came => return seat.go_on(ctx, walk, at, "onRequest", came),
        }
    }
    attempt.set(1);
    if !layers.is_outward {
        phase.set(Phase::Away);
    }
    let changed = if seat.patch.borrow().is_changed() { CHANGED } else { 0 };
    Ok(changed | if layers.is_outward { OPEN } else { 0 })
}

/// Takes a response through the hooks on the way to the client.
///
/// # Errors
/// As of [`begin`].
pub(super) fn answered(ctx: &Ctx<'_>, walk: &Walk, seat: &Rc<Seat>, layers: &Layers) -> Result<u32> {
    seat.straight.phase.set(Phase::Outwards);
    let mut next = layers.layers.len().checked_sub(1);
    while let Some((at, layer)) = next.and_then(|at| Some((at, layers.layers.get(at)?))) {
        if let Some(hook) = &layer.on_response {
            match call(ctx, seat, layer, hook)? {
                Came::Nothing => {}
                Came::Value(value) if edits::of_response(ctx, seat, &layer.usual_response, &value) => {}
                came => return seat.go_on(ctx, walk, at, "onResponse", came),
            }
        }
        if let Some(hook) = &layer.on_complete {
            match call(ctx, seat, layer, hook)? {
                Came::Nothing => {}
                came => return seat.go_on(ctx, walk, at, "onComplete", came),
            }
        }
        next = layer.outer;
    }
    seat.straight.phase.set(Phase::Away);
    Ok(if seat.patch.borrow().is_changed() { CHANGED } else { 0 })
}

/// Calls a hook with the record of its run.
fn call(ctx: &Ctx<'_>, seat: &Seat, layer: &Layer, hook: &Held) -> Result<Came> {
    let raw = ctx.as_raw().as_ptr();
    let Some(record) = seat.object(|objects| objects.record.share()) else { return Ok(Came::Nothing) };
    // SAFETY: the values are live, as layers and seats hold them, and the record by what was shared of it. QuickJS does not write to
    // the arguments.
    unsafe {
        let record = Held::new(raw, record);
        let mut arguments = [record.raw()];
        let came = qjs::JS_Call(raw, hook.raw(), layer.owner.raw(), 1, arguments.as_mut_ptr());
        if qjs::JS_IsUndefined(came) {
            return Ok(Came::Nothing);
        }
        if !qjs::JS_IsException(came) {
            return Ok(Came::Value(Held::new(raw, came)));
        }
        let thrown = qjs::JS_GetException(raw);
        if qjs::JS_IsUncatchableError(thrown) {
            qjs::JS_Throw(raw, thrown);
            return Err(Error::Exception);
        }
        Ok(Came::Threw(Held::new(raw, thrown)))
    }
}

impl Seat {
    /// The request as hooks have left it; owned.
    pub(super) fn request_now(&self, ctx: &Ctx<'_>) -> Result<qjs::JSValue> {
        let of = &self.straight;
        let patch = if of.phase.get() == Phase::Outwards { &of.request } else { &self.patch };
        self.now(ctx, &of.changed_request, patch, true)
    }

    /// The response as hooks have left it; owned.
    pub(super) fn response_now(&self, ctx: &Ctx<'_>) -> Result<qjs::JSValue> {
        self.now(ctx, &self.straight.changed_response, &self.patch, false)
    }

    fn now(
        &self,
        ctx: &Ctx<'_>,
        known: &RefCell<Option<Held>>,
        patch: &RefCell<Patch>,
        is_request: bool,
    ) -> Result<qjs::JSValue> {
        if let Some(known) = &*known.borrow() {
            return Ok(known.share());
        }
        if !patch.borrow().is_changed() {
            let view = |objects: &Objects| if is_request { objects.request.share() } else { objects.response.share() };
            return Ok(self.object(view).unwrap_or(qjs::JS_UNDEFINED));
        }
        let made = self.changed(ctx, &patch.borrow(), is_request)?;
        let raw = ctx.as_raw().as_ptr();
        // SAFETY: the value is live; the references are one for here, and one for who asked.
        unsafe {
            *known.borrow_mut() = Some(Held::new(raw, qjs::JS_DupValue(raw, made.as_raw())));
            Ok(qjs::JS_DupValue(raw, made.as_raw()))
        }
    }

    /// A message with changes, as the walk has it.
    fn changed<'js>(&self, ctx: &Ctx<'js>, patch: &Patch, is_request: bool) -> Result<Value<'js>> {
        let edits = edits::object(ctx, patch)?;
        let run = self.object(|objects| objects.run.value(ctx)).ok_or(Error::Unknown)?;
        let walk = self.object(|objects| Rc::clone(&objects.walk)).ok_or(Error::Unknown)?;
        if is_request {
            return walk.changed_request.clone().restore(ctx)?.call((run, edits));
        }
        let status = patch.status().unwrap_or_else(|| self.response.head.borrow().status());
        walk.changed_response.clone().restore(ctx)?.call((run, edits, status))
    }

    /// A change was made: what was asked for before is another message.
    pub(super) fn is_other(&self) {
        let of = &self.straight;
        let known = if of.phase.get() == Phase::Outwards { &of.changed_response } else { &of.changed_request };
        let old = known.borrow_mut().take();
        drop(old);
    }

    /// The response is there, whose changes take the place of the request's.
    pub(super) fn turn(&self) {
        if self.straight.phase.get() == Phase::Inwards {
            self.patch.swap(&self.straight.request);
        }
    }

    /// Whether the host goes through its run itself.
    pub(super) fn is_straight(&self) -> bool {
        self.straight.phase.get() != Phase::Away
    }

    /// The set of its run, where the host goes through it itself.
    pub(super) fn set(&self) -> usize {
        self.straight.set.get()
    }

    /// There is no response, which the walk hears of.
    pub(super) fn leave_to(&self, ctx: &Ctx<'_>, walk: &Walk) -> Result<()> {
        self.straight.phase.set(Phase::Outwards);
        self.adopt(ctx, walk).map(|_| ())
    }

    /// Leaves the run to the walk, with all that was changed until now.
    fn adopt<'js>(&self, ctx: &Ctx<'js>, walk: &Walk) -> Result<(Value<'js>, Value<'js>)> {
        let raw = ctx.as_raw().as_ptr();
        let run = self.object(|objects| objects.run.value(ctx)).ok_or(Error::Unknown)?;
        // SAFETY: what is made is owned, and given over.
        let request = unsafe { Value::from_raw(ctx.clone(), self.request_now(ctx)?) };
        let is_back = self.straight.phase.get() == Phase::Outwards;
        // SAFETY: as above.
        let response = unsafe {
            let owned = if is_back { self.response_now(ctx)? } else { qjs::JS_DupValue(raw, qjs::JS_UNDEFINED) };
            Value::from_raw(ctx.clone(), owned)
        };
        let of = &self.straight;
        walk.adopt.clone().restore(ctx)?.call::<_, ()>((run.clone(), of.set.get(), request, of.attempt.get()))?;
        self.patch.borrow_mut().clear();
        of.phase.set(Phase::Away);
        Ok((run, response))
    }

    fn go_on(&self, ctx: &Ctx<'_>, walk: &Walk, at: usize, hook: &str, came: Came) -> Result<u32> {
        let (run, response) = self.adopt(ctx, walk)?;
        let (threw, value) = match &came {
            Came::Nothing => (false, Value::new_undefined(ctx.clone())),
            Came::Value(value) => (false, value.value(ctx)),
            Came::Threw(value) => (true, value.value(ctx)),
        };
        let step: Value<'_> = walk.went.clone().restore(ctx)?.call((run, at, hook, threw, value, response))?;
        u32::from_js(ctx, step)
    }

    /// Nothing of the run is left.
    pub(super) fn forget_straight(&self) {
        let of = &self.straight;
        of.phase.set(Phase::Away);
        of.request.borrow_mut().clear();
        let old = (of.changed_request.take(), of.changed_response.take());
        drop(old);
    }
}
