//! `require`.

use super::targets::{self, Conditions, Target};
use super::{Found, Resolver, absent, builtin, lacking, lacks, split_package};
use crate::modules::files::{Kind, join, parent};
use crate::modules::package::Package;
use crate::modules::refusal::Refusal;

/// What `require` tries behind a name without one of them.
pub(crate) const EXTENSIONS: [&str; 3] = [".js", ".json", ".node"];

impl Resolver {
    /// Where `require(request)` in the file `from` leads; `None` if there is nothing. `folders` are searched instead of those
    /// of `from`, if there are some (`require.resolve` with `paths`).
    ///
    /// # Errors
    /// As Node's, but for a module that is not found.
    pub(crate) fn require(&self, request: &str, from: &str, extensions: &[String]) -> Result<Option<Found>, Refusal> {
        if let Some(name) = builtin(request) {
            return Ok(Some(Found::Builtin(name)));
        }
        if lacks(request) {
            return Err(lacking(request, from));
        }
        if request.starts_with("node:") {
            return Err(unknown(request));
        }
        if let Some(path) = self.files.target(from, false, request) {
            return Ok(Some(Found::File { path: path.to_owned(), suffix: String::new() }));
        }
        let folder = parent(from);
        if is_path(request) {
            let path = join(folder, request);
            let found = self.file_or_folder(&path, ends_as_folder(request), extensions)?;
            return Ok(found.map(|path| self.real_file(&path)));
        }
        if request.starts_with('#')
            && let Some(found) = self.require_import(request, from, extensions)?
        {
            return Ok(Some(found));
        }
        if let Some(path) = self.own(request, from)? {
            return Ok(Some(self.real_file(&path)));
        }
        self.installed(request, folder, extensions)
    }

    /// From the `node_modules` of `folder` and of those above it.
    fn installed(&self, request: &str, folder: &str, extensions: &[String]) -> Result<Option<Found>, Refusal> {
        let mut at = Some(folder);
        while let Some(above) = at {
            at = if above.is_empty() { None } else { Some(parent(above)) };
            if above.ends_with("/node_modules") {
                continue;
            }
            let modules = format!("{above}/node_modules");
            if self.files.kind(&modules) != Kind::Folder {
                continue;
            }
            if let Some(path) = self.in_folder(request, &modules, extensions)? {
                return Ok(Some(self.real_file(&path)));
            }
        }
        Ok(absent(request))
    }

    /// A package or file below one `node_modules`.
    fn in_folder(&self, request: &str, modules: &str, extensions: &[String]) -> Result<Option<String>, Refusal> {
        if let Some((name, subpath)) = split_package(request)
            && let Some(package) = self.files.package(&format!("{modules}/{name}"))?
            && let Some(exports) = &package.exports
        {
            let path = targets::exported(&package, exports, &subpath, Conditions::Require, None)?;
            return match self.files.kind(&path) {
                Kind::File => Ok(Some(path)),
                _ => Err(gone(&path, &package)),
            };
        }
        self.file_or_folder(&join(modules, request), ends_as_folder(request), extensions)
    }

    fn require_import(&self, request: &str, from: &str, extensions: &[String]) -> Result<Option<Found>, Refusal> {
        let Some(package) = self.files.scope(from)?.filter(|package| package.imports.is_some()) else {
            return Ok(None);
        };
        if request == "#" || request.starts_with("#/") {
            return Err(invalid_import(request, from));
        }
        match targets::imported(&package, request, Conditions::Require, from)? {
            Some(Target::Path(path)) if self.files.kind(&path) == Kind::File => Ok(Some(self.real_file(&path))),
            Some(Target::Path(path)) => Err(gone(&path, &package)),
            Some(Target::Package(name)) => {
                if let Some(name) = builtin(&name) {
                    return Ok(Some(Found::Builtin(name)));
                }
                self.installed(&name, &package.folder, extensions)
            }
            _ => Err(undefined_import(request, &package.folder, from)),
        }
    }

