//! Asynchronous contexts (`AsyncLocalStorage`): which value belongs to what runs now, and to what runs later.
//!
//! A context is carried by ticks, timers and callbacks in JavaScript. Microtasks are QuickJS's own, and it tells nobody before it
//! runs one. So each that has a context is preceded by one of ours, which sets it: reactions that a program registers get
//! theirs in JavaScript (`leat:context`); a promise that `await` makes for a value, which JavaScript never sees, gets it here,
//! from the context it was made in, when it is fulfilled. What is not preceded by one runs without a context, never in a
//! foreign one. Nothing of this is there before the first AsyncLocalStorage is made.
#![allow(unsafe_code, reason = "the promise hook is a C function, and jobs are")]

use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

use rquickjs::{Ctx, Persistent, Result, Value, qjs};

use crate::host::Host;

/// The contexts of a world.
#[derive(Default)]
pub(crate) struct Contexts {
    on: Cell<bool>,
    current: RefCell<Option<Persistent<Value<'static>>>>,
    /// The current context is for the microtask that comes next.
    fresh: Cell<bool>,
    /// The symbol under which a promise carries the context it was made in.
    atom: Cell<qjs::JSAtom>,
}

impl Contexts {
    /// Begins to carry contexts; `symbol` is known to nobody else.
    pub(crate) fn begin(&self, ctx: &Ctx<'_>, symbol: &Value<'_>) {
        if self.on.replace(true) {
            return;
        }
        let raw = ctx.as_raw().as_ptr();
        // SAFETY: context and symbol are live. The atom is kept as long as the runtime, and so is `self`, which is part of the
        // host that the runtime's own data holds.
        unsafe {
            self.atom.set(qjs::JS_ValueToAtom(raw, symbol.as_raw()));
            qjs::JS_SetPromiseHook(qjs::JS_GetRuntime(raw), Some(hook), std::ptr::from_ref(self).cast_mut().cast());
        }
    }

    /// The current context; `undefined` is none.
    pub(crate) fn current<'js>(&self, ctx: &Ctx<'js>) -> Value<'js> {
        let current = self.current.borrow().clone();
        current.and_then(|value| value.restore(ctx).ok()).unwrap_or_else(|| Value::new_undefined(ctx.clone()))
    }

    pub(crate) fn enter<'js>(&self, ctx: &Ctx<'js>, context: Value<'js>) {
        let none = context.is_undefined() || context.is_null();
        let saved = (!none).then(|| Persistent::save(ctx, context));
        self.current.replace(saved);
    }

    /// As `enter`, for the microtask that comes next.
    pub(crate) fn resume<'js>(&self, ctx: &Ctx<'js>, context: Value<'js>) {
        self.enter(ctx, context);
        self.fresh.set(true);
    }

    /// JavaScript has returned: what comes next has no context.
    pub(crate) fn leave(&self) {
        if self.on.get() {
            self.fresh.set(false);
            self.current.replace(None);
        }
    }

    /// A microtask has run: what comes next has no context, unless it was one that sets it.
    pub(crate) fn after_job(&self) {
        if self.on.get() && !self.fresh.replace(false) {
            self.current.replace(None);
        }
    }

    /// To be called before the world's runtime ends.
    pub(crate) fn forget(&self) {
        self.current.replace(None);
    }
}

/// # Safety
/// QuickJS calls it with a live context, promise and parent, and with what `begin` gave.
unsafe extern "C" fn hook(
    raw: *mut qjs::JSContext,
    kind: qjs::JSPromiseHookType,
    promise: qjs::JSValue,
    parent: qjs::JSValue,
    contexts: *mut c_void,
) {
    // SAFETY: `begin` gave the contexts of the host, which lives as long as the runtime; the values are QuickJS's for the
    // length of the call, and what is made here is given away or freed.
    unsafe {
        let Some(contexts) = contexts.cast::<Contexts>().as_ref() else { return };
        let Some(context) = NonNull::new(raw) else { return };
        if kind == qjs::JSPromiseHookType_JS_PROMISE_HOOK_INIT {
            // One that `then` made has its reactions registered where JavaScript sees it.
            if !qjs::JS_IsUndefined(parent) {
                return;
            }
            let ctx = Ctx::from_raw(context);
            let current = contexts.current(&ctx);
            let carried = if current.is_undefined() { Value::new_null(ctx) } else { current };
            let value = qjs::JS_DupValue(raw, carried.as_raw());
            qjs::JS_DefinePropertyValue(raw, promise, contexts.atom.get(), value, qjs::JS_PROP_CONFIGURABLE as c_int);
        } else if kind == qjs::JSPromiseHookType_JS_PROMISE_HOOK_RESOLVE {
            let mut carried = qjs::JS_GetProperty(raw, promise, contexts.atom.get());
            if !qjs::JS_IsUndefined(carried) {
                qjs::JS_EnqueueJob(raw, Some(restore), 1, &raw mut carried);
            }
            qjs::JS_FreeValue(raw, carried);
        }
    }
}

/// # Safety
/// QuickJS calls it with a live context and the one argument that it was queued with.
unsafe extern "C" fn restore(raw: *mut qjs::JSContext, _count: c_int, given: *mut qjs::JSValue) -> qjs::JSValue {
    // SAFETY: the argument is QuickJS's for the length of the call, and copied before it is kept.
    unsafe {
        if let Some(context) = NonNull::new(raw) {
            let ctx = Ctx::from_raw(context);
            let value = Value::from_raw(ctx.clone(), qjs::JS_DupValue(raw, *given));
            if let Ok(host) = Host::of(&ctx) {
                host.contexts().resume(&ctx, value);
            }
        }
        qjs::JS_UNDEFINED
    }
}

/// The native functions of `leat:context`.
pub(crate) fn group<'js>(ctx: &Ctx<'js>) -> Result<rquickjs::Object<'js>> {
    use rquickjs::function::Func;
    let group = rquickjs::Object::new(ctx.clone())?;
    group.set(
        "begin",
        Func::from(|ctx: Ctx<'js>, symbol: Value<'js>| Host::of(&ctx).map(|host| host.contexts().begin(&ctx, &symbol))),
    )?;
    group.set("current", Func::from(current))?;
    group.set(
        "enter",
        Func::from(|ctx: Ctx<'js>, to: Value<'js>| Host::of(&ctx).map(|host| host.contexts().enter(&ctx, to))),
    )?;
    group.set(
        "resume",
        Func::from(|ctx: Ctx<'js>, to: Value<'js>| Host::of(&ctx).map(|host| host.contexts().resume(&ctx, to))),
    )?;
    Ok(group)
}

fn current(ctx: Ctx<'_>) -> Result<Value<'_>> {
    Ok(Host::of(&ctx)?.contexts().current(&ctx))
}
