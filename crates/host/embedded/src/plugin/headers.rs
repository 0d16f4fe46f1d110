//! The headers of a head: an object whose properties are fields by their names in lower case, looked up when they are asked for.
#![allow(unsafe_code, reason = "QuickJS calls the methods of a class that is not of its own kinds")]

use std::cell::RefCell;
use std::ffi::c_int;
use std::rc::Rc;

use rquickjs::qjs;

use super::class::inside_of;
use super::head::Copied;
use super::names::Names;

/// What such an object has inside.
pub(super) struct Headers {
    head: Rc<RefCell<Copied>>,
    names: Rc<Names>,
}

impl Headers {
    pub(super) fn new(head: Rc<RefCell<Copied>>, names: Rc<Names>) -> Self {
        Self { head, names }
    }

    /// The value of a property; `undefined` where there is none.
    fn value(&self, ctx: *mut qjs::JSContext, name: qjs::JSAtom) -> qjs::JSValue {
        let (Some(name), Ok(head)) = (self.names.known(ctx, name), self.head.try_borrow()) else {
            return qjs::JS_UNDEFINED;
        };
        head.value(ctx, &name).into_raw()
    }

    fn has(&self, ctx: *mut qjs::JSContext, name: qjs::JSAtom) -> bool {
        let (Some(name), Ok(head)) = (self.names.known(ctx, name), self.head.try_borrow()) else { return false };
        head.values(&name).next().is_some()
    }
}

/// How QuickJS asks. They are read and not written.
pub(super) static METHODS: qjs::JSClassExoticMethods = qjs::JSClassExoticMethods {
    get_own_property: Some(get_own_property),
    get_own_property_names: Some(get_own_property_names),
    delete_property: Some(delete_property),
    define_own_property: None,
    has_property: Some(has_property),
    get_property: Some(get_property),
    set_property: Some(set_property),
};

unsafe extern "C" fn get_property(
    ctx: *mut qjs::JSContext,
    object: qjs::JSValue,
    name: qjs::JSAtom,
    _receiver: qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: QuickJS calls it with a live object of the class.
    unsafe { inside_of::<Headers>(object) }.map_or(qjs::JS_UNDEFINED, |headers| headers.value(ctx, name))
}

unsafe extern "C" fn has_property(ctx: *mut qjs::JSContext, object: qjs::JSValue, name: qjs::JSAtom) -> c_int {
    // SAFETY: as above.
    unsafe { inside_of::<Headers>(object) }.is_some_and(|headers| headers.has(ctx, name)).into()
}

/// What is assigned would be lost: that is told, also in code that is not strict.
unsafe extern "C" fn set_property(
    ctx: *mut qjs::JSContext,
    _object: qjs::JSValue,
    _name: qjs::JSAtom,
    _value: qjs::JSValue,
    _receiver: qjs::JSValue,
    _flags: c_int,
) -> c_int {
    let message = c"headers are read-only: return a patch from the hook, { headers: { name: value } }";
    // SAFETY: QuickJS calls it with a live context; the text has no place for an argument.
    unsafe { qjs::JS_ThrowTypeError(ctx, message.as_ptr()) };
    -1
}

unsafe extern "C" fn delete_property(_ctx: *mut qjs::JSContext, _object: qjs::JSValue, _name: qjs::JSAtom) -> c_int {
    0
}

unsafe extern "C" fn get_own_property(
    ctx: *mut qjs::JSContext,
    property: *mut qjs::JSPropertyDescriptor,
    object: qjs::JSValue,
    name: qjs::JSAtom,
) -> c_int {
    // SAFETY: as above; `property` is null or to be written, and takes the value.
    unsafe {
        let Some(headers) = inside_of::<Headers>(object) else { return 0 };
        if property.is_null() {
            return headers.has(ctx, name).into();
        }
        let value = headers.value(ctx, name);
        if qjs::JS_IsUndefined(value) {
            return 0;
        }
        let flags = (qjs::JS_PROP_CONFIGURABLE | qjs::JS_PROP_ENUMERABLE) as c_int;
        property.write(qjs::JSPropertyDescriptor {
            flags,
            value,
            getter: qjs::JS_UNDEFINED,
            setter: qjs::JS_UNDEFINED,
        });
        1
    }
}

unsafe extern "C" fn get_own_property_names(
    ctx: *mut qjs::JSContext,
    list: *mut *mut qjs::JSPropertyEnum,
    count: *mut u32,
    object: qjs::JSValue,
) -> c_int {
    // SAFETY: as above; QuickJS takes the table and the atoms in it, and frees both.
    unsafe {
        let names = inside_of::<Headers>(object).and_then(|headers| Some(headers.head.try_borrow().ok()?.names()));
        let names = names.unwrap_or_default();
        let bytes = size_of::<qjs::JSPropertyEnum>() * names.len().max(1);
        let table = qjs::js_malloc(ctx, bytes as _).cast::<qjs::JSPropertyEnum>();
        if table.is_null() {
            return -1;
        }
        for (at, name) in names.iter().enumerate() {
            let atom = qjs::JS_NewAtomLen(ctx, name.as_ptr().cast(), name.len() as _);
            table.add(at).write(qjs::JSPropertyEnum { is_enumerable: true, atom });
        }
        list.write(table);
        count.write(names.len() as u32);
        0
    }
}
