//! `end` of a usual response in one native call: 200, a length, a connection that stays, and nobody who listens to how it goes.
//! Whatever else is the case, nothing happens here, and `end` of `js/http/response.ts` goes its longer way.
#![allow(unsafe_code, reason = "a response's properties and its body are read as QuickJS keeps them")]

use std::ffi::c_int;
use std::io::Write as _;
use std::ptr::NonNull;

use rquickjs::{Ctx, Persistent, Result, Value, qjs};

use super::call::Hooks;
use super::held::{self, Held};
use super::http::Http;
use super::names::Names;
use super::plain::{FIELDS_MAX, append_raw, is_special};

pub(super) const OK: u16 = 200;
pub(super) const STATUS_LINE: &[u8] = b"HTTP/1.1 200 OK\r\n";

/// `finish(res, chunk)`: whether the reply was given, and all of it is over.
pub(super) fn function<'js>(ctx: &Ctx<'js>) -> Result<Value<'js>> {
    held::function(ctx, c"finish", 2, enter)
}

unsafe extern "C" fn enter(
    raw: *mut qjs::JSContext,
    _this: qjs::JSValue,
    count: c_int,
    arguments: *mut qjs::JSValue,
) -> qjs::JSValue {
    let Some(context) = NonNull::new(raw) else { return qjs::JS_FALSE };
    if count < 2 {
        return qjs::JS_FALSE;
    }
    // SAFETY: QuickJS gives a live context and `count` arguments, which stay valid for the call.
    let (ctx, res, chunk) =
        unsafe { (Ctx::from_raw(context), Held::new(raw, qjs::JS_DupValue(raw, *arguments)), *arguments.add(1)) };
    let Ok(http) = Http::of(&ctx) else { return qjs::JS_FALSE };
    let Some(hooks) = http.hooks() else { return qjs::JS_FALSE };
    if res.is_object() && finish(&ctx, &http, &hooks, &res, chunk).is_some() { qjs::JS_TRUE } else { qjs::JS_FALSE }
}

/// A response that nothing unusual is known of.
pub(super) struct Usual {
    pub(super) exchange: u32,
    pub(super) req: Held,
    pub(super) line: Held,
}

impl Usual {
    /// `None` for any other.
    pub(super) fn of(ctx: &Ctx<'_>, http: &Http, hooks: &Hooks, res: &Held) -> Option<Self> {
        let names = &hooks.names;
        let exchange = u32::try_from(res.get(names.exchange).int()?).ok()?;
        if !http.awaits(exchange) || res.get(names.status_code).int() != Some(OK.into()) {
            return None;
        }
        let (req, line) = (res.get(names.req), res.get(names.line));
        let is_usual = is_kept(names, res)
            && is_unheard(names, res, &req)
            && line.is_object()
            && line.get(names.socket).is_nothing()
            && is_own(ctx, res, [names.write_head, names.implicit_header, names.store_header], &hooks.head);
        is_usual.then_some(Self { exchange, req, line })
    }
}

fn finish(ctx: &Ctx<'_>, http: &Http, hooks: &Hooks, res: &Held, chunk: qjs::JSValue) -> Option<()> {
    let names = &hooks.names;
    let Usual { exchange, req, line } = Usual::of(ctx, http, hooks, res)?;
    if !res.get(names.unread).is_nothing() {
        return None;
    }
    let fields = res.get(names.fields);
    let timeout_ms = res.get(names.keep_alive_timeout).int()?;
    let raw = ctx.as_raw().as_ptr();
    let body = Body::of(raw, chunk)?;
    let answered = http.answer_now_if(exchange, OK, true, |out| {
        out.extend_from_slice(STATUS_LINE);
        if fields.is_object() && !append_fields(raw, out, fields.raw()) {
            return None;
        }
        out.extend_from_slice(b"Date: ");
        out.extend_from_slice(&leat_stream::clock::date());
        out.extend_from_slice(b"\r\nConnection: keep-alive\r\n");
        // Writing to a vector does not fail.
        if timeout_ms > 0 {
            let _ = write!(out, "Keep-Alive: timeout={}\r\n", timeout_ms / 1000);
        }
        let _ = write!(out, "Content-Length: {}\r\n\r\n", body.bytes().len());
        let head_len = out.len();
        out.extend_from_slice(body.bytes());
        Some(head_len)
    });
    if !answered {
        return None;
    }
    over(ctx, names, res, &req, &line, body.bytes().len());
    Some(())
}

