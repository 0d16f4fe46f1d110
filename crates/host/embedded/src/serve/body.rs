//! The whole body of a request that came with its head, as JavaScript asks for it: as bytes, or as the value that it is in JSON.
#![allow(unsafe_code, reason = "a value is made as QuickJS keeps it")]

use std::ffi::c_int;
use std::ptr::NonNull;

use rquickjs::{Ctx, Result, TypedArray, Value, qjs};

use super::held;
use super::http::Http;

/// `json(strict)`: the body's value; undefined if there is none, or the body is not plainly that.
pub(super) fn json_function<'js>(ctx: &Ctx<'js>) -> Result<Value<'js>> {
    held::function(ctx, c"json", 1, json)
}

unsafe extern "C" fn json(
    raw: *mut qjs::JSContext,
    _this: qjs::JSValue,
    count: c_int,
    arguments: *mut qjs::JSValue,
) -> qjs::JSValue {
    let Some(context) = NonNull::new(raw) else { return qjs::JS_UNDEFINED };
    // SAFETY: QuickJS gives a live context and `count` arguments, which stay valid for the call.
    let (ctx, strict) = unsafe {
        (Ctx::from_raw(context), count < 1 || !qjs::JS_IsBool(*arguments) || qjs::JS_VALUE_GET_BOOL(*arguments))
    };
    let Ok(http) = Http::of(&ctx) else { return qjs::JS_UNDEFINED };
    let body = http.body();
    let Some((_, text)) = body.split_last().filter(|(_, text)| is_json(text, strict)) else {
        return qjs::JS_UNDEFINED;
    };
    // SAFETY: the context is live; the text is UTF-8 with a zero behind it. Parsing runs nothing of a program's, so the body stays
    // borrowed.
    unsafe {
        let value = qjs::JS_ParseJSON(raw, text.as_ptr().cast(), text.len() as _, c"body".as_ptr());
        if !qjs::JS_IsException(value) {
            return value;
        }
        // What is wrong with it is said by whoever gets the text.
        qjs::JS_FreeValue(raw, qjs::JS_GetException(raw));
        qjs::JS_UNDEFINED
    }
}

/// Whether the text may be given to the parser: UTF-8 without a mark before it, which begins as an object or an array if it must be one.
fn is_json(text: &[u8], strict: bool) -> bool {
    let begins = match text.first() {
        Some(b'{' | b'[') => true,
        _ => !strict && !text.starts_with("\u{feff}".as_bytes()),
    };
    begins && std::str::from_utf8(text).is_ok()
}

/// The body's bytes; none if there is no body.
pub(super) fn bytes<'js>(ctx: Ctx<'js>) -> Result<TypedArray<'js, u8>> {
    let http = Http::of(&ctx)?;
    let body = http.body();
    TypedArray::new_copy(ctx.clone(), body.split_last().map_or(&[][..], |(_, bytes)| bytes))
}
