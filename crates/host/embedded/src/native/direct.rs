//! Native functions as QuickJS itself calls them: arguments are looked at in place, nothing is converted or allocated on the
//! way. For what programs call a million times a second; everything else is better off with rquickjs's own functions.
#![allow(unsafe_code, reason = "values are read as QuickJS keeps them")]

use std::ffi::{CStr, c_int};
use std::marker::PhantomData;

use rquickjs::qjs;
use rquickjs::{Ctx, Error, Result, Value};

/// A value of JavaScript, borrowed for the length of a call.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'a>(qjs::JSValue, PhantomData<&'a ()>);

/// What a call gives back: an owned value, or the mark that an exception is pending.
pub(crate) struct Given(qjs::JSValue);

/// The body of a function.
pub(crate) type Body = fn(&Call<'_>) -> Given;

/// Functions that share a table: QuickJS calls all of them through one entry, which picks the body.
pub(crate) trait Table {
    /// The bodies, by the low byte of a function's number.
    const BODIES: &'static [Body];
}

/// A call under way.
pub(crate) struct Call<'a> {
    ctx: *mut qjs::JSContext,
    this: qjs::JSValue,
    arguments: &'a [qjs::JSValue],
    data: *const qjs::JSValue,
    /// The upper bits of the function's number.
    pub(crate) kind: u32,
}

/// A function of `T`: the body at `body`, told `kind`, and given `data` (one value that lives as long as the function does).
pub(crate) fn function<'js, T: Table>(
    ctx: &Ctx<'js>,
    name: &CStr,
    (length, body, kind): (i32, u8, u32),
    data: &[Value<'js>],
) -> Result<Value<'js>> {
    let mut data: Vec<qjs::JSValue> = data.iter().map(Value::as_raw).collect();
    let number = (kind << 8 | u32::from(body)) as c_int;
    let count = data.len() as c_int;
    // SAFETY: the context is live; QuickJS takes references to `data` of its own, and copies the name.
    unsafe {
        let raw = ctx.as_raw().as_ptr();
        let made =
            qjs::JS_NewCFunctionData2(raw, Some(enter::<T>), name.as_ptr(), length, number, count, data.as_mut_ptr());
        if qjs::JS_IsException(made) { Err(Error::Exception) } else { Ok(Value::from_raw(ctx.clone(), made)) }
    }
}

unsafe extern "C" fn enter<T: Table>(
    ctx: *mut qjs::JSContext,
    this: qjs::JSValue,
    count: c_int,
    arguments: *mut qjs::JSValue,
    number: c_int,
    data: *mut qjs::JSValue,
) -> qjs::JSValue {
    let number = number as u32;
    let Some(body) = T::BODIES.get((number & 0xff) as usize) else { return qjs::JS_UNDEFINED };
    // SAFETY: QuickJS gives `count` arguments, which stay valid for the call.
    let arguments = match usize::try_from(count) {
        Ok(count) if count > 0 && !arguments.is_null() => unsafe { std::slice::from_raw_parts(arguments, count) },
        _ => &[],
    };
    body(&Call { ctx, this, arguments, data, kind: number >> 8 }).0
}

impl<'a> Call<'a> {
    /// The context of the call.
    pub(crate) fn context<'js>(&self) -> Option<Ctx<'js>> {
        // SAFETY: QuickJS called with it, so it is live and its lock is held; the copy counts for itself.
        std::ptr::NonNull::new(self.ctx).map(|raw| unsafe { Ctx::from_raw(raw) })
    }

