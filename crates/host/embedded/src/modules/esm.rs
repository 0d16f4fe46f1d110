//! ES modules: QuickJS links and runs them; what they ask for is looked up and read before, so that nothing half loaded stays.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use rquickjs::function::{Func, This};
use rquickjs::loader::{ImportAttributes, Loader as LoadModule, Resolver as ResolveModule};
use rquickjs::module::Declared;
use rquickjs::promise::PromiseState;
use rquickjs::{Array, Ctx, Error, Exception, Function, IntoJs, JsLifetime, Module, Object, Promise, Result, Value};

use super::cache::{Cache, SOURCE_BYTES_MIN};
use super::circles::circular as circular_of;
use super::compile::{self, Kept};
use super::files::Files;
use super::foreign::{Foreign, fits, late_names};
use super::names::names;
use super::part::part_of;
use super::refusal::Refusal;
use super::resolve::{Found, Resolver};
use super::scan::{Language, Request, Way, scan};
use super::source::{Format, Problem, format_of, has_module_syntax, text_of};
use super::sourcemap::SourceMaps;
use super::urls::{path_of, url_of};
use crate::builtins;

/// Modules that one graph may have.
const GRAPH_MAX: usize = 100_000;
/// CommonJS modules that are looked into for the names of one.
const REEXPORTS_MAX: usize = 1_000;

/// Stands behind the name of a built-in module all of whose exports are asked for, whatever it costs to load them.
const ALL: &str = "#all";
/// Begins the names of modules that stand around others.
const FACADE: &str = "leat:facade/";

/// The modules of a world.
pub(crate) struct Modules {
    pub(crate) resolver: Resolver,
    /// What `import` resolves relative to where nothing else is known.
    pub(crate) main: RefCell<String>,
    pub(super) ready: RefCell<HashMap<String, Ready>>,
    /// By who asks and what for: the URL.
    linked: RefCell<HashMap<(String, String), String>>,
    imports: RefCell<HashMap<String, Vec<String>>>,
    /// Modules with an `await` outside of functions.
    awaiting: RefCell<HashSet<String>>,
    /// Modules that import with attributes, which bytecode does not have.
    attributed: RefCell<HashSet<String>>,
    /// Modules in circles of imports; `None` where there are imports that were not looked at.
    circular: RefCell<Option<HashSet<String>>>,
    /// Modules whose evaluation may be under way.
    running: RefCell<HashSet<String>>,
    /// CommonJS modules that an `import` runs just now.
    pub(super) importing: RefCell<Vec<String>>,
    /// Modules that failed to load, or stood in a graph with one: QuickJS may have freed what they point to.
    broken: RefCell<HashSet<String>>,
    /// Of each built-in, the names that were late when it was first imported: they are no longer once somebody read them.
    late: RefCell<HashMap<String, Rc<[String]>>>,
    facades: Cell<usize>,
    pub(crate) maps: SourceMaps,
    cache: OnceCell<Option<Cache>>,
    caches: bool,
}

/// What is known of a module before QuickJS has it.
#[derive(Clone)]
pub(super) enum Ready {
    Source {
        path: String,
        text: Rc<str>,
    },
    CommonJs {
        path: String,
        names: Rc<[String]>,
    },
    Json {
        path: String,
    },
    /// Of those without `all`, what is loaded late is not loaded by an import.
    Builtin {
        name: String,
        all: bool,
    },
}

/// How native functions find the modules.
#[derive(Clone, JsLifetime)]
pub(crate) struct ModulesRef(pub(crate) Rc<Modules>);

impl Modules {
    /// Of a world; `caches`: compiled modules are kept on disk.
    pub(crate) fn new(files: Rc<Files>, caches: bool) -> Rc<Self> {
        Rc::new(Self {
            resolver: Resolver { files },
            main: RefCell::default(),
            ready: RefCell::default(),
            linked: RefCell::default(),
            imports: RefCell::default(),
            awaiting: RefCell::default(),
            attributed: RefCell::default(),
            circular: RefCell::default(),
            running: RefCell::default(),
            importing: RefCell::default(),
            broken: RefCell::default(),
            late: RefCell::default(),
            facades: Cell::new(0),
            maps: SourceMaps::default(),
            cache: OnceCell::new(),
            caches,
        })
    }

