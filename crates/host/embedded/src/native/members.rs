//! Members of prototypes: what a class of Node's has, and what no loop over an object shows.
#![allow(unsafe_code, reason = "properties are copied as QuickJS keeps them")]

use std::ffi::c_int;

use rquickjs::{Ctx, Object, Result, qjs};

use super::direct::{self, Body, Call, Given, Table};

struct Members;

impl Table for Members {
    const BODIES: &'static [Body] = &[hide];
}

pub(super) fn make<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let group = Object::new(ctx.clone())?;
    // hide(target, members): the own properties of `members` become the target's, with their getters, and not enumerable.
    group.set("hide", direct::function::<Members>(ctx, c"hide", (2, 0, 0), &[])?)?;
    Ok(group)
}

/// In JavaScript each would be a loop's turn, a descriptor and a copy of it: 6,000 instructions a member, of which a server's classes
/// have 300. This is a tenth.
fn hide(call: &Call<'_>) -> Given {
    let Some(ctx) = call.context() else { return Given::UNDEFINED };
    let ctx = ctx.as_raw().as_ptr();
    let (target, members) = (call.at(0), call.at(1));
    if !target.is_object() || !members.is_object() {
        return Given::UNDEFINED;
    }
    let (mut names, mut count) = (std::ptr::null_mut(), 0);
    let kinds = (qjs::JS_GPN_STRING_MASK | qjs::JS_GPN_SYMBOL_MASK) as c_int;
    // SAFETY: the context and both objects are live for the call. The list of names is given back once; its atoms live until then.
    unsafe {
        if qjs::JS_GetOwnPropertyNames(ctx, &raw mut names, &raw mut count, members.raw(), kinds) < 0 {
            return Given::THROWN;
        }
        let all = if names.is_null() { &[][..] } else { std::slice::from_raw_parts(names, count as usize) };
        let done = all.iter().all(|name| copy(ctx, target.raw(), members.raw(), name.atom));
        qjs::JS_FreePropertyEnum(ctx, names, count);
        if done { Given::UNDEFINED } else { Given::THROWN }
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