    pub(crate) fn this(&self) -> Seen<'a> {
        Seen(self.this, PhantomData)
    }

    /// The argument at `at`; undefined behind the last.
    pub(crate) fn at(&self, at: usize) -> Seen<'a> {
        Seen(self.arguments.get(at).copied().unwrap_or(qjs::JS_UNDEFINED), PhantomData)
    }

    /// The value at `at` of those that the function was made with; `at` must be below their number.
    fn datum(&self, at: usize) -> qjs::JSValue {
        // SAFETY: callers name values that they gave when they made the function.
        unsafe { *self.data.add(at) }
    }

    /// A position or a count: `missing` if it is undefined, 0 if it is not a number.
    pub(crate) fn index(&self, at: usize, missing: usize) -> usize {
        let seen = self.at(at);
        if seen.is_undefined() { missing } else { seen.number().map_or(0, |number| number as usize) }
    }

    /// The text of a string as UTF-8, where lone surrogates are three bytes of their own; `None` if it is none.
    pub(crate) fn text(&self, at: usize) -> Option<Text<'_>> {
        let value = self.at(at).0;
        // SAFETY: the value is a string, so nobody's `toString` runs; the bytes live until `Text` gives them back.
        unsafe {
            if !qjs::JS_IsString(value) {
                return None;
            }
            let mut length = 0;
            let bytes = qjs::JS_ToCStringLen2(self.ctx, &mut length, value, false);
            (!bytes.is_null()).then_some(Text { call: self, bytes: bytes.cast(), length: length as usize })
        }
    }

    /// The UTF-16 units of a string.
    pub(crate) fn units(&self, at: usize) -> Option<Units<'_>> {
        let value = self.at(at).0;
        // SAFETY: as of `text`.
        unsafe {
            if !qjs::JS_IsString(value) {
                return None;
            }
            let mut length = 0;
            let units = qjs::JS_ToCStringLenUTF16(self.ctx, &mut length, value);
            (!units.is_null()).then_some(Units { call: self, units, length: length as usize })
        }
    }

    /// A new array of `length` zeros, of the class at `class` (one that extends Uint8Array).
    pub(crate) fn make(&self, class: usize, length: usize) -> Given {
        let mut wanted = [qjs::JS_NewFloat64(length as f64)];
        // SAFETY: the values are live. What is called is the base class's own constructor, which the function was made with.
        Given(unsafe { qjs::JS_CallConstructor2(self.ctx, self.datum(0), self.at(class).0, 1, wanted.as_mut_ptr()) })
    }

    /// The element at `at` of an array; the getter of a strange array may run.
    pub(crate) fn element(&self, list: Seen<'_>, at: usize) -> Given {
        // SAFETY: the values are live.
        Given(unsafe { qjs::JS_GetPropertyInt64(self.ctx, list.0, at as i64) })
    }

    /// The `length` of a list; `None` if a strange list throws.
    pub(crate) fn length(&self, list: Seen<'_>) -> Option<usize> {
        let mut length = 0;
        // SAFETY: the values are live.
        if unsafe { qjs::JS_GetLength(self.ctx, list.0, &mut length) } < 0 {
            None
        } else {
            usize::try_from(length).ok()
        }
    }

    /// The name of a property: quick for literals and symbols, which are atoms already. `None` if the value throws as a name.
    pub(crate) fn name(&self, value: Seen<'_>) -> Option<Name<'_>> {
        // SAFETY: the value is live; the atom is given back by `Name`.
        let atom = unsafe { qjs::JS_ValueToAtom(self.ctx, value.0) };
        (atom != qjs::JS_ATOM_NULL).then_some(Name { call: self, atom })
    }

    /// As `name`, of a value that is no argument.
    pub(crate) fn name_of(&self, value: &Value<'_>) -> Option<Name<'_>> {
        self.name(Seen(value.as_raw(), PhantomData))
    }

    /// The property called `name`.
    pub(crate) fn property(&self, of: Seen<'_>, name: &Name<'_>) -> Given {
        // SAFETY: value and atom are live.
        Given(unsafe { qjs::JS_GetProperty(self.ctx, of.0, name.atom) })
    }

    /// One of the values that the function was made with.
    pub(crate) fn own(&self, at: usize) -> Seen<'_> {
        Seen(self.datum(at), PhantomData)
    }

    /// Calls `function` with this call's `this` and its arguments from `skip` on.
    pub(crate) fn pass(&self, function: Seen<'_>, skip: usize) -> Given {
        let rest = self.arguments.get(skip..).unwrap_or(&[]);
        // SAFETY: the values are live. QuickJS does not write to the arguments of a call, though it takes them by a mutable
        // pointer.
        Given(unsafe { qjs::JS_Call(self.ctx, function.0, self.this, rest.len() as c_int, rest.as_ptr().cast_mut()) })
    }

    /// Calls `function` with this call's `this` and `arguments`.
    pub(crate) fn call(&self, function: Seen<'_>, arguments: &[Seen<'_>]) -> Given {
        let mut raw: [qjs::JSValue; 4] = [qjs::JS_UNDEFINED; 4];
        for (to, from) in raw.iter_mut().zip(arguments) {
            *to = from.0;
        }
        let count = arguments.len().min(raw.len()) as c_int;
        // SAFETY: the values are live.
        Given(unsafe { qjs::JS_Call(self.ctx, function.0, self.this, count, raw.as_mut_ptr()) })
    }

    /// This call's arguments from `skip` on, as an array.
    pub(crate) fn rest(&self, skip: usize) -> Given {
        // SAFETY: the values are live; the array takes references of its own.
        unsafe {
            let array = qjs::JS_NewArray(self.ctx);
            for (at, value) in self.arguments.iter().skip(skip).enumerate() {
                qjs::JS_SetPropertyInt64(self.ctx, array, at as i64, qjs::JS_DupValue(self.ctx, *value));
            }
            Given(array)
        }
    }

    /// Frees what a call gave.
    pub(crate) fn free(&self, given: Given) {
        // SAFETY: it is owned.
        unsafe { qjs::JS_FreeValue(self.ctx, given.0) }
    }

    /// A string of UTF-8.
    pub(crate) fn string(&self, text: &[u8]) -> Given {
        // SAFETY: the bytes are copied.
        Given(unsafe { qjs::JS_NewStringLen(self.ctx, text.as_ptr().cast(), text.len() as _) })
    }

    /// The value that a text in UTF-8 is as JSON; `None` if it is none, and nothing is thrown.
    pub(crate) fn parse_json(&self, text: &CStr) -> Option<Given> {
        // SAFETY: the text has a zero behind it, which the parser asks for, and is only read; what is thrown is taken back.
        unsafe {
            let value = qjs::JS_ParseJSON(self.ctx, text.as_ptr(), text.count_bytes() as _, c"body".as_ptr());
            if qjs::JS_IsException(value) {
                qjs::JS_FreeValue(self.ctx, qjs::JS_GetException(self.ctx));
                return None;
            }
            Some(Given(value))
        }
    }

    /// A string of UTF-16 units.
    pub(crate) fn string_of_units(&self, units: &[u16]) -> Given {
        // SAFETY: the units are copied.
        Given(unsafe { qjs::JS_NewStringUTF16(self.ctx, units.as_ptr(), units.len() as _) })
    }

    pub(crate) fn big(&self, value: i64) -> Given {
        // SAFETY: the context is live.
        Given(unsafe { qjs::JS_NewBigInt64(self.ctx, value) })
    }

    pub(crate) fn big_unsigned(&self, value: u64) -> Given {
        // SAFETY: the context is live.
        Given(unsafe { qjs::JS_NewBigUint64(self.ctx, value) })
    }

    /// A BigInt of 64 bits; `None` if it is wider, or none.
    pub(crate) fn big_at(&self, at: usize, signed: bool) -> Option<u64> {
        let value = self.at(at).0;
        let mut bits = 0;
        // SAFETY: the value is a BigInt, so nobody's `valueOf` runs; what is made to compare is given back.
        unsafe {
            if !qjs::JS_IsBigInt(value) || qjs::JS_ToBigInt64(self.ctx, &mut bits, value) != 0 {
                return None;
            }
            let same = if signed { self.big(bits) } else { self.big_unsigned(bits as u64) };
            let fits = qjs::JS_IsStrictEqual(self.ctx, value, same.0);
            self.free(same);
            fits.then_some(bits as u64)
        }
    }

    /// The bytes of a Uint8Array, or of a class that extends it.
    pub(crate) fn bytes(&self, of: Seen<'a>) -> Option<Bytes> {
        let uint8 = qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT8 as c_int;
        // SAFETY: the value is live; what is thrown for arrays out of bounds is taken back.
        unsafe {
            if !qjs::JS_IsObject(of.0) || qjs::JS_GetTypedArrayType(of.0) != uint8 {
                return None;
            }
            let mut length = 0;
            let start = qjs::JS_GetUint8Array(self.ctx, &mut length, of.0);
            if start.is_null() && qjs::JS_HasException(self.ctx) {
                qjs::JS_FreeValue(self.ctx, qjs::JS_GetException(self.ctx));
                return None;
            }
            Some(Bytes { start, length: length as usize })
        }
    }
}

