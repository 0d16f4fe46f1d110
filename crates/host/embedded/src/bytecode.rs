//! Functions to and from QuickJS's bytecode. QuickJS does not validate bytecode, so only what this binary wrote may be read.
#![allow(unsafe_code, reason = "bytecode is read by QuickJS's own functions")]

use rquickjs::{Ctx, Error, Result, Value, qjs};

/// Reads a compiled script and runs it; gives its value. Costs a pass over the bytes and the objects that they describe.
///
/// # Safety
/// The bytes were written by the QuickJS that this binary has, from a source that it compiled itself.
pub(crate) unsafe fn run<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<Value<'js>> {
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: the context is live, the bytes outlive the call and are valid by the caller's word. `JS_EvalFunction` takes
    // the function over, and its value, or the exception, is ours.
    unsafe {
        let function = qjs::JS_ReadObject(raw, bytes.as_ptr(), bytes.len() as _, qjs::JS_READ_OBJ_BYTECODE as i32);
        if qjs::JS_IsException(function) {
            return Err(Error::Exception);
        }
        let value = qjs::JS_EvalFunction(raw, function);
        if qjs::JS_IsException(value) {
            return Err(Error::Exception);
        }
        Ok(Value::from_raw(ctx.clone(), value))
    }
}
