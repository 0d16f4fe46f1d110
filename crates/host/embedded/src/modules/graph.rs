//! The modules that a program asks for by name, found without running it.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::path::Path;
use std::rc::Rc;

use super::addon;
use super::files::{Files, Kind, join, parent};
use super::part::part_of;
use super::refusal::Refusal;
use super::resolve::{Found, Resolver};
use super::scan::{Language, Request, Way, scan};
use super::source::{Format, format_of, has_module_syntax, is_typescript, place, text_of};

/// Files that are walked at most.
const FILES_MAX: usize = 100_000;

/// What was found.
pub(crate) struct Graph {
    pub(crate) files: Rc<Files>,
    /// The program's first file.
    pub(crate) main: String,
    /// The bytes of every file that was reached, by path.
    pub(crate) sources: BTreeMap<String, Vec<u8>>,
    pub(crate) findings: Vec<Finding>,
    /// Who asks, whether by `import`, for what, and the path that it led to.
    pub(crate) edges: Vec<(String, bool, String, String)>,
}

/// Something wrong, or doubtful, at a place of a file.
#[derive(Clone, Debug)]
pub struct Finding {
    file: String,
    line: usize,
    column: usize,
    message: String,
    weight: Weight,
}

/// Whether a program can run nevertheless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    Error,
    Warning,
    /// Only who makes an executable of the program wants to know.
    Calculated,
}

impl Finding {
    /// Whether the program can't run.
    pub fn is_error(&self) -> bool {
        self.weight == Weight::Error
    }

    pub(crate) fn weight(&self) -> Weight {
        self.weight
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, message, .. } = self;
        write!(to, "{file}:{line}:{column}: {}{message}", if self.is_error() { "" } else { "warning: " })
    }
}

/// Walks the program at `app`, a file or a folder with a package.json, and `more` besides.
///
/// # Errors
/// There is no such program.
pub(crate) fn walk(app: &Path, more: &[String]) -> Result<Graph, String> {
    let files = Rc::new(Files::default());
    let resolver = Resolver { files: Rc::clone(&files) };
    let folder = std::env::current_dir().ok().and_then(|folder| folder.into_os_string().into_string().ok());
    let folder = folder.unwrap_or_else(|| "/".to_owned());
    let find = |path: &str| {
        let path = join(&folder, path);
        match resolver.require(&path, "/", &[]) {
            Ok(Some(Found::File { path, .. })) => Ok(path),
            Ok(_) => Err(format!("{path}: there is no such file, nor one that a package.json names")),
            Err(refusal) => Err(refusal.message),
        }
    };
    let main = find(&app.to_string_lossy())?;
    let mut walker = Walker {
        resolver: &resolver,
        asked: VecDeque::from([main.clone()]),
        sources: BTreeMap::new(),
        findings: Vec::new(),
        edges: Vec::new(),
        beside: Vec::new(),
    };
    let mut folders = Vec::new();
    for path in more {
        let whole = join(&folder, path);
        match resolver.files.kind(&whole) {
            Kind::Folder => folders.push(whole),
            _ => walker.asked.push_back(find(path)?),
        }
    }
    while let Some(path) = walker.asked.pop_front() {
        if walker.sources.len() >= FILES_MAX {
            return Err(format!("more than {FILES_MAX} files"));
        }
        walker.visit(&path);
    }
    for folder in &folders {
        walker.data(folder)?;
    }
    walker.tell_what_is_left();
    let Walker { sources, mut findings, edges, .. } = walker;
    findings.sort_by(|one, other| (&one.file, one.line, one.column).cmp(&(&other.file, other.line, other.column)));
    Ok(Graph { files, main, sources, findings, edges })
}

struct Walker<'r> {
    resolver: &'r Resolver,
    asked: VecDeque<String>,
    sources: BTreeMap<String, Vec<u8>>,
    findings: Vec<Finding>,
    edges: Vec<(String, bool, String, String)>,
    /// Files and folders that are named as data: the finding that it is to be, and the path.
    beside: Vec<(Finding, String)>,
}

