//! Values of QuickJS that are read or made by hand, and given back when they are dropped.
#![allow(unsafe_code, reason = "values are read as QuickJS keeps them")]

use rquickjs::{Ctx, Value, qjs};

use crate::native::direct::Seen;

/// A value of a live context, owned.
pub(crate) struct Held {
    ctx: *mut qjs::JSContext,
    value: qjs::JSValue,
}

impl Held {
    /// # Safety
    /// The context is live for as long as this is, and the value is an owned one of it.
    pub(crate) unsafe fn new(ctx: *mut qjs::JSContext, value: qjs::JSValue) -> Self {
        Self { ctx, value }
    }

    /// An argument of a call, held beyond it.
    pub(crate) fn of(ctx: &Ctx<'_>, seen: Seen<'_>) -> Self {
        let raw = ctx.as_raw().as_ptr();
        // SAFETY: the argument is live, and of the context of its call; the reference is one more.
        unsafe { Self::new(raw, qjs::JS_DupValue(raw, seen.raw())) }
    }

    /// A value of rquickjs's, held for as long as its context is live: whoever has it drops it before.
    pub(crate) fn from_value(value: Value<'_>) -> Self {
        let raw = value.ctx().as_raw().as_ptr();
        // SAFETY: the value is live, and the reference is one more.
        unsafe { Self::new(raw, qjs::JS_DupValue(raw, value.as_raw())) }
    }

    /// The context of the value.
    pub(crate) fn context(&self) -> *mut qjs::JSContext {
        self.ctx
    }

    /// The same as a value of rquickjs's.
    pub(crate) fn value<'js>(&self, ctx: &Ctx<'js>) -> Value<'js> {
        // SAFETY: the reference is one more, which the value gives back.
        unsafe { Value::from_raw(ctx.clone(), self.share()) }
    }

    /// Whether it has a property called `name` of its own, or can't be asked. Nothing but the answer is asked for.
    pub(crate) fn has_own(&self, name: qjs::JSAtom) -> bool {
        // SAFETY: by what `new` asks for; a proxy may throw, which is dropped.
        unsafe {
            let found = qjs::JS_GetOwnProperty(self.ctx, std::ptr::null_mut(), self.value, name);
            if found < 0 {
                qjs::JS_FreeValue(self.ctx, qjs::JS_GetException(self.ctx));
            }
            found != 0
        }
    }

    /// The value, for the length of this.
    pub(crate) fn raw(&self) -> qjs::JSValue {
        self.value
    }

    /// The property called `name`. What a program's own getter throws is dropped: the property counts as unlike any other value.
    pub(crate) fn get(&self, name: qjs::JSAtom) -> Self {
        // SAFETY: by what `new` asks for; atoms are those of `Names`, which are live.
        unsafe {
            let value = qjs::JS_GetProperty(self.ctx, self.value, name);
            if qjs::JS_IsException(value) {
                qjs::JS_FreeValue(self.ctx, qjs::JS_GetException(self.ctx));
            }
            Self { ctx: self.ctx, value }
        }
    }

    /// Sets the property called `name`, and says whether it could be; takes `value`.
    pub(crate) fn set(&self, name: qjs::JSAtom, value: qjs::JSValue) -> bool {
        // SAFETY: as above; QuickJS takes the value, whatever comes of it.
        unsafe {
            if qjs::JS_SetProperty(self.ctx, self.value, name, value) >= 0 {
                return true;
            }
            qjs::JS_FreeValue(self.ctx, qjs::JS_GetException(self.ctx));
            false
        }
    }

    /// Defines a property of its own, which it has not yet, as an assignment would make it; takes `value`.
    pub(crate) fn define(&self, name: qjs::JSAtom, value: qjs::JSValue) -> bool {
        // SAFETY: as above.
        unsafe { qjs::JS_DefinePropertyValue(self.ctx, self.value, name, value, qjs::JS_PROP_C_W_E as i32) >= 0 }
    }

    /// Another reference to the value, to give away.
    pub(crate) fn share(&self) -> qjs::JSValue {
        // SAFETY: as above.
        unsafe { qjs::JS_DupValue(self.ctx, self.value) }
    }

    pub(crate) fn is(&self, other: qjs::JSValue) -> bool {
        // SAFETY: both are live.
        unsafe { qjs::JS_IsStrictEqual(self.ctx, self.value, other) }
    }

    pub(crate) fn is_true(&self) -> bool {
        // SAFETY: only the tag and the value beside it are looked at.
        unsafe { qjs::JS_IsBool(self.value) && qjs::JS_VALUE_GET_BOOL(self.value) }
    }

    pub(crate) fn is_false(&self) -> bool {
        // SAFETY: as above.
        unsafe { qjs::JS_IsBool(self.value) && !qjs::JS_VALUE_GET_BOOL(self.value) }
    }

    pub(crate) fn is_object(&self) -> bool {
        // SAFETY: only the tag is looked at.
        unsafe { qjs::JS_IsObject(self.value) }
    }

    pub(crate) fn is_nothing(&self) -> bool {
        // SAFETY: only the tag is looked at.
        unsafe { qjs::JS_IsNull(self.value) || qjs::JS_IsUndefined(self.value) }
    }

    pub(crate) fn is_null(&self) -> bool {
        // SAFETY: only the tag is looked at.
        unsafe { qjs::JS_IsNull(self.value) }
    }

    pub(crate) fn is_undefined(&self) -> bool {
        // SAFETY: only the tag is looked at.
        unsafe { qjs::JS_IsUndefined(self.value) }
    }

    pub(crate) fn is_function(&self) -> bool {
        // SAFETY: only the object's class is looked at.
        unsafe { qjs::JS_IsFunction(self.ctx, self.value) }
    }

    pub(crate) fn int(&self) -> Option<i32> {
        // SAFETY: the tag says that it is one.
        unsafe { qjs::JS_IsInt(self.value).then(|| qjs::JS_VALUE_GET_INT(self.value)) }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: it is owned.
        unsafe { qjs::JS_FreeValue(self.ctx, self.value) }
    }
}
