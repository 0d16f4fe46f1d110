//! Heads as plug-ins see them: one prepared class for requests and responses, whose getters read a copy of the head, and its
//! headers (`headers.rs`). Nothing becomes a string before.
#![allow(unsafe_code, reason = "values are read and made as QuickJS keeps them")]

use std::cell::{Cell, RefCell};
use std::ffi::CStr;
use std::rc::Rc;

use leat_message::{Field, Fields, Head, Span};
use rquickjs::{Ctx, Exception, Object, Result, Value, qjs};

use super::body::Body;
use super::class::Class;
use super::kit::Kit;
use super::names::Known;
use crate::native::direct::{self, Call, Given, Table};
use crate::serve::Held;

/// A copy of a head, whose memory is used again.
#[derive(Debug, Default)]
pub(super) struct Copied {
    bytes: Vec<u8>,
    method: Span,
    target: Span,
    status: u16,
    fields: Vec<Field>,
}

impl Copied {
    pub(super) fn request(&mut self, head: Head<'_>) {
        self.copy(head.bytes(), &head.lines().fields);
        (self.method, self.target, self.status) = (head.lines().method_span, head.lines().target, 0);
    }

    /// The spans of fields point to a buffer that they do not show, so that names and values are copied one by one.
    pub(super) fn response(&mut self, status: u16, fields: Fields<'_>) {
        self.bytes.clear();
        self.fields.clear();
        (self.method, self.target, self.status) = (Span::default(), Span::default(), status);
        for (id, name, value) in fields {
            let start = self.bytes.len();
            self.bytes.extend_from_slice(name);
            let middle = self.bytes.len();
            self.bytes.extend_from_slice(value);
            let value = Span::new(middle, self.bytes.len());
            self.fields.push(Field { id, name: Span::new(start, middle), value });
        }
    }

    fn copy(&mut self, bytes: &[u8], fields: &[Field]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.fields.clear();
        self.fields.extend_from_slice(fields);
    }

    /// The values of a name, in their order.
    pub(super) fn values<'a>(&'a self, name: &'a Known) -> impl Iterator<Item = &'a [u8]> {
        self.fields.iter().filter(|field| name.is_of(field, &self.bytes)).map(|field| field.value.of(&self.bytes))
    }

    /// A string, a list of them where the name comes several times, or `undefined`.
    pub(super) fn value(&self, ctx: *mut qjs::JSContext, name: &Known) -> Given {
        let mut values = self.values(name);
        let Some(first) = values.next() else { return Given::UNDEFINED };
        let first = string(ctx, first);
        let Some(second) = values.next() else { return Given::owned(first) };
        // SAFETY: the context is live, and the array takes what is put there.
        unsafe {
            let list = qjs::JS_NewArray(ctx);
            let rest = std::iter::once(second).chain(values).map(|value| string(ctx, value));
            for (at, value) in std::iter::once(first).chain(rest).enumerate() {
                qjs::JS_SetPropertyInt64(ctx, list, at as i64, value);
            }
            Given::owned(list)
        }
    }

    /// Names in lower case, each once, in the order of their first lines.
    pub(super) fn names(&self) -> Vec<Vec<u8>> {
        let mut seen: Vec<Vec<u8>> = Vec::with_capacity(self.fields.len());
        for field in &self.fields {
            let name = field.name.of(&self.bytes).to_ascii_lowercase();
            if !seen.contains(&name) {
                seen.push(name);
            }
        }
        seen
    }

    pub(super) fn method(&self) -> &[u8] {
        self.method.of(&self.bytes)
    }

    pub(super) fn target(&self) -> &[u8] {
        self.target.of(&self.bytes)
    }

    pub(super) fn status(&self) -> u16 {
        self.status
    }
}

/// Bytes as a string, one character a byte; owned.
fn string(ctx: *mut qjs::JSContext, bytes: &[u8]) -> qjs::JSValue {
    // SAFETY: the context is live, and the text is copied.
    unsafe {
        if bytes.is_ascii() {
            return qjs::JS_NewStringLen(ctx, bytes.as_ptr().cast(), bytes.len() as _);
        }
        let wide: String = bytes.iter().map(|&byte| char::from(byte)).collect();
        qjs::JS_NewStringLen(ctx, wide.as_ptr().cast(), wide.len() as _)
    }
}

/// A head, and its headers once somebody has looked at them.
#[derive(Default)]
pub(super) struct Prepared {
    pub(super) head: Rc<RefCell<Copied>>,
    pub(super) body: Body,
    /// Kept here for as long as the head is used again; afterwards with the object of the view.
    headers: RefCell<Option<Held>>,
    pub(super) released: Cell<bool>,
}

impl Prepared {
    /// The head is not used again: its headers are the view's from now on.
    pub(super) fn release(&self, ctx: &Ctx<'_>, view: &Held) -> Result<()> {
        self.released.set(true);
        self.body.release(ctx, view)?;
        match self.headers.take() {
            Some(headers) => define(ctx, view.raw(), c"headers", headers.share()),
            None => Ok(()),
        }
    }

    /// The world ends.
    pub(super) fn forget(&self) {
        self.headers.take();
        self.body.clear();
    }

    /// Whether somebody else than the host has the view, of which `own` are the host's, or its headers.
    pub(super) fn is_kept(&self, view: &Held, own: i32) -> bool {
        holders(view.raw()) != own || self.headers.borrow().as_ref().is_some_and(|headers| holders(headers.raw()) != 1)
    }
}