impl Walker<'_> {
    /// Everything in a folder, as it is: what of it is a module is one only if somebody asks for it.
    fn data(&mut self, folder: &str) -> Result<(), String> {
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let failed = |error: std::io::Error| format!("{folder}: {error}");
            for entry in std::fs::read_dir(&folder).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let name = entry.file_name();
                let Some(name) = name.to_str() else { return Err(format!("{folder}: a name in it is no UTF-8")) };
                let path = format!("{folder}/{name}");
                match self.resolver.files.kind(&path) {
                    // A link may lead back.
                    Kind::Folder if entry.file_type().is_ok_and(|kind| kind.is_dir()) => folders.push(path),
                    Kind::File if !self.sources.contains_key(&path) => {
                        let bytes = self.resolver.files.read(&path).map_err(|refusal| refusal.message)?;
                        self.sources.insert(path, bytes);
                    }
                    _ => {}
                }
                if self.sources.len() >= FILES_MAX {
                    return Err(format!("more than {FILES_MAX} files"));
                }
            }
        }
        Ok(())
    }

    /// Files that are named as data and are not carried.
    fn tell_what_is_left(&mut self) {
        for (finding, path) in std::mem::take(&mut self.beside) {
            let below = format!("{path}/");
            let left = match self.resolver.files.kind(&path) {
                Kind::File => !self.sources.contains_key(&path),
                Kind::Folder => !self.sources.keys().any(|file| file.starts_with(&below)),
                Kind::Nothing => false,
            };
            if left {
                self.findings.push(finding);
            }
        }
    }

    fn tell(&mut self, file: &str, text: &str, at: usize, message: String, weight: Weight) {
        let (line, column) = place(text, at);
        self.findings.push(Finding { file: file.to_owned(), line, column, message, weight });
    }

    fn visit(&mut self, path: &str) {
        if self.sources.contains_key(path) || part_of(&self.resolver.files, path).is_some() {
            return;
        }
        let bytes = match self.resolver.files.read(path) {
            Ok(bytes) => bytes,
            Err(refusal) => return self.tell(path, "", 0, refusal.message, Weight::Error),
        };
        self.sources.insert(path.to_owned(), bytes.clone());
        let format = match format_of(&self.resolver.files, path) {
            Ok(format) => format,
            Err(refusal) => return self.tell(path, "", 0, refusal.message, Weight::Error),
        };
        match format {
            Format::Json => {
                let text = String::from_utf8_lossy(&bytes);
                let text = text.trim_start_matches('\u{feff}');
                if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
                    let (line, column) = (error.line().max(1), error.column().max(1));
                    let finding = Finding {
                        file: path.to_owned(),
                        line,
                        column,
                        message: error.to_string(),
                        weight: Weight::Error,
                    };
                    self.findings.push(finding);
                }
            }
            Format::CommonJs | Format::Module | Format::Unsaid => self.code(path, bytes, format),
            // Whoever asks for it was told of.
            Format::Addon | Format::Unknown => {}
        }
    }

    fn code(&mut self, path: &str, bytes: Vec<u8>, format: Format) {
        let raw = String::from_utf8_lossy(&bytes).into_owned();
        if is_typescript(path)
            && let Err(problem) = super::strip::strip(raw.trim_start_matches('\u{feff}'))
        {
            return self.tell(path, &raw, problem.at, problem.message, Weight::Error);
        }
        let Ok(text) = text_of(path, bytes) else { return };
        let module = format == Format::Module || (format == Format::Unsaid && has_module_syntax(&text));
        let found = scan(&text, if module { Language::Module } else { Language::Script });
        if let Some((message, at)) = found.problem {
            return self.tell(path, &text, at, format!("SyntaxError: {message}"), Weight::Error);
        }
        for request in &found.requests {
            self.follow(path, &text, request);
        }
        for (at, name) in found.beside {
            let whole = join("", &format!("{}/{name}", parent(path)));
            let message =
                format!("{whole} is read when the program runs, and not carried: carry it with --include {whole}");
            let (line, column) = place(&text, at);
            let finding = Finding { file: path.to_owned(), line, column, message, weight: Weight::Calculated };
            self.beside.push((finding, whole));
        }
    }

    fn follow(&mut self, path: &str, text: &str, request: &Request) {
        let Some(specifier) = &request.specifier else {
            let way = if request.way == Way::Dynamic { "import()" } else { "require()" };
            let message = format!("{way} of a calculated name: name what it can be with --include");
            return self.tell(path, text, request.at, message, Weight::Calculated);
        };
        let missing = if request.late || request.way == Way::Dynamic { Weight::Warning } else { Weight::Error };
        if addon::is_loader(specifier) {
            let message = addon::refusal(path, path).message.replace('\n', "; ");
            return self.tell(path, text, request.at, message, missing);
        }
        let found = match request.way {
            Way::Import | Way::Dynamic => self.resolver.import(specifier, path).map(Some),
            Way::Require | Way::Resolve => self.resolver.require(specifier, path, &[]),
        };
        match found {
            Ok(Some(Found::File { path: to, .. })) if to.ends_with(".node") => {
                let message = addon::refusal(&to, path).message.replace('\n', "; ");
                self.tell(path, text, request.at, message, missing);
            }
            Ok(Some(Found::File { path: to, .. })) => {
                let import = matches!(request.way, Way::Import | Way::Dynamic);
                self.edges.push((path.to_owned(), import, specifier.clone(), to.clone()));
                self.asked.push_back(to);
            }
            Ok(Some(Found::Builtin(_))) => {}
            Ok(None) => {
                let message = format!("Cannot find module '{specifier}': install it, or mend its name");
                self.tell(path, text, request.at, message, missing);
            }
            Err(Refusal { message, .. }) => self.tell(path, text, request.at, message.replace('\n', "; "), missing),
        }
    }
}

/// Looks a program over without running it: a file, or a folder with a package.json. Gives the number of its files and what
/// is wrong with it.
///
/// # Errors
/// There is no such program.
pub fn check(app: &Path) -> Result<(usize, Vec<Finding>), String> {
    let graph = walk(app, &[])?;
    let findings = graph.findings.into_iter().filter(|finding| finding.weight() != Weight::Calculated).collect();
    Ok((graph.sources.len(), findings))
}
