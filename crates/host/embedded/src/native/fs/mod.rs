//! What `node:fs` is made of: operations by name, at once (`call`) or on another thread (`later`, with a callback last).

mod arguments;
mod carried;
mod descriptor;
mod facts;
mod path;
mod tree;

use rquickjs::function::{Func, Rest};
use rquickjs::{Ctx, Exception, Function, IntoJs, Object, Result, TypedArray, Value};

use crate::host::Failure;
use crate::native::{later, view};

use arguments::Arguments;

/// What an operation gives.
pub(super) enum Out {
    Nothing,
    Flag(bool),
    Number(f64),
    Text(String),
    /// A path or a name, as text or as bytes.
    Name(Vec<u8>, bool),
    Bytes(Vec<u8>),
    /// Numbers of a `stat`, see [`facts`].
    Facts([f64; facts::COUNT]),
    /// Names and kinds of a folder's entries; names as bytes if so asked.
    Entries(Vec<(Vec<u8>, u8)>, bool),
}

type Done = std::result::Result<Out, Failure>;
type Operation = fn(&mut Arguments) -> Done;

/// All operations by name, sorted.
const OPERATIONS: &[(&str, Operation)] = &[
    ("access", path::access),
    ("chmod", path::chmod),
    ("chown", path::chown),
    ("close", descriptor::close),
    ("copyFile", path::copy),
    ("exists", path::exists),
    ("fchmod", descriptor::chmod),
    ("fchown", descriptor::chown),
    ("fdatasync", descriptor::datasync),
    ("fstat", facts::of_descriptor),
    ("fsync", descriptor::sync),
    ("ftruncate", descriptor::truncate),
    ("futimes", descriptor::times),
    ("lchown", path::link_chown),
    ("link", path::link),
    ("lstat", facts::of_link),
    ("lutimes", path::link_times),
    ("mkdir", tree::make),
    ("mkdtemp", tree::make_temporary),
    ("open", descriptor::open),
    ("read", descriptor::read),
    ("readFile", descriptor::read_file),
    ("readText", descriptor::read_text),
    ("readdir", tree::list),
    ("readlink", path::read_link),
    ("realpath", path::real),
    ("rename", path::rename),
    ("rm", tree::remove),
    ("rmdir", tree::remove_folder),
    ("stat", facts::of_path),
    ("symlink", path::symlink),
    ("unlink", path::unlink),
    ("utimes", path::times),
    ("write", descriptor::write),
    ("writeFile", descriptor::write_file),
];

pub(super) fn make<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let group = Object::new(ctx.clone())?;
    group.set("call", Func::from(call))?;
    group.set("later", Func::from(call_later))?;
    group.set("readInto", Func::from(read_into))?;
    group.set("writeFrom", Func::from(write_from))?;
    Ok(group)
}

fn find(ctx: &Ctx<'_>, name: &str) -> Result<Operation> {
    let found = OPERATIONS.binary_search_by(|(other, _)| (*other).cmp(name)).ok();
    let found = found.and_then(|at| OPERATIONS.get(at)).map(|(_, operation)| *operation);
    found.ok_or_else(|| Exception::throw_message(ctx, &format!("there is no operation {name}")))
}

fn call<'js>(ctx: Ctx<'js>, name: String, given: Rest<Value<'js>>) -> Result<Value<'js>> {
    let operation = find(&ctx, &name)?;
    let mut arguments = Arguments::new(&ctx, &given.0)?;
    match operation(&mut arguments) {
        Ok(out) => out.into_js(&ctx),
        Err(failure) => Err(failure.throw(&ctx)),
    }
}

fn call_later<'js>(ctx: Ctx<'js>, name: String, mut given: Rest<Value<'js>>) -> Result<()> {
    let operation = find(&ctx, &name)?;
    let callback = given.0.pop().and_then(Value::into_function);
    let callback: Function<'js> = callback.ok_or_else(|| Exception::throw_type(&ctx, "no callback"))?;
    let mut arguments = Arguments::new(&ctx, &given.0)?;
    later::later(&ctx, callback, move || operation(&mut arguments))
}

/// Reads into a Uint8Array that JavaScript has, at most `length` bytes from `offset` on; no copy. Gives their number.
fn read_into<'js>(
    ctx: Ctx<'js>,
    fd: i32,
    array: TypedArray<'js, u8>,
    offset: usize,
    length: usize,
    position: f64,
) -> Result<usize> {
    let read = view::write(&array, |bytes| {
        let bytes = bytes.get_mut(offset..).unwrap_or_default();
        let length = length.min(bytes.len());
        descriptor::read_some(fd, bytes.get_mut(..length).unwrap_or_default(), position)
    });
    read.map_err(|failure| failure.throw(&ctx))
}

/// Writes from a Uint8Array, at most `length` bytes from `offset` on; no copy. Gives the number of bytes that were taken.
fn write_from<'js>(
    ctx: Ctx<'js>,
    fd: i32,
    array: TypedArray<'js, u8>,
    offset: usize,
    length: usize,
    position: f64,
) -> Result<usize> {
    let written = view::read(&array, |bytes| {
        let bytes = bytes.get(offset..).unwrap_or_default();
        descriptor::write_some(fd, bytes.get(..length).unwrap_or(bytes), position)
    });
    written.map_err(|failure| failure.throw(&ctx))
}

impl<'js> IntoJs<'js> for Out {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        match self {
            Self::Nothing => Ok(Value::new_undefined(ctx.clone())),
            Self::Flag(flag) => flag.into_js(ctx),
            Self::Number(number) => number.into_js(ctx),
            Self::Text(text) => text.into_js(ctx),
            Self::Name(name, as_bytes) => name_of(ctx, name, as_bytes),
            Self::Bytes(bytes) => view::buffer(ctx, &bytes),
            Self::Facts(facts) => facts.to_vec().into_js(ctx),
            Self::Entries(entries, as_bytes) => {
                let kinds: Vec<u8> = entries.iter().map(|(_, kind)| *kind).collect();
                let names = rquickjs::Array::new(ctx.clone())?;
                for (at, (name, _)) in entries.into_iter().enumerate() {
                    names.set(at, name_of(ctx, name, as_bytes)?)?;
                }
                vec![names.into_value(), kinds.into_js(ctx)?].into_js(ctx)
            }
        }
    }
}

fn name_of<'js>(ctx: &Ctx<'js>, name: Vec<u8>, as_bytes: bool) -> Result<Value<'js>> {
    if as_bytes {
        return view::buffer(ctx, &name);
    }
    text(name).into_js(ctx)
}

/// UTF-8, with the replacement character for what is none.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::OPERATIONS;

    #[test]
    fn operations_are_found() {
        assert!(OPERATIONS.is_sorted_by_key(|(name, _)| *name));
    }
}
