//! `res.json` and `res.send` of a usual response in one native call: the body is written, its length and entity tag are found, and
//! all of it is over. Whatever is unusual is left to `js/http/plain.ts`, and nothing has happened then.
#![allow(unsafe_code, reason = "a response's properties and its body are read as QuickJS keeps them")]

use std::ffi::c_int;
use std::io::Write as _;
use std::ptr::NonNull;

use rquickjs::{Ctx, Result, Value, qjs};

use super::call::Hooks;
use super::finish::{Body, OK, STATUS_LINE, Usual, is_own, over};
use super::held::{self, Held};
use super::http::Http;
use super::names::Names;
use super::natives::tag_of;
use super::plain::append_fields;
use super::{head, json};

/// Longer bodies go the longer way, which knows how to wait (`HIGH_WATER_MARK` of `js/http/response.ts`).
const BODY_BYTES_MAX: usize = 65_536;

/// `reply(res, value, type)`: sends text or bytes as `type`, or without a type `value` as JSON. The entity tag, or undefined if nothing
/// was sent.
pub(super) fn function<'js>(ctx: &Ctx<'js>) -> Result<Value<'js>> {
    held::function(ctx, c"reply", 3, enter)
}

unsafe extern "C" fn enter(
    raw: *mut qjs::JSContext,
    _this: qjs::JSValue,
    count: c_int,
    arguments: *mut qjs::JSValue,
) -> qjs::JSValue {
    let Some(context) = NonNull::new(raw) else { return qjs::JS_UNDEFINED };
    if count < 3 {
        return qjs::JS_UNDEFINED;
    }
    // SAFETY: QuickJS gives a live context and `count` arguments, which stay valid for the call.
    let (ctx, res, value, kind) = unsafe {
        let ctx = Ctx::from_raw(context);
        (ctx, Held::new(raw, qjs::JS_DupValue(raw, *arguments)), *arguments.add(1), *arguments.add(2))
    };
    let Ok(http) = Http::of(&ctx) else { return qjs::JS_UNDEFINED };
    let Some(hooks) = http.hooks() else { return qjs::JS_UNDEFINED };
    if !res.is_object() {
        return qjs::JS_UNDEFINED;
    }
    let mut scratch = http.take_scratch();
    let tag = reply(&ctx, &http, &hooks, &res, value, kind, &mut scratch);
    http.keep_scratch(scratch);
    match tag {
        // SAFETY: the text is copied.
        Some(tag) => unsafe { qjs::JS_NewStringLen(raw, tag.as_ptr().cast(), tag.len() as _) },
        None => qjs::JS_UNDEFINED,
    }
}

fn reply(
    ctx: &Ctx<'_>,
    http: &Http,
    hooks: &Hooks,
    res: &Held,
    value: qjs::JSValue,
    kind: qjs::JSValue,
    scratch: &mut Vec<u8>,
) -> Option<String> {
    let raw = ctx.as_raw().as_ptr();
    let names = &hooks.names;
    let Usual { exchange, req, line } = Usual::of(ctx, http, hooks, res)?;
    if !is_plain(ctx, hooks, res, &req) {
        return None;
    }
    // SAFETY: only the tag is looked at.
    let is_json = unsafe { qjs::JS_IsUndefined(kind) };
    let (given, given_kind);
    let (body, kind): (&[u8], &[u8]) = if is_json {
        json::append(raw, names, scratch, value, BODY_BYTES_MAX)?;
        (scratch, b"application/json; charset=utf-8")
    } else {
        (given, given_kind) = (Body::of(raw, value)?, Body::of(raw, kind)?);
        (given.bytes(), given_kind.bytes())
    };
    // A program's `toJSON` has a say in what follows.
    if body.is_empty() || body.len() > BODY_BYTES_MAX || !http.awaits(exchange) {
        return None;
    }
    let fields = res.get(names.fields);
    if fields.is_object() && !has_none(names, &fields) {
        return None;
    }
    let timeout_ms = res.get(names.keep_alive_timeout).int()?;
    let tag = format!("W/{}", tag_of(body));
    let is_powered = !res.get(names.unread).is_nothing();
    let answered = http.answer_now_if(exchange, OK, true, |out| {
        out.extend_from_slice(STATUS_LINE);
        if is_powered {
            out.extend_from_slice(b"X-Powered-By: Express\r\n");
        }
        if fields.is_object() && !append_fields(ctx, out, fields.raw()) {
            return None;
        }
        out.extend_from_slice(b"Content-Type: ");
        out.extend_from_slice(kind);
        // Writing to a vector does not fail.
        let _ = write!(out, "\r\nContent-Length: {}\r\nETag: {tag}\r\nDate: ", body.len());
        out.extend_from_slice(&leat_stream::clock::date());
        out.extend_from_slice(b"\r\nConnection: keep-alive\r\n");
        if timeout_ms >= 1000 {
            let _ = write!(out, "Keep-Alive: timeout={}\r\n", timeout_ms / 1000);
        }
        out.extend_from_slice(b"\r\n");
        let head_len = out.len();
        out.extend_from_slice(body);
        Some(head_len)
    });
    if !answered {
        return None;
    }
    over(ctx, names, res, &req, &line, body.len());
    Some(tag)
}

/// Whether nobody has put a method in the place of those that Express calls, and the request is not conditional.
fn is_plain(ctx: &Ctx<'_>, hooks: &Hooks, res: &Held, req: &Held) -> bool {
    let names = &hooks.names;
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: object and atom are live; nothing but the answer is asked for.
    let has_headers = unsafe { qjs::JS_GetOwnProperty(raw, std::ptr::null_mut(), req.raw(), names.own_headers) != 0 };
    // SAFETY: the reference is one more, which the value gives back.
    let request = unsafe { Value::from_raw(ctx.clone(), req.share()) };
    !has_headers
        && res.get(names.corked).int() == Some(0)
        && is_own(ctx, res, [names.set_header, names.get_header, names.end], &hooks.said)
        && !head::is_conditional(request)
}

/// Whether the fields say nothing of the body yet.
fn has_none(names: &Names, fields: &Held) -> bool {
    [names.etag, names.content_length, names.content_type, names.transfer_encoding]
        .into_iter()
        .all(|name| fields.get(name).is_nothing())
}
