//! `emit`, without an array of arguments. Emitters are those of node:events: `_events` has a function, or an array of them, for
//! each name.

use rquickjs::function::Func;
use rquickjs::{Atom, Ctx, Function, Object, Result, Symbol, Value};

use super::direct::{self, Body, Call, Given, Table};

/// Listeners that one array may have for the quick way; longer ones are copied by JavaScript.
const LISTENERS_MAX: usize = 16;

/// The values that `emit` was made with.
const RARE: usize = 0;
const CAPTURE: usize = 1;
const EVENTS: usize = 2;
const ERROR: usize = 3;

struct Events;

impl Table for Events {
    const BODIES: &'static [Body] = &[emit];
}

pub(super) fn make<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let group = Object::new(ctx.clone())?;
    group.set("emit", Func::from(make_emit))?;
    Ok(group)
}

fn make_emit<'js>(ctx: Ctx<'js>, rare: Function<'js>, capture: Symbol<'js>) -> Result<Value<'js>> {
    // Strings that are atoms: as names they cost nothing.
    let name = |text| Atom::from_str(ctx.clone(), text)?.to_value();
    let data = [rare.into_value(), capture.into_value(), name("_events")?, name("error")?];
    direct::function::<Events>(&ctx, c"emit", (1, 0, 0), &data)
}

/// Calls the listeners of one event. Errors, and emitters that capture rejections, have the rare way.
fn emit(call: &Call<'_>) -> Given {
    let this = call.this();
    let names =
        (call.name(call.at(0)), call.name(call.own(EVENTS)), call.name(call.own(ERROR)), call.name(call.own(CAPTURE)));
    let (Some(name), Some(events), Some(error), Some(capture)) = names else { return Given::THROWN };
    if !this.is_object() || name == error {
        return rare(call);
    }
    let events = call.property(this, &events);
    if events.is_exception() {
        return events;
    }
    if !events.seen().is_object() {
        call.free(events);
        return Given::bool(false);
    }
    let found = call.property(events.seen(), &name);
    call.free(events);
    if found.is_exception() {
        return found;
    }
    if found.seen().is_undefined() {
        return Given::bool(false);
    }
    let captures = call.property(this, &capture);
    let captured = captures.seen().is_true();
    call.free(captures);
    let given = if captured { rare(call) } else { deliver(call, &found) };
    call.free(found);
    given
}

fn deliver(call: &Call<'_>, found: &Given) -> Given {
    if !found.seen().is_array() {
        let result = call.pass(found.seen(), 1);
        if result.is_exception() {
            return result;
        }
        call.free(result);
        return Given::bool(true);
    }
    let Some(count) = call.length(found.seen()) else { return Given::THROWN };
    if count > LISTENERS_MAX {
        return rare(call);
    }
    // Listeners may come and go while these are called.
    let mut listeners: [Given; LISTENERS_MAX] = [const { Given::UNDEFINED }; LISTENERS_MAX];
    for (at, listener) in listeners.iter_mut().take(count).enumerate() {
        *listener = call.element(found.seen(), at);
    }
    let mut thrown = None;
    for listener in listeners.into_iter().take(count) {
        if thrown.is_none() {
            let result = call.pass(listener.seen(), 1);
            if result.is_exception() {
                thrown = Some(result);
            } else {
                call.free(result);
            }
        }
        call.free(listener);
    }
    thrown.unwrap_or_else(|| Given::bool(true))
}

fn rare(call: &Call<'_>) -> Given {
    let rest = call.rest(1);
    let given = call.call(call.own(RARE), &[call.at(0), rest.seen()]);
    call.free(rest);
    given
}
