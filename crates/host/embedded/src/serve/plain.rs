//! The usual whole reply in one call: its head is made of the fields as JavaScript keeps them, without a string in between.
#![allow(unsafe_code, reason = "the fields' map is read as QuickJS keeps it")]

use std::ffi::c_char;
use std::io::Write as _;

use rquickjs::{Ctx, Result, Value, qjs};

use super::http::Http;
use super::natives::tag_of;
use crate::native::direct::{self, Body, Call, Given, Table};

/// Most fields of a reply that goes this way.
pub(super) const FIELDS_MAX: u32 = 256;

/// Names that say something of the message itself, in lower case: a reply that has one goes the longer way.
const SPECIAL: &[&[u8]] =
    &[b"connection", b"transfer-encoding", b"date", b"expect", b"trailer", b"keep-alive", b"content-disposition"];

struct Plain;

impl Table for Plain {
    const BODIES: &'static [Body] = &[send];
}

/// `sendPlain(exchange, status, line, fields, timeout, body, type, powered)`, as `js/http/native.ts` has it.
pub(super) fn function<'js>(ctx: &Ctx<'js>) -> Result<Value<'js>> {
    direct::function::<Plain>(ctx, c"sendPlain", (8, 0, 0), &[])
}

/// Answers the request that is being called for with `line`, X-Powered-By if it is `powered`, the fields of the map `fields`
/// (`{ lower: [name, value] }`, if there is one), the type if one is given, length and entity tag of `body` (text in UTF-8, or
/// bytes), what a connection that stays adds, and `body`. The entity tag; undefined, and nothing is written, if one of the fields is special, or
/// the reply can't be given now.
fn send(call: &Call<'_>) -> Given {
    let (Some(exchange), Some(status)) = (call.at(0).whole(), call.at(1).whole()) else { return Given::UNDEFINED };
    let Some(ctx) = call.context() else { return Given::UNDEFINED };
    let Ok(http) = Http::of(&ctx) else { return Given::THROWN };
    let (Ok(exchange), Ok(status)) = (u32::try_from(exchange), u16::try_from(status)) else {
        return Given::UNDEFINED;
    };
    let mut tag = std::string::String::new();
    let answered = http.answer_now_if(exchange, status, true, |out| write(&ctx, call, out, &mut tag));
    if answered { call.string(tag.as_bytes()) } else { Given::UNDEFINED }
}

/// The length of the head; `tag` is the entity tag.
fn write(ctx: &Ctx<'_>, call: &Call<'_>, out: &mut Vec<u8>, tag: &mut std::string::String) -> Option<usize> {
    let (text, bytes);
    let body = if let Some(found) = call.text(5) {
        text = found;
        // A lone half of a pair is for the longer way.
        std::str::from_utf8(text.bytes()).ok()?.as_bytes()
    } else {
        bytes = call.bytes(call.at(5))?;
        bytes.read()
    };
    out.extend_from_slice(call.text(2)?.bytes());
    if call.at(7).is_true() {
        out.extend_from_slice(b"X-Powered-By: Express\r\n");
    }
    if call.at(3).is_object() && !append_fields(ctx, out, call.at(3).raw()) {
        return None;
    }
    if let Some(kind) = call.text(6) {
        out.extend_from_slice(b"Content-Type: ");
        out.extend_from_slice(kind.bytes());
        out.extend_from_slice(b"\r\n");
    }
    // Writing to a vector does not fail.
    *tag = format!("W/{}", tag_of(body));
    let _ = write!(out, "Content-Length: {}\r\nETag: {tag}\r\nDate: ", body.len());
    out.extend_from_slice(&leat_stream::clock::date());
    out.extend_from_slice(b"\r\nConnection: keep-alive\r\n");
    let timeout_ms = call.at(4).number().unwrap_or_default();
    if timeout_ms >= 1.0 {
        let _ = write!(out, "Keep-Alive: timeout={}\r\n", (timeout_ms / 1000.0).floor());
    }
    out.extend_from_slice(b"\r\n");
    let head_len = out.len();
    out.extend_from_slice(body);
    Some(head_len)
}