/// How many hold an object. QuickJS has the number in the header of the object's memory; [`counts`] says whether this one has.
fn holders(value: qjs::JSValue) -> i32 {
    // SAFETY: a value that is a live object, in front of which QuickJS's allocator has a header of 8 bytes (JSMallocBlockHeader).
    unsafe { if qjs::JS_IsObject(value) { qjs::JS_VALUE_GET_PTR(value).cast::<i32>().sub(1).read() } else { 0 } }
}

/// Whether [`holders`] says the truth with this engine.
pub(super) fn counts(ctx: &Ctx<'_>) -> Result<bool> {
    let object = Object::new(ctx.clone())?.into_value();
    let alone = holders(object.as_raw());
    let other = object.clone();
    let both = holders(object.as_raw());
    drop(other);
    Ok((alone, both, holders(object.as_raw())) == (1, 2, 1))
}

/// What a request's or a response's object has inside.
pub(super) struct View {
    pub(super) of: Rc<Prepared>,
    kit: Rc<Kit>,
}

/// A view of a head, of the kind that `prototype` says.
pub(super) fn view<'js>(ctx: &Ctx<'js>, kit: &Rc<Kit>, of: Rc<Prepared>, prototype: &Value<'js>) -> Result<Value<'js>> {
    kit.views.make(ctx, prototype, Rc::new(View { of, kit: Rc::clone(kit) }))
}

/// The getters of views.
struct Getters;

impl Table for Getters {
    const BODIES: &'static [direct::Body] = &[headers, method, path, status];
}

/// What requests have.
pub(super) fn requests<'js>(ctx: &Ctx<'js>, views: Class<View>) -> Result<Object<'js>> {
    let prototype = shared(ctx, views)?;
    views.getter::<Getters>(ctx, &prototype, c"method", 1)?;
    views.getter::<Getters>(ctx, &prototype, c"path", 2)?;
    Ok(prototype)
}

/// What responses have.
pub(super) fn responses<'js>(ctx: &Ctx<'js>, views: Class<View>) -> Result<Object<'js>> {
    let prototype = shared(ctx, views)?;
    views.getter::<Getters>(ctx, &prototype, c"status", 3)?;
    Ok(prototype)
}

fn shared<'js>(ctx: &Ctx<'js>, views: Class<View>) -> Result<Object<'js>> {
    let prototype = Object::new(ctx.clone())?;
    views.getter::<Getters>(ctx, &prototype, c"headers", 0)?;
    Ok(prototype)
}

/// Reads of the view that a getter was called on.
fn of<'a>(call: &Call<'a>, read: impl FnOnce(&'a View, *mut qjs::JSContext) -> Given) -> Given {
    let found = Class::<View>::of_kind(call.kind).inside(call.this());
    match (found, call.context()) {
        (Some(view), Some(ctx)) => read(view, ctx.as_raw().as_ptr()),
        (_, Some(ctx)) => {
            let _ = Exception::throw_type(&ctx, "this is no request or response of the host's");
            Given::THROWN
        }
        _ => Given::UNDEFINED,
    }
}

/// Of a head that nobody writes to.
fn read(view: &View, read: impl FnOnce(&Copied) -> Given) -> Given {
    view.of.head.try_borrow().map_or(Given::UNDEFINED, |head| read(&head))
}

fn method(call: &Call<'_>) -> Given {
    of(call, |view, ctx| read(view, |head| Given::owned(string(ctx, head.method()))))
}

fn path(call: &Call<'_>) -> Given {
    of(call, |view, ctx| read(view, |head| Given::owned(string(ctx, head.target()))))
}

fn status(call: &Call<'_>) -> Given {
    of(call, |view, _| read(view, |head| Given::int(head.status().into())))
}

/// Made at the first look, and used again with its head.
fn headers(call: &Call<'_>) -> Given {
    let this = call.this();
    of(call, |view, raw| {
        if let Ok(Some(known)) = view.of.headers.try_borrow().as_deref() {
            return Given::owned(known.share());
        }
        let Some(ctx) = call.context() else { return Given::UNDEFINED };
        let inside = super::headers::Headers::new(Rc::clone(&view.of.head), Rc::clone(&view.kit.names));
        // SAFETY: the context is live, and the values are its.
        unsafe {
            let none = Value::from_raw(ctx.clone(), qjs::JS_NULL);
            let Ok(made) = view.kit.headers.make(&ctx, &none, Rc::new(inside)) else { return Given::THROWN };
            let made = qjs::JS_DupValue(raw, made.as_raw());
            if view.of.released.get() {
                // Out of memory, at worst: then the next look makes others.
                let _ = define(&ctx, this.raw(), c"headers", qjs::JS_DupValue(raw, made));
            } else if let Ok(mut headers) = view.of.headers.try_borrow_mut() {
                *headers = Some(Held::new(raw, qjs::JS_DupValue(raw, made)));
            }
            Given::owned(made)
        }
    })
}

/// What a getter gives becomes a property of its view's own; takes `value`.
pub(super) fn define(ctx: &Ctx<'_>, view: qjs::JSValue, name: &CStr, value: qjs::JSValue) -> Result<()> {
    let flags = (qjs::JS_PROP_CONFIGURABLE | qjs::JS_PROP_ENUMERABLE) as i32;
    // SAFETY: the values are live, and QuickJS takes the second.
    let done = unsafe {
        let raw = ctx.as_raw().as_ptr();
        let name = qjs::JS_NewAtom(raw, name.as_ptr());
        let done = qjs::JS_DefinePropertyValue(raw, view, name, value, flags);
        qjs::JS_FreeAtom(raw, name);
        done
    };
    if done < 0 { Err(rquickjs::Error::Exception) } else { Ok(()) }
}
