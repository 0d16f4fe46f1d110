//! `exports` and `imports` of a package.json.

use crate::modules::files::join;
use crate::modules::json::Json;
use crate::modules::package::Package;
use crate::modules::refusal::Refusal;
use crate::modules::urls::decode;

/// Targets may be nested in conditions and lists this deep.
const NESTED_MAX: usize = 64;

/// Who asks, and so which conditions hold besides `default`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Conditions {
    Import,
    Require,
}

impl Conditions {
    fn hold(self, name: &str) -> bool {
        match name {
            "default" | "leat" | "node" | "node-addons" | "module-sync" => true,
            "import" => self == Self::Import,
            "require" => self == Self::Require,
            _ => false,
        }
    }
}

/// Where a target leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A path below the package.
    Path(String),
    /// Another package, which only `imports` may name.
    Package(String),
    /// `null`: explicitly nothing.
    Closed,
    /// No condition holds.
    Nothing,
}

/// What a target is looked up for.
struct Search<'a> {
    package: &'a Package,
    conditions: Conditions,
    /// Who asks, for messages; with ` imported from ` before it, or empty.
    from: String,
    key: &'a str,
    /// What the `*` stands for.
    matched: Option<&'a str>,
    imports: bool,
}

/// The file that `exports` of a package gives for `subpath` (`.` or `./…`).
///
/// # Errors
/// As Node's: not exported, or a target that is none.
pub(super) fn exported(
    package: &Package,
    exports: &Json,
    subpath: &str,
    conditions: Conditions,
    base: Option<&str>,
) -> Result<String, Refusal> {
    let from = base.map(|base| format!(" imported from {base}")).unwrap_or_default();
    let sugar;
    let map = if is_main(package, exports)? {
        sugar = Json::Object(vec![(".".to_owned(), exports.clone())]);
        &sugar
    } else {
        exports
    };
    if let Some((key, value, matched)) = pick(map, subpath) {
        let search = Search { package, conditions, from: from.clone(), key, matched, imports: false };
        if let Target::Path(path) = search.resolve(value, 0)? {
            return Ok(path);
        }
    }
    let folder = &package.folder;
    let message = if subpath == "." {
        format!("No \"exports\" main defined in {folder}/package.json{from}")
    } else {
        format!("Package subpath '{subpath}' is not defined by \"exports\" in {folder}/package.json{from}")
    };
    Err(Refusal::error("ERR_PACKAGE_PATH_NOT_EXPORTED", message))
}

/// What `imports` of a package gives for `#name`; `None` if it has nothing for it.
///
/// # Errors
/// A target that is none.
pub(super) fn imported(
    package: &Package,
    name: &str,
    conditions: Conditions,
    base: &str,
) -> Result<Option<Target>, Refusal> {
    let Some(imports) = &package.imports else { return Ok(None) };
    let Some((key, value, matched)) = pick(imports, name) else { return Ok(None) };
    let from = format!(" imported from {base}");
    let search = Search { package, conditions, from, key, matched, imports: true };
    Ok(match search.resolve(value, 0)? {
        Target::Closed | Target::Nothing => None,
        target => Some(target),
    })
}

/// Whether `exports` is that of the main entry alone.
fn is_main(package: &Package, exports: &Json) -> Result<bool, Refusal> {
    let Json::Object(members) = exports else { return Ok(true) };
    let dotted = members.iter().filter(|(key, _)| key.starts_with('.')).count();
    if dotted != 0 && dotted != members.len() {
        let message = format!(
            "Invalid package config {}/package.json. \"exports\" cannot contain some keys starting with '.' and some not. \
             The exports object must either be an object of package subpath keys or an object of main entry condition name \
             keys only.",
            package.folder
        );
        return Err(Refusal::error("ERR_INVALID_PACKAGE_CONFIG", message));
    }
    Ok(dotted == 0)
}

/// The entry for `name`: the one that is equal, else the pattern with the longest beginning.
fn pick<'a>(map: &'a Json, name: &'a str) -> Option<(&'a str, &'a Json, Option<&'a str>)> {
    let Json::Object(members) = map else { return None };
    if !name.contains('*')
        && !name.ends_with('/')
        && let Some((key, value)) = members.iter().rfind(|(key, _)| key == name)
    {
        return Some((key, value, None));
    }
    let mut best: Option<(&str, &Json, &str, usize)> = None;
    for (key, value) in members {
        let Some((head, tail)) = key.split_once('*') else { continue };
        if tail.contains('*') || name.len() < key.len() || !name.starts_with(head) || !name.ends_with(tail) {
            continue;
        }
        let better = best.is_none_or(|(other, _, _, length)| (head.len(), key.len()) > (length, other.len()));
        if let (true, Some(matched)) = (better, name.get(head.len()..name.len() - tail.len())) {
            best = Some((key, value, matched, head.len()));
        }
    }
    best.map(|(key, value, matched, _)| (key, value, Some(matched)))
}