/// Appends the lines of all fields; `false` where one is special or no text.
pub(super) fn append_fields(ctx: &Ctx<'_>, out: &mut Vec<u8>, fields: qjs::JSValue) -> bool {
    let raw = ctx.as_raw().as_ptr();
    let (mut table, mut count) = (std::ptr::null_mut(), 0);
    let flags = (qjs::JS_GPN_STRING_MASK | qjs::JS_GPN_ENUM_ONLY) as i32;
    // SAFETY: a live object of a live context; QuickJS gives `count` entries, which are given back below, whatever happens.
    let found = unsafe { qjs::JS_GetOwnPropertyNames(raw, &mut table, &mut count, fields, flags) };
    if found < 0 {
        let _ = ctx.catch();
        return false;
    }
    let mut all = count <= FIELDS_MAX;
    for at in 0..count as usize {
        // SAFETY: below `count`.
        let atom = unsafe { (*table.add(at)).atom };
        all = all && append_field(raw, out, fields, atom);
    }
    // SAFETY: as above; it frees the names too.
    unsafe { qjs::JS_FreePropertyEnum(raw, table, count) };
    if !all {
        let _ = ctx.catch();
    }
    all
}

fn append_field(raw: *mut qjs::JSContext, out: &mut Vec<u8>, fields: qjs::JSValue, atom: qjs::JSAtom) -> bool {
    // SAFETY: the atom is held by the table of the caller; each value that is got is freed once, and text is copied before it is
    // given back. The map's entries are arrays of plain values, so no program runs in between.
    unsafe {
        let mut length = 0;
        let key = qjs::JS_AtomToCStringLen(raw, &mut length, atom);
        let special = is_special(key, length as usize);
        if !key.is_null() {
            qjs::JS_FreeCString(raw, key);
        }
        if special {
            return false;
        }
        let entry = qjs::JS_GetProperty(raw, fields, atom);
        let name = qjs::JS_GetPropertyUint32(raw, entry, 0);
        let value = qjs::JS_GetPropertyUint32(raw, entry, 1);
        let is_text = qjs::JS_IsString(name) && (qjs::JS_IsString(value) || qjs::JS_IsNumber(value));
        let appended = is_text && append_raw(raw, out, name) && {
            out.extend_from_slice(b": ");
            append_raw(raw, out, value)
        };
        out.extend_from_slice(b"\r\n");
        qjs::JS_FreeValue(raw, name);
        qjs::JS_FreeValue(raw, value);
        qjs::JS_FreeValue(raw, entry);
        appended
    }
}

/// # Safety
/// `key` is null, or text of `length` bytes.
pub(super) unsafe fn is_special(key: *const c_char, length: usize) -> bool {
    if key.is_null() {
        return true;
    }
    // SAFETY: the caller's.
    let key = unsafe { std::slice::from_raw_parts(key.cast::<u8>(), length) };
    SPECIAL.contains(&key)
}

/// Appends a string or a number as Latin-1.
///
/// # Safety
/// A live value of the context.
pub(super) unsafe fn append_raw(raw: *mut qjs::JSContext, out: &mut Vec<u8>, value: qjs::JSValue) -> bool {
    let mut length = 0;
    // SAFETY: text of `length` bytes or null; given back after it was copied.
    unsafe {
        let text = qjs::JS_ToCStringLen2(raw, &mut length, value, false);
        if text.is_null() {
            return false;
        }
        let bytes = std::slice::from_raw_parts(text.cast::<u8>(), length as usize);
        if bytes.is_ascii() {
            out.extend_from_slice(bytes);
        } else {
            out.extend(std::string::String::from_utf8_lossy(bytes).encode_utf16().map(|unit| unit as u8));
        }
        qjs::JS_FreeCString(raw, text);
    }
    true
}
