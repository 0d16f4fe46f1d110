//! Members of prototypes, which no loop over an object shows, and layouts of objects.
#![allow(unsafe_code, reason = "properties are copied as QuickJS keeps them")]

use std::ffi::c_int;

use rquickjs::{Array, Ctx, Error, Object, Result, Value, qjs};

use super::direct::{self, Body, Call, Given, Table};

struct Members;

impl Table for Members {
    const BODIES: &'static [Body] = &[hide, steps, mixin, late, load, put];
}

pub(super) fn make<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let group = Object::new(ctx.clone())?;
    // hide(target, members): the own properties of `members` become the target's, with their getters, and not enumerable.
    group.set("hide", direct::function::<Members>(ctx, c"hide", (2, 0, 0), &[])?)?;
    // steps(grown): an object for each step in which `grown` grew, without its values.
    group.set("steps", direct::function::<Members>(ctx, c"steps", (1, 1, 0), &[])?)?;
    // mixin(into, from): own properties that `into` does not have, as they are.
    group.set("mixin", direct::function::<Members>(ctx, c"mixin", (2, 2, 0), &[])?)?;
    // late(target, require, module, names, enumerable): properties that are exports of a module, loaded when one is first read.
    group.set("late", direct::function::<Members>(ctx, c"late", (5, 3, 0), &[])?)?;
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
    // SAFETY: the caller's; what is found is owned, and given back.
    let flags = unsafe {
        let (found, _) = descriptor(ctx, of, name)?;
        for value in [found.value, found.getter, found.setter] {
            qjs::JS_FreeValue(ctx, value);
        }
        found.flags
    };
    let wanted = (qjs::JS_PROP_CONFIGURABLE | qjs::JS_PROP_WRITABLE) as c_int;
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

/// As `mixin` of the package (`http/mixin.ts`): an app of Express gets 80 members this way.
fn mixin(call: &Call<'_>) -> Given {
    let Some(context) = call.context() else { return Given::UNDEFINED };
    let ctx = context.as_raw().as_ptr();
    let (into, from) = (call.at(0), call.at(1));
    if !into.is_object() || !from.is_object() {
        return Given::UNDEFINED;
    }
    // SAFETY: as of `hide`; without a place for what it finds, `JS_GetOwnProperty` only tells whether there is something.
    unsafe {
        let Some(names) = Names::of(ctx, from.raw(), qjs::JS_GPN_STRING_MASK) else { return Given::THROWN };
        for name in names.all() {
            let known = qjs::JS_GetOwnProperty(ctx, std::ptr::null_mut(), into.raw(), name.atom);
            let Some((found, flags)) = (known == 0).then(|| descriptor(ctx, from.raw(), name.atom)).flatten() else {
                if qjs::JS_HasException(ctx) {
                    return Given::THROWN;
                }
                continue;
            };
            let all = (qjs::JS_PROP_HAS_CONFIGURABLE | qjs::JS_PROP_HAS_ENUMERABLE) as c_int | flags | found.flags;
            if !define(ctx, into.raw(), name.atom, found, all) {
                return Given::THROWN;
            }
        }
        Given::UNDEFINED
    }
}

/// The values that the accessors of `late` are made with.
const TARGET: usize = 0;
const REQUIRE: usize = 1;
const MODULE: usize = 2;
const NAME: usize = 3;

/// A global costs two functions of QuickJS's own; two of JavaScript, with what describes them, would cost twice that, and there are 70.
fn late(call: &Call<'_>) -> Given {
    let Some(ctx) = call.context() else { return Given::UNDEFINED };
    match define_late(&ctx, call) {
        Ok(()) => Given::UNDEFINED,
        Err(_) => Given::THROWN,
    }
}

fn define_late(ctx: &Ctx<'_>, call: &Call<'_>) -> Result<()> {
    // SAFETY: arguments are live for the call; the copies count for themselves.
    let value =
        |at| unsafe { Value::from_raw(ctx.clone(), qjs::JS_DupValue(ctx.as_raw().as_ptr(), call.at(at).raw())) };
    let names = Array::from_value(value(3))?;
    let enumerable = call.at(4).is_true();
    for name in names.iter::<Value<'_>>() {
        let name = name?;
        let data = [value(0), value(1), value(2), name.clone()];
        let kind = u32::from(enumerable);
        let get = direct::function::<Members>(ctx, c"get", (0, 4, kind), &data)?;
        let set = direct::function::<Members>(ctx, c"set", (1, 5, kind), &data)?;
        let name = call.name_of(&name).ok_or(Error::Exception)?;
        let shown = if enumerable { qjs::JS_PROP_ENUMERABLE } else { 0 };
        let parts =
            qjs::JS_PROP_HAS_CONFIGURABLE | qjs::JS_PROP_HAS_ENUMERABLE | qjs::JS_PROP_HAS_GET | qjs::JS_PROP_HAS_SET;
        let flags = (qjs::JS_PROP_CONFIGURABLE | shown | parts) as c_int;
        let (raw, undefined) = (ctx.as_raw().as_ptr(), qjs::JS_UNDEFINED);
        // SAFETY: all are live; QuickJS takes references of its own.
        let done = unsafe {
            qjs::JS_DefineProperty(raw, call.at(0).raw(), name.atom(), undefined, get.as_raw(), set.as_raw(), flags)
        };
        if done < 0 {
            return Err(Error::Exception);
        }
    }
    Ok(())
}

