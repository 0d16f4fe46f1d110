//! Bodies as plug-ins see them: asked for by a hook, given by the host as a whole or not at all, and gone with their run.

use std::cell::{Cell, RefCell};

use rquickjs::{Ctx, Exception, Result, TypedArray, Value};

use super::class::Class;
use super::failure::Failure;
use super::head::{View, define};
use super::natives::seat;
use super::prepared::{Called, Step};
use super::run::{Decision, Run};
use crate::native::direct::{self, Call, Given, Seen, Table};
use crate::serve::Held;

/// Bodies take one part of the world's memory at most, of so many: a flood of long ones must not cost all plug-ins their world.
const MEMORY_PARTS: usize = 4;

/// A message's body, as far as plug-ins have it.
#[derive(Default)]
pub(super) struct Body {
    state: Cell<State>,
    bytes: RefCell<Vec<u8>>,
    /// The bytes in JavaScript, once somebody has looked at them.
    array: RefCell<Option<Held>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Nobody has asked for it.
    #[default]
    Unread,
    /// A hook waits for it.
    Wanted,
    Whole,
    /// It can't be had.
    Withheld,
}

impl Body {
    pub(super) fn is_wanted(&self) -> bool {
        self.state.get() == State::Wanted
    }

    /// It can't be asked for any more.
    pub(super) fn close(&self) {
        if matches!(self.state.get(), State::Unread | State::Wanted) {
            self.state.set(State::Withheld);
        }
    }

    /// Gives it to those who wait; without bytes it is withheld.
    fn give(&self, bytes: Option<Vec<u8>>) {
        self.state.set(if bytes.is_some() { State::Whole } else { State::Withheld });
        *self.bytes.borrow_mut() = bytes.unwrap_or_default();
    }

    /// Its message is another one from now on. The bytes' memory goes: it would be held for each seat.
    pub(super) fn clear(&self) {
        if self.state.replace(State::Unread) != State::Unread {
            self.bytes.take();
            self.array.take();
        }
    }

    /// The head is not used again: the array is the view's from now on.
    pub(super) fn release(&self, ctx: &Ctx<'_>, view: &Held) -> Result<()> {
        match self.array.take() {
            Some(array) => define(ctx, view.raw(), c"body", array.share()),
            None => Ok(()),
        }
    }

    /// The bytes, one array however often it is asked for; `undefined` where they are not there.
    fn value(&self, ctx: &Ctx<'_>, view: Seen<'_>, is_released: bool) -> Result<Given> {
        if self.state.get() != State::Whole {
            return Ok(Given::UNDEFINED);
        }
        if let Some(array) = &*self.array.borrow() {
            return Ok(Given::owned(array.share()));
        }
        let array = TypedArray::<u8>::new_copy(ctx.clone(), self.bytes.take())?.into_value();
        let array = Held::from_value(array);
        let given = Given::owned(array.share());
        if is_released {
            define(ctx, view.raw(), c"body", array.share())?;
        } else {
            *self.array.borrow_mut() = Some(array);
        }
        Ok(given)
    }
}

struct Functions;

impl Table for Functions {
    const BODIES: &'static [direct::Body] = &[value_of];
}

/// Makes `bodyOf(view)`.
pub(super) fn body_of<'js>(ctx: &Ctx<'js>, views: Class<View>) -> Result<Value<'js>> {
    views.function::<Functions>(ctx, c"bodyOf", 0)
}

fn value_of(call: &Call<'_>) -> Given {
    let (Some(view), Some(ctx)) = (Class::<View>::of_kind(call.kind).inside(call.at(0)), call.context()) else {
        return Given::UNDEFINED;
    };
    let (body, is_released) = (&view.of.body, view.of.released.get());
    body.value(&ctx, call.at(0), is_released).unwrap_or_else(|error| {
        if !error.is_exception() {
            let _ = Exception::throw_message(&ctx, &error.to_string());
        }
        Given::THROWN
    })
}

/// `wantBody(run, isRequest)`: whether there is something to wait for.
pub(super) fn want_body(ctx: Ctx<'_>, run: u32, is_request: bool) -> Result<bool> {
    let seat = seat(&ctx, run)?;
    let body = if is_request { &seat.request.body } else { &seat.response.body };
    if !matches!(body.state.get(), State::Unread | State::Wanted) {
        return Ok(false);
    }
    body.state.set(State::Wanted);
    seat.wake();
    Ok(true)
}

impl Run {
    /// Gives plug-ins the body that they wait for ([`Decision::WantsBody`]), or says that it can't be had. Costs its copy in
    /// JavaScript's heap where a plug-in looks at it.
    pub fn body(&mut self, bytes: Option<Vec<u8>>) -> Decision {
        let (Some(prepared), Some(seat), Decision::WantsBody) =
            (self.prepared.clone(), self.seat.clone(), self.decision)
        else {
            return self.decision;
        };
        let length = bytes.as_ref().map_or(0, Vec::len);
        let held = self.plugins.bodies_bytes.get() + length;
        if held > self.plugins.limits.memory.bytes() / MEMORY_PARTS {
            let message = "bodies that plug-ins are reading take up a quarter of their memory".to_owned();
            self.leave("plugin.busy");
            self.fail(Failure::Busy, message, false);
            return self.decision;
        }
        self.plugins.bodies_bytes.set(held);
        self.held_bytes += length;
        let wanted = [&seat.request.body, &seat.response.body].into_iter().find(|body| body.is_wanted());
        if let Some(body) = wanted {
            body.give(bytes);
        }
        self.take(prepared.call(&seat, Step::Bodied));
        self.decision
    }

    /// Nobody waits for what plug-ins come to any more, and why, such as `peer.closed`. Hooks that are under way see an aborted
    /// signal.
    pub fn leave(&mut self, reason: &str) {
        if !matches!(self.decision, Decision::Pending | Decision::WantsBody) {
            return;
        }
        let (Some(prepared), Some(seat)) = (&self.prepared, self.seat.take()) else { return };
        // What it comes to is nobody's: a loop in a listener is stopped, a lost world is found by the next request.
        let lost = matches!(prepared.call(&seat, Step::Left { reason }), Called::Lost);
        prepared.give_back(&seat, false);
        // Before its world, which may end here: what the seat holds is the world's.
        drop(seat);
        if lost && let Some(prepared) = self.prepared.take() {
            self.plugins.lose(&prepared, Some(self.set));
        }
    }
}