    pub(crate) fn of(ctx: &Ctx<'_>) -> Result<Rc<Self>> {
        let found = ctx.userdata::<ModulesRef>().map(|modules| Rc::clone(&modules.0));
        found.ok_or_else(|| Exception::throw_message(ctx, "this world has no modules of its own"))
    }

    pub(crate) fn files(&self) -> &Files {
        &self.resolver.files
    }

    /// Where compiled modules are kept, if a source of `length` bytes is worth it. Opened when it is first asked for.
    pub(crate) fn cache(&self, length: usize) -> Option<&Cache> {
        if !self.caches || length < SOURCE_BYTES_MIN {
            return None;
        }
        self.cache.get_or_init(Cache::open).as_ref()
    }

    /// The URL that `specifier` in the module `base` (a URL or a path) leads to.
    pub(crate) fn locate(&self, specifier: &str, base: &str) -> std::result::Result<String, Refusal> {
        let key = (base.to_owned(), specifier.to_owned());
        if let Some(known) = self.linked.borrow().get(&key) {
            return Ok(known.clone());
        }
        let from = match path_of(base) {
            Some((path, _)) => path,
            None if base.starts_with('/') => base.to_owned(),
            None => self.main.borrow().clone(),
        };
        let url = match self.resolver.import(specifier, &from)? {
            Found::Builtin(name) => format!("{name}{ALL}"),
            Found::File { path, suffix } => url_of(&path, &suffix),
        };
        self.linked.borrow_mut().insert(key, url.clone());
        Ok(url)
    }

    /// Reads a module and all that it imports, so that what is missing is known before anything runs.
    fn link(&self, ctx: &Ctx<'_>, root: &str, kind: Option<&str>) -> Result<()> {
        let mut asked = vec![(root.to_owned(), kind.map(str::to_owned))];
        let mut count = 0;
        while let Some((url, kind)) = asked.pop() {
            count += 1;
            if count > GRAPH_MAX {
                return Err(Exception::throw_range(ctx, "too many modules import each other"));
            }
            let known = self.ready.borrow().get(&url).cloned();
            let fresh = known.is_none();
            let ready = match known {
                Some(ready) => ready,
                None => self.prepare(&url).map_err(|refusal| refusal.throw(ctx))?,
            };
            fits(&ready, &url, kind.as_deref()).map_err(|refusal| refusal.throw(ctx))?;
            if !fresh {
                continue;
            }
            self.ready.borrow_mut().insert(url.clone(), ready.clone());
            if let Ready::Source { text, .. } = ready {
                self.running.borrow_mut().insert(url.clone());
                self.note_map(ctx, &url, &text)?;
                let mut children = Vec::new();
                let scan = scan(&text, Language::Module);
                if scan.has_attributes() {
                    self.attributed.borrow_mut().insert(url.clone());
                }
                if scan.awaits.is_some() {
                    self.awaiting.borrow_mut().insert(url.clone());
                }
                for request in scan.requests.iter().filter(|request| request.way == Way::Import) {
                    let Some(specifier) = &request.specifier else { continue };
                    match self.locate(specifier, &url) {
                        Ok(child)
                            if !child.starts_with("file:")
                                && self.is_plain(ctx, &child, &scan.requests, specifier)? =>
                        {
                            let key = (url.clone(), specifier.clone());
                            let plain = child.trim_end_matches(ALL).to_owned();
                            self.linked.borrow_mut().insert(key, plain.clone());
                            children.push((plain, request.kind.clone()));
                        }
                        Ok(child) => children.push((child, request.kind.clone())),
                        Err(refusal) => {
                            self.forget(&url);
                            return Err(refusal.throw(ctx));
                        }
                    }
                }
                let urls = children.iter().map(|(child, _)| child.clone()).collect();
                self.imports.borrow_mut().insert(url, urls);
                self.circular.take();
                asked.extend(children.into_iter().rev());
            }
        }
        Ok(())
    }