/// Whether the reply leaves its connection open, and nobody has said anything of how it is framed: `isKept` of
/// `js/http/outgoing.ts`, and what `end` looks at besides.
fn is_kept(names: &Names, res: &Held) -> bool {
    let usual = [names.has_body, names.send_date, names.should_keep_alive, names.default_keep_alive];
    let unusual = [
        names.finished,
        names.destroyed,
        names.header_sent,
        names.strict_content_length,
        names.last,
        names.raw,
        names.chunked_encoding,
        names.expect_continue,
        names.removed_connection,
        names.removed_transfer_encoding,
        names.removed_content_length,
        names.requests_reached,
    ];
    let nothing = [names.header, names.status_message, names.unique_headers];
    usual.into_iter().all(|name| res.get(name).is_true())
        && res.get(names.chunked_by_default).is_true()
        && unusual.into_iter().all(|name| res.get(name).is_false())
        && nothing.into_iter().all(|name| res.get(name).is_nothing())
        && res.get(names.response_requests_max).int() == Some(0)
}

/// Whether nobody could notice the events of the exchange, and the request has no more to come.
fn is_unheard(names: &Names, res: &Held, req: &Held) -> bool {
    let none = |message: &Held| {
        let count = message.get(names.events_count);
        count.is_nothing() || count.int() == Some(0)
    };
    req.is_object() && none(res) && none(req) && req.get(names.body_done).is_true()
}

