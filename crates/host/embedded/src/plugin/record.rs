//! The record of a run whose hooks the host calls itself: what they are handed. Its getters say what stands where the run is; where
//! the walk goes on, they say what the walk's record says.
#![allow(unsafe_code, reason = "values are read and made as QuickJS keeps them")]

use std::rc::Rc;

use rquickjs::{Ctx, Exception, Object, Result, Value, qjs};

use super::class::Class;
use super::seat::Seat;
use super::straight::Phase;
use crate::native::direct::{Body, Call, Given, Table};
use crate::serve::Held;

/// The members of records, in the order of their getters.
pub(super) const MEMBERS: &[&str] = &["request", "response", "error", "attempt", "signal"];

struct Getters;

impl Table for Getters {
    const BODIES: &'static [Body] = &[request, response, error, attempt, signal];
}

/// What records have; `get` is JavaScript's.
pub(super) fn prototype<'js>(ctx: &Ctx<'js>, records: Class<Seat>) -> Result<Object<'js>> {
    let prototype = Object::new(ctx.clone())?;
    for (body, name) in [c"request", c"response", c"error", c"attempt", c"signal"].into_iter().enumerate() {
        records.getter::<Getters>(ctx, &prototype, name, body as u8)?;
    }
    Ok(prototype)
}

/// The record of a seat.
pub(super) fn make<'js>(
    ctx: &Ctx<'js>,
    records: Class<Seat>,
    prototype: &Object<'js>,
    seat: Rc<Seat>,
) -> Result<Value<'js>> {
    records.make(ctx, prototype.as_value(), seat)
}

/// What a member is: the host's to say where it goes through the run, else the walk's.
fn member(call: &Call<'_>, at: usize, here: impl FnOnce(&Seat, &Ctx<'_>) -> Result<Given>) -> Given {
    let Some(ctx) = call.context() else { return Given::UNDEFINED };
    match Class::<Seat>::of_kind(call.kind).inside(call.this()) {
        Some(seat) if seat.straight.phase.get() != Phase::Away => here(seat, &ctx).unwrap_or_else(|error| {
            if !error.is_exception() {
                let _ = Exception::throw_message(&ctx, &error.to_string());
            }
            Given::THROWN
        }),
        Some(seat) => {
            let raw = ctx.as_raw().as_ptr();
            let Some(name) = seat.kit.names.members.get(at) else { return Given::UNDEFINED };
            // SAFETY: context, value and names are live; what is in between is held while it is read.
            unsafe {
                let walked = Held::new(raw, qjs::JS_GetProperty(raw, call.this().raw(), seat.kit.names.walked.get()));
                Given::owned(qjs::JS_GetProperty(raw, walked.raw(), *name))
            }
        }
        None => Given::UNDEFINED,
    }
}

fn request(call: &Call<'_>) -> Given {
    member(call, 0, |seat, ctx| seat.request_now(ctx).map(Given::owned))
}

fn response(call: &Call<'_>) -> Given {
    member(call, 1, |seat, ctx| match seat.straight.phase.get() {
        Phase::Outwards => seat.response_now(ctx).map(Given::owned),
        _ => Ok(Given::UNDEFINED),
    })
}

/// A run that has an error is the walk's.
fn error(call: &Call<'_>) -> Given {
    member(call, 2, |_, _| Ok(Given::UNDEFINED))
}

fn attempt(call: &Call<'_>) -> Given {
    member(call, 3, |seat, _| Ok(Given::int(seat.straight.attempt.get())))
}

/// Made by the run in JavaScript, for who asks.
fn signal(call: &Call<'_>) -> Given {
    member(call, 4, |seat, ctx| {
        let raw = ctx.as_raw().as_ptr();
        let Some(run) = seat.object(|objects| objects.run.share()) else { return Ok(Given::UNDEFINED) };
        // SAFETY: the context is live, and the run by what was shared of it.
        unsafe {
            let run = Held::new(raw, run);
            Ok(Given::owned(qjs::JS_GetPropertyStr(raw, run.raw(), c"signal".as_ptr())))
        }
    })
}