    /// Looks whether a module has a source map. The first that has one makes stacks ask.
    pub(crate) fn note_map(&self, ctx: &Ctx<'_>, file: &str, text: &str) -> Result<()> {
        if !self.maps.note(file, text) {
            return Ok(());
        }
        let stack: Object<'_> = Object::from_value(builtins::require(ctx, "leat:stack")?)?;
        let translate: Function<'_> = stack.get("mapFrames")?;
        let map = |ctx: Ctx<'_>, file: String, line: u32, column: u32| -> Result<Option<List>> {
            let modules = Modules::of(&ctx)?;
            let place = modules.maps.place(modules.files(), &file, line, column);
            Ok(place.map(|(file, line, column)| List(file, line, column)))
        };
        translate.call((Func::from(map),))
    }

    /// Whether none of a module's `requests` needs what the built-in `specifier` loads late: one that is calculated may.
    fn is_plain(&self, ctx: &Ctx<'_>, url: &str, requests: &[Request], specifier: &str) -> Result<bool> {
        let imports = requests.iter().filter(|request| matches!(request.way, Way::Import | Way::Dynamic));
        let mut asked = Vec::new();
        for request in imports.filter(|request| request.specifier.as_deref().is_none_or(|other| other == specifier)) {
            let Some(names) = &request.names else { return Ok(false) };
            asked.extend(names.iter().filter(|name| *name != "default"));
        }
        if asked.is_empty() {
            return Ok(true);
        }
        let name = url.trim_end_matches(ALL);
        let late = self.late(name, &builtins::require(ctx, name)?)?;
        Ok(!asked.iter().any(|name| late.contains(name)))
    }

    /// The exports of the built-in `name` that only its module for everything has: the same for all who import it.
    pub(super) fn late(&self, name: &str, exports: &Value<'_>) -> Result<Rc<[String]>> {
        if let Some(known) = self.late.borrow().get(name) {
            return Ok(Rc::clone(known));
        }
        let late: Rc<[String]> = late_names(exports)?.into();
        self.late.borrow_mut().insert(name.to_owned(), Rc::clone(&late));
        Ok(late)
    }

    fn forget(&self, url: &str) {
        self.ready.borrow_mut().remove(url);
        self.running.borrow_mut().remove(url);
    }

    fn prepare(&self, url: &str) -> std::result::Result<Ready, Refusal> {
        let Some((path, _)) = path_of(url) else {
            return Ok(Ready::Builtin { name: url.trim_end_matches(ALL).to_owned(), all: url.ends_with(ALL) });
        };
        if let Some((name, "")) = part_of(self.files(), &path) {
            return Ok(Ready::Builtin { name: name.to_owned(), all: true });
        }
        match format_of(self.files(), &path)? {
            Format::Module => self.source(path),
            Format::CommonJs => self.commonjs(path),
            Format::Json => Ok(Ready::Json { path }),
            Format::Unsaid => {
                let bytes = self.files().read(&path)?;
                let text = text_of(&path, bytes)?;
                if has_module_syntax(&text) {
                    Ok(Ready::Source { path, text: text.into() })
                } else {
                    self.commonjs(path)
                }
            }
            Format::Addon => Err(super::addon::refusal(&path, &self.main.borrow())),
            Format::Unknown => {
                let extension = super::source::extension(&path);
                let message = format!("Unknown file extension \"{extension}\" for {path}");
                Err(Refusal::type_error("ERR_UNKNOWN_FILE_EXTENSION", message))
            }
        }
    }

    fn source(&self, path: String) -> std::result::Result<Ready, Refusal> {
        let text = text_of(&path, self.files().read(&path)?)?.into();
        Ok(Ready::Source { path, text })
    }

    fn commonjs(&self, path: String) -> std::result::Result<Ready, Refusal> {
        let names = self.names_of(&path).into();
        Ok(Ready::CommonJs { path, names })
    }

    /// The names that a CommonJS file exports, with those that it passes on.
    fn names_of(&self, path: &str) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        let mut asked = vec![path.to_owned()];
        let mut seen: HashSet<String> = HashSet::new();
        while let Some(path) = asked.pop() {
            if seen.len() >= REEXPORTS_MAX || !seen.insert(path.clone()) {
                continue;
            }
            let Ok(text) = self.files().read(&path).and_then(|bytes| text_of(&path, bytes)) else { continue };
            let found = names(&text);
            all.extend(found.names);
            for request in found.reexports {
                if let Ok(Some(Found::File { path, .. })) = self.resolver.require(&request, &path, &[]) {
                    asked.push(path);
                }
            }
        }
        all.retain(|name| name != "default");
        all.sort();
        all.dedup();
        all
    }

    /// Gives QuickJS the module `url`, which is linked, and what it imports.
    fn declare<'js>(self: &Rc<Self>, ctx: &Ctx<'js>, url: &str) -> Result<Module<'js, Declared>> {
        let ready = self.ready.borrow().get(url).cloned();
        match ready {
            Some(Ready::Source { path, text }) => {
                let (cache, carried) = self.kept(url, &path, &text);
                let module = match compile::module(ctx, cache, carried, url, &text) {
                    Ok(module) => module,
                    Err(error) => {
                        let running = self.running.borrow();
                        self.broken.borrow_mut().extend(running.iter().cloned());
                        return Err(compile::explain(ctx, error, url, &text));
                    }
                };
                self.describe(&module.meta()?, url, &path)?;
                Ok(module)
            }
            Some(_) => Module::declare_def::<Foreign, _>(ctx.clone(), url),
            None => Err(Exception::throw_message(ctx, &format!("the module {url} was not linked"))),
        }
    }

    /// Where an ES module may have been kept as bytecode: in the cache, and with the executable.
    fn kept(&self, url: &str, path: &str, text: &str) -> (Option<&Cache>, Option<&'static [u8]>) {
        // QuickJS loads what a module imports while it reads that module: one that comes back to it finds half of it.
        let mut circular = self.circular.borrow_mut();
        let circular = circular.get_or_insert_with(|| circular_of(&self.imports.borrow()));
        if circular.contains(url) || self.attributed.borrow().contains(url) {
            return (None, None);
        }
        // Bytecode has its module's URL in it: what is carried is one without a query.
        let plain = path_of(url).is_some_and(|(_, suffix)| suffix.is_empty());
        (self.cache(text.len()), self.files().module(path).filter(|_| plain))
    }

    /// Fills `import.meta`.
    fn describe<'js>(self: &Rc<Self>, meta: &Object<'js>, url: &str, path: &str) -> Result<()> {
        meta.set("dirname", super::files::parent(path))?;
        meta.set("filename", path)?;
        meta.set("main", path == self.main.borrow().as_str())?;
        let (modules, base) = (Rc::clone(self), url.to_owned());
        let resolve = move |ctx: Ctx<'js>, specifier: String| -> Result<String> {
            match modules.locate(&specifier, &base) {
                Ok(url) => Ok(url.trim_end_matches(ALL).to_owned()),
                // What is not there has an address as well.
                Err(Refusal { code: "ERR_MODULE_NOT_FOUND" | "ERR_UNSUPPORTED_DIR_IMPORT", fields, .. })
                    if !fields.is_empty() =>
                {
                    Ok(fields.into_iter().next().map(|(_, url)| url).unwrap_or_default())
                }
                Err(refusal) => Err(refusal.throw(&ctx)),
            }
        };
        meta.set("resolve", Func::from(resolve))?;
        meta.set("url", url)
    }

    /// Runs the program's first module. The promise is settled when its top level is through.
    pub(crate) fn run_main<'js>(self: &Rc<Self>, ctx: &Ctx<'js>, path: &str) -> Result<Promise<'js>> {
        let url = url_of(path, "");
        self.link(ctx, &url, None)?;
        let promise = self.evaluate(ctx, &url);
        let promise = promise.map_err(|error| self.explain_export(ctx, error))?;
        self.running.borrow_mut().clear();
        Ok(promise)
    }

    fn evaluate<'js>(self: &Rc<Self>, ctx: &Ctx<'js>, url: &str) -> Result<Promise<'js>> {
        let ready = self.ready.borrow().get(url).cloned();
        if let Some(Ready::Source { path, text }) = ready {
            let (cache, carried) = self.kept(url, &path, &text);
            if let Some(kept) = Kept::find(cache, carried, url, &text) {
                let ran = kept.run(ctx, |meta| self.describe(meta, url, &path));
                if ran.is_err() {
                    self.broken.borrow_mut().extend(self.running.borrow().iter().cloned());
                }
                return ran;
            }
        }
        self.declare(ctx, url)?.eval().map(|(_, promise)| promise)
    }

    /// An import of a name that is not exported: who asks for it, and where, as Node.js says it. Other errors stay.
    fn explain_export(&self, ctx: &Ctx<'_>, error: Error) -> Error {
        if !matches!(error, Error::Exception) {
            return error;
        }
        let thrown = ctx.catch();
        let message = super::refusal::text_of(&thrown, "message").unwrap_or_default();
        match missing_export(&message).and_then(|(name, module)| self.who_asks(name, module)) {
            Some(refusal) => refusal.throw(ctx),
            None => ctx.throw(thrown),
        }
    }

    fn who_asks(&self, name: &str, module: &str) -> Option<Refusal> {
        let ready = self.ready.borrow();
        let linked = self.linked.borrow();
        ready.iter().find_map(|(url, ready)| {
            let Ready::Source { path, text } = ready else { return None };
            let asks = |request: &Request| {
                let specifier = request.specifier.clone()?;
                let named = request.names.as_ref().is_some_and(|names| names.iter().any(|other| other == name));
                (named && linked.get(&(url.clone(), specifier.clone()))? == module).then_some((specifier, request.at))
            };
            let (specifier, at) = scan(text, Language::Module).requests.iter().find_map(asks)?;
            let message = format!("The requested module '{specifier}' does not provide an export named '{name}'");
            Some(Problem { code: "", message, at }.refusal(path, text))
        })
    }

    /// The namespace of an ES module that is required: it runs now, and must not wait.
    pub(crate) fn namespace<'js>(self: &Rc<Self>, ctx: &Ctx<'js>, path: &str, from: &str) -> Result<Value<'js>> {
        let url = url_of(path, "");
        let before: HashSet<String> = self.running.borrow().clone();
        self.link(ctx, &url, None)?;
        if self.reach(&url).iter().any(|url| self.awaiting.borrow().contains(url)) {
            return Err(waits(path, from).throw(ctx));
        }
        if self.closes_circle(&url, &url_of(from, ""), &before) {
            let message = format!("Cannot require() ES Module {path} in a cycle. (from {from})");
            return Err(Refusal::error("ERR_REQUIRE_CYCLE_MODULE", message).throw(ctx));
        }
        let space: Object<'js> =
            self.facade(ctx, &format!("export * as it from {};", quoted(&url)), path)?.get("it")?;
        *self.running.borrow_mut() = before;
        if space.contains_key("module.exports")? {
            return space.get("module.exports");
        }
        if space.contains_key("default")? && !space.contains_key("__esModule")? {
            let whole = quoted(&url);
            let text =
                format!("export * from {whole}; export {{ default }} from {whole}; export const __esModule = true;");
            return Ok(self.facade(ctx, &text, path)?.into_value());
        }
        Ok(space.into_value())
    }

    /// Runs a module around another one; gives its namespace.
    fn facade<'js>(&self, ctx: &Ctx<'js>, text: &str, path: &str) -> Result<Object<'js>> {
        self.facades.set(self.facades.get() + 1);
        let name = format!("{FACADE}{}", self.facades.get());
        let (module, promise) = Module::declare(ctx.clone(), name, text)?.eval()?;
        match promise.state() {
            PromiseState::Resolved => module.namespace(),
            PromiseState::Rejected => {
                handled(&promise)?;
                match promise.result::<Value<'js>>() {
                    Some(Err(error)) => Err(error),
                    _ => Err(Exception::throw_message(ctx, "the module failed")),
                }
            }
            PromiseState::Pending => {
                handled(&promise)?;
                Err(waits(path, path).throw(ctx))
            }
        }
    }

    /// Whether a module, or what it imports, is being evaluated by somebody who waits for who asks.
    fn closes_circle(&self, url: &str, from: &str, running: &HashSet<String>) -> bool {
        let reached = self.reach(url);
        let risky: Vec<&String> = reached.iter().filter(|url| running.contains(*url)).collect();
        if risky.is_empty() {
            return false;
        }
        let mut waiting: HashSet<String> = self.importing.borrow().iter().cloned().collect();
        if running.contains(from) {
            waiting.insert(from.to_owned());
        }
        waiting.is_empty() || risky.iter().any(|url| self.reach(url).iter().any(|reached| waiting.contains(reached)))
    }

    /// A module and all that it imports.
    fn reach(&self, url: &str) -> HashSet<String> {
        let imports = self.imports.borrow();
        let mut reached = HashSet::new();
        let mut asked = vec![url.to_owned()];
        while let Some(url) = asked.pop() {
            if let Some(children) = imports.get(&url) {
                asked.extend(children.iter().filter(|child| !reached.contains(*child)).cloned());
            }
            reached.insert(url);
        }
        reached
    }
}