/// Whether nobody has put methods in the place of these.
pub(super) fn is_own(
    ctx: &Ctx<'_>,
    res: &Held,
    names: [qjs::JSAtom; 3],
    methods: &[Persistent<Value<'static>>; 3],
) -> bool {
    names.into_iter().zip(methods).all(|(name, method)| {
        let method = method.clone().restore(ctx);
        method.is_ok_and(|method| res.get(name).is(method.as_raw()))
    })
}

/// Appends the lines of all fields of the map; `false` where one is special, the length, or no plain text.
fn append_fields(raw: *mut qjs::JSContext, out: &mut Vec<u8>, fields: qjs::JSValue) -> bool {
    let (mut table, mut count) = (std::ptr::null_mut(), 0);
    let flags = (qjs::JS_GPN_STRING_MASK | qjs::JS_GPN_ENUM_ONLY) as c_int;
    // SAFETY: a live object of a live context; the table is given back below, whatever happens, and frees its names.
    unsafe {
        if qjs::JS_GetOwnPropertyNames(raw, &mut table, &mut count, fields, flags) < 0 {
            qjs::JS_FreeValue(raw, qjs::JS_GetException(raw));
            return false;
        }
        let mut all = count <= FIELDS_MAX;
        for at in 0..count as usize {
            all = all && append_field(raw, out, fields, (*table.add(at)).atom);
        }
        qjs::JS_FreePropertyEnum(raw, table, count);
        all && out.is_ascii()
    }
}

/// # Safety
/// The atom is live, and `fields` is a map as `js/http/outgoing.ts` has it: its entries are arrays of plain values.
unsafe fn append_field(raw: *mut qjs::JSContext, out: &mut Vec<u8>, fields: qjs::JSValue, atom: qjs::JSAtom) -> bool {
    // SAFETY: each value that is got is held, and text is copied before it is given back.
    unsafe {
        let mut length = 0;
        let key = qjs::JS_AtomToCStringLen(raw, &mut length, atom);
        let special = is_special(key, length as usize)
            || std::slice::from_raw_parts(key.cast::<u8>(), length as usize) == b"content-length";
        if !key.is_null() {
            qjs::JS_FreeCString(raw, key);
        }
        if special {
            return false;
        }
        let entry = Held::new(raw, qjs::JS_GetProperty(raw, fields, atom));
        let name = Held::new(raw, qjs::JS_GetPropertyUint32(raw, entry.raw(), 0));
        let value = Held::new(raw, qjs::JS_GetPropertyUint32(raw, entry.raw(), 1));
        let text = qjs::JS_IsString(name.raw())
            && (qjs::JS_IsString(value.raw()) || qjs::JS_IsNumber(value.raw()))
            && append_raw(raw, out, name.raw());
        out.extend_from_slice(b": ");
        let text = text && append_raw(raw, out, value.raw());
        out.extend_from_slice(b"\r\n");
        text
    }
}

/// All is over: what programs may look at says so, and nothing refers to what has gone.
pub(super) fn over(ctx: &Ctx<'_>, names: &Names, res: &Held, req: &Held, line: &Held, bytes: usize) {
    let text = |name| {
        // SAFETY: context and atom are live; the value is given away.
        unsafe { qjs::JS_AtomToValue(ctx.as_raw().as_ptr(), name) }
    };
    let (none, int) = (qjs::JS_NULL, |number: i32| qjs::JS_MKVAL(qjs::JS_TAG_INT, number));
    res.set(names.status_message, text(names.ok));
    res.set(names.header, text(names.status_line));
    let ended =
        [names.header_sent, names.finished, names.empty_rest, names.writable_finished, names.destroyed, names.closed];
    for name in ended {
        res.set(name, qjs::JS_TRUE);
    }
    // Which request of its connection it answered: for `isSettledEarly` of `js/http/settle.ts`.
    res.set(names.exchange, int((-2_i32).wrapping_sub(line.get(names.requests).int().unwrap_or_default())));
    req.set(names.complete, qjs::JS_TRUE);
    req.set(names.res, none);
    req.set(names.exchange, int(-1));
    line.set(names.current, none);
    line.set(names.last_bytes, int(i32::try_from(bytes).unwrap_or(i32::MAX)));
}

/// The bytes of a body.
pub(super) enum Body {
    None,
    Bytes(*const u8, usize),
    /// Text, and the context that it goes back to.
    Text(*mut qjs::JSContext, *const u8, usize),
}

impl Body {
    /// Text without halves of pairs, bytes of a Uint8Array, or nothing; `None` for anything else.
    pub(super) fn of(raw: *mut qjs::JSContext, chunk: qjs::JSValue) -> Option<Self> {
        let uint8 = qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT8 as c_int;
        let mut length = 0;
        // SAFETY: the value is an argument of the call, and so live until it ends; nothing of JavaScript runs meanwhile.
        unsafe {
            if qjs::JS_IsUndefined(chunk) || qjs::JS_IsNull(chunk) {
                return Some(Self::None);
            }
            if qjs::JS_IsString(chunk) {
                let text = qjs::JS_ToCStringLen2(raw, &mut length, chunk, false);
                if text.is_null() {
                    qjs::JS_FreeValue(raw, qjs::JS_GetException(raw));
                    return None;
                }
                let body = Self::Text(raw, text.cast(), length as usize);
                return std::str::from_utf8(body.bytes()).is_ok().then_some(body);
            }
            if !qjs::JS_IsObject(chunk) || qjs::JS_GetTypedArrayType(chunk) != uint8 {
                return None;
            }
            let start = qjs::JS_GetUint8Array(raw, &mut length, chunk);
            if start.is_null() {
                if qjs::JS_HasException(raw) {
                    qjs::JS_FreeValue(raw, qjs::JS_GetException(raw));
                }
                return None;
            }
            Some(Self::Bytes(start, length as usize))
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match *self {
            Self::None => &[],
            // SAFETY: QuickJS keeps as many bytes there until the call ends, or the text is given back.
            Self::Bytes(start, length) | Self::Text(_, start, length) => unsafe {
                std::slice::from_raw_parts(start, length)
            },
        }
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        if let Self::Text(raw, start, _) = *self {
            // SAFETY: it came from `JS_ToCStringLen2`, once.
            unsafe { qjs::JS_FreeCString(raw, start.cast()) }
        }
    }
}
