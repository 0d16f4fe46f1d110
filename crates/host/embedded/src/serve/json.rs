//! JSON of plain values, written as `JSON.stringify` writes it: objects, arrays, strings, numbers, booleans and null. Anything with
//! a say of its own (`toJSON`, getters, proxies, boxed values, BigInt, half surrogate pairs) is left to `JSON.stringify`.
#![allow(unsafe_code, reason = "values are read as QuickJS keeps them")]

use std::ffi::c_int;
use std::io::Write as _;

use rquickjs::qjs;

use super::held::Held;
use super::names::Names;

/// Deeper values are left to `JSON.stringify`, which says what is wrong with a circle.
const DEPTH_MAX: usize = 32;

/// Appends `value`. `None` if it is to be written by `JSON.stringify`; nobody's getter has run then. Longer text than `max` bytes is
/// given up as well.
pub(super) fn append(
    raw: *mut qjs::JSContext,
    names: &Names,
    out: &mut Vec<u8>,
    value: qjs::JSValue,
    max: usize,
) -> Option<()> {
    Writer { raw, names, out, max }.value(value, 0)
}

struct Writer<'a> {
    raw: *mut qjs::JSContext,
    names: &'a Names,
    out: &'a mut Vec<u8>,
    max: usize,
}

impl Writer<'_> {
    fn value(&mut self, value: qjs::JSValue, depth: usize) -> Option<()> {
        // SAFETY: the value is live, and each is read by what its tag says.
        unsafe {
            if qjs::JS_IsString(value) {
                return self.text(value);
            }
            if qjs::JS_IsInt(value) {
                // Writing to a vector does not fail.
                let _ = write!(self.out, "{}", qjs::JS_VALUE_GET_INT(value));
                return Some(());
            }
            if qjs::JS_IsNumber(value) {
                return self.float(value);
            }
            if qjs::JS_IsObject(value) {
                return if depth < DEPTH_MAX { self.object(value, depth + 1) } else { None };
            }
            let word: &[u8] = if qjs::JS_IsNull(value) {
                b"null"
            } else if !qjs::JS_IsBool(value) {
                return None;
            } else if qjs::JS_VALUE_GET_BOOL(value) {
                b"true"
            } else {
                b"false"
            };
            self.out.extend_from_slice(word);
        }
        Some(())
    }

    /// A number with a fraction, or a large one, in JavaScript's own form.
    fn float(&mut self, value: qjs::JSValue) -> Option<()> {
        // SAFETY: the value is a number, so nobody's code runs; the text is given back.
        unsafe {
            if !qjs::JS_VALUE_GET_FLOAT64(value).is_finite() {
                self.out.extend_from_slice(b"null");
                return Some(());
            }
            let mut length = 0;
            let text = qjs::JS_ToCStringLen2(self.raw, &mut length, value, false);
            if text.is_null() {
                qjs::JS_FreeValue(self.raw, qjs::JS_GetException(self.raw));
                return None;
            }
            self.out.extend_from_slice(std::slice::from_raw_parts(text.cast(), length as usize));
            qjs::JS_FreeCString(self.raw, text);
        }
        Some(())
    }

    fn text(&mut self, value: qjs::JSValue) -> Option<()> {
        let mut length = 0;
        // SAFETY: the value is a string, so nobody's code runs; the text is given back below.
        let text = unsafe { qjs::JS_ToCStringLen2(self.raw, &mut length, value, false) };
        if text.is_null() {
            // SAFETY: an exception is pending.
            unsafe { qjs::JS_FreeValue(self.raw, qjs::JS_GetException(self.raw)) };
            return None;
        }
        // SAFETY: QuickJS keeps as many bytes there until they are given back.
        let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length as usize) };
        let written = self.quoted(bytes);
        // SAFETY: it came from `JS_ToCStringLen2`, once.
        unsafe { qjs::JS_FreeCString(self.raw, text) };
        written
    }

    /// A string of these bytes, which are UTF-8 unless it has half a surrogate pair.
    fn quoted(&mut self, bytes: &[u8]) -> Option<()> {
        if self.out.len() + bytes.len() > self.max || std::str::from_utf8(bytes).is_err() {
            return None;
        }
        self.out.push(b'"');
        let mut from = 0;
        for (at, &byte) in bytes.iter().enumerate() {
            if byte >= b' ' && byte != b'"' && byte != b'\\' {
                continue;
            }
            self.out.extend_from_slice(bytes.get(from..at).unwrap_or_default());
            from = at + 1;
            let short = match byte {
                b'"' | b'\\' => byte,
                b'\n' => b'n',
                b'\r' => b'r',
                b'\t' => b't',
                0x08 => b'b',
                0x0c => b'f',
                _ => {
                    let _ = write!(self.out, "\\u{byte:04x}");
                    continue;
                }
            };
            self.out.extend_from_slice(&[b'\\', short]);
        }
        self.out.extend_from_slice(bytes.get(from..).unwrap_or_default());
        self.out.push(b'"');
        Some(())
    }

    fn object(&mut self, value: qjs::JSValue, depth: usize) -> Option<()> {
        // SAFETY: the value is live; a reference of its own is held.
        let object = unsafe { Held::new(self.raw, qjs::JS_DupValue(self.raw, value)) };
        // SAFETY: only the object's class is looked at.
        let class = unsafe { qjs::JS_GetClassID(value) };
        if class != self.names.object_class && class != self.names.array_class {
            return None;
        }
        if !object.get(self.names.to_json).is_undefined() {
            return None;
        }
        if class == self.names.array_class { self.array(value, depth) } else { self.fields(value, depth) }
    }

    fn array(&mut self, array: qjs::JSValue, depth: usize) -> Option<()> {
        let mut length = 0;
        // SAFETY: the value is an array, whose length is its own.
        if unsafe { qjs::JS_GetLength(self.raw, array, &mut length) } < 0 {
            return None;
        }
        self.out.push(b'[');
        for at in 0..u32::try_from(length).ok()? {
            if at > 0 {
                self.out.push(b',');
            }
            // SAFETY: the atom of a small number is no allocation, and needs no giving back.
            let atom = unsafe { qjs::JS_NewAtomUInt32(self.raw, at) };
            // A hole is what its prototypes have there: not for here.
            let found = self.own(array, atom);
            // SAFETY: the atom was made above.
            unsafe { qjs::JS_FreeAtom(self.raw, atom) };
            let item = found?;
            if is_left_out(&item) {
                self.out.extend_from_slice(b"null")
            } else {
                self.value(item.raw(), depth)?
            }
            if self.out.len() > self.max {
                return None;
            }
        }
        self.out.push(b']');
        Some(())
    }

    fn fields(&mut self, object: qjs::JSValue, depth: usize) -> Option<()> {
        let (mut table, mut count) = (std::ptr::null_mut(), 0);
        let flags = (qjs::JS_GPN_STRING_MASK | qjs::JS_GPN_ENUM_ONLY) as c_int;
        // SAFETY: a plain object of a live context; the table is given back below, whatever happens, and frees its names.
        unsafe {
            if qjs::JS_GetOwnPropertyNames(self.raw, &mut table, &mut count, object, flags) < 0 {
                qjs::JS_FreeValue(self.raw, qjs::JS_GetException(self.raw));
                return None;
            }
        }
        self.out.push(b'{');
        let start = self.out.len();
        let mut written = Some(());
        for at in 0..count as usize {
            // SAFETY: below `count`.
            let atom = unsafe { (*table.add(at)).atom };
            written = self.field(object, atom, start, depth);
            if written.is_none() {
                break;
            }
        }
        // SAFETY: as above.
        unsafe { qjs::JS_FreePropertyEnum(self.raw, table, count) };
        self.out.push(b'}');
        written
    }

    fn field(&mut self, object: qjs::JSValue, atom: qjs::JSAtom, start: usize, depth: usize) -> Option<()> {
        let value = self.own(object, atom)?;
        if is_left_out(&value) {
            return Some(());
        }
        if self.out.len() > start {
            self.out.push(b',');
        }
        // SAFETY: the atom is live; its name is a string.
        let name = unsafe { Held::new(self.raw, qjs::JS_AtomToString(self.raw, atom)) };
        self.text(name.raw())?;
        self.out.push(b':');
        self.value(value.raw(), depth)
    }

    /// A property of the object's own that is a value; `None` for a getter, or none.
    fn own(&self, object: qjs::JSValue, atom: qjs::JSAtom) -> Option<Held> {
        let mut found = qjs::JSPropertyDescriptor {
            flags: 0,
            value: qjs::JS_UNDEFINED,
            getter: qjs::JS_UNDEFINED,
            setter: qjs::JS_UNDEFINED,
        };
        // SAFETY: the object is a plain one, so nobody's code runs; what is found is owned.
        unsafe {
            if qjs::JS_GetOwnProperty(self.raw, &mut found, object, atom) <= 0 {
                return None;
            }
            if found.flags & qjs::JS_PROP_GETSET as c_int != 0 {
                qjs::JS_FreeValue(self.raw, found.getter);
                qjs::JS_FreeValue(self.raw, found.setter);
                return None;
            }
            Some(Held::new(self.raw, found.value))
        }
    }
}

/// What an object does not show, and is null in an array. A function is as well, unless it has a `toJSON`: that is not for here.
fn is_left_out(value: &Held) -> bool {
    // SAFETY: only the tag is looked at.
    value.is_undefined() || unsafe { qjs::JS_IsSymbol(value.raw()) }
}