impl Seen<'_> {
    /// The value, for functions of QuickJS that this file has no name for.
    pub(crate) fn raw(self) -> qjs::JSValue {
        self.0
    }

    pub(crate) fn is_undefined(self) -> bool {
        // SAFETY: only the tag is looked at.
        unsafe { qjs::JS_IsUndefined(self.0) }
    }

    pub(crate) fn is_nothing(self) -> bool {
        // SAFETY: only the tag is looked at.
        unsafe { qjs::JS_IsNull(self.0) || qjs::JS_IsUndefined(self.0) }
    }

    pub(crate) fn is_array(self) -> bool {
        // SAFETY: only the class is looked at.
        unsafe { qjs::JS_IsArray(self.0) }
    }

    pub(crate) fn is_object(self) -> bool {
        // SAFETY: only the tag is looked at.
        unsafe { qjs::JS_IsObject(self.0) }
    }

    pub(crate) fn is_true(self) -> bool {
        // SAFETY: only the tag and the value beside it are looked at.
        unsafe { qjs::JS_IsBool(self.0) && qjs::JS_VALUE_GET_BOOL(self.0) }
    }

    pub(crate) fn number(self) -> Option<f64> {
        // SAFETY: the tag says which it is.
        unsafe {
            if qjs::JS_IsInt(self.0) {
                return Some(f64::from(qjs::JS_VALUE_GET_INT(self.0)));
            }
            qjs::JS_IsNumber(self.0).then(|| qjs::JS_VALUE_GET_FLOAT64(self.0))
        }
    }

    /// A number without a fraction, from 0.
    pub(crate) fn whole(self) -> Option<usize> {
        let number = self.number()?;
        (number >= 0.0 && number.fract() == 0.0).then_some(number as usize)
    }
}

