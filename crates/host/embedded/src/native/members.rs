//! Members of prototypes, which no loop over an object shows, and layouts of objects.
#![allow(unsafe_code, reason = "properties are copied as QuickJS keeps them")]

use std::ffi::c_int;

use rquickjs::{Ctx, Object, Result, qjs};

use super::direct::{self, Body, Call, Given, Table};

struct Members;

impl Table for Members {
    const BODIES: &'static [Body] = &[hide, steps];
}

pub(super) fn make<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let group = Object::new(ctx.clone())?;
    // hide(target, members): the own properties of `members` become the target's, with their getters, and not enumerable.
    group.set("hide", direct::function::<Members>(ctx, c"hide", (2, 0, 0), &[])?)?;
    // steps(grown): an object for each step in which `grown` grew, without its values.
    group.set("steps", direct::function::<Members>(ctx, c"steps", (1, 1, 0), &[])?)?;
    Ok(group)
}

/// In JavaScript each would be a loop's turn, a descriptor and a copy of it: 6,000 instructions a member, of which a server's classes
/// have 300. This is a tenth.
fn hide(call: &Call<'_>) -> Given {
    let Some(context) = call.context() else { return Given::UNDEFINED };
    let ctx = context.as_raw().as_ptr();
    let (target, members) = (call.at(0), call.at(1));
    if !target.is_object() || !members.is_object() {
        return Given::UNDEFINED;
    }
    // SAFETY: the context and both objects are live for the call, the names as long as their list.
    unsafe {
        let Some(names) = Names::of(ctx, members.raw(), qjs::JS_GPN_STRING_MASK | qjs::JS_GPN_SYMBOL_MASK) else {
            return Given::THROWN;
        };
        let done = names.all().iter().all(|name| copy(ctx, target.raw(), members.raw(), name.atom));
        if done { Given::UNDEFINED } else { Given::THROWN }
    }
}

/// The first object has the first property, the last has all. Accessors and what is fixed are layouts of their own, and rare: the steps
/// end before one. It runs while the first reply waits to be sent, and for 20 properties it makes 20 objects: in JavaScript that would be
/// a million instructions.
fn steps(call: &Call<'_>) -> Given {
    let Some(context) = call.context() else { return Given::UNDEFINED };
    let ctx = context.as_raw().as_ptr();
    let grown = call.at(0);
    if !grown.is_object() {
        return Given::UNDEFINED;
    }
    // SAFETY: the context and the object are live for the call, the names as long as their list. What is made is owned: the prototype
    // is given back, the steps are the array's.
    unsafe {
        let Some(names) = Names::of(ctx, grown.raw(), qjs::JS_GPN_STRING_MASK) else { return Given::THROWN };
        let mut ways = Vec::new();
        for name in names.all() {
            let Some(flags) = plain(ctx, grown.raw(), name.atom) else { break };
            ways.push((name.atom, flags));
        }
        let prototype = qjs::JS_GetPrototype(ctx, grown.raw());
        let all = qjs::JS_NewArray(ctx);
        for count in 1..=ways.len() {
            let step = qjs::JS_NewObjectProto(ctx, prototype);
            if qjs::JS_IsException(step) {
                break;
            }
            for (name, flags) in ways.iter().take(count) {
                qjs::JS_DefinePropertyValue(ctx, step, *name, qjs::JS_UNDEFINED, *flags);
            }
            qjs::JS_SetPropertyInt64(ctx, all, count as i64 - 1, step);
        }
        qjs::JS_FreeValue(ctx, prototype);
        if qjs::JS_HasException(ctx) {
            qjs::JS_FreeValue(ctx, all);
            return Given::THROWN;
        }
        Given::owned(all)
    }
}

/// The flags of a property that holds a value and may be changed in every way; `None` for another.
///
/// # Safety
/// The context, the object and the atom are live.
unsafe fn plain(ctx: *mut qjs::JSContext, of: qjs::JSValue, name: qjs::JSAtom) -> Option<c_int> {
    let undefined = qjs::JS_UNDEFINED;
    let mut found = qjs::JSPropertyDescriptor { flags: 0, value: undefined, getter: undefined, setter: undefined };
    // SAFETY: the caller's; what is found is owned, and given back.
    unsafe {
        if qjs::JS_GetOwnProperty(ctx, &raw mut found, of, name) != 1 {
            return None;
        }
        for value in [found.value, found.getter, found.setter] {
            qjs::JS_FreeValue(ctx, value);
        }
    }
    let wanted = (qjs::JS_PROP_CONFIGURABLE | qjs::JS_PROP_WRITABLE) as c_int;
    let all = (qjs::JS_PROP_C_W_E | qjs::JS_PROP_GETSET) as c_int;
    let flags = found.flags & all;
    (flags & !(qjs::JS_PROP_ENUMERABLE as c_int) == wanted).then_some(flags)
}

/// The names of an object's own properties.
struct Names {
    ctx: *mut qjs::JSContext,
    list: *mut qjs::JSPropertyEnum,
    count: u32,
}

impl Names {
    /// `None` if a strange object threw.
    ///
    /// # Safety
    /// The context and the object are live, the context for as long as this is.
    unsafe fn of(ctx: *mut qjs::JSContext, object: qjs::JSValue, kinds: u32) -> Option<Self> {
        let (mut list, mut count) = (std::ptr::null_mut(), 0);
        // SAFETY: the caller's.
        let told = unsafe { qjs::JS_GetOwnPropertyNames(ctx, &raw mut list, &raw mut count, object, kinds as c_int) };
        (told >= 0).then_some(Self { ctx, list, count })
    }

    fn all(&self) -> &[qjs::JSPropertyEnum] {
        if self.list.is_null() {
            return &[];
        }
        // SAFETY: QuickJS gave `count` of them.
        unsafe { std::slice::from_raw_parts(self.list, self.count as usize) }
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        // SAFETY: it is QuickJS's list, given back once.
        unsafe { qjs::JS_FreePropertyEnum(self.ctx, self.list, self.count) }
    }
}

/// Whether it went well; what was thrown is pending otherwise.
///
/// # Safety
/// The context, the objects and the atom are live.
unsafe fn copy(ctx: *mut qjs::JSContext, target: qjs::JSValue, members: qjs::JSValue, name: qjs::JSAtom) -> bool {
    let undefined = qjs::JS_UNDEFINED;
    let mut found = qjs::JSPropertyDescriptor { flags: 0, value: undefined, getter: undefined, setter: undefined };
    let mut flags = (qjs::JS_PROP_HAS_CONFIGURABLE | qjs::JS_PROP_CONFIGURABLE | qjs::JS_PROP_HAS_ENUMERABLE) as c_int;
    // SAFETY: the caller's. What `JS_GetOwnProperty` gives is owned, and `JS_DefineProperty` takes references of its own.
    unsafe {
        match qjs::JS_GetOwnProperty(ctx, &raw mut found, members, name) {
            0 => return true,
            1 => {}
            _ => return false,
        }
        flags |= if found.flags & qjs::JS_PROP_GETSET as c_int == 0 {
            qjs::JS_PROP_HAS_VALUE | qjs::JS_PROP_HAS_WRITABLE | qjs::JS_PROP_WRITABLE
        } else {
            qjs::JS_PROP_HAS_GET | qjs::JS_PROP_HAS_SET
        } as c_int;
        let done = qjs::JS_DefineProperty(ctx, target, name, found.value, found.getter, found.setter, flags);
        for value in [found.value, found.getter, found.setter] {
            qjs::JS_FreeValue(ctx, value);
        }
        done >= 0
    }
}