    /// A package's own exports, asked for by its name.
    fn own(&self, request: &str, from: &str) -> Result<Option<String>, Refusal> {
        let Some((name, subpath)) = split_package(request) else { return Ok(None) };
        let Some(package) = self.files.scope(from)? else { return Ok(None) };
        if package.name.as_deref() != Some(name) {
            return Ok(None);
        }
        let Some(exports) = &package.exports else { return Ok(None) };
        let path = targets::exported(&package, exports, &subpath, Conditions::Require, Some(from))?;
        match self.files.kind(&path) {
            Kind::File => Ok(Some(path)),
            _ => Err(gone(&path, &package)),
        }
    }

    fn file_or_folder(&self, path: &str, folder_only: bool, extensions: &[String]) -> Result<Option<String>, Refusal> {
        let kind = self.files.kind(path);
        if !folder_only {
            if kind == Kind::File {
                return Ok(Some(path.to_owned()));
            }
            if let Some(found) = self.extended(path, extensions) {
                return Ok(Some(found));
            }
        }
        if kind == Kind::Folder { self.folder(path, extensions) } else { Ok(None) }
    }

    fn folder(&self, path: &str, extensions: &[String]) -> Result<Option<String>, Refusal> {
        let index = join(path, "index");
        let package = self.files.package(if path == "/" { "" } else { path })?;
        let Some(main) = package.and_then(|package| package.main.clone()).filter(|main| !main.is_empty()) else {
            return Ok(self.extended(&index, extensions));
        };
        let file = join(path, &main);
        if self.files.kind(&file) == Kind::File {
            return Ok(Some(file));
        }
        let found = self.extended(&file, extensions).or_else(|| self.extended(&join(&file, "index"), extensions));
        if let Some(found) = found.or_else(|| self.extended(&index, extensions)) {
            return Ok(Some(found));
        }
        let message =
            format!("Cannot find module '{file}'. Please verify that the package.json has a valid \"main\" entry");
        Err(Refusal::error("MODULE_NOT_FOUND", message)
            .with("path", format!("{path}/package.json"))
            .with("requestPath", path))
    }

    fn extended(&self, path: &str, extensions: &[String]) -> Option<String> {
        let found = |extension: &str| {
            let file = format!("{path}{extension}");
            (self.files.kind(&file) == Kind::File).then_some(file)
        };
        if extensions.is_empty() {
            return EXTENSIONS.iter().find_map(|extension| found(extension));
        }
        extensions.iter().find_map(|extension| found(extension))
    }

    pub(super) fn real_file(&self, path: &str) -> Found {
        Found::File { path: self.files.real(path), suffix: String::new() }
    }
}

/// Whether a request is a path and no package's name.
pub(crate) fn is_path(request: &str) -> bool {
    request == "."
        || request == ".."
        || request.starts_with("./")
        || request.starts_with("../")
        || request.starts_with('/')
}

fn ends_as_folder(request: &str) -> bool {
    request.ends_with('/') || request.ends_with("/.") || request.ends_with("/..") || request == "." || request == ".."
}

fn gone(file: &str, package: &Package) -> Refusal {
    let path = format!("{}/package.json", package.folder);
    Refusal::error("MODULE_NOT_FOUND", format!("Cannot find module '{file}'")).with("path", path)
}

pub(super) fn unknown(request: &str) -> Refusal {
    Refusal::error("ERR_UNKNOWN_BUILTIN_MODULE", format!("No such built-in module: {request}"))
}

pub(super) fn invalid_import(request: &str, from: &str) -> Refusal {
    let message =
        format!("Invalid module \"{request}\" is not a valid internal imports specifier name imported from {from}");
    Refusal::type_error("ERR_INVALID_MODULE_SPECIFIER", message)
}

pub(super) fn undefined_import(request: &str, folder: &str, from: &str) -> Refusal {
    let message = format!(
        "Package import specifier \"{request}\" is not defined in package {folder}/package.json imported from {from}"
    );
    Refusal::type_error("ERR_PACKAGE_IMPORT_NOT_DEFINED", message)
}
