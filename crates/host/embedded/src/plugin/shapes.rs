//! What a hook returns has the same properties each time, as a rule. QuickJS calls that a shape, and so objects are told apart by one
//! comparison: what was found out about the first need not be asked of the others. Objects of the same shape are kept, since it would
//! be made anew for each that comes otherwise.
#![allow(unsafe_code, reason = "objects are made and read as QuickJS keeps them")]

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rquickjs::{Ctx, qjs};

use super::names::{Known, Names};
use crate::serve::Held;

/// Where an object has its shape: behind the links of the collector and its flags (`JSObject` of quickjs.c). [`tell`] tries it.
const SHAPE_OFFSET: usize = 24;
/// Headers of a change whose shape is kept.
const NAMES_MAX: usize = 8;

/// The changes that a hook made last: `{ headers: { … } }`, with these names. To be dropped before its world ends.
#[derive(Default)]
pub(super) struct Usual {
    known: RefCell<Option<Shapes>>,
    /// Changes that were others. At the 1st, 2nd, 4th, 8th… it is looked what they are.
    misses: Cell<u32>,
}

struct Shapes {
    change: Kept,
    headers: Kept,
    names: Vec<Rc<Known>>,
    /// `Object.prototype`, which both have.
    prototype: Held,
}

/// Objects of a shape, and of those that one goes through to come to it.
struct Kept {
    steps: Vec<Held>,
}

impl Usual {
    /// The headers of a change, and their names in order, if it is as the last one was, and inherits nothing of `others`.
    pub(super) fn headers_of(
        &self,
        names: &Names,
        value: &Held,
        others: &[qjs::JSAtom],
    ) -> Option<(Held, std::cell::Ref<'_, [Rc<Known>]>)> {
        let known = std::cell::Ref::filter_map(self.known.try_borrow().ok()?, Option::as_ref).ok()?;
        if !known.change.is_like(value) || others.iter().any(|name| known.prototype.has_own(*name)) {
            return None;
        }
        let headers = value.get(names.headers);
        if !names.is_plain_object(&headers) || !known.headers.is_like(&headers) {
            return None;
        }
        Some((headers, std::cell::Ref::map(known, |known| &*known.names)))
    }

    /// A change was another than the last one, with these names of headers.
    pub(super) fn learn(&self, ctx: &Ctx<'_>, names: &Names, value: &Held, headers: &Held, found: Vec<Rc<Known>>) {
        if !names.shapes_tell || found.len() > NAMES_MAX || found.iter().any(|name| !name.is_plain) {
            return;
        }
        let Ok(mut known) = self.known.try_borrow_mut() else { return };
        let raw = ctx.as_raw().as_ptr();
        let of = || {
            let change = Kept::new(raw, [names.headers].into_iter())?;
            let inside = Kept::new(raw, found.iter().map(|name| name.atom))?;
            // SAFETY: the context is live, and what it gives is owned.
            let prototype = unsafe { Held::new(raw, qjs::JS_GetClassProto(raw, names.object_class)) };
            let is_it = change.is_like(value) && inside.is_like(headers);
            is_it.then_some(Shapes { change, headers: inside, names: found, prototype })
        };
        let old = std::mem::replace(&mut *known, of());
        drop((known, old));
    }

    /// Whether a change that is another than the last one is to be looked at.
    pub(super) fn is_worth_a_look(&self) -> bool {
        let misses = self.misses.get().saturating_add(1);
        self.misses.set(misses);
        misses.is_power_of_two()
    }
}

impl Kept {
    /// `None`: out of memory.
    fn new(ctx: *mut qjs::JSContext, names: impl Iterator<Item = qjs::JSAtom> + Clone) -> Option<Self> {
        let count = names.clone().count();
        let step = |length: usize| {
            // SAFETY: the context is live, and what it gives is owned.
            let object = unsafe { Held::new(ctx, qjs::JS_NewObject(ctx)) };
            let is_made = names.clone().take(length).all(|name| object.define(name, qjs::JS_UNDEFINED));
            (object.is_object() && is_made).then_some(object)
        };
        let steps = (0..=count).map(step).collect::<Option<_>>();
        if steps.is_none() {
            // SAFETY: the context is live; what was thrown is given back.
            unsafe { qjs::JS_FreeValue(ctx, qjs::JS_GetException(ctx)) }
        }
        Some(Self { steps: steps? })
    }

    /// Whether an object has the same properties of its own, in the same order and of the same kind, and the same prototype.
    fn is_like(&self, value: &Held) -> bool {
        self.steps.last().is_some_and(|last| value.is_object() && shape(last.raw()) == shape(value.raw()))
    }
}

/// Whether two objects have the same properties of their own, and the same prototype. Only where [`tell`] says so.
pub(super) fn are_alike(one: &Held, other: &Held) -> bool {
    one.is_object() && other.is_object() && shape(one.raw()) == shape(other.raw())
}

/// What tells the shape of an object from others, for as long as another one of it lives.
fn shape(object: qjs::JSValue) -> usize {
    // SAFETY: a value that is a live object, which is larger than that; `tell` says whether it is the shape that stands there.
    unsafe { qjs::JS_VALUE_GET_PTR(object).cast::<u8>().add(SHAPE_OFFSET).cast::<usize>().read() }
}

/// Whether [`shape`] says the truth with this engine.
pub(super) fn tell(ctx: *mut qjs::JSContext, names: [qjs::JSAtom; 2]) -> bool {
    let [one, other] = names;
    // SAFETY: the context is live, and what it gives is owned.
    let new = |prototype: Option<qjs::JSValue>, name| unsafe {
        let object = match prototype {
            None => qjs::JS_NewObject(ctx),
            Some(prototype) => qjs::JS_NewObjectProto(ctx, prototype),
        };
        let object = Held::new(ctx, object);
        (object.is_object() && object.define(name, qjs::JS_UNDEFINED)).then_some(object)
    };
    let (Some(a), Some(b), Some(c), Some(d)) =
        (new(None, one), new(None, one), new(None, other), new(Some(qjs::JS_NULL), one))
    else {
        return false;
    };
    let is_told = |a: &Held, b: &Held| shape(a.raw()) == shape(b.raw());
    let before = is_told(&a, &b) && !is_told(&a, &c) && !is_told(&a, &d);
    before && b.define(other, qjs::JS_UNDEFINED) && !is_told(&a, &b)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use rquickjs::{Context, Runtime};

    use super::*;

    #[test]
    fn this_engine_tells_objects_apart_by_their_shapes() {
        let context = Context::full(&Runtime::new().unwrap()).unwrap();
        context.with(|ctx| {
            let raw = ctx.as_raw().as_ptr();
            // SAFETY: the context is live, and the names are given back.
            unsafe {
                let names = [qjs::JS_NewAtom(raw, c"one".as_ptr()), qjs::JS_NewAtom(raw, c"other".as_ptr())];
                assert!(tell(raw, names));
                names.into_iter().for_each(|name| qjs::JS_FreeAtom(raw, name));
            }
        });
    }
}
