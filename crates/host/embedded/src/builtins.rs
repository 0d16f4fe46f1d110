//! The built-in modules: compiled when the binary is built, run when they are first required.

use rquickjs::{Ctx, Exception, Function, JsLifetime, Object, Result, Value};

use crate::bytecode;
use crate::native;

include!(concat!(env!("OUT_DIR"), "/builtins.rs"));

/// Where a built-in module's name is in `NAMES` and what it was compiled to in `BYTECODE`; without pointers, which the loader of the
/// binary would have to write at each start.
struct Builtin {
    name: std::ops::Range<u32>,
    bytecode: std::ops::Range<u32>,
}

impl Builtin {
    fn name(&self) -> &'static str {
        NAMES.get(self.name.start as usize..self.name.end as usize).unwrap_or_default()
    }

    fn bytecode(&self) -> &'static [u8] {
        BYTECODE.get(self.bytecode.start as usize..self.bytecode.end as usize).unwrap_or_default()
    }
}

/// The modules of a world that were required so far, and what is given to each.
#[derive(Clone)]
struct Loaded<'js> {
    /// Their `module` objects by name.
    modules: Object<'js>,
    require: Function<'js>,
    native: Function<'js>,
}

#[allow(unsafe_code, reason = "the derived code has hidden lifetimes, which are warned of")]
// SAFETY: the same type with the other lifetime.
unsafe impl<'js> JsLifetime<'js> for Loaded<'js> {
    type Changed<'to> = Loaded<'to>;
}

/// Whether there is a built-in module called `name`, such as `node:fs`.
pub(crate) fn is_builtin(name: &str) -> bool {
    find(name).is_some()
}

/// The names of all built-in modules, sorted.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    BUILTINS.iter().map(Builtin::name)
}

/// The exports of the built-in module `name`, which runs if this is the first time.
pub(crate) fn require<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Value<'js>> {
    let loaded = loaded(ctx)?;
    let known: Option<Object<'js>> = loaded.modules.get(name)?;
    if let Some(module) = known {
        return module.get("exports");
    }
    let Some(bytes) = find(name) else {
        return Err(Exception::throw_message(ctx, &format!("there is no built-in module {name}")));
    };
    let module = Object::new(ctx.clone())?;
    let exports = Object::new(ctx.clone())?;
    module.set("id", name)?;
    module.set("exports", exports.clone())?;
    loaded.modules.set(name, module.clone())?;
    let made = call(ctx, bytes, (exports, loaded.require, module.clone(), loaded.native));
    if made.is_err() {
        loaded.modules.remove(name)?;
    }
    made?;
    module.get("exports")
}

/// The built-in modules that a world has loaded, and how long the bytecode of each is.
#[cfg(test)]
pub(crate) fn loaded_bytes(ctx: &Ctx<'_>) -> Result<std::collections::BTreeMap<String, usize>> {
    let names = loaded(ctx)?.modules.keys::<String>();
    names.map(|name| name.map(|name| (name.clone(), find(&name).map_or(0, <[u8]>::len)))).collect()
}

type Given<'js> = (Object<'js>, Function<'js>, Object<'js>, Function<'js>);

#[allow(unsafe_code, reason = "the bytes are those that the build wrote")]
fn call<'js>(ctx: &Ctx<'js>, bytes: &[u8], given: Given<'js>) -> Result<()> {
    // SAFETY: the table was written by build.rs with the same QuickJS.
    let function = unsafe { bytecode::run(ctx, bytes) }?;
    Function::from_value(function)?.call(given)
}

fn find(name: &str) -> Option<&'static [u8]> {
    let at = BUILTINS.binary_search_by(|other| other.name().cmp(name)).ok()?;
    BUILTINS.get(at).map(Builtin::bytecode)
}

fn loaded<'js>(ctx: &Ctx<'js>) -> Result<Loaded<'js>> {
    if let Some(loaded) = ctx.userdata::<Loaded<'js>>() {
        return Ok(loaded.clone());
    }
    let modules = Object::new(ctx.clone())?;
    let load = Function::new(ctx.clone(), required)?;
    let loaded = Loaded {
        require: native::require::make(ctx, &modules, load)?,
        modules,
        native: Function::new(ctx.clone(), native::get)?.with_name("native")?,
    };
    // Nobody borrows it: it was not there.
    let _ = ctx.store_userdata(loaded.clone());
    Ok(loaded)
}

fn required<'js>(ctx: Ctx<'js>, name: String) -> Result<Value<'js>> {
    require(&ctx, &name)
}
