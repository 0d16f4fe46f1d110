//! From the text of .proto files to descriptors, by protox; and from its errors to problems with places.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use leat_config::{Place, Problem};
use miette::Diagnostic;
use protox::file::{DescriptorSetFileResolver, File, FileResolver, GoogleFileResolver};

use crate::bundled;

/// A .proto file before its name is known.
pub(crate) struct Text {
    /// Where it was read; `None` for a text that was given.
    pub(crate) path: Option<PathBuf>,
    /// The name in imports, if that is given too.
    pub(crate) name: Option<String>,
    /// The folder that was given, or the one it is in.
    pub(crate) root: PathBuf,
    pub(crate) text: String,
}

/// What came of it.
pub(crate) struct Compiled {
    /// A `FileDescriptorSet` with all imports, and with the places of what they declare.
    pub(crate) files: Bytes,
    pub(crate) problems: Vec<Problem>,
    /// Where files are, by their names in imports.
    pub(crate) paths: HashMap<String, String>,
}

/// Compiles `texts`. `sets` are looked through for imports.
pub(crate) fn compile(texts: Vec<Text>, includes: Vec<PathBuf>, sets: &[(Arc<str>, Bytes)]) -> Compiled {
    let mut places = Places::default();
    let mut problems = Vec::new();
    let mut parsed = Vec::new();
    for text in texts {
        let shown = text.path.as_ref().map(|path| path.display().to_string());
        let shown = shown.or_else(|| text.name.clone()).unwrap_or_default();
        // The name does not matter yet, but protox's messages contain it.
        match File::from_source(&shown, &text.text) {
            Ok(file) => parsed.push((text, file)),
            Err(error) => {
                let before = problems.len();
                places.problems(&error, &mut problems);
                // Of a text that ends too early protox does not say where.
                for problem in problems.iter_mut().skip(before).filter(|problem| problem.message.ends_with(AT_END)) {
                    problem.place.get_or_insert_with(|| end_of(&text.text));
                }
            }
        }
    }
    let (files, roots) = named(parsed, &includes, &mut places);
    let mut names: Vec<String> = files.keys().cloned().collect();
    names.sort();
    let mut folders = includes;
    folders.extend(roots);
    let resolver = Resolver {
        files,
        folders,
        sets: sets.iter().filter_map(|(_, bytes)| DescriptorSetFileResolver::decode(bytes.clone()).ok()).collect(),
        places: Rc::clone(&places.found),
    };
    let mut compiler = protox::Compiler::with_file_resolver(resolver);
    compiler.include_imports(true);
    compiler.include_source_info(true);
    for name in names {
        if let Err(error) = compiler.open_file(&name) {
            places.problems(&error, &mut problems);
        }
    }
    let mut seen = HashSet::new();
    problems.retain(|problem| seen.insert(problem.to_string()));
    let files = if problems.is_empty() { compiler.encode_file_descriptor_set().into() } else { Bytes::new() };
    let paths = places.found.take();
    Compiled { files, problems, paths }
}

/// Gives each file its name for imports: the one by which another file imports it, or else below the folder that fits its
/// package, or else below the folder that was given. The second value is all folders that came up.
fn named(
    parsed: Vec<(Text, File)>,
    includes: &[PathBuf],
    places: &mut Places,
) -> (HashMap<String, String>, Vec<PathBuf>) {
    let imports: HashSet<String> =
        parsed.iter().flat_map(|(_, file)| file.file_descriptor_proto().dependency.iter().cloned()).collect();
    let mut files = HashMap::new();
    let mut roots: Vec<PathBuf> = Vec::new();
    for (text, file) in parsed {
        let (Some(path), None) = (&text.path, &text.name) else {
            files.insert(text.name.unwrap_or_default(), text.text);
            continue;
        };
        let mut candidates: Vec<&Path> =
            includes.iter().map(PathBuf::as_path).filter(|root| path.starts_with(root)).collect();
        let package = file.file_descriptor_proto().package();
        candidates.extend(package_root(path, package));
        candidates.push(&text.root);
        let names: Vec<(String, &Path)> =
            candidates.iter().filter_map(|root| Some((below(path, root)?, *root))).collect();
        let imported = names.iter().find(|(name, _)| imports.contains(name));
        let Some((name, root)) = imported.or(names.first()) else { continue };
        if !roots.iter().any(|known| known == root) {
            roots.push(root.to_path_buf());
        }
        places.found.borrow_mut().entry(name.clone()).or_insert_with(|| path.display().to_string());
        files.entry(name.clone()).or_insert(text.text);
    }
    (files, roots)
}

