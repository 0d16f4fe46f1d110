//! What Leat has for files of `express`: programs and tools ask for some of them by their paths. What a name resolves to is
//! not touched.

use super::files::Files;
use crate::builtins;

/// The built-in module, and its member (empty: the whole), that stands in for the file at `path`.
pub(crate) fn part_of(files: &Files, path: &str) -> Option<(&'static str, &'static str)> {
    let (folder, inside) = path.rsplit_once("/node_modules/")?;
    let (package, file) = inside.split_once('/')?;
    if !matches!(package, "express" | "router") {
        return None;
    }
    let manifest = files.package(&format!("{folder}/node_modules/{package}")).ok()??;
    if manifest.name.as_deref() != Some(package) {
        return None;
    }
    let part = match (package, manifest.major(), file.strip_suffix(".js")?) {
        ("express", 5, "index" | "lib/express") => ("leat:express", ""),
        ("express", 5, "lib/application") => ("leat:express", "application"),
        ("express", 5, "lib/request") => ("leat:express", "request"),
        ("express", 5, "lib/response") => ("leat:express", "response"),
        ("express", 4, "index" | "lib/express") => ("leat:express4", ""),
        ("express", 4, "lib/application") => ("leat:express4", "application"),
        ("express", 4, "lib/request") => ("leat:express4", "request"),
        ("express", 4, "lib/response") => ("leat:express4", "response"),
        ("express", 4, "lib/middleware/query") => ("leat:express4", "query"),
        ("express", 4, "lib/router/index") => ("leat:express4", "Router"),
        ("router", 2, "index") => ("leat:express", "Router"),
        _ => return None,
    };
    builtins::is_builtin(part.0).then_some(part)
}
