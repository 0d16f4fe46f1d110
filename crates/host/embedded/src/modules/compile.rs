//! Sources become functions and modules of QuickJS.
#![allow(unsafe_code, reason = "QuickJS's own functions compile with a line number, and without running")]

use std::borrow::Cow;
use std::ffi::CString;

use rquickjs::module::{Declared, WriteOptions};
use rquickjs::{Ctx, Error, Exception, Function, Module, Object, Promise, Result, qjs};

use super::cache::{Cache, SOURCE_BYTES_MIN};
use super::refusal::text_of;
use super::source::excerpt;
use crate::bytecode::{self, Compiled};

/// What a CommonJS source stands in. Its lines come before the first, so that lines and columns are the source's.
const HEAD: &str = "(function (exports, require, module, __filename, __dirname) {\n\n";
/// The line that [`HEAD`] begins on. QuickJS takes 0 for 1.
const HEAD_LINE: i32 = -1;
const TAIL: &str = "\n})";

/// The function around a CommonJS source: out of `cache` if it was compiled before.
///
/// # Errors
/// Its syntax is wrong.
pub(crate) fn script<'js>(ctx: &Ctx<'js>, cache: Option<&Cache>, path: &str, text: &str) -> Result<Function<'js>> {
    let Some(cache) = cache.filter(|_| text.len() >= SOURCE_BYTES_MIN) else {
        return Function::from_value(compile(ctx, path, text)?.run()?);
    };
    if let Some(bytes) = cache.read(path, text) {
        // SAFETY: the checksum says that this build wrote it, from this source.
        return Function::from_value(unsafe { bytecode::run(ctx, &bytes) }?);
    }
    let compiled = compile(ctx, path, text)?;
    if let Ok(bytes) = bytecode::write(ctx, &compiled) {
        cache.write(path, text, &bytes);
    }
    Function::from_value(compiled.run()?)
}

/// The function around a CommonJS module that the executable carries.
pub(crate) fn carried<'js>(ctx: &Ctx<'js>, bytes: &'static [u8]) -> Result<Function<'js>> {
    // SAFETY: the same executable wrote it; the checksum over all that it carries was right.
    Function::from_value(unsafe { bytecode::run(ctx, bytes) }?)
}

/// What an ES module was compiled to before, by this very build and from its very source.
pub(crate) struct Kept(Cow<'static, [u8]>);

impl Kept {
    /// Of the module at `url`: what the executable carries, or what is kept in `cache`.
    pub(crate) fn find(cache: Option<&Cache>, carried: Option<&'static [u8]>, url: &str, text: &str) -> Option<Self> {
        carried.map(Cow::Borrowed).or_else(|| cache?.read(url, text).map(Cow::Owned)).map(Self)
    }

    /// Runs it as the program's first; `describe` gets its `import.meta`. Gives the promise of its top level.
    pub(crate) fn run<'js>(
        &self,
        ctx: &Ctx<'js>,
        describe: impl FnOnce(&Object<'js>) -> Result<()>,
    ) -> Result<Promise<'js>> {
        // SAFETY: the checksum of the executable, or of the entry, says that this build wrote it.
        unsafe { bytecode::run_module(ctx, &self.0, describe) }
    }
}

/// An ES module: of what was kept, or compiled, and kept in `cache` if there is one.
///
/// # Errors
/// Its syntax is wrong, or that of what it imports.
pub(crate) fn module<'js>(
    ctx: &Ctx<'js>,
    cache: Option<&Cache>,
    carried: Option<&'static [u8]>,
    url: &str,
    text: &str,
) -> Result<Module<'js, Declared>> {
    if let Some(kept) = Kept::find(cache, carried, url, text) {
        // SAFETY: as in `Kept::run`.
        return unsafe { bytecode::module(ctx, &kept.0) };
    }
    let module = Module::declare(ctx.clone(), url, text.as_bytes())?;
    if let Some(cache) = cache
        && let Ok(bytes) = module.write(WriteOptions::default())
    {
        cache.write(url, text, &bytes);
    }
    Ok(module)
}

/// The bytecode of an ES module. What it imports is looked for with the loader of the runtime.
///
/// # Errors
/// Its syntax is wrong.
pub(crate) fn bytes_of_module(ctx: &Ctx<'_>, url: &str, text: &str) -> Result<Vec<u8>> {
    Module::declare(ctx.clone(), url, text.as_bytes())?.write(WriteOptions::default())
}

/// The bytecode of a CommonJS source.
///
/// # Errors
/// Its syntax is wrong.
pub(crate) fn bytes_of(ctx: &Ctx<'_>, path: &str, text: &str) -> Result<Vec<u8>> {
    bytecode::write(ctx, &compile(ctx, path, text)?)
}

fn compile<'js>(ctx: &Ctx<'js>, path: &str, text: &str) -> Result<Compiled<'js>> {
    let mut whole = String::with_capacity(HEAD.len() + text.len() + TAIL.len());
    whole.push_str(HEAD);
    match text.strip_prefix("#!") {
        Some(rest) => {
            whole.push_str("//");
            whole.push_str(rest);
        }
        None => whole.push_str(text),
    }
    whole.push_str(TAIL);
    let length = whole.len();
    let whole = CString::new(whole)?;
    let file = CString::new(path)?;
    let raw = ctx.as_raw().as_ptr();
    let mut options = qjs::JSEvalOptions {
        version: 1,
        eval_flags: (qjs::JS_EVAL_TYPE_GLOBAL | qjs::JS_EVAL_FLAG_COMPILE_ONLY) as i32,
        filename: file.as_ptr(),
        line_num: HEAD_LINE,
    };
    // SAFETY: the context is live; text and name are NUL-terminated and outlive the call; the value is ours.
    unsafe {
        let value = qjs::JS_Eval2(raw, whole.as_ptr(), length as _, &raw mut options);
        if qjs::JS_IsException(value) {
            return Err(Error::Exception);
        }
        Ok(Compiled::new(ctx, value))
    }
}

/// Puts file, line and a caret in front of the stack of a syntax error that compiling `text` gave. Other errors stay.
pub(crate) fn explain<'js>(ctx: &Ctx<'js>, error: Error, file: &str, text: &str) -> Error {
    if !matches!(error, Error::Exception) {
        return match error {
            Error::InvalidString(_) => Exception::throw_syntax(ctx, "Invalid or unexpected token"),
            other => other,
        };
    }
    let thrown = ctx.catch();
    if let Some((line, column)) = text_of(&thrown, "stack").and_then(|stack| first_place(&stack, file)) {
        let last = text.split('\n').count();
        let (line, column) = if line > last { (last, 1) } else { (line, column) };
        let shown = excerpt(file.strip_prefix("file://").unwrap_or(file), text, line, column);
        let message = text_of(&thrown, "message").unwrap_or_default();
        let stack = format!("{shown}\n\nSyntaxError: {message}\n    at {file}:{line}:{column}");
        if let Some(object) = thrown.as_object() {
            let _ = object.set("stack", stack);
        }
    }
    ctx.throw(thrown)
}

/// The first `file:line:column` of a stack that is in `file`.
fn first_place(stack: &str, file: &str) -> Option<(usize, usize)> {
    let after = stack.find(file).and_then(|at| stack.get(at + file.len()..))?;
    let mut numbers = after.strip_prefix(':')?.split(|character: char| !character.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}