/// `protos` for `protos/shop/v1/orders.proto` with `package shop.v1`.
fn package_root<'p>(path: &'p Path, package: &str) -> Option<&'p Path> {
    let mut folder = path.parent()?;
    for part in package.rsplit('.').filter(|part| !part.is_empty()) {
        if folder.file_name()? != part {
            return None;
        }
        folder = folder.parent()?;
    }
    (!package.is_empty()).then_some(folder)
}

/// The path below `root`, with slashes.
fn below(path: &Path, root: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path.strip_prefix(root).ok()?.iter().map(|part| part.to_str()).collect();
    parts.map(|parts| parts.join("/")).filter(|name| !name.is_empty())
}

/// Finds imports.
struct Resolver {
    /// The texts that were given, by name.
    files: HashMap<String, String>,
    folders: Vec<PathBuf>,
    sets: Vec<DescriptorSetFileResolver>,
    places: Rc<RefCell<HashMap<String, String>>>,
}

impl FileResolver for Resolver {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        if let Some(text) = self.files.get(name) {
            return File::from_source(name, text);
        }
        for path in self.folders.iter().map(|folder| folder.join(name)) {
            if path.is_file() {
                self.places.borrow_mut().insert(name.to_owned(), path.display().to_string());
                return File::open(name, &path);
            }
        }
        for set in &self.sets {
            if let Ok(file) = set.open_file(name) {
                return Ok(file);
            }
        }
        match bundled::text(name) {
            Some(text) => File::from_source(name, text),
            None => GoogleFileResolver::new().open_file(name),
        }
    }
}

/// Where the files are, by their names in imports.
#[derive(Default)]
struct Places {
    found: Rc<RefCell<HashMap<String, String>>>,
}

impl Places {
    /// Adds what `error` says: the first thing, and what protox calls related.
    fn problems(&self, error: &protox::Error, problems: &mut Vec<Problem>) {
        let name = error.file().unwrap_or_default().to_owned();
        self.problem(error, error, &name, problems);
        for related in error.related().into_iter().flatten() {
            self.problem(related, error, &name, problems);
        }
    }

    fn problem(&self, what: &dyn Diagnostic, error: &protox::Error, name: &str, problems: &mut Vec<Problem>) {
        let label = what.labels().and_then(|mut labels| labels.next());
        let place = label.and_then(|label| {
            let span = error.source_code()?.read_span(label.inner(), 0, 0).ok()?;
            Some(Place { line: span.line() as u32 + 1, column: span.column() as u32 + 1 })
        });
        let message = what.to_string();
        let help = what.help().map(|help| help.to_string()).or_else(|| advice(&message));
        let file = self.found.borrow().get(name).cloned().unwrap_or_else(|| name.to_owned());
        problems.push(Problem { file: file.into(), place, message, help });
    }
}

/// How protox ends a message about a text that ends too early.
const AT_END: &str = "reached end of file";

fn end_of(text: &str) -> Place {
    let last = text.rsplit('\n').next().unwrap_or_default();
    Place { line: text.matches('\n').count() as u32 + 1, column: last.chars().count() as u32 + 1 }
}

/// What to do about messages that say only what is wrong.
fn advice(message: &str) -> Option<String> {
    if message.contains("unknown syntax") || message.contains("'edition'") {
        let how = "compile it with `buf build -o FILE.binpb` or `protoc --include_imports -o FILE`, and give that";
        return Some(format!("editions are read from descriptor sets: {how}"));
    }
    if message.starts_with("import '") && message.ends_with("not found") {
        return Some("give the folder in which this path begins as an include".into());
    }
    if message.starts_with("name '") && message.ends_with("is not defined") {
        return Some(
            "declare it, or import the file that does; one of another package has the package before it".into(),
        );
    }
    let help = if message.ends_with(AT_END) {
        "close what is open: a `}` or a `;` is missing"
    } else if message.starts_with("expected ") && message.contains(", but found ") {
        "write what is expected in its place, or before it"
    } else if message.starts_with("field number ") && message.ends_with("is already used") {
        "give one of the two another number"
    } else if message.starts_with("required fields are not allowed") {
        "leave `required` out"
    } else if message.starts_with("the first value for proto3 enums") {
        "begin with a value of 0, such as `KIND_UNSPECIFIED = 0`"
    } else {
        return None;
    };
    Some(help.into())
}