/// A place, as JavaScript gets it.
struct List(String, u32, u32);

impl<'js> IntoJs<'js> for List {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        let list = Array::new(ctx.clone())?;
        list.set(0, self.0)?;
        list.set(1, self.1)?;
        list.set(2, self.2)?;
        Ok(list.into_value())
    }
}

/// Name and module of QuickJS's message.
fn missing_export(message: &str) -> Option<(&str, &str)> {
    message.strip_prefix("Could not find export '")?.strip_suffix('\'')?.split_once("' in module '")
}

/// A module that waits can't be required.
fn waits(path: &str, from: &str) -> Refusal {
    let message = format!(
        "require() cannot be used on an ESM graph with top-level await. Use import() instead. To see where the top-level \
         await comes from, use --experimental-print-required-tla.\n  From {from}\n  Requiring {path}"
    );
    Refusal::error("ERR_REQUIRE_ASYNC_MODULE", message)
}

/// A rejection that is told otherwise is not to be told as unhandled.
fn handled(promise: &Promise<'_>) -> Result<()> {
    let nothing = Function::new(promise.ctx().clone(), || {})?;
    promise.catch()?.call((This(promise.clone()), nothing))
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// QuickJS's way to [`Modules`].
pub(crate) struct Hooks;

impl ResolveModule for Hooks {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        with: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        let modules = Modules::of(ctx)?;
        let kind = match &with {
            Some(with) => with.get_type()?,
            None => None,
        };
        // Facades ask for the URLs of modules that are there; in other modules "node:http" may mean all of it.
        let url = match base.starts_with(FACADE) {
            true => name.to_owned(),
            false => modules.locate(name, base).map_err(|refusal| refusal.throw(ctx))?,
        };
        if modules.broken.borrow().contains(&url) {
            let message = format!("Cannot load {url}: it, or a module loaded together with it, failed before");
            return Err(Exception::throw_syntax(ctx, &message));
        }
        if !modules.ready.borrow().contains_key(&url) {
            modules.link(ctx, &url, kind.as_deref())?;
            // An `import()` runs in a job of its own: when the next one runs, nothing of it is under way.
            let (promise, resolve, _) = ctx.promise()?;
            let clear = Rc::downgrade(&modules);
            let clear = Function::new(ctx.clone(), move || {
                if let Some(modules) = clear.upgrade() {
                    modules.running.borrow_mut().clear();
                }
            })?;
            promise.then()?.call::<_, ()>((This(promise.clone()), clear))?;
            resolve.call::<_, ()>(())?;
        } else {
            let ready = modules.ready.borrow().get(&url).cloned();
            if let Some(ready) = ready {
                fits(&ready, &url, kind.as_deref()).map_err(|refusal| refusal.throw(ctx))?;
            }
        }
        Ok(url)
    }
}

impl LoadModule for Hooks {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        Modules::of(ctx)?.declare(ctx, name)
    }
}