impl Given {
    pub(crate) const UNDEFINED: Self = Self(qjs::JS_UNDEFINED);

    /// A value that is nobody else's, by a function of QuickJS that this file has no name for.
    pub(crate) fn owned(value: qjs::JSValue) -> Self {
        Self(value)
    }

    /// The value, to be given on.
    pub(crate) fn into_raw(self) -> qjs::JSValue {
        self.0
    }

    pub(crate) fn seen(&self) -> Seen<'_> {
        Seen(self.0, PhantomData)
    }

    /// An exception is pending.
    pub(crate) const THROWN: Self = Self(qjs::JS_EXCEPTION);

    pub(crate) fn is_exception(&self) -> bool {
        // SAFETY: only the tag is looked at.
        unsafe { qjs::JS_IsException(self.0) }
    }

    pub(crate) fn number(number: f64) -> Self {
        Self(qjs::JS_NewFloat64(number))
    }

    /// A number that JavaScript has as a small integer.
    pub(crate) fn int(value: i32) -> Self {
        Self(qjs::JS_MKVAL(qjs::JS_TAG_INT, value))
    }

    pub(crate) fn bool(value: bool) -> Self {
        Self(if value { qjs::JS_TRUE } else { qjs::JS_FALSE })
    }
}

/// The name of a property.
pub(crate) struct Name<'c> {
    call: &'c Call<'c>,
    atom: qjs::JSAtom,
}

impl Name<'_> {
    /// The name, for functions of QuickJS that this file has no name for.
    pub(crate) fn atom(&self) -> qjs::JSAtom {
        self.atom
    }
}

impl PartialEq for Name<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.atom == other.atom
    }
}

impl Drop for Name<'_> {
    fn drop(&mut self) {
        // SAFETY: `Call::name` took it, once.
        unsafe { qjs::JS_FreeAtom(self.call.ctx, self.atom) }
    }
}

/// Bytes of a Uint8Array. They move or go once JavaScript runs again, so nobody keeps them across a call.
#[derive(Clone, Copy)]
pub(crate) struct Bytes {
    start: *mut u8,
    length: usize,
}

impl Bytes {
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// The bytes, to read. Not to be kept while `write` of the same array is used.
    pub(crate) fn read(&self) -> &[u8] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: QuickJS keeps `length` bytes there for the length of the call, on this thread alone.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }

    /// The bytes, to write.
    pub(crate) fn write(&mut self) -> &mut [u8] {
        if self.length == 0 {
            return &mut [];
        }
        // SAFETY: as of `read`; bodies that read another array at the same time use `copy`.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.length) }
    }

    /// Copies as many bytes of `from` from `begin` on as it has and as fit at `at`, at most `most`; the two may overlap.
    pub(crate) fn copy(&mut self, at: usize, from: &Bytes, begin: usize, most: usize) -> usize {
        let count = most.min(self.length.saturating_sub(at)).min(from.length.saturating_sub(begin));
        if count > 0 {
            // SAFETY: both ranges lie within their arrays, by the line above.
            unsafe { std::ptr::copy(from.start.add(begin), self.start.add(at), count) };
        }
        count
    }
}

/// The UTF-8 of a string.
pub(crate) struct Text<'c> {
    call: &'c Call<'c>,
    bytes: *const u8,
    length: usize,
}

impl Text<'_> {
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: QuickJS keeps them until they are given back.
        unsafe { std::slice::from_raw_parts(self.bytes, self.length) }
    }
}

impl Drop for Text<'_> {
    fn drop(&mut self) {
        // SAFETY: they came from `JS_ToCStringLen2`, once.
        unsafe { qjs::JS_FreeCString(self.call.ctx, self.bytes.cast()) }
    }
}

/// The UTF-16 units of a string.
pub(crate) struct Units<'c> {
    call: &'c Call<'c>,
    units: *const u16,
    length: usize,
}

impl Units<'_> {
    pub(crate) fn units(&self) -> &[u16] {
        // SAFETY: QuickJS keeps them until they are given back.
        unsafe { std::slice::from_raw_parts(self.units, self.length) }
    }
}

impl Drop for Units<'_> {
    fn drop(&mut self) {
        // SAFETY: they came from `JS_ToCStringLenUTF16`, once.
        unsafe { qjs::JS_FreeCStringUTF16(self.call.ctx, self.units) }
    }
}
