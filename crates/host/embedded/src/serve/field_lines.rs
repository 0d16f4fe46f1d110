//! The lines of a reply's head, from the map of fields that JavaScript keeps: `{ lower: [name, value] }` (`js/http/outgoing.ts`).
#![allow(unsafe_code, reason = "the fields' map is read as QuickJS keeps it")]

use std::ffi::c_int;

use rquickjs::qjs;

use super::held::Held;

/// Most fields of a reply that goes this way.
const FIELDS_MAX: u32 = 256;

/// Names that say something of the message itself, in lower case: a reply that has one goes the longer way.
const SPECIAL: &[&[u8]] =
    &[b"connection", b"transfer-encoding", b"date", b"expect", b"trailer", b"keep-alive", b"content-disposition"];

/// Appends the lines of all `fields`; `false` where one is special, is called `but`, or is no text. Values are Latin-1.
pub(super) fn append(fields: &Held, out: &mut Vec<u8>, but: &[u8]) -> bool {
    let raw = fields.context();
    let (mut table, mut count) = (std::ptr::null_mut(), 0);
    let flags = (qjs::JS_GPN_STRING_MASK | qjs::JS_GPN_ENUM_ONLY) as c_int;
    // SAFETY: a live object of a live context; QuickJS gives `count` entries, which are given back below, whatever happens, with
    // their names.
    unsafe {
        let found = qjs::JS_GetOwnPropertyNames(raw, &mut table, &mut count, fields.raw(), flags);
        let mut all = found >= 0 && count <= FIELDS_MAX;
        if found >= 0 {
            for at in 0..count as usize {
                all = all && append_field(raw, out, fields, (*table.add(at)).atom, but);
            }
            qjs::JS_FreePropertyEnum(raw, table, count);
        }
        if !all && qjs::JS_HasException(raw) {
            qjs::JS_FreeValue(raw, qjs::JS_GetException(raw));
        }
        all
    }
}

/// # Safety
/// The context and the atom are live.
unsafe fn append_field(
    raw: *mut qjs::JSContext,
    out: &mut Vec<u8>,
    fields: &Held,
    atom: qjs::JSAtom,
    but: &[u8],
) -> bool {
    // SAFETY: text is looked at before it is given back; each value that is got is held.
    unsafe {
        let mut length = 0;
        let key = qjs::JS_AtomToCStringLen(raw, &mut length, atom);
        if key.is_null() {
            return false;
        }
        let text = std::slice::from_raw_parts(key.cast::<u8>(), length as usize);
        let is_special = SPECIAL.contains(&text) || text == but;
        qjs::JS_FreeCString(raw, key);
        if is_special {
            return false;
        }
        let entry = fields.get(atom);
        let name = Held::new(raw, qjs::JS_GetPropertyUint32(raw, entry.raw(), 0));
        let value = Held::new(raw, qjs::JS_GetPropertyUint32(raw, entry.raw(), 1));
        let is_text = qjs::JS_IsString(name.raw()) && (qjs::JS_IsString(value.raw()) || qjs::JS_IsNumber(value.raw()));
        if !is_text || !append_text(raw, out, &name) {
            return false;
        }
        out.extend_from_slice(b": ");
        let appended = append_text(raw, out, &value);
        out.extend_from_slice(b"\r\n");
        appended
    }
}

/// Appends a string or a number as Latin-1.
///
/// # Safety
/// A live value of the context.
unsafe fn append_text(raw: *mut qjs::JSContext, out: &mut Vec<u8>, value: &Held) -> bool {
    let mut length = 0;
    // SAFETY: text of `length` bytes or null; given back after it was copied.
    unsafe {
        let text = qjs::JS_ToCStringLen2(raw, &mut length, value.raw(), false);
        if text.is_null() {
            return false;
        }
        let bytes = std::slice::from_raw_parts(text.cast::<u8>(), length as usize);
        if bytes.is_ascii() {
            out.extend_from_slice(bytes);
        } else {
            out.extend(String::from_utf8_lossy(bytes).encode_utf16().map(|unit| unit as u8));
        }
        qjs::JS_FreeCString(raw, text);
    }
    true
}
