//! Modules that an `import` gets and that are not QuickJS's: CommonJS, JSON, and those that are built in.

use std::rc::Rc;

use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::{Ctx, Error, Exception, Function, JsLifetime, Object, Result, Value};

use super::esm::{Modules, Ready};
use super::refusal::{self, Refusal};
use crate::builtins;

/// The function that loads a CommonJS module for an `import`.
#[derive(Clone)]
pub(crate) struct OnImport<'js>(pub(crate) Function<'js>);

#[allow(unsafe_code, reason = "the derived code has hidden lifetimes, which are warned of")]
// SAFETY: the same type with the other lifetime.
unsafe impl<'js> JsLifetime<'js> for OnImport<'js> {
    type Changed<'to> = OnImport<'to>;
}

/// A module that is not QuickJS's: CommonJS, JSON, or built in.
pub(super) struct Foreign;

impl ModuleDef for Foreign {
    fn declare<'js>(to: &Declarations<'js>) -> Result<()> {
        let ctx = to.module().ctx().clone();
        let url: String = to.module().name()?;
        to.declare("default")?;
        let modules = Modules::of(&ctx)?;
        let ready = modules.ready.borrow().get(&url).cloned();
        match ready {
            Some(Ready::CommonJs { names, .. }) => {
                for name in names.iter() {
                    to.declare(name.as_str())?;
                }
            }
            Some(Ready::Builtin { name, all }) => {
                let value = builtins::require(&ctx, &name)?;
                let late = if all { Rc::default() } else { modules.late(&name, &value)? };
                for name in keys(&value).into_iter().filter(|name| !late.contains(name)) {
                    to.declare(name)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let url: String = exports.module().name()?;
        let modules = Modules::of(ctx)?;
        let ready = modules.ready.borrow().get(&url).cloned();
        match ready {
            Some(Ready::CommonJs { path, names }) => {
                modules.importing.borrow_mut().push(url);
                let value = load_commonjs(ctx, &path);
                modules.importing.borrow_mut().pop();
                let value = value?;
                if let Some(object) = value.as_object() {
                    for name in names.iter() {
                        if object.contains_key(name.as_str())? {
                            exports.export(name.as_str(), object.get::<_, Value<'js>>(name.as_str())?)?;
                        }
                    }
                }
                exports.export("default", value)?;
            }
            Some(Ready::Builtin { name, all }) => {
                let value = builtins::require(ctx, &name)?;
                let late = if all { Rc::default() } else { modules.late(&name, &value)? };
                for name in keys(&value).into_iter().filter(|name| !late.contains(name)) {
                    // What a built-in can't load is not there for who takes all of it.
                    let found = value.as_object().and_then(|object| object.get::<_, Value<'js>>(name.as_str()).ok());
                    let found = found.unwrap_or_else(|| {
                        let _ = ctx.catch();
                        Value::new_undefined(ctx.clone())
                    });
                    exports.export(name.as_str(), found)?;
                }
                let default = value.as_object().and_then(|object| object.get::<_, Value<'js>>("default").ok());
                let default = default.filter(|default| !default.is_undefined()).unwrap_or(value);
                exports.export("default", default)?;
            }
            Some(Ready::Json { path }) => {
                let bytes = modules.files().read(&path).map_err(|refusal| refusal.throw(ctx))?;
                let value = ctx.json_parse(bytes).map_err(|error| in_file(ctx, error, &path))?;
                exports.export("default", value)?;
            }
            _ => return Err(Error::Unknown),
        }
        Ok(())
    }
}

/// Names of a built-in's exports.
fn keys(value: &Value<'_>) -> Vec<String> {
    let Some(object) = value.as_object() else { return Vec::new() };
    let names = object.keys::<String>().flatten();
    names.filter(|name| name != "default").collect()
}

/// Those that are loaded when they are first read.
pub(super) fn late_names(value: &Value<'_>) -> Result<Vec<String>> {
    let Some(object) = value.as_object() else { return Ok(Vec::new()) };
    let class: Object<'_> = value.ctx().globals().get("Object")?;
    let describe: Function<'_> = class.get("getOwnPropertyDescriptor")?;
    let mut late = Vec::new();
    for name in keys(value) {
        let property: Option<Object<'_>> = describe.call((object.clone(), name.as_str()))?;
        let Some(property) = property else { continue };
        // Those of the bundler are getters that can't be changed, of what is there.
        if property.get::<_, bool>("configurable")? && property.get::<_, Value<'_>>("get")?.is_function() {
            late.push(name);
        }
    }
    Ok(late)
}

fn load_commonjs<'js>(ctx: &Ctx<'js>, path: &str) -> Result<Value<'js>> {
    if ctx.userdata::<OnImport<'js>>().is_none() {
        builtins::require(ctx, "node:module")?;
    }
    let load = ctx.userdata::<OnImport<'js>>().map(|load| load.0.clone());
    let load = load.ok_or_else(|| Exception::throw_message(ctx, "node:module is not ready"))?;
    load.call((path,))
}

/// Puts the file before the message of a JSON error.
fn in_file(ctx: &Ctx<'_>, error: Error, path: &str) -> Error {
    let Error::Exception = error else { return error };
    let thrown = ctx.catch();
    if let Some(object) = thrown.as_object() {
        let message = refusal::text_of(&thrown, "message").unwrap_or_default();
        let _ = object.set("message", format!("{path}: {message}"));
    }
    ctx.throw(thrown)
}

/// Whether a module is what its `type` attribute says.
pub(super) fn fits(ready: &Ready, url: &str, kind: Option<&str>) -> std::result::Result<(), Refusal> {
    match (ready, kind) {
        (Ready::Json { .. }, Some("json")) => Ok(()),
        (Ready::Json { .. }, None) => Err(Refusal::type_error(
            "ERR_IMPORT_ATTRIBUTE_MISSING",
            format!("Module \"{url}\" needs an import attribute of \"type: json\""),
        )),
        (_, Some("json")) => Err(Refusal::type_error(
            "ERR_IMPORT_ATTRIBUTE_TYPE_INCOMPATIBLE",
            format!("Module \"{url}\" is not of type \"json\""),
        )),
        (_, Some(other)) => Err(Refusal::type_error(
            "ERR_IMPORT_ATTRIBUTE_UNSUPPORTED",
            format!("Import attribute \"type\" with value \"{other}\" is not supported"),
        )),
        (_, None) => Ok(()),
    }
}
