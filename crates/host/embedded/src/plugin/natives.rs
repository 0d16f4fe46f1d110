//! The native functions of `leat:plugins`.

use std::rc::Rc;

use rquickjs::function::Func;
use rquickjs::{Ctx, Exception, JsLifetime, Object, Result, Value};

use super::body::{body_of, want_body};
use super::counters::{count, counter};
use super::head::view;
use super::kit::Shop;
use super::record;
use super::seat::{Seat, Seats};
use crate::native::bytes_of;

/// How native functions find the seats of their world.
#[derive(Clone, JsLifetime)]
pub(super) struct SeatsRef(pub(super) Rc<Seats>);

pub(super) fn seat(ctx: &Ctx<'_>, run: u32) -> Result<Rc<Seat>> {
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
    let shop = Shop::new(ctx)?;
    if let Some(seats) = ctx.userdata::<SeatsRef>() {
        seats.0.furnish(Rc::clone(&shop.kit));
    }
    group.set("requests", shop.requests.clone())?;
    group.set("responses", shop.responses.clone())?;
    group.set("records", shop.records.clone())?;
    group.set("bodyOf", body_of(ctx, shop.kit.views)?)?;
    let _ = ctx.store_userdata(shop);
    group.set("view", Func::from(make_view))?;
    group.set("record", Func::from(make_record))?;
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
    group.set("counter", Func::from(counter))?;
    group.set("count", Func::from(count))?;
    group.set("wantBody", Func::from(want_body))?;
    // One whose run is over can't be aborted any more.
    group.set(
        "signalled",
        Func::from(|ctx: Ctx<'js>, run: u32| {
            if let Some(seat) = ctx.userdata::<SeatsRef>().and_then(|seats| seats.0.get(run)) {
                seat.is_signalled.set(true);
            }
        }),
    )?;
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

fn shop<'js>(ctx: &Ctx<'js>) -> Result<Shop<'js>> {
    let shop = ctx.userdata::<Shop<'js>>().map(|found| found.clone());
    shop.ok_or_else(|| Exception::throw_message(ctx, "leat:plugins is not ready"))
}

fn make_view<'js>(ctx: Ctx<'js>, run: u32, is_request: bool) -> Result<Value<'js>> {
    let (seat, shop) = (seat(&ctx, run)?, shop(&ctx)?);
    match is_request {
        true => view(&ctx, &shop.kit, Rc::clone(&seat.request), &shop.requests),
        false => view(&ctx, &shop.kit, Rc::clone(&seat.response), &shop.responses),
    }
}

fn make_record<'js>(ctx: Ctx<'js>, run: u32) -> Result<Value<'js>> {
    let (seat, shop) = (seat(&ctx, run)?, shop(&ctx)?);
    record::make(&ctx, shop.kit.records, &shop.records, seat)
}

fn line(ctx: Ctx<'_>, run: u32, name: String, value: Value<'_>) -> Result<()> {
    let Some(value) = value.as_string() else {
        return Err(Exception::throw_type(&ctx, &format!("{name} is a string")));
    };
    let value = value.to_string()?;
    let seat = seat(&ctx, run)?;
    let mut patch = seat.patch.borrow_mut();
    if name != "method" {
        return refused(&ctx, patch.set_target(&value));
    }
    // The answer to HEAD tells of a body that does not come, for which this client would wait.
    if value == "HEAD" && seat.request.head.borrow().method() != b"HEAD" {
        let message = "the client waits for a body: HEAD takes the place of no other method; write `respond` to answer without one";
        return Err(Exception::throw_type(&ctx, message));
    }
    refused(&ctx, patch.set_method(&value))
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
    if list.len() > 1 && name == "host" {
        return Err(Exception::throw_type(&ctx, "a request has one `host` (RFC 9112 section 3.2): write a string"));
    }
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
    let is_text = body.is_string();
    let bytes = if body.is_null() { Vec::new() } else { bytes_of(&ctx, &body)? };
    let set = seat.patch.borrow_mut().set_body(bytes, is_text);
    refused(&ctx, set)
}
