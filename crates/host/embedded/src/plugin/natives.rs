//! The native functions of `leat:plugins`.

use std::rc::Rc;

use rquickjs::function::Func;
use rquickjs::{Ctx, Exception, JsLifetime, Object, Result, Value};

use super::head::{requests, responses, view};
use super::seat::{Seat, Seats};
use crate::native::bytes_of;

/// How native functions find the seats of their world.
#[derive(Clone, JsLifetime)]
pub(super) struct SeatsRef(pub(super) Rc<Seats>);

fn seat(ctx: &Ctx<'_>, run: u32) -> Result<Rc<Seat>> {
    let seat = ctx.userdata::<SeatsRef>().and_then(|seats| seats.0.get(run));
    seat.ok_or_else(|| Exception::throw_message(ctx, "this run is over"))
}

/// A change that can't be made is an error of whoever asked for it.
fn refused(ctx: &Ctx<'_>, result: std::result::Result<(), String>) -> Result<()> {
    result.map_err(|message| Exception::throw_type(ctx, &message))
}

/// Makes the group.
pub(crate) fn group<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let group = Object::new(ctx.clone())?;
    group.set("requests", requests(ctx)?)?;
    group.set("responses", responses(ctx)?)?;
    let (of_requests, of_responses): (Object<'js>, Object<'js>) = (group.get("requests")?, group.get("responses")?);
    let _ = ctx.store_userdata(Prototypes { of_requests, of_responses });
    group.set("view", Func::from(make_view))?;
    group.set("line", Func::from(line))?;
    group.set(
        "status",
        Func::from(|ctx: Ctx<'js>, run: u32, status: f64| {
            let set = seat(&ctx, run)?.patch.borrow_mut().set_status(status);
            refused(&ctx, set)
        }),
    )?;
    group.set(
        "upstream",
        Func::from(|ctx: Ctx<'js>, run: u32, name: String| {
            seat(&ctx, run).map(|seat| seat.patch.borrow_mut().set_upstream(&name))
        }),
    )?;
    group.set("edit", Func::from(edit))?;
    group.set("body", Func::from(body))?;
    group.set(
        "failed",
        Func::from(|ctx: Ctx<'js>, run: u32, message: String| {
            seat(&ctx, run).map(|seat| *seat.failure.borrow_mut() = message)
        }),
    )?;
    group.set(
        "bypassed",
        Func::from(|ctx: Ctx<'js>, name: String, message: String| {
            if let Some(seats) = ctx.userdata::<SeatsRef>() {
                seats.0.bypass(name, message);
            }
        }),
    )?;
    // Runs that were given up are told to nobody.
    group.set(
        "decided",
        Func::from(|ctx: Ctx<'js>, run: u32, step: u32| {
            if let Some(seat) = ctx.userdata::<SeatsRef>().and_then(|seats| seats.0.get(run)) {
                seat.decide(step);
            }
        }),
    )?;
    Ok(group)
}

/// What views are made with.
#[derive(Clone)]
struct Prototypes<'js> {
    of_requests: Object<'js>,
    of_responses: Object<'js>,
}

#[allow(unsafe_code, reason = "the derived code has hidden lifetimes, which are warned of")]
// SAFETY: the same type with the other lifetime.
unsafe impl<'js> JsLifetime<'js> for Prototypes<'js> {
    type Changed<'to> = Prototypes<'to>;
}

fn make_view<'js>(ctx: Ctx<'js>, run: u32, is_request: bool) -> Result<Object<'js>> {
    let seat = seat(&ctx, run)?;
    let prototypes = ctx.userdata::<Prototypes<'js>>().map(|found| found.clone());
    let Prototypes { of_requests, of_responses } =
        prototypes.ok_or_else(|| Exception::throw_message(&ctx, "leat:plugins is not ready"))?;
    match is_request {
        true => view(Rc::clone(&seat.request), of_requests),
        false => view(Rc::clone(&seat.response), of_responses),
    }
}

fn line(ctx: Ctx<'_>, run: u32, name: String, value: Value<'_>) -> Result<()> {
    let Some(value) = value.as_string() else {
        return Err(Exception::throw_type(&ctx, &format!("{name} is a string")));
    };
    let value = value.to_string()?;
    let seat = seat(&ctx, run)?;
    let mut patch = seat.patch.borrow_mut();
    refused(&ctx, if name == "method" { patch.set_method(&value) } else { patch.set_target(&value) })
}

fn edit<'js>(ctx: Ctx<'js>, run: u32, name: String, value: Value<'js>) -> Result<()> {
    let seat = seat(&ctx, run)?;
    let mut patch = seat.patch.borrow_mut();
    if value.is_null() {
        return refused(&ctx, patch.edit(&name, None));
    }
    if let Some(one) = value.as_string() {
        return refused(&ctx, patch.edit(&name, Some(&one.to_string()?)));
    }
    let Some(list) = value.as_array().filter(|list| !list.is_empty()) else {
        let message = format!("the header `{name}` is a string, a list of strings, or null, which takes it away");
        return Err(Exception::throw_type(&ctx, &message));
    };
    // Whoever reads it may run a getter of the list's.
    drop(patch);
    for each in list.iter::<String>() {
        let each = each?;
        refused(&ctx, seat.patch.borrow_mut().edit(&name, Some(&each)))?;
    }
    Ok(())
}

fn body<'js>(ctx: Ctx<'js>, run: u32, body: Value<'js>) -> Result<()> {
    let seat = seat(&ctx, run)?;
    let bytes = if body.is_null() { Vec::new() } else { bytes_of(&ctx, &body)? };
    let set = seat.patch.borrow_mut().set_body(bytes);
    refused(&ctx, set)
}