impl Search<'_> {
    fn resolve(&self, target: &Json, depth: usize) -> Result<Target, Refusal> {
        if depth > NESTED_MAX {
            return Err(self.invalid(target));
        }
        match target {
            Json::Text(text) => self.text(target, text),
            Json::Null => Ok(Target::Closed),
            Json::List(targets) => self.first(targets, depth),
            Json::Object(members) => {
                for (name, value) in members {
                    if name.parse::<u32>().is_ok() {
                        let message = format!(
                            "Invalid package config {}/package.json. \"exports\" cannot contain numeric property keys.",
                            self.package.folder
                        );
                        return Err(Refusal::error("ERR_INVALID_PACKAGE_CONFIG", message));
                    }
                    if !self.conditions.hold(name) {
                        continue;
                    }
                    match self.resolve(value, depth + 1)? {
                        Target::Nothing => {}
                        found => return Ok(found),
                    }
                }
                Ok(Target::Nothing)
            }
            Json::Other(_) => Err(self.invalid(target)),
        }
    }

    fn first(&self, targets: &[Json], depth: usize) -> Result<Target, Refusal> {
        let mut last = Ok(if targets.is_empty() { Target::Closed } else { Target::Nothing });
        for target in targets {
            match self.resolve(target, depth + 1) {
                Ok(Target::Nothing) => {}
                Ok(Target::Closed) => last = Ok(Target::Closed),
                Err(refusal) if refusal.code == "ERR_INVALID_PACKAGE_TARGET" => last = Err(refusal),
                other => return other,
            }
        }
        last
    }

    fn text(&self, target: &Json, text: &str) -> Result<Target, Refusal> {
        let filled = match self.matched {
            Some(matched) => text.replace('*', matched),
            None => text.to_owned(),
        };
        let Some(inside) = text.strip_prefix("./") else {
            let outside = text.starts_with("../") || text.starts_with('/');
            if self.imports && !outside {
                return Ok(Target::Package(filled));
            }
            return Err(self.invalid(target));
        };
        if leaves(inside) {
            return Err(self.invalid(target));
        }
        if let Some(matched) = self.matched.filter(|matched| leaves(matched)) {
            let message = format!(
                "Invalid module \"{}\" request is not a valid match in pattern \"{}\" for the \"{}\" resolution of {}/package.json{}",
                self.key.replace('*', matched),
                self.key,
                if self.imports { "imports" } else { "exports" },
                self.package.folder,
                self.from
            );
            return Err(Refusal::type_error("ERR_INVALID_MODULE_SPECIFIER", message));
        }
        let path = decode(&filled).unwrap_or(filled);
        Ok(Target::Path(join(&self.package.folder, &path)))
    }

    fn invalid(&self, target: &Json) -> Refusal {
        let mut text = String::new();
        target.write(&mut text);
        let rooted = target.text().is_some_and(|text| !text.is_empty() && !text.starts_with("./"));
        let hint = if rooted && !self.imports { "; targets must start with \"./\"" } else { "" };
        let (folder, from, key) = (&self.package.folder, &self.from, self.key);
        let message = if key == "." {
            format!(
                "Invalid \"exports\" main target {text} defined in the package config {folder}/package.json{from}{hint}"
            )
        } else {
            let field = if self.imports { "imports" } else { "exports" };
            format!(
                "Invalid \"{field}\" target {text} defined for '{key}' in the package config {folder}/package.json{from}{hint}"
            )
        };
        Refusal::error("ERR_INVALID_PACKAGE_TARGET", message)
    }
}

/// Whether a path has a part that no target may have.
fn leaves(path: &str) -> bool {
    path.split(['/', '\\']).any(|part| {
        let plain = decode(part).unwrap_or_else(|| part.to_owned()).to_ascii_lowercase();
        matches!(plain.as_str(), "." | ".." | "node_modules")
    })
}
