//! Changes that hooks return, read where they are: plain objects with headers and a status, or with a whole reply, and nothing else.
#![allow(unsafe_code, reason = "values are read as QuickJS keeps them")]

use std::rc::Rc;

use rquickjs::{Ctx, Error, Result, Value, qjs};

use super::head::Copied;
use super::names::{Known, Names};
use super::patch::Patch;
use super::seat::Seat;
use super::shapes::Usual;
use crate::serve::Held;

/// Takes over what `onRequest` returned. `false`: it is something else, and nothing was taken over.
pub(super) fn of_request(ctx: &Ctx<'_>, seat: &Seat, usual: &Usual, value: &Held) -> bool {
    let names = &seat.kit.names;
    let others = [names.then, names.respond, names.set, names.method, names.path, names.body];
    if !names.is_plain_object(value) {
        return false;
    }
    if let Some((headers, found)) = usual.headers_of(names, value, &others) {
        return put_headers(
            ctx,
            seat,
            &seat.request.head.borrow(),
            &headers,
            found.iter().map(|name| Some(Rc::clone(name))),
        );
    }
    if !others.into_iter().all(|name| is_absent(value, name)) {
        return false;
    }
    take_headers(ctx, seat, usual, &seat.request.head.borrow(), value)
}

/// Takes over what `onResponse` returned, likewise.
pub(super) fn of_response(ctx: &Ctx<'_>, seat: &Seat, usual: &Usual, value: &Held) -> bool {
    let names = &seat.kit.names;
    let others = [names.then, names.set, names.body];
    if !names.is_plain_object(value) {
        return false;
    }
    if let Some((headers, found)) = usual.headers_of(names, value, &[names.then, names.set, names.body, names.status]) {
        return put_headers(
            ctx,
            seat,
            &seat.response.head.borrow(),
            &headers,
            found.iter().map(|name| Some(Rc::clone(name))),
        );
    }
    if !others.into_iter().all(|name| is_absent(value, name)) {
        return false;
    }
    let status = value.get(names.status);
    let head = seat.response.head.borrow();
    let (before, standing) = (seat.patch.borrow().status(), head.status());
    let status = match status_of(&status) {
        Some(status) if status == before.unwrap_or(standing) => None,
        // Back to what it was: changed all the same.
        Some(status) if status == standing => return false,
        Some(status) => Some(status),
        None if status.is_undefined() => None,
        None => return false,
    };
    if !take_headers(ctx, seat, usual, &head, value) {
        return false;
    }
    if status.is_some() {
        seat.patch.borrow_mut().restate(status);
        seat.is_other();
    }
    true
}

/// Takes over a whole reply that `onRequest` returned, likewise. Nobody else may have to do with it.
pub(super) fn of_answer(ctx: &Ctx<'_>, seat: &Seat, value: &Held) -> bool {
    let names = &seat.kit.names;
    let others = [names.then, names.set, names.method, names.path, names.headers, names.body];
    if !names.is_plain_object(value) || !others.into_iter().all(|name| is_absent(value, name)) {
        return false;
    }
    let reply = value.get(names.respond);
    if !names.is_plain_object(&reply) || !is_absent(&reply, names.then) {
        return false;
    }
    let (headers, body) = (reply.get(names.headers), reply.get(names.body));
    let is_text = !body.is_nothing();
    let (Some(status), true, Some(body)) =
        (status_of(&reply.get(names.status)), is_literal(ctx, names, &headers), body_of(ctx, &body))
    else {
        return false;
    };
    let Some(properties) = Properties::of(ctx, &headers) else { return false };
    let mark = seat.patch.borrow().mark();
    let is_whole = properties.put(seat, &headers).is_some();
    let mut patch = seat.patch.borrow_mut();
    if !is_whole || !patch.answer(status, body, is_text) {
        patch.take_back(mark);
        return false;
    }
    true
}

/// A status that can be sent.
fn status_of(value: &Held) -> Option<u16> {
    u16::try_from(value.int()?).ok().filter(|status| (200..=599).contains(status))
}

