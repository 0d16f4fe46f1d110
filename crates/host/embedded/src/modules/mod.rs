//! The program's own modules.

use std::path::Path;

use rquickjs::{Ctx, Exception, Function, Object, Result, Value};

use crate::builtins;

/// Loads and runs the program at `path`.
pub(crate) fn start(ctx: &Ctx<'_>, path: &Path) -> Result<()> {
    let source = std::fs::read_to_string(path)
        .map_err(|error| Exception::throw_message(ctx, &format!("{}: {error}", path.display())))?;
    let wrapped = format!("(function (exports, require, module, __filename, __dirname) {{{source}\n}})");
    let mut options = rquickjs::context::EvalOptions::default();
    options.strict = false;
    options.filename = Some(path.to_string_lossy().into_owned());
    let function: Function<'_> = ctx.eval_with_options(wrapped, options)?;
    let module = Object::new(ctx.clone())?;
    let exports = Object::new(ctx.clone())?;
    module.set("exports", exports.clone())?;
    let require = Function::new(ctx.clone(), required)?;
    function.call((exports, require, module, path.to_string_lossy().into_owned()))
}

fn required<'js>(ctx: Ctx<'js>, name: String) -> Result<Value<'js>> {
    let bare = name.strip_prefix("node:").unwrap_or(&name);
    if name == "express" {
        return builtins::require(&ctx, "leat:express");
    }
    builtins::require(&ctx, &format!("node:{bare}"))
}
