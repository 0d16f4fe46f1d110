//! Bytes that JavaScript owns.
#![allow(unsafe_code, reason = "the memory of a typed array is read and written in place")]

use rquickjs::{ArrayBuffer, Ctx, Exception, Object, Result, TypedArray, Value};

/// The bytes of a Uint8Array (a Buffer too), for as long as `read` runs; a detached one has none.
pub(super) fn read<'js, R>(array: &TypedArray<'js, u8>, read: impl FnOnce(&[u8]) -> R) -> R {
    // SAFETY: `read` gets no context, so no JavaScript runs that could move or free the memory, and the world has one thread.
    match unsafe { array.as_bytes() } {
        Some(bytes) => read(bytes),
        None => read(&[]),
    }
}

/// As [`read`], to be written. `array` is the only view that Rust holds at that time.
pub(super) fn write<'js, R>(array: &TypedArray<'js, u8>, write: impl FnOnce(&mut [u8]) -> R) -> R {
    match array.as_raw() {
        // SAFETY: as in `read`; one thread and no other Rust reference while `write` runs.
        Some(mut bytes) => write(unsafe { bytes.as_mut() }),
        None => write(&mut []),
    }
}

/// A copy of the bytes of a Uint8Array, or of a string's UTF-8, where half a surrogate pair is U+FFFD.
pub(crate) fn copied<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Vec<u8>> {
    if let Some(text) = value.as_string() {
        let mut bytes = Vec::new();
        crate::serve::append_text(&mut bytes, text, false)?;
        return Ok(bytes);
    }
    match array(value) {
        Some(array) => Ok(read(&array, <[u8]>::to_vec)),
        None => Err(Exception::throw_type(ctx, "neither a string nor a Uint8Array")),
    }
}

/// Bytes for JavaScript, in its own heap: what it keeps counts for the world's limit, as memory of Rust's would not.
///
/// Costs a copy.
///
/// # Errors
/// Where the heap has no room.
pub(super) fn buffer<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<Value<'js>> {
    Ok(ArrayBuffer::new_copy(ctx.clone(), bytes)?.into_value())
}

/// The same as a Uint8Array.
pub(super) fn uint8_array<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<Value<'js>> {
    Ok(TypedArray::<u8>::new_copy(ctx.clone(), bytes)?.into_value())
}

/// The Uint8Array that `value` is.
pub(super) fn array<'js>(value: &Value<'js>) -> Option<TypedArray<'js, u8>> {
    value.as_object().and_then(|object: &Object<'js>| TypedArray::from_object(object.clone()).ok())
}
