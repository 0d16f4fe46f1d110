//! One self-contained executable: the running one, and behind its end the files of a program.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rquickjs::loader::ImportAttributes;
use rquickjs::module::Declared;
use rquickjs::{Context, Ctx, Module, Runtime};

use super::bundle::{self, Bundle, ROOT};
use super::compile;
use super::files::parent;
use super::graph::{Finding, Graph, walk};
use super::scan::{Language, scan};
use super::source::{Format, format_of, has_module_syntax, text_of};
use super::urls::url_of;

/// What was made.
#[derive(Debug)]
pub struct Built {
    /// Files that it carries.
    pub files: usize,
    /// Its size.
    pub bytes: usize,
    /// What can't be known before it runs.
    pub warnings: Vec<Finding>,
}

/// Makes an executable at `to` of the program at `app`, with the files of `include` and what they ask for besides.
///
/// # Errors
/// The program has mistakes, one a line; or a file can't be read or written.
pub fn build(app: &Path, to: &Path, include: &[String]) -> Result<Built, String> {
    let graph = walk(app, include)?;
    let (errors, warnings): (Vec<Finding>, Vec<Finding>) = graph.findings.iter().cloned().partition(Finding::is_error);
    if !errors.is_empty() {
        return Err(errors.iter().map(Finding::to_string).collect::<Vec<_>>().join("\n"));
    }
    let bundle = bundle_of(&graph)?;
    let own = std::env::current_exe().and_then(fs::read).map_err(|error| format!("the running executable: {error}"))?;
    let mut whole = bundle::bare(&own).to_vec();
    whole.extend_from_slice(&bundle.write());
    write(to, &whole).map_err(|error| format!("{}: {error}", to.display()))?;
    Ok(Built { files: graph.sources.len(), bytes: whole.len(), warnings })
}

/// Whoever runs the old file meanwhile keeps it.
fn write(to: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut name = to.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    let own = to.with_file_name(name);
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o755).open(&own)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&own, to));
    if written.is_err() {
        let _ = fs::remove_file(&own);
    }
    written
}

fn bundle_of(graph: &Graph) -> Result<Bundle, String> {
    let packages: Vec<String> = graph.files.packages_read();
    // Also of what is not carried itself, since Leat's stands in for it: its version says which.
    let holds = |folder: &str, path: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    let used = |folder: &str| {
        graph.sources.keys().any(|path| holds(folder, path))
            || graph.edges.iter().any(|(_, _, _, to)| holds(folder, to))
    };
    let packages: Vec<&String> = packages.iter().filter(|folder| used(folder)).collect();
    let folders = graph.sources.keys().map(|path| parent(path)).chain(packages.iter().map(|folder| folder.as_str()));
    let root = common(folders);
    let moved = |path: &str| format!("{ROOT}{}", path.strip_prefix(root.as_str()).unwrap_or(path));
    let mut bundle = Bundle::new(moved(&graph.main));
    let failed = |error: rquickjs::Error| format!("JavaScript can't start: {error}");
    let runtime = Runtime::new().map_err(failed)?;
    runtime.set_loader(Anything, Anything);
    let context = Context::full(&runtime).map_err(failed)?;
    for (path, bytes) in &graph.sources {
        let (bytecode, module) = compiled(graph, &context, path, &moved(path)).unwrap_or_default();
        bundle.put(moved(path), bytes.clone(), bytecode, module);
    }
    for folder in packages {
        let path = format!("{folder}/package.json");
        let source = graph.files.read(&path).map_err(|refusal| refusal.message)?;
        bundle.put(moved(&path), source, Vec::new(), false);
    }
    for (from, import, specifier, to) in &graph.edges {
        bundle.link(moved(from), *import, specifier.clone(), moved(to));
    }
    Ok(bundle)
}

/// The bytecode of a module, and whether it is an ES module; `None` of what is neither, and of what QuickJS can't read: it tells
/// of that when it runs.
fn compiled(graph: &Graph, context: &Context, path: &str, name: &str) -> Option<(Vec<u8>, bool)> {
    let format = format_of(&graph.files, path).ok()?;
    if !matches!(format, Format::CommonJs | Format::Module | Format::Unsaid) {
        return None;
    }
    let text = text_of(path, graph.sources.get(path)?.clone()).ok()?;
    let module = format == Format::Module || (format == Format::Unsaid && has_module_syntax(&text));
    if module && scan(&text, Language::Module).has_attributes() {
        return None;
    }
    context.with(|ctx| {
        let bytes = match module {
            true => compile::bytes_of_module(&ctx, &url_of(name, ""), &text),
            false => compile::bytes_of(&ctx, name, &text),
        };
        if bytes.is_err() {
            let _ = ctx.catch();
        }
        bytes.ok().map(|bytes| (bytes, module))
    })
}

/// Stands for whatever a module imports while it is compiled. Nothing of it comes to be in its bytecode.
struct Anything;

impl rquickjs::loader::Resolver for Anything {
    fn resolve<'js>(
        &mut self,
        _ctx: &Ctx<'js>,
        _base: &str,
        name: &str,
        _with: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        // Not the name of a module that is compiled itself.
        Ok(format!("leat:any/{name}"))
    }
}

impl rquickjs::loader::Loader for Anything {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _with: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<Module<'js, Declared>> {
        Module::declare(ctx.clone(), name, "")
    }
}

/// The folder that all of them are in.
fn common<'a>(mut folders: impl Iterator<Item = &'a str>) -> String {
    let mut root = folders.next().unwrap_or_default().to_owned();
    for folder in folders {
        while folder != root && !folder.starts_with(&format!("{root}/")) {
            root = parent(&root).to_owned();
        }
    }
    root
}
