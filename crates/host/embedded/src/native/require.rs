//! `require` of built-in modules: those that are loaded are looked up without a way through Rust's types, since functions of
//! built-in modules call it for what they load late.

use rquickjs::{Atom, Ctx, Function, Object, Result};

use super::direct::{self, Body, Call, Given, Table};

/// The values that the function was made with.
const MODULES: usize = 0;
const EXPORTS: usize = 1;
const LOAD: usize = 2;

struct Require;

impl Table for Require {
    const BODIES: &'static [Body] = &[require];
}

/// A function that gives the `exports` of what `modules` has by a name, and asks `load` for the others.
pub(crate) fn make<'js>(ctx: &Ctx<'js>, modules: &Object<'js>, load: Function<'js>) -> Result<Function<'js>> {
    let exports = Atom::from_str(ctx.clone(), "exports")?.to_value()?;
    let data = [modules.clone().into_value(), exports, load.into_value()];
    Function::from_value(direct::function::<Require>(ctx, c"require", (1, 0, 0), &data)?)
}

fn require(call: &Call<'_>) -> Given {
    let (Some(name), Some(exports)) = (call.name(call.at(0)), call.name(call.own(EXPORTS))) else {
        return Given::THROWN;
    };
    let module = call.property(call.own(MODULES), &name);
    if !module.seen().is_object() {
        call.free(module);
        return call.pass(call.own(LOAD), 0);
    }
    let given = call.property(module.seen(), &exports);
    call.free(module);
    given
}