/// Reads a late property for the first time.
fn load(call: &Call<'_>) -> Given {
    let module = call.call(call.own(REQUIRE), &[call.own(MODULE)]);
    let Some(name) = (!module.is_exception()).then(|| call.name(call.own(NAME))).flatten() else {
        return Given::THROWN;
    };
    let value = call.property(module.seen(), &name);
    call.free(module);
    if value.is_exception() || !settle(call, &value) {
        return Given::THROWN;
    }
    value
}

/// Replaces a late property.
fn put(call: &Call<'_>) -> Given {
    // SAFETY: the argument is live for the call; the copy counts for itself.
    let value = call.context().map(|ctx| unsafe { qjs::JS_DupValue(ctx.as_raw().as_ptr(), call.at(0).raw()) });
    let Some(value) = value.map(Given::owned) else { return Given::UNDEFINED };
    let done = settle(call, &value);
    call.free(value);
    if done { Given::UNDEFINED } else { Given::THROWN }
}

/// Makes a late property one with this value; whether it went well.
fn settle(call: &Call<'_>, value: &Given) -> bool {
    let (Some(ctx), Some(name)) = (call.context(), call.name(call.own(NAME))) else { return false };
    let enumerable = if call.kind & 1 == 1 { qjs::JS_PROP_ENUMERABLE } else { 0 };
    let flags = (qjs::JS_PROP_CONFIGURABLE | qjs::JS_PROP_WRITABLE | enumerable) as c_int;
    let ctx = ctx.as_raw().as_ptr();
    // SAFETY: all are live; what is defined is a copy that counts for itself.
    unsafe {
        let held = qjs::JS_DupValue(ctx, value.seen().raw());
        qjs::JS_DefinePropertyValue(ctx, call.own(TARGET).raw(), name.atom(), held, flags) >= 0
    }
}

/// Whether it went well; what was thrown is pending otherwise.
///
/// # Safety
/// The context, the objects and the atom are live.
unsafe fn copy(ctx: *mut qjs::JSContext, target: qjs::JSValue, members: qjs::JSValue, name: qjs::JSAtom) -> bool {
    let mut flags = (qjs::JS_PROP_HAS_CONFIGURABLE | qjs::JS_PROP_CONFIGURABLE | qjs::JS_PROP_HAS_ENUMERABLE) as c_int;
    // SAFETY: the caller's.
    unsafe {
        let Some((found, kind)) = descriptor(ctx, members, name) else { return !qjs::JS_HasException(ctx) };
        flags |= kind;
        if found.flags & qjs::JS_PROP_GETSET as c_int == 0 {
            flags |= qjs::JS_PROP_WRITABLE as c_int;
        }
        define(ctx, target, name, found, flags)
    }
}

/// A property of the object's own, to be given to `define`, and which of its parts there are; `None` if there is none, or if a strange
/// object threw.
///
/// # Safety
/// The context, the object and the atom are live.
unsafe fn descriptor(
    ctx: *mut qjs::JSContext,
    of: qjs::JSValue,
    name: qjs::JSAtom,
) -> Option<(qjs::JSPropertyDescriptor, c_int)> {
    let undefined = qjs::JS_UNDEFINED;
    let mut found = qjs::JSPropertyDescriptor { flags: 0, value: undefined, getter: undefined, setter: undefined };
    // SAFETY: the caller's.
    if unsafe { qjs::JS_GetOwnProperty(ctx, &raw mut found, of, name) } != 1 {
        return None;
    }
    let parts = if found.flags & qjs::JS_PROP_GETSET as c_int == 0 {
        qjs::JS_PROP_HAS_VALUE | qjs::JS_PROP_HAS_WRITABLE
    } else {
        qjs::JS_PROP_HAS_GET | qjs::JS_PROP_HAS_SET
    };
    found.flags &= (qjs::JS_PROP_C_W_E | qjs::JS_PROP_GETSET) as c_int;
    Some((found, parts as c_int))
}

/// Defines a property and gives back what `descriptor` gave; whether it went well.
///
/// # Safety
/// The context, the object and the atom are live, and `found` is nobody else's.
unsafe fn define(
    ctx: *mut qjs::JSContext,
    target: qjs::JSValue,
    name: qjs::JSAtom,
    found: qjs::JSPropertyDescriptor,
    flags: c_int,
) -> bool {
    let flags = (flags | qjs::JS_PROP_THROW as c_int) & !(qjs::JS_PROP_GETSET as c_int);
    // SAFETY: the caller's; `JS_DefineProperty` takes references of its own.
    unsafe {
        let done = qjs::JS_DefineProperty(ctx, target, name, found.value, found.getter, found.setter, flags);
        for value in [found.value, found.getter, found.setter] {
            qjs::JS_FreeValue(ctx, value);
        }
        done >= 0
    }
}
