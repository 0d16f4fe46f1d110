//! What `node:module` is made of.

use rquickjs::function::Func;
use rquickjs::{Array, Ctx, Exception, Function, IntoJs, Object, Result, Value};

use crate::builtins;
use crate::modules::{
    Format, Found, Modules, OnImport, addon_refusal, builtin, carried, explain, format_of, has_module_syntax, lacks,
    part_of, path_of, script, strip, text_of,
};
use crate::tell;

pub(super) fn make<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let group = Object::new(ctx.clone())?;
    group.set("resolve", Func::from(resolve))?;
    group.set("builtin", Func::from(require_builtin))?;
    group.set("isBuiltin", Func::from(|name: String| builtin(&name)))?;
    group.set("isNodes", Func::from(|name: String| builtin(&name).is_some() || lacks(&name)))?;
    group.set("names", Func::from(|| builtins::names().map(str::to_owned).collect::<Vec<_>>()))?;
    group.set("compile", Function::new(ctx.clone(), compile)?)?;
    group.set("namespace", Func::from(namespace))?;
    group.set("read", Func::from(read))?;
    group.set("part", Func::from(part))?;
    group.set("path", Func::from(|url: String| path_of(&url).map(|(path, _)| path).into_option()))?;
    group.set("refuseAddon", Func::from(refuse_addon))?;
    group.set("strip", Func::from(strip_types))?;
    group.set("findMap", Func::from(find_map))?;
    group.set("onImport", Func::from(on_import))?;
    Ok(group)
}

/// `null` for what is not there.
trait IntoOption<T> {
    fn into_option(self) -> Nullable<T>;
}

struct Nullable<T>(Option<T>);

impl<T> IntoOption<T> for Option<T> {
    fn into_option(self) -> Nullable<T> {
        Nullable(self)
    }
}

impl<'js, T: IntoJs<'js>> IntoJs<'js> for Nullable<T> {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        match self.0 {
            Some(value) => value.into_js(ctx),
            None => Ok(Value::new_null(ctx.clone())),
        }
    }
}

fn resolve(ctx: Ctx<'_>, request: String, from: String, extensions: Vec<String>) -> Result<Nullable<String>> {
    let modules = Modules::of(&ctx)?;
    let found = modules.resolver.require(&request, &from, &extensions).map_err(|refusal| refusal.throw(&ctx))?;
    Ok(Nullable(found.map(|found| match found {
        Found::Builtin(name) => name,
        Found::File { path, .. } => path,
    })))
}

fn require_builtin<'js>(ctx: Ctx<'js>, name: String) -> Result<Value<'js>> {
    builtins::require(&ctx, &name)
}

fn compile<'js>(
    ctx: Ctx<'js>,
    path: String,
    source: rquickjs::function::Opt<String>,
) -> Result<Nullable<Function<'js>>> {
    let modules = Modules::of(&ctx)?;
    let thrown = |refusal: crate::modules::Refusal| refusal.throw(&ctx);
    let format = format_of(modules.files(), &path).map_err(thrown)?;
    if format == Format::Module && source.0.is_none() {
        return Ok(Nullable(None));
    }
    if let Some(bytes) = modules.files().bytecode(&path).filter(|_| source.0.is_none()) {
        let source = modules.files().read(&path).map_err(thrown)?;
        modules.note_map(&ctx, &path, &String::from_utf8_lossy(&source))?;
        return Ok(Nullable(Some(carried(&ctx, bytes)?)));
    }
    let text = match source.0 {
        Some(text) => text,
        None => text_of(&path, modules.files().read(&path).map_err(thrown)?).map_err(thrown)?,
    };
    modules.note_map(&ctx, &path, &text)?;
    match script(&ctx, modules.cache(text.len()), &path, &text) {
        Ok(function) => Ok(Nullable(Some(function))),
        Err(_) if matches!(format, Format::Unsaid | Format::Module) && has_module_syntax(&text) => {
            let _ = ctx.catch();
            Ok(Nullable(None))
        }
        Err(error) => {
            if format == Format::CommonJs && path.ends_with(".js") && has_module_syntax(&text) {
                tell::text(&format!(
                    "(leat:{}) Warning: To load an ES module, set \"type\": \"module\" in the package.json or use the .mjs extension.",
                    std::process::id()
                ));
            }
            Err(explain(&ctx, error, &path, &text))
        }
    }
}

fn namespace<'js>(ctx: Ctx<'js>, path: String, from: String) -> Result<Value<'js>> {
    Modules::of(&ctx)?.namespace(&ctx, &path, &from)
}

fn read(ctx: Ctx<'_>, path: String) -> Result<String> {
    let bytes = Modules::of(&ctx)?.files().read(&path);
    bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).map_err(|refusal| refusal.throw(&ctx))
}

fn part<'js>(ctx: Ctx<'js>, path: String) -> Result<Nullable<Array<'js>>> {
    let modules = Modules::of(&ctx)?;
    let Some((name, member)) = part_of(modules.files(), &path) else { return Ok(Nullable(None)) };
    let pair = Array::new(ctx.clone())?;
    pair.set(0, name)?;
    pair.set(1, member)?;
    Ok(Nullable(Some(pair)))
}

fn refuse_addon(ctx: Ctx<'_>, path: String, from: String) -> Result<()> {
    Err(addon_refusal(&path, &from).throw(&ctx))
}

fn strip_types(ctx: Ctx<'_>, source: String) -> Result<String> {
    strip(&source).map_err(|problem| problem.refusal("[eval]", &source).throw(&ctx))
}

fn find_map(ctx: Ctx<'_>, file: String) -> Result<Nullable<String>> {
    let modules = Modules::of(&ctx)?;
    Ok(Nullable(modules.maps.text(modules.files(), &file)))
}

fn on_import<'js>(ctx: Ctx<'js>, load: Function<'js>) -> Result<()> {
    let stored = ctx.store_userdata(OnImport(load));
    stored.map(|_| ()).map_err(|_| Exception::throw_message(&ctx, "node:module can't be made now"))
}
