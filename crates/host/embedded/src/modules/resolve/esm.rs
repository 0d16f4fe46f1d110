//! `import`.

use super::commonjs::{invalid_import, undefined_import, unknown};
use super::targets::{self, Conditions, Target};
use super::{Found, Resolver, absent, builtin, lacking, lacks, split_package};
use crate::modules::files::{Kind, join, parent};
use crate::modules::package::Package;
use crate::modules::refusal::Refusal;
use crate::modules::urls::{decode, url_of};

/// What a package without `exports` and without a file under its `main` begins with.
const MAIN_ENDINGS: [&str; 7] = ["", ".js", ".json", ".node", "/index.js", "/index.json", "/index.node"];

impl Resolver {
    /// Where `import specifier` in the file `from` leads.
    ///
    /// # Errors
    /// As Node's.
    pub(crate) fn import(&self, specifier: &str, from: &str) -> Result<Found, Refusal> {
        if let Some(name) = builtin(specifier) {
            return Ok(Found::Builtin(name));
        }
        if lacks(specifier) {
            return Err(lacking(specifier, from));
        }
        if specifier.starts_with("node:") {
            return Err(unknown(specifier));
        }
        if let Some(path) = self.files.target(from, true, specifier) {
            let suffix =
                specifier.find(['?', '#']).filter(|at| *at > 0).and_then(|at| specifier.get(at..)).unwrap_or("");
            return Ok(Found::File { path: path.to_owned(), suffix: suffix.to_owned() });
        }
        if let Some(url) = specifier.strip_prefix("file://") {
            return self.path(url, from);
        }
        let rooted = specifier.starts_with('/') || specifier.starts_with("./") || specifier.starts_with("../");
        if rooted || specifier == "." || specifier == ".." {
            return self.path(specifier, from);
        }
        if specifier.starts_with('#') {
            return self.import_import(specifier, from);
        }
        if let Some(scheme) = scheme(specifier) {
            let message = format!(
                "Only URLs with a scheme in: file, data, and node are supported by the default ESM loader. \
                 Received protocol '{scheme}:'"
            );
            return Err(Refusal::error("ERR_UNSUPPORTED_ESM_URL_SCHEME", message));
        }
        self.package_import(specifier, from)
    }

    /// A path, as URLs have it, relative to the file `from`.
    fn path(&self, url: &str, from: &str) -> Result<Found, Refusal> {
        let cut = url.find(['?', '#']).unwrap_or(url.len());
        let (path, suffix) = url.split_at_checked(cut).unwrap_or((url, ""));
        let lower = path.to_ascii_lowercase();
        if lower.contains("%2f") || lower.contains("%5c") {
            let message = format!(
                "Invalid module \"{path}\" must not include encoded \"/\" or \"\\\" characters imported from {from}"
            );
            return Err(Refusal::type_error("ERR_INVALID_MODULE_SPECIFIER", message));
        }
        let path = decode(path).unwrap_or_else(|| path.to_owned());
        let mut whole = join(parent(from), &path);
        if path.ends_with('/') || matches!(path.rsplit('/').next(), Some("." | "..")) {
            whole.push('/');
        }
        self.finish(&whole, suffix, from)
    }

    /// A file that must be there.
    fn finish(&self, path: &str, suffix: &str, from: &str) -> Result<Found, Refusal> {
        let kind = self.files.kind(path);
        if kind == Kind::Folder || path.ends_with('/') {
            let message =
                format!("Directory import '{path}' is not supported resolving ES modules imported from {from}");
            return Err(Refusal::error("ERR_UNSUPPORTED_DIR_IMPORT", message).with("url", url_of(path, suffix)));
        }
        if kind == Kind::Nothing {
            let message = format!("Cannot find module '{path}' imported from {from}");
            return Err(Refusal::error("ERR_MODULE_NOT_FOUND", message).with("url", url_of(path, suffix)));
        }
        Ok(Found::File { path: self.files.real(path), suffix: suffix.to_owned() })
    }

