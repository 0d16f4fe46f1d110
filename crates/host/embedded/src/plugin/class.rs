//! Classes of native objects that are read more often than rquickjs's own way of calling would bear: what an object has inside is
//! one counted pointer, and a getter is one call.
#![allow(unsafe_code, reason = "objects are made and read as QuickJS keeps them")]

use std::ffi::CStr;
use std::marker::PhantomData;
use std::rc::Rc;

use rquickjs::{Ctx, Error, Result, Value, qjs};

use crate::native::direct::{Seen, Table, function};

/// A class whose objects hold a `T`, of one runtime.
pub(super) struct Class<T> {
    id: qjs::JSClassID,
    of: PhantomData<Rc<T>>,
}

impl<T> Clone for Class<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Class<T> {}

impl<T: 'static> Class<T> {
    /// Registers a class for the runtime of `ctx`.
    ///
    /// # Errors
    /// Out of memory.
    pub(super) fn new(
        ctx: &Ctx<'_>,
        name: &'static CStr,
        exotic: Option<&'static qjs::JSClassExoticMethods>,
    ) -> Result<Self> {
        let mut id = qjs::JS_INVALID_CLASS_ID;
        let exotic = exotic.map_or(std::ptr::null_mut(), |methods| std::ptr::from_ref(methods).cast_mut());
        let class = qjs::JSClassDef {
            class_name: name.as_ptr(),
            finalizer: Some(finalize::<T>),
            gc_mark: None,
            call: None,
            exotic,
        };
        // SAFETY: the runtime is live, the definition is copied, and its methods are only read, for as long as the program runs.
        let made = unsafe {
            let runtime = qjs::JS_GetRuntime(ctx.as_raw().as_ptr());
            qjs::JS_NewClassID(runtime, &mut id);
            qjs::JS_NewClass(runtime, id, &class)
        };
        if made == 0 { Ok(Self { id, of: PhantomData }) } else { Err(Error::Exception) }
    }

    /// A new object of it.
    ///
    /// # Errors
    /// Out of memory.
    pub(super) fn make<'js>(self, ctx: &Ctx<'js>, prototype: &Value<'js>, inside: Rc<T>) -> Result<Value<'js>> {
        // SAFETY: context and prototype are live; the pointer is the object's from here on, and given back by `finalize`.
        unsafe {
            let object = qjs::JS_NewObjectProtoClass(ctx.as_raw().as_ptr(), prototype.as_raw(), self.id);
            if qjs::JS_IsException(object) {
                return Err(Error::Exception);
            }
            qjs::JS_SetOpaque(object, Rc::into_raw(inside).cast_mut().cast());
            Ok(Value::from_raw(ctx.clone(), object))
        }
    }

    /// What an object of it has inside, for as long as the object is held; `None` of any other value.
    #[inline]
    pub(super) fn inside<'a>(self, value: Seen<'a>) -> Option<&'a T> {
        // SAFETY: QuickJS gives the pointer only of objects of this class, which `make` put there; the value is borrowed, so the
        // object lives, and what is inside is only shared.
        unsafe { qjs::JS_GetOpaque(value.raw(), self.id).cast::<T>().as_ref() }
    }

    /// Gives a prototype a getter: the body at `body` of `F`, whose calls have the class as [`Class::of_kind`].
    ///
    /// # Errors
    /// Out of memory.
    pub(super) fn getter<'js, F: Table>(
        self,
        ctx: &Ctx<'js>,
        prototype: &Value<'js>,
        name: &'static CStr,
        body: u8,
    ) -> Result<()> {
        let getter = function::<F>(ctx, name, (0, body, self.id), &[])?;
        let flags = (qjs::JS_PROP_CONFIGURABLE | qjs::JS_PROP_ENUMERABLE) as i32;
        // SAFETY: the values are live, and the getter is shared before it is given away.
        let done = unsafe {
            let raw = ctx.as_raw().as_ptr();
            let atom = qjs::JS_NewAtom(raw, name.as_ptr());
            let getter = qjs::JS_DupValue(raw, getter.as_raw());
            let done = qjs::JS_DefinePropertyGetSet(raw, prototype.as_raw(), atom, getter, qjs::JS_UNDEFINED, flags);
            qjs::JS_FreeAtom(raw, atom);
            done
        };
        if done < 0 { Err(Error::Exception) } else { Ok(()) }
    }

    /// A function that takes an object of it: the body at `body` of `F`, likewise.
    ///
    /// # Errors
    /// Out of memory.
    pub(super) fn function<'js, F: Table>(self, ctx: &Ctx<'js>, name: &'static CStr, body: u8) -> Result<Value<'js>> {
        function::<F>(ctx, name, (1, body, self.id), &[])
    }

    /// The class that a getter or a function was made for.
    pub(super) fn of_kind(kind: u32) -> Self {
        Self { id: kind, of: PhantomData }
    }
}

unsafe extern "C" fn finalize<T>(_runtime: *mut qjs::JSRuntime, value: qjs::JSValue) {
    let mut class = 0;
    // SAFETY: QuickJS calls it once for each object of a class of `T`, with the object, whose pointer is none or `make`'s.
    unsafe {
        let inside = qjs::JS_GetAnyOpaque(value, &mut class).cast::<T>();
        if !inside.is_null() {
            drop(Rc::from_raw(inside.cast_const()));
        }
    }
}

/// What an exotic method is called with has inside.
///
/// # Safety
/// The value is a live object of a class of `T`.
pub(super) unsafe fn inside_of<'a, T>(value: qjs::JSValue) -> Option<&'a T> {
    let mut class = 0;
    // SAFETY: by what the caller promises; the object lives for as long as the call.
    unsafe { qjs::JS_GetAnyOpaque(value, &mut class).cast::<T>().as_ref() }
}
