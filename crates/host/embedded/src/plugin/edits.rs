//! Changes that hooks return, read where they are: plain objects with headers, a status, and nothing else.
#![allow(unsafe_code, reason = "values are read as QuickJS keeps them")]

use rquickjs::{Ctx, Error, Result, Value, qjs};

use super::head::Copied;
use super::names::Names;
use super::patch::Patch;
use super::seat::Seat;
use crate::serve::Held;

/// Takes over what `onRequest` returned. `false`: it is something else, and nothing was taken over.
pub(super) fn of_request(ctx: &Ctx<'_>, seat: &Seat, value: &Held) -> bool {
    let names = &seat.kit.names;
    let others = [names.then, names.respond, names.set, names.method, names.path, names.body];
    if !is_plain(names, value) || !others.into_iter().all(|name| is_absent(value, name)) {
        return false;
    }
    take_headers(ctx, seat, &seat.request.head.borrow(), value)
}

/// Takes over what `onResponse` returned, likewise.
pub(super) fn of_response(ctx: &Ctx<'_>, seat: &Seat, value: &Held) -> bool {
    let names = &seat.kit.names;
    let others = [names.then, names.set, names.status, names.body];
    if !is_plain(names, value) || !others.into_iter().all(|name| is_absent(value, name)) {
        return false;
    }
    take_headers(ctx, seat, &seat.response.head.borrow(), value)
}

/// An object as a literal makes it: no array, no proxy, and none of the host's.
fn is_plain(names: &Names, value: &Held) -> bool {
    // SAFETY: the value is live; only its class is looked at.
    unsafe { qjs::JS_GetClassID(value.raw()) == names.object_class }
}

/// Whether a property is undefined. What its getter throws is dropped: the walk asks it again.
fn is_absent(value: &Held, name: qjs::JSAtom) -> bool {
    value.get(name).is_undefined()
}

fn take_headers(ctx: &Ctx<'_>, seat: &Seat, head: &Copied, value: &Held) -> bool {
    let headers = value.get(seat.kit.names.headers);
    if headers.is_undefined() {
        return true;
    }
    if !is_plain(&seat.kit.names, &headers) {
        return false;
    }
    let Some(properties) = Properties::of(ctx, &headers) else { return false };
    let mark = seat.patch.borrow().mark();
    let Some(count) = properties.take(seat, head, &headers) else {
        seat.patch.borrow_mut().take_back(mark);
        return false;
    };
    if count > 0 {
        seat.patch.borrow_mut().commit();
        seat.is_other();
    }
    true
}

/// The names of an object's own enumerable properties, in their order.
struct Properties {
    ctx: *mut qjs::JSContext,
    table: *mut qjs::JSPropertyEnum,
    count: u32,
}

impl Properties {
    fn of(ctx: &Ctx<'_>, object: &Held) -> Option<Self> {
        let raw = ctx.as_raw().as_ptr();
        let (mut table, mut count) = (std::ptr::null_mut(), 0);
        let kinds = (qjs::JS_GPN_STRING_MASK | qjs::JS_GPN_ENUM_ONLY) as i32;
        // SAFETY: the object is live; the table is given back when this is dropped.
        unsafe {
            if qjs::JS_GetOwnPropertyNames(raw, &mut table, &mut count, object.raw(), kinds) < 0 {
                qjs::JS_FreeValue(raw, qjs::JS_GetException(raw));
                return None;
            }
        }
        Some(Self { ctx: raw, table, count })
    }

    fn atoms(&self) -> impl Iterator<Item = qjs::JSAtom> {
        // SAFETY: QuickJS has put `count` entries there.
        (0..self.count as usize).map(|at| unsafe { (*self.table.add(at)).atom })
    }

    /// Puts down each as a pending change, and says how many change something; `None` where one is not a plain change.
    fn take(&self, seat: &Seat, head: &Copied, of: &Held) -> Option<usize> {
        let mut count = 0;
        for atom in self.atoms() {
            let value = of.get(atom);
            if value.is_undefined() {
                continue;
            }
            let name = seat.kit.names.known(self.ctx, atom).filter(|name| name.is_plain)?;
            let mut patch = seat.patch.borrow_mut();
            let before = patch.edited(&name.text);
            let mut standing = head.values(&name);
            let standing = (standing.next(), standing.next().is_some());
            if value.is_null() {
                if before.map_or(standing.0.is_some(), |edit| edit.is_some()) {
                    patch.pend(&name.text, None)?;
                    count += 1;
                }
                continue;
            }
            let text = Text::of(self.ctx, &value)?;
            let bytes = text.plain()?;
            let is_same = match (before, standing) {
                (Some(edit), _) => edit == Some(bytes),
                (None, (first, is_list)) => first == Some(bytes) && !is_list,
            };
            if !is_same {
                patch.pend(&name.text, Some(bytes))?;
                count += 1;
            }
        }
        Some(count)
    }
}

impl Drop for Properties {
    fn drop(&mut self) {
        // SAFETY: the table came from QuickJS, once.
        unsafe { qjs::JS_FreePropertyEnum(self.ctx, self.table, self.count) }
    }
}

/// The characters of a string.
struct Text {
    ctx: *mut qjs::JSContext,
    start: *const u8,
    length: usize,
}

impl Text {
    fn of(ctx: *mut qjs::JSContext, value: &Held) -> Option<Self> {
        // SAFETY: the value is a live string, so nobody's `toString` runs; the text is given back when this is dropped.
        unsafe {
            if !qjs::JS_IsString(value.raw()) {
                return None;
            }
            let mut length = 0;
            let start = qjs::JS_ToCStringLen2(ctx, &mut length, value.raw(), false);
            if start.is_null() {
                qjs::JS_FreeValue(ctx, qjs::JS_GetException(ctx));
                return None;
            }
            Some(Self { ctx, start: start.cast(), length: length as usize })
        }
    }

    /// The value on the wire, where that is the string as it is: visible ASCII without white space around it.
    fn plain(&self) -> Option<&[u8]> {
        // SAFETY: QuickJS keeps them until they are given back.
        let bytes = unsafe { std::slice::from_raw_parts(self.start, self.length) };
        let is_plain = bytes.iter().all(|&byte| byte == b'\t' || (b' '..0x7f).contains(&byte));
        let is_trimmed = !matches!(bytes.first(), Some(b' ' | b'\t')) && !matches!(bytes.last(), Some(b' ' | b'\t'));
        (is_plain && is_trimmed).then_some(bytes)
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        // SAFETY: it came from `JS_ToCStringLen2`, once.
        unsafe { qjs::JS_FreeCString(self.ctx, self.start.cast()) }
    }
}

/// Changes of headers as the walk has them: values by names.
pub(super) fn object<'js>(ctx: &Ctx<'js>, patch: &Patch) -> Result<Value<'js>> {
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: the context is live; QuickJS takes the values, and the object is given over.
    unsafe {
        let object = Value::from_raw(ctx.clone(), qjs::JS_NewObject(raw));
        for (name, value) in patch.edits() {
            let atom = qjs::JS_NewAtomLen(raw, name.as_ptr().cast(), name.len() as _);
            let value =
                value.map_or(qjs::JS_NULL, |value| qjs::JS_NewStringLen(raw, value.as_ptr().cast(), value.len() as _));
            let done = qjs::JS_DefinePropertyValue(raw, object.as_raw(), atom, value, qjs::JS_PROP_C_W_E as i32);
            qjs::JS_FreeAtom(raw, atom);
            if done < 0 {
                return Err(Error::Exception);
            }
        }
        Ok(object)
    }
}
