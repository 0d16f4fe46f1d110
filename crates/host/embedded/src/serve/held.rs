//! Values of QuickJS that are read or made by hand, and given back when they are dropped.
#![allow(unsafe_code, reason = "values are read as QuickJS keeps them")]

use std::ffi::{CStr, c_int};

use rquickjs::{Ctx, Error, Result, Value, qjs};

/// A value of a live context, owned.
pub(super) struct Held {
    ctx: *mut qjs::JSContext,
    value: qjs::JSValue,
}

impl Held {
    /// # Safety
    /// The context is live for as long as this is, and the value is an owned one of it.
    pub(super) unsafe fn new(ctx: *mut qjs::JSContext, value: qjs::JSValue) -> Self {
        Self { ctx, value }
    }

    /// The value, for the length of this.
    pub(super) fn raw(&self) -> qjs::JSValue {
        self.value
    }

    /// The property called `name`. What a program's own getter throws is dropped: the property counts as unlike any other value.
    pub(super) fn get(&self, name: qjs::JSAtom) -> Self {
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
    pub(super) fn set(&self, name: qjs::JSAtom, value: qjs::JSValue) -> bool {
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
    pub(super) fn define(&self, name: qjs::JSAtom, value: qjs::JSValue) -> bool {
        // SAFETY: as above.
        unsafe { qjs::JS_DefinePropertyValue(self.ctx, self.value, name, value, qjs::JS_PROP_C_W_E as i32) >= 0 }
    }

    /// Another reference to the value, to give away.
    pub(super) fn share(&self) -> qjs::JSValue {
        // SAFETY: as above.
        unsafe { qjs::JS_DupValue(self.ctx, self.value) }
    }

    pub(super) fn is(&self, other: qjs::JSValue) -> bool {
        // SAFETY: both are live.
        unsafe { qjs::JS_IsStrictEqual(self.ctx, self.value, other) }
    }

    pub(super) fn is_true(&self) -> bool {
        // SAFETY: only the tag and the value beside it are looked at.
        unsafe { qjs::JS_IsBool(self.value) && qjs::JS_VALUE_GET_BOOL(self.value) }
    }

    pub(super) fn is_false(&self) -> bool {
        // SAFETY: as above.
        unsafe { qjs::JS_IsBool(self.value) && !qjs::JS_VALUE_GET_BOOL(self.value) }
    }

    pub(super) fn is_object(&self) -> bool {
        // SAFETY: only the tag is looked at.
        unsafe { qjs::JS_IsObject(self.value) }
    }

    pub(super) fn is_nothing(&self) -> bool {
        // SAFETY: only the tag is looked at.
        unsafe { qjs::JS_IsNull(self.value) || qjs::JS_IsUndefined(self.value) }
    }

    pub(super) fn is_undefined(&self) -> bool {
        // SAFETY: only the tag is looked at.
        unsafe { qjs::JS_IsUndefined(self.value) }
    }

    pub(super) fn is_function(&self) -> bool {
        // SAFETY: only the object's class is looked at.
        unsafe { qjs::JS_IsFunction(self.ctx, self.value) }
    }

    pub(super) fn int(&self) -> Option<i32> {
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

/// What QuickJS calls of a native function: context, `this`, the number of arguments, and those.
type Entry = unsafe extern "C" fn(*mut qjs::JSContext, qjs::JSValue, c_int, *mut qjs::JSValue) -> qjs::JSValue;

/// A function that is `entry`, with arguments as QuickJS keeps them.
pub(super) fn function<'js>(ctx: &Ctx<'js>, name: &CStr, length: c_int, entry: Entry) -> Result<Value<'js>> {
    let raw = ctx.as_raw().as_ptr();
    let kind = qjs::JSCFunctionEnum_JS_CFUNC_generic;
    // SAFETY: the context is live, and the name is copied.
    unsafe {
        let made = qjs::JS_NewCFunction2(raw, Some(entry), name.as_ptr(), length, kind, 0);
        if qjs::JS_IsException(made) { Err(Error::Exception) } else { Ok(Value::from_raw(ctx.clone(), made)) }
    }
}