/// The bytes of a body that is a string, or none.
fn body_of(ctx: &Ctx<'_>, value: &Held) -> Option<Vec<u8>> {
    if value.is_nothing() {
        return Some(Vec::new());
    }
    let text = Text::of(ctx.as_raw().as_ptr(), value)?;
    std::str::from_utf8(text.bytes()).ok().map(|text| text.as_bytes().to_vec())
}

/// A plain object that inherits from nothing but `Object.prototype`.
fn is_literal(ctx: &Ctx<'_>, names: &Names, value: &Held) -> bool {
    if !names.is_plain_object(value) {
        return false;
    }
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: the value is a live object that is no proxy, so nothing runs; both prototypes are owned.
    unsafe {
        let own = Held::new(raw, qjs::JS_GetPrototype(raw, value.raw()));
        let usual = Held::new(raw, qjs::JS_GetClassProto(raw, names.object_class));
        own.is(usual.raw())
    }
}

/// Whether a property is undefined. What its getter throws is dropped: the walk asks it again.
fn is_absent(value: &Held, name: qjs::JSAtom) -> bool {
    value.get(name).is_undefined()
}

fn take_headers(ctx: &Ctx<'_>, seat: &Seat, usual: &Usual, head: &Copied, value: &Held) -> bool {
    let names = &seat.kit.names;
    let headers = value.get(names.headers);
    if headers.is_undefined() {
        return true;
    }
    if !names.is_plain_object(&headers) {
        return false;
    }
    let Some(properties) = Properties::of(ctx, &headers) else { return false };
    let raw = ctx.as_raw().as_ptr();
    if !put_headers(ctx, seat, head, &headers, properties.atoms().map(|atom| names.known(raw, atom))) {
        return false;
    }
    if usual.is_worth_a_look() {
        let found: Option<Vec<_>> = properties.atoms().map(|atom| names.known(raw, atom)).collect();
        usual.learn(ctx, names, value, &headers, found.unwrap_or_default());
    }
    true
}

/// Takes over headers of these names.
fn put_headers(
    ctx: &Ctx<'_>,
    seat: &Seat,
    head: &Copied,
    headers: &Held,
    names: impl Iterator<Item = Option<Rc<Known>>>,
) -> bool {
    let mark = seat.patch.borrow().mark();
    let Some(count) = pend(ctx, seat, head, headers, names) else {
        seat.patch.borrow_mut().take_back(mark);
        return false;
    };
    if count > 0 {
        seat.patch.borrow_mut().commit();
        seat.is_other();
    }
    true
}

/// Puts down each as a pending change, and says how many change something; `None` where one is not a plain change.
fn pend(
    ctx: &Ctx<'_>,
    seat: &Seat,
    head: &Copied,
    of: &Held,
    names: impl Iterator<Item = Option<Rc<Known>>>,
) -> Option<usize> {
    let mut count = 0;
    for name in names {
        let name = name?;
        let value = of.get(name.atom);
        if value.is_undefined() {
            continue;
        }
        if !name.is_plain {
            return None;
        }
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
        let text = Text::of(ctx.as_raw().as_ptr(), &value)?;
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

    /// Puts down each as it is; `None` where one is not plain.
    fn put(&self, seat: &Seat, of: &Held) -> Option<()> {
        for atom in self.atoms() {
            let value = of.get(atom);
            if value.is_undefined() {
                continue;
            }
            let name = seat.kit.names.known(self.ctx, atom).filter(|name| name.is_plain)?;
            let text = Text::of(self.ctx, &value)?;
            seat.patch.borrow_mut().pend(&name.text, Some(text.plain()?))?;
        }
        Some(())
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

    fn bytes(&self) -> &[u8] {
        // SAFETY: QuickJS keeps them until they are given back.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }

    /// The value on the wire, where that is the string as it is: visible ASCII without white space around it.
    fn plain(&self) -> Option<&[u8]> {
        let bytes = self.bytes();
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
