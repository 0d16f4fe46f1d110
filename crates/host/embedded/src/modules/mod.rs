//! The program's own modules.

mod addon;
mod bundle;
mod cache;
mod circles;
mod compile;
mod esm;
mod executable;
mod files;
mod foreign;
mod graph;
mod json;
mod names;
mod package;
mod part;
mod refusal;
mod resolve;
mod scan;
mod source;
mod sourcemap;
mod strip;
mod urls;

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use rquickjs::function::This;
use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, Function, JsLifetime, Object, Promise, Result, Value};

pub use bundle::open_carried;
pub(crate) use bundle::{Bundle, carried as carried_bundle};
pub(crate) use esm::Modules;
pub use executable::{Built, build};
pub(crate) use foreign::OnImport;
pub use graph::{Finding, check};

pub(crate) use files::{Kind, join};
pub(crate) use part::part_of;
pub(crate) use refusal::{Refusal, text_of as text_of_thrown};
pub(crate) use resolve::{Found, builtin, lacks};
pub(crate) use source::{Format, format_of, has_module_syntax, text_of};
pub(crate) use urls::{path_of, url_of};

use crate::builtins;
use crate::host::Host;
use crate::tell;

pub(crate) use addon::refusal as addon_refusal;
pub(crate) use compile::{carried, explain, script};
pub(crate) use strip::strip;

/// Node's exit code for a top level that waits for what can't come any more.
const UNSETTLED: i32 = 13;

/// The promise of the program's first module.
#[derive(Clone)]
struct Main<'js>(Promise<'js>);

#[allow(unsafe_code, reason = "the derived code has hidden lifetimes, which are warned of")]
// SAFETY: the same type with the other lifetime.
unsafe impl<'js> JsLifetime<'js> for Main<'js> {
    type Changed<'to> = Main<'to>;
}

/// Loads and runs the program at `path`.
pub(crate) fn start(ctx: &Ctx<'_>, path: &Path) -> Result<()> {
    let folder = std::env::current_dir().ok().and_then(|folder| folder.into_os_string().into_string().ok());
    let path = join(folder.as_deref().unwrap_or("/"), &path.to_string_lossy());
    let host = Host::of(ctx)?;
    let process = &host.seat().process;
    let files = match process.options.watch {
        true => files::Files::noting(Arc::clone(&process.loaded)),
        false => files::Files::default(),
    };
    let modules = Modules::new(Rc::new(files), process.options.cache);
    let _ = ctx.store_userdata(esm::ModulesRef(Rc::clone(&modules)));
    let found = modules.resolver.require(&path, "/", &[]).map_err(|refusal| refusal.throw(ctx))?;
    let Some(Found::File { path, .. }) = found else {
        let refusal = Refusal::error("MODULE_NOT_FOUND", format!("Cannot find module '{path}'"));
        return Err(refusal.throw(ctx));
    };
    path.clone_into(&mut modules.main.borrow_mut());
    if is_module(&modules, &path).map_err(|refusal| refusal.throw(ctx))? {
        let promise = modules.run_main(ctx, &path)?;
        let failed = Function::new(ctx.clone(), failed)?;
        promise.catch()?.call::<_, ()>((This(promise.clone()), failed))?;
        let _ = ctx.store_userdata(Main(promise));
        return Ok(());
    }
    let class: Object<'_> = Object::from_value(builtins::require(ctx, "node:module")?)?;
    let load: Function<'_> = class.get("_load")?;
    load.call((path, Value::new_null(ctx.clone()), true))
}

/// Loads modules, each with what it requires, and gives their paths and exports: of an ES module its namespace.
pub(crate) fn load_all<'js>(ctx: &Ctx<'js>, paths: &[PathBuf]) -> Result<Vec<(String, Value<'js>)>> {
    let folder = std::env::current_dir().ok().and_then(|folder| folder.into_os_string().into_string().ok());
    let folder = folder.unwrap_or_else(|| "/".to_owned());
    let host = Host::of(ctx)?;
    let process = &host.seat().process;
    let modules = Modules::new(Rc::new(files::Files::noting(Arc::clone(&process.loaded))), process.options.cache);
    let _ = ctx.store_userdata(esm::ModulesRef(Rc::clone(&modules)));
    let class: Object<'js> = Object::from_value(builtins::require(ctx, "node:module")?)?;
    let load: Function<'js> = class.get("_load")?;
    let mut loaded = Vec::with_capacity(paths.len());
    for path in paths {
        let path = join(&folder, &path.to_string_lossy());
        path.clone_into(&mut modules.main.borrow_mut());
        let exports: Value<'js> = load.call((path.as_str(), Value::new_null(ctx.clone()), false))?;
        loaded.push((path, exports));
    }
    Ok(loaded)
}

/// Sets QuickJS's ways to ES modules.
pub(crate) fn prepare(runtime: &rquickjs::Runtime) {
    runtime.set_loader(esm::Hooks, esm::Hooks);
}

/// To be called when nothing is left to do. If the program's top level waits for what can't come any more, says so, and
/// makes its exit code Node's for that.
pub(crate) fn before_exit(ctx: &Ctx<'_>) -> Result<()> {
    let Some(main) = ctx.userdata::<Main<'_>>().map(|main| main.0.clone()) else { return Ok(()) };
    if main.state() != PromiseState::Pending {
        return Ok(());
    }
    tell::text(&unsettled(&*Modules::of(ctx)?).to_string());
    let process: Object<'_> = Object::from_value(builtins::require(ctx, "node:process")?)?;
    let process: Object<'_> = process.get::<_, Option<Object<'_>>>("default")?.unwrap_or(process);
    let listen: Function<'_> = process.get("prependOnceListener")?;
    let fail = Function::new(ctx.clone(), |process: This<Object<'_>>| -> Result<()> {
        if process.get::<_, Value<'_>>("exitCode")?.is_undefined() {
            process.set("exitCode", UNSETTLED)?;
        }
        Ok(())
    })?;
    listen.call((This(process), "exit", fail))
}

/// What is said of a top level that waits for what can't come any more.
fn unsettled(modules: &Modules) -> String {
    let path = modules.main.borrow().clone();
    let text = modules.files().read(&path).and_then(|bytes| text_of(&path, bytes)).unwrap_or_default();
    let mut warning = String::from("Warning: Detected unsettled top-level await");
    if let Some(at) = scan::scan(&text, scan::Language::Module).awaits {
        let (line, column) = source::place(&text, at);
        let shown = source::excerpt(&url_of(&path, ""), &text, line, column);
        warning.push_str(&format!(" at {shown}\n\n\n"));
    }
    warning
}

fn is_module(modules: &Modules, path: &str) -> std::result::Result<bool, Refusal> {
    Ok(match format_of(modules.files(), path)? {
        Format::Module => true,
        Format::Unsaid if modules.files().bytecode(path).is_some() => false,
        Format::Unsaid => has_module_syntax(&text_of(path, modules.files().read(path)?)?),
        _ => false,
    })
}

/// The first module threw: nobody else can catch it.
fn failed<'js>(ctx: Ctx<'js>, reason: Value<'js>) -> Result<()> {
    Host::of(&ctx)?.hook(&ctx, "uncaught")?.call((reason,))
}
