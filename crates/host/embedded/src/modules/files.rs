//! The files that modules are made of: those on disk, and those that a self-contained executable carries.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::io::Read as _;
use std::rc::Rc;
use std::sync::Arc;

use super::bundle::{Bundle, carried};
use super::package::Package;
use super::refusal::Refusal;
use crate::watch::LoadedFiles;

/// A module's source: larger ones are no program's.
const SOURCE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// A package.json.
const MANIFEST_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Nothing,
}

/// Reads files; remembers what does not change while a program runs: package.json files and the real paths of folders.
#[derive(Default)]
pub(crate) struct Files {
    packages: RefCell<HashMap<String, Option<Rc<Package>>>>,
    real_folders: RefCell<HashMap<String, String>>,
    /// Told of every module that is read.
    loaded: Option<Arc<LoadedFiles>>,
}

impl Files {
    /// Such that tell `loaded` of the modules that are read.
    pub(crate) fn noting(loaded: Arc<LoadedFiles>) -> Self {
        Self { loaded: Some(loaded), ..Self::default() }
    }

    /// The executable's own, if it has any and `path` can only be one of them.
    fn carried(&self, path: &str) -> Option<&'static Bundle> {
        carried().filter(|_| Bundle::covers(path))
    }

    /// Compiled when the executable was made: a CommonJS module.
    pub(crate) fn bytecode(&self, path: &str) -> Option<&'static [u8]> {
        self.carried(path)?.bytecode(path, false)
    }

    /// The same of an ES module.
    pub(crate) fn module(&self, path: &str) -> Option<&'static [u8]> {
        self.carried(path)?.bytecode(path, true)
    }

    /// Where a request led when the executable was made.
    pub(crate) fn target(&self, from: &str, import: bool, specifier: &str) -> Option<&'static str> {
        self.carried(from)?.target(from, import, specifier)
    }

    /// What `path` is. One system call.
    pub(crate) fn kind(&self, path: &str) -> Kind {
        if let Some(bundle) = self.carried(path) {
            return bundle.kind(path);
        }
        match fs::metadata(path) {
            Ok(data) if data.is_dir() => Kind::Folder,
            Ok(_) => Kind::File,
            Err(_) => Kind::Nothing,
        }
    }

    /// The path without symbolic links. One system call if the folder is known.
    pub(crate) fn real(&self, path: &str) -> String {
        if self.carried(path).is_some() {
            return path.to_owned();
        }
        let Some((folder, name)) = path.rsplit_once('/') else { return path.to_owned() };
        let link = fs::symlink_metadata(path).is_ok_and(|data| data.file_type().is_symlink());
        if link {
            return canonical(path);
        }
        let known = self.real_folders.borrow().get(folder).cloned();
        let folder = known.unwrap_or_else(|| {
            let real = if folder.is_empty() { String::new() } else { canonical(folder) };
            self.real_folders.borrow_mut().insert(folder.to_owned(), real.clone());
            real
        });
        if folder == "/" { format!("/{name}") } else { format!("{folder}/{name}") }
    }

    /// A module's source.
    ///
    /// # Errors
    /// As `fs.readFileSync` would throw it, in short.
    pub(crate) fn read(&self, path: &str) -> Result<Vec<u8>, Refusal> {
        if let Some(bundle) = self.carried(path) {
            let found = bundle.source(path).map(<[u8]>::to_vec);
            return found
                .ok_or_else(|| Refusal::error("ENOENT", format!("ENOENT: no such file or directory, open '{path}'")));
        }
        if let Some(loaded) = &self.loaded {
            loaded.note(path);
        }
        read(path, SOURCE_BYTES_MAX).map_err(|error| unreadable(path, &error))
    }

    /// The package.json of `folder`, if it has one. Read once.
    ///
    /// # Errors
    /// It is no JSON.
    pub(crate) fn package(&self, folder: &str) -> Result<Option<Rc<Package>>, Refusal> {
        if let Some(known) = self.packages.borrow().get(folder) {
            return Ok(known.clone());
        }
        let path = format!("{folder}/package.json");
        let bytes = match self.carried(folder) {
            Some(bundle) => bundle.source(&path).map(<[u8]>::to_vec),
            None => read(&path, MANIFEST_BYTES_MAX).ok(),
        };
        let package = match bytes {
            Some(bytes) => Some(Rc::new(Package::parse(folder, &bytes)?)),
            None => None,
        };
        self.packages.borrow_mut().insert(folder.to_owned(), package.clone());
        Ok(package)
    }

    /// The package.json that holds for a file: the nearest above it, but none above a `node_modules`.
    ///
    /// # Errors
    /// It is no JSON.
    pub(crate) fn scope(&self, path: &str) -> Result<Option<Rc<Package>>, Refusal> {
        let mut folder = parent(path);
        loop {
            if folder.ends_with("/node_modules") {
                return Ok(None);
            }
            let package = self.package(folder)?;
            if package.is_some() || folder.is_empty() {
                return Ok(package);
            }
            folder = parent(folder);
        }
    }

    /// The folders whose package.json was read.
    pub(crate) fn packages_read(&self) -> Vec<String> {
        let packages = self.packages.borrow();
        packages.iter().filter(|(_, package)| package.is_some()).map(|(folder, _)| folder.clone()).collect()
    }
}

/// The folder of a path; `""` is the root.
pub(crate) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// `name` below `folder`, without `.`, `..` and double slashes.
pub(crate) fn join(folder: &str, name: &str) -> String {
    let whole = if name.starts_with('/') { name.to_owned() } else { format!("{folder}/{name}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

fn canonical(path: &str) -> String {
    let real = fs::canonicalize(path).ok().and_then(|real| real.into_os_string().into_string().ok());
    real.unwrap_or_else(|| path.to_owned())
}

fn read(path: &str, bytes_max: u64) -> std::io::Result<Vec<u8>> {
    let file = fs::File::open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::with_capacity(usize::try_from(length.min(bytes_max)).unwrap_or(0) + 1);
    file.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(std::io::Error::from(std::io::ErrorKind::FileTooLarge));
    }
    Ok(bytes)
}

fn unreadable(path: &str, error: &std::io::Error) -> Refusal {
    use std::io::ErrorKind;
    let (code, text) = match error.kind() {
        ErrorKind::NotFound => ("ENOENT", "no such file or directory"),
        ErrorKind::PermissionDenied => ("EACCES", "permission denied"),
        ErrorKind::IsADirectory => return Refusal::error("EISDIR", "EISDIR: illegal operation on a directory, read"),
        ErrorKind::FileTooLarge => ("EFBIG", "file too large"),
        _ => return Refusal::error("EIO", format!("{path}: {error}")),
    };
    Refusal::error(code, format!("{code}: {text}, open '{path}'")).with("syscall", "open").with("path", path)
}
