//! Heads as plug-ins see them: one prepared class for requests and responses, whose getters read a copy of the head, and its
//! headers, an object whose properties are looked up in the head when they are asked for. Nothing becomes a string before.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use leat_message::{Field, Fields, Head, Span};
use rquickjs::class::{ClassKind, JsCell, JsClass, PropertyDescriptor, PropertyName, Readable, Trace, Tracer};
use rquickjs::function::This;
use rquickjs::object::{Accessor, Property};
use rquickjs::{Array, Atom, Class, Ctx, JsLifetime, Object, Persistent, Result, Value, qjs};

use crate::serve::text;

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

    /// The values of a name in lower case, in their order.
    fn values(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        let same = move |field: &&Field| field.name.of(&self.bytes).eq_ignore_ascii_case(name.as_bytes());
        let lower = !name.bytes().any(|byte| byte.is_ascii_uppercase());
        self.fields.iter().filter(move |field| lower && same(field)).map(|field| field.value.of(&self.bytes))
    }

    /// A string, a list of them where the name comes several times, or `undefined`.
    fn value<'js>(&self, ctx: &Ctx<'js>, name: &str) -> Result<Value<'js>> {
        let mut values = self.values(name);
        let Some(first) = values.next() else { return Ok(Value::new_undefined(ctx.clone())) };
        let Some(second) = values.next() else { return Ok(text(ctx, first)?.into_value()) };
        let list = Array::new(ctx.clone())?;
        for (at, value) in [first, second].into_iter().chain(values).enumerate() {
            list.set(at, text(ctx, value)?)?;
        }
        Ok(list.into_value())
    }
}

/// A head, and its headers once somebody has looked at them.
#[derive(Default)]
pub(super) struct Prepared {
    pub(super) head: Rc<RefCell<Copied>>,
    /// Kept here for as long as the head is used again; afterwards with the object of the view.
    headers: RefCell<Option<Persistent<Object<'static>>>>,
    released: Cell<bool>,
}

impl Prepared {
    /// The head is not used again: its headers are the view's from now on.
    pub(super) fn release<'js>(&self, ctx: &Ctx<'js>, view: &Object<'js>) -> Result<()> {
        self.released.set(true);
        match self.headers.take() {
            Some(headers) => view.prop("headers", Property::from(headers.restore(ctx)?).enumerable().configurable()),
            None => Ok(()),
        }
    }

    /// The world ends.
    pub(super) fn forget(&self) {
        self.headers.take();
    }

    /// Whether somebody else than the host has the view, of which `own` are the host's, or its headers.
    pub(super) fn is_kept(&self, view: &Value<'_>, own: i32) -> bool {
        if holders(view) != own {
            return true;
        }
        // The one that is kept here, and the one that is looked at.
        self.headers.borrow().as_ref().is_some_and(|headers| {
            let ctx = view.ctx();
            headers.clone().restore(ctx).is_ok_and(|headers| holders(headers.as_value()) != 2)
        })
    }
}

/// How many hold an object. QuickJS has the number in the header of the object's memory; [`counts`] says whether this one has.
#[allow(unsafe_code, reason = "the count of an object's references is read where QuickJS has it")]
fn holders(value: &Value<'_>) -> i32 {
    if !value.is_object() {
        return 0;
    }
    // SAFETY: the value is a live object, in front of which QuickJS's allocator has a header of 8 bytes (JSMallocBlockHeader).
    unsafe { qjs::JS_VALUE_GET_PTR(value.as_raw()).cast::<i32>().sub(1).read() }
}

/// Whether [`holders`] says the truth with this engine.
pub(super) fn counts(ctx: &Ctx<'_>) -> Result<bool> {
    let object = Object::new(ctx.clone())?.into_value();
    let alone = holders(&object);
    let other = object.clone();
    let both = holders(&object);
    drop(other);
    Ok((alone, both, holders(&object)) == (1, 2, 1))
}

/// A request or a response.
#[derive(Clone, JsLifetime)]
pub(super) struct View {
    of: Rc<Prepared>,
}

impl<'js> Trace<'js> for View {
    fn trace<'a>(&self, _tracer: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for View {
    const NAME: &'static str = "Head";
    type Mutable = Readable;

