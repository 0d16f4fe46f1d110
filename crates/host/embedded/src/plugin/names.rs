//! Names of properties, as QuickJS has them, and of headers behind them: looked at once a world, so that neither reading a header nor
//! a patch makes a string of its name.
#![allow(unsafe_code, reason = "atoms are QuickJS's own")]

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use leat_message::{Field, Name};
use rquickjs::{Ctx, Value, qjs};

use crate::serve::Held;

/// Headers' names that are kept: a power of two. One that comes to the place of another takes it.
const KNOWN_MAX: usize = 256;
/// Longer ones are not kept: a plug-in may look for what a peer has sent.
const NAME_BYTES_MAX: usize = 256;

/// The names of a world.
pub(super) struct Names {
    runtime: *mut qjs::JSRuntime,
    /// The class of plain objects.
    pub(super) object_class: qjs::JSClassID,
    /// Whether objects can be told apart by their shapes.
    pub(super) shapes_tell: bool,
    pub(super) then: qjs::JSAtom,
    pub(super) respond: qjs::JSAtom,
    pub(super) set: qjs::JSAtom,
    pub(super) method: qjs::JSAtom,
    pub(super) path: qjs::JSAtom,
    pub(super) headers: qjs::JSAtom,
    pub(super) body: qjs::JSAtom,
    pub(super) status: qjs::JSAtom,
    /// The members of a record, by [`super::record::MEMBERS`].
    pub(super) members: Vec<qjs::JSAtom>,
    /// The symbol under which a record has that of the walk; nothing before the world is loaded.
    pub(super) walked: Cell<qjs::JSAtom>,
    known: RefCell<Box<[Option<Rc<Known>>]>>,
}

/// A property's name as a header's.
pub(super) struct Known {
    pub(super) atom: qjs::JSAtom,
    pub(super) text: Box<[u8]>,
    pub(super) id: Name,
    /// A string in lower case: others are no headers.
    is_field: bool,
    /// One that may be set to any value, and whose place among others is that of its first setting.
    pub(super) is_plain: bool,
}

impl Names {
    /// To be dropped before the world's runtime ends; objects of its may hold it until then.
    pub(super) fn new(ctx: &Ctx<'_>, members: &[&str]) -> Self {
        let raw = ctx.as_raw().as_ptr();
        // SAFETY: the context is live, QuickJS copies the text, and what is made to learn its class is given back.
        unsafe {
            let atom = |text: &str| qjs::JS_NewAtomLen(raw, text.as_ptr().cast(), text.len() as _);
            let object = qjs::JS_NewObject(raw);
            let object_class = qjs::JS_GetClassID(object);
            qjs::JS_FreeValue(raw, object);
            let (then, respond) = (atom("then"), atom("respond"));
            Self {
                runtime: qjs::JS_GetRuntime(raw),
                object_class,
                shapes_tell: super::shapes::tell(raw, [then, respond]),
                then,
                respond,
                set: atom("set"),
                method: atom("method"),
                path: atom("path"),
                headers: atom("headers"),
                body: atom("body"),
                status: atom("status"),
                members: members.iter().map(|name| atom(name)).collect(),
                walked: Cell::new(qjs::JS_ATOM_NULL),
                known: RefCell::new((0..KNOWN_MAX).map(|_| None).collect()),
            }
        }
    }

    /// Whether a value is an object as a literal makes it: no array, no proxy, and none of the host's.
    pub(super) fn is_plain_object(&self, value: &Held) -> bool {
        // SAFETY: the value is live; only its class is looked at.
        unsafe { qjs::JS_GetClassID(value.raw()) == self.object_class }
    }

    /// Learns the symbol of records.
    pub(super) fn learn(&self, ctx: &Ctx<'_>, walked: &Value<'_>) {
        // SAFETY: both are live; the atom before, if there was one, was taken here.
        unsafe {
            let atom = qjs::JS_ValueToAtom(ctx.as_raw().as_ptr(), walked.as_raw());
            qjs::JS_FreeAtomRT(self.runtime, self.walked.replace(atom));
        }
    }

    /// What a property's name is as a header's. Costs a string the first time.
    pub(super) fn known(&self, ctx: *mut qjs::JSContext, atom: qjs::JSAtom) -> Option<Rc<Known>> {
        let place = atom as usize & (KNOWN_MAX - 1);
        let mut known = self.known.try_borrow_mut().ok()?;
        let slot = known.get_mut(place)?;
        if let Some(found) = slot.as_ref().filter(|found| found.atom == atom) {
            return Some(Rc::clone(found));
        }
        // SAFETY: the caller's context and atom are live. The atom is kept with what is known of it, so that it stays the same name.
        let made = Rc::new(unsafe { Known::new(ctx, atom) }?);
        if made.text.len() > NAME_BYTES_MAX {
            return Some(made);
        }
        // SAFETY: as above.
        unsafe { qjs::JS_DupAtom(ctx, atom) };
        if let Some(old) = slot.replace(Rc::clone(&made)) {
            // SAFETY: it was kept when it got its place.
            unsafe { qjs::JS_FreeAtomRT(self.runtime, old.atom) };
        }
        Some(made)
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        let fixed = [self.then, self.respond, self.set, self.method, self.path, self.headers, self.body, self.status];
        let known = self.known.get_mut().iter().flatten().map(|known| known.atom);
        let fixed = fixed.into_iter().chain([self.walked.get()]);
        for atom in fixed.chain(self.members.iter().copied()).chain(known) {
            // SAFETY: the runtime is live, by what `new` asks for, and each was taken once.
            unsafe { qjs::JS_FreeAtomRT(self.runtime, atom) };
        }
    }
}

impl Known {
    /// # Safety
    /// Context and atom are live.
    unsafe fn new(ctx: *mut qjs::JSContext, atom: qjs::JSAtom) -> Option<Self> {
        // SAFETY: by what the caller promises; value and text are given back.
        unsafe {
            let value = qjs::JS_AtomToValue(ctx, atom);
            let is_string = qjs::JS_IsString(value);
            qjs::JS_FreeValue(ctx, value);
            let mut length = 0;
            let start = qjs::JS_AtomToCStringLen(ctx, &mut length, atom);
            if start.is_null() {
                qjs::JS_FreeValue(ctx, qjs::JS_GetException(ctx));
                return None;
            }
            let text: Box<[u8]> = std::slice::from_raw_parts(start.cast::<u8>(), length as usize).into();
            qjs::JS_FreeCString(ctx, start);
            let id = Name::from_bytes(&text);
            let is_field = is_string && !text.iter().any(u8::is_ascii_uppercase);
            // Numbers come before all other properties; `__proto__` is no property to set.
            let is_number = text.iter().all(u8::is_ascii_digit);
            let has_any_value = id != Name::Host && super::patch::may_set(&text, id).is_ok();
            let is_plain = is_field && !is_number && &*text != b"__proto__" && has_any_value;
            Some(Self { atom, text, id, is_field, is_plain })
        }
    }

    /// Whether a field has this name.
    #[inline]
    pub(super) fn is_of(&self, field: &Field, bytes: &[u8]) -> bool {
        let same = match field.id {
            Name::Other => {
                let name = field.name.of(bytes);
                name.len() == self.text.len() && name.eq_ignore_ascii_case(&self.text)
            }
            id => id == self.id,
        };
        same && self.is_field
    }
}
