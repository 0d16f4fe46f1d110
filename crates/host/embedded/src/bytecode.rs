//! Functions to and from QuickJS's bytecode. QuickJS does not validate bytecode, so only what this binary wrote may be read.
#![allow(unsafe_code, reason = "bytecode is read by QuickJS's own functions")]

use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Module, Object, Promise, Result, Value, qjs};

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

/// Reads a compiled ES module. What it imports is resolved by whoever imports it.
///
/// # Safety
/// As of [`run`].
pub(crate) unsafe fn module<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<Module<'js, Declared>> {
    // SAFETY: the caller's.
    unsafe { Module::load(ctx.clone(), bytes) }
}

/// Reads a compiled ES module that nobody imports, loads what it imports, and runs it; `describe` gets its `import.meta`. Gives
/// the promise of its top level.
///
/// # Safety
/// As of [`run`].
pub(crate) unsafe fn run_module<'js>(
    ctx: &Ctx<'js>,
    bytes: &[u8],
    describe: impl FnOnce(&Object<'js>) -> Result<()>,
) -> Result<Promise<'js>> {
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: as in `run`. A module belongs to the context, which outlives this; `JS_EvalFunction` takes over a reference.
    unsafe {
        let module = qjs::JS_ReadObject(raw, bytes.as_ptr(), bytes.len() as _, qjs::JS_READ_OBJ_BYTECODE as i32);
        if qjs::JS_IsException(module) || qjs::JS_ResolveModule(raw, module) < 0 {
            return Err(Error::Exception);
        }
        let meta = qjs::JS_GetImportMeta(raw, qjs::JS_VALUE_GET_PTR(module).cast());
        if qjs::JS_IsException(meta) {
            return Err(Error::Exception);
        }
        describe(&Object::from_value(Value::from_raw(ctx.clone(), meta))?)?;
        let value = qjs::JS_EvalFunction(raw, qjs::JS_DupValue(raw, module));
        if qjs::JS_IsException(value) {
            return Err(Error::Exception);
        }
        Promise::from_value(Value::from_raw(ctx.clone(), value))
    }
}

/// Writes what was compiled as bytecode. Sources stay in it, for `Function.prototype.toString`.
///
/// # Errors
/// Out of memory.
pub(crate) fn write(ctx: &Ctx<'_>, compiled: &Compiled<'_>) -> Result<Vec<u8>> {
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: the context and the value are live; what was written is copied before it is freed.
    unsafe {
        let mut length = 0;
        let bytes = qjs::JS_WriteObject(raw, &raw mut length, compiled.value, qjs::JS_WRITE_OBJ_BYTECODE as i32);
        if bytes.is_null() {
            return Err(Error::Exception);
        }
        let copied = std::slice::from_raw_parts(bytes, length as usize).to_vec();
        qjs::js_free(raw, bytes.cast());
        Ok(copied)
    }
}

/// A script that was compiled and has not run.
pub(crate) struct Compiled<'js> {
    ctx: Ctx<'js>,
    value: qjs::JSValue,
}

impl<'js> Compiled<'js> {
    /// # Safety
    /// `value` is the result of compiling without running, is no exception, and is nobody else's.
    pub(crate) unsafe fn new(ctx: &Ctx<'js>, value: qjs::JSValue) -> Self {
        Self { ctx: ctx.clone(), value }
    }

    /// Runs it; gives its value.
    pub(crate) fn run(mut self) -> Result<Value<'js>> {
        // What is dropped at the end is nothing any more, but for the hold on the context.
        let script = std::mem::replace(&mut self.value, qjs::JS_UNDEFINED);
        // SAFETY: the context is live; `JS_EvalFunction` takes over the script; the result is ours.
        unsafe {
            let value = qjs::JS_EvalFunction(self.ctx.as_raw().as_ptr(), script);
            if qjs::JS_IsException(value) {
                return Err(Error::Exception);
            }
            Ok(Value::from_raw(self.ctx.clone(), value))
        }
    }
}

impl Drop for Compiled<'_> {
    fn drop(&mut self) {
        // SAFETY: the value is this one's alone.
        unsafe { qjs::JS_FreeValue(self.ctx.as_raw().as_ptr(), self.value) };
    }
}