    fn prototype(_ctx: &Ctx<'js>) -> Result<Option<Object<'js>>> {
        Ok(None)
    }

    fn constructor(_ctx: &Ctx<'js>) -> Result<Option<rquickjs::function::Constructor<'js>>> {
        Ok(None)
    }
}

/// A view of a head, of the kind that `prototype` says.
pub(super) fn view<'js>(of: Rc<Prepared>, prototype: Object<'js>) -> Result<Object<'js>> {
    Ok(Class::instance_proto(View { of }, prototype)?.into_inner())
}

type Of<'js> = This<Class<'js, View>>;

/// What requests have.
pub(super) fn requests<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let prototype = shared(ctx)?;
    let method = |ctx: Ctx<'js>, this: Of<'js>| {
        let view = this.0.borrow();
        let head = view.of.head.borrow();
        text(&ctx, head.method.of(&head.bytes))
    };
    prototype.prop("method", Accessor::from(method).enumerable())?;
    let path = |ctx: Ctx<'js>, this: Of<'js>| {
        let view = this.0.borrow();
        let head = view.of.head.borrow();
        text(&ctx, head.target.of(&head.bytes))
    };
    prototype.prop("path", Accessor::from(path).enumerable())?;
    Ok(prototype)
}

/// What responses have.
pub(super) fn responses<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let prototype = shared(ctx)?;
    let status = |this: Of<'js>| i32::from(this.0.borrow().of.head.borrow().status);
    prototype.prop("status", Accessor::from(status).enumerable())?;
    Ok(prototype)
}

fn shared<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let prototype = Object::new(ctx.clone())?;
    // Made at the first look, and used again with its head.
    let headers = |ctx: Ctx<'js>, this: Of<'js>| -> Result<Object<'js>> {
        let view = this.0.borrow();
        if let Some(known) = view.of.headers.borrow().clone() {
            return known.restore(&ctx);
        }
        let headers = Class::instance(ctx.clone(), Headers { head: Rc::clone(&view.of.head) })?.into_inner();
        if view.of.released.get() {
            this.0.prop("headers", Property::from(headers.clone()).enumerable().configurable())?;
        } else {
            *view.of.headers.borrow_mut() = Some(Persistent::save(&ctx, headers.clone()));
        }
        Ok(headers)
    };
    prototype.prop("headers", Accessor::from(headers).enumerable())?;
    Ok(prototype)
}

/// The fields of a head, as properties by their names in lower case.
#[derive(Clone, JsLifetime)]
struct Headers {
    head: Rc<RefCell<Copied>>,
}

impl<'js> Trace<'js> for Headers {
    fn trace<'a>(&self, _tracer: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for Headers {
    const NAME: &'static str = "Headers";
    const KIND: ClassKind = ClassKind::Exotic;
    type Mutable = Readable;

    fn prototype(_ctx: &Ctx<'js>) -> Result<Option<Object<'js>>> {
        Ok(None)
    }

    fn constructor(_ctx: &Ctx<'js>) -> Result<Option<rquickjs::function::Constructor<'js>>> {
        Ok(None)
    }

    fn exotic_get_property(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        atom: Atom<'js>,
        _receiver: Value<'js>,
    ) -> Result<Value<'js>> {
        let name = atom.to_string()?;
        this.borrow().head.borrow().value(ctx, &name)
    }

    fn exotic_has_property(this: &JsCell<'js, Self>, _ctx: &Ctx<'js>, atom: Atom<'js>) -> Result<bool> {
        let name = atom.to_string()?;
        let headers = this.borrow();
        let head = headers.head.borrow();
        Ok(head.values(&name).next().is_some())
    }

    fn exotic_get_own_property(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        atom: Atom<'js>,
    ) -> Result<Option<PropertyDescriptor<'js>>> {
        let value = this.borrow().head.borrow().value(ctx, &atom.to_string()?)?;
        Ok((!value.is_undefined()).then(|| PropertyDescriptor::new_value(value, true, true, false)))
    }

    fn exotic_get_own_property_names(this: &JsCell<'js, Self>, ctx: &Ctx<'js>) -> Result<Vec<PropertyName<'js>>> {
        let headers = this.borrow();
        let head = headers.head.borrow();
        let mut seen: Vec<String> = Vec::with_capacity(head.fields.len());
        for field in &head.fields {
            let name = String::from_utf8_lossy(field.name.of(&head.bytes)).to_ascii_lowercase();
            if !seen.contains(&name) {
                seen.push(name);
            }
        }
        let atom = |name: &String| Atom::from_str(ctx.clone(), name);
        seen.iter().map(|name| Ok(PropertyName { atom: atom(name)?, is_enumerable: true })).collect()
    }
}