    fn import_import(&self, specifier: &str, from: &str) -> Result<Found, Refusal> {
        if specifier == "#" || specifier.starts_with("#/") {
            return Err(invalid_import(specifier, from));
        }
        let package = self.files.scope(from)?;
        let Some(package) = package else {
            let message = format!("Package import specifier \"{specifier}\" is not defined imported from {from}");
            return Err(Refusal::type_error("ERR_PACKAGE_IMPORT_NOT_DEFINED", message));
        };
        match targets::imported(&package, specifier, Conditions::Import, from)? {
            Some(Target::Path(path)) => self.finish(&path, "", from),
            Some(Target::Package(name)) => match builtin(&name) {
                Some(name) => Ok(Found::Builtin(name)),
                None => self.package_import(&name, &format!("{}/package.json", package.folder)),
            },
            _ => Err(undefined_import(specifier, &package.folder, from)),
        }
    }

    fn package_import(&self, specifier: &str, from: &str) -> Result<Found, Refusal> {
        let Some((name, subpath)) =
            split_package(specifier).or_else(|| specifier.is_empty().then(|| ("", ".".to_owned())))
        else {
            let message = format!("Invalid module \"{specifier}\" is not a valid package name imported from {from}");
            return Err(Refusal::type_error("ERR_INVALID_MODULE_SPECIFIER", message));
        };
        if let Some(own) = self.files.scope(from)?.filter(|own| own.name.as_deref() == Some(name))
            && let Some(exports) = &own.exports
        {
            let path = targets::exported(&own, exports, &subpath, Conditions::Import, Some(from))?;
            return self.finish(&path, "", from);
        }
        let mut at = if name.is_empty() { None } else { Some(parent(from)) };
        while let Some(above) = at {
            at = if above.is_empty() { None } else { Some(parent(above)) };
            if above.ends_with("/node_modules") {
                continue;
            }
            let folder = format!("{above}/node_modules/{name}");
            let package = self.files.package(&folder)?;
            if package.is_none() && self.files.kind(&folder) != Kind::Folder {
                continue;
            }
            return self.inside(package.as_deref(), &folder, &subpath, from);
        }
        if let Some(found) = absent(specifier) {
            return Ok(found);
        }
        Err(Refusal::error("ERR_MODULE_NOT_FOUND", format!("Cannot find package '{name}' imported from {from}")))
    }

    fn inside(&self, package: Option<&Package>, folder: &str, subpath: &str, from: &str) -> Result<Found, Refusal> {
        if let Some((package, exports)) =
            package.and_then(|package| package.exports.as_ref().map(|exports| (package, exports)))
        {
            let path = targets::exported(package, exports, subpath, Conditions::Import, Some(from))?;
            return self.finish(&path, "", from);
        }
        if subpath != "." {
            return self.path(&format!("{folder}/{}", subpath.trim_start_matches("./")), from);
        }
        let main = package.and_then(|package| package.main.as_deref());
        let mains =
            main.into_iter().flat_map(|main| MAIN_ENDINGS.map(|ending| join(folder, &format!("{main}{ending}"))));
        let indexes = ["index.js", "index.json", "index.node"].map(|name| join(folder, name));
        match mains.chain(indexes).find(|path| self.files.kind(path) == Kind::File) {
            Some(path) => Ok(self.real_file(&path)),
            None => {
                let message = format!("Cannot find package '{folder}' imported from {from}");
                Err(Refusal::error("ERR_MODULE_NOT_FOUND", message))
            }
        }
    }
}

fn scheme(specifier: &str) -> Option<&str> {
    let (scheme, _) = specifier.split_once(':')?;
    let mut letters = scheme.bytes();
    let begins = letters.next().is_some_and(|byte| byte.is_ascii_alphabetic());
    (begins && letters.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))).then_some(scheme)
}
