//! The usual whole reply in one call: its head is made of the fields as JavaScript keeps them, without a string in between.
#![allow(unsafe_code, reason = "the fields' map is read as QuickJS keeps it")]

use std::ffi::c_char;

use rquickjs::{Ctx, Object, Result, String, Value, qjs};

use super::http::Http;
use super::natives::append_text;

/// Most fields of a reply that goes this way.
pub(super) const FIELDS_MAX: u32 = 256;

/// Names that say something of the message itself, in lower case: a reply that has one goes the longer way.
const SPECIAL: &[&[u8]] =
    &[b"connection", b"transfer-encoding", b"date", b"expect", b"trailer", b"keep-alive", b"content-disposition"];

/// Answers the request that is being called for with `line`, the fields of the map `fields` (`{ lower: [name, value] }`, the
/// length among them), what a connection that stays adds, and `body` (text in UTF-8, or bytes). `false`, and nothing is written,
/// if one of the fields is special, or the reply can't be given now.
pub(super) fn plain<'js>(
    ctx: Ctx<'js>,
    exchange: u32,
    status: u16,
    line: String<'js>,
    fields: Object<'js>,
    timeout_ms: f64,
    body: Value<'js>,
) -> Result<bool> {
    let mut plain = true;
    let mut failed = None;
    let http = Http::of(&ctx)?;
    let answered = http.answer_now_if(exchange, status, true, |out| {
        let wrote = append_text(out, &line, true).and_then(|()| {
            plain = append_fields(&ctx, out, &fields);
            out.extend_from_slice(b"Date: ");
            out.extend_from_slice(&leat_stream::clock::date());
            out.extend_from_slice(b"\r\nConnection: keep-alive\r\n");
            if timeout_ms >= 1.0 {
                out.extend_from_slice(format!("Keep-Alive: timeout={}\r\n", (timeout_ms / 1000.0).floor()).as_bytes());
            }
            out.extend_from_slice(b"\r\n");
            let head_len = out.len();
            super::natives::append(out, &body, false).map(|()| head_len)
        });
        match wrote {
            Ok(head_len) => plain.then_some(head_len),
            Err(error) => {
                failed = Some(error);
                None
            }
        }
    });
    failed.map_or(Ok(answered), Err)
}

/// Appends the lines of all fields; `false` where one is special or no text.
fn append_fields(ctx: &Ctx<'_>, out: &mut Vec<u8>, fields: &Object<'_>) -> bool {
    let raw = ctx.as_raw().as_ptr();
    let (mut table, mut count) = (std::ptr::null_mut(), 0);
    let flags = (qjs::JS_GPN_STRING_MASK | qjs::JS_GPN_ENUM_ONLY) as i32;
    // SAFETY: a live object of a live context; QuickJS gives `count` entries, which are given back below, whatever happens.
    let found = unsafe { qjs::JS_GetOwnPropertyNames(raw, &mut table, &mut count, fields.as_value().as_raw(), flags) };
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

fn append_field(raw: *mut qjs::JSContext, out: &mut Vec<u8>, fields: &Object<'_>, atom: qjs::JSAtom) -> bool {
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
        let entry = qjs::JS_GetProperty(raw, fields.as_value().as_raw(), atom);
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
