//! From a specifier to a file or a built-in module, as Node.js resolves it.

mod commonjs;
mod esm;
mod targets;

use std::rc::Rc;

use super::files::Files;
use super::refusal::Refusal;
use crate::builtins;

/// Where a specifier leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The name of a built-in module, such as `node:fs`.
    Builtin(String),
    /// A file's real path.
    File {
        /// The path.
        path: String,
        /// What stands behind it in the URL of an `import`: a query and a hash.
        suffix: String,
    },
}

/// Resolves specifiers.
pub(crate) struct Resolver {
    pub(crate) files: Rc<Files>,
}

/// The built-in module that a specifier names, before any file is looked for.
pub(crate) fn builtin(specifier: &str) -> Option<String> {
    let name = if specifier.starts_with("node:") {
        specifier.to_owned()
    } else if let Some(part) = specifier.strip_prefix("leat/") {
        format!("leat:{part}")
    } else {
        // Only under `node:`, as in Node.js.
        if matches!(specifier, "test" | "test/reporters" | "sqlite" | "sea") {
            return None;
        }
        format!("node:{specifier}")
    };
    builtins::is_builtin(&name).then_some(name)
}

/// Node's built-in modules that this host has not.
pub(crate) fn lacks(specifier: &str) -> bool {
    let bare = specifier.strip_prefix("node:").unwrap_or(specifier);
    let only_prefixed = ["sea", "sqlite", "test", "test/reporters"];
    NODES.contains(&bare) || (specifier.len() != bare.len() && only_prefixed.contains(&bare))
}

/// Node's built-in modules, as of version 24. What this host has of them is found before.
const NODES: [&str; 67] = [
    "_http_agent",
    "_http_client",
    "_http_common",
    "_http_incoming",
    "_http_outgoing",
    "_http_server",
    "_stream_duplex",
    "_stream_passthrough",
    "_stream_readable",
    "_stream_transform",
    "_stream_writable",
    "_tls_common",
    "_tls_wrap",
    "assert",
    "assert/strict",
    "async_hooks",
    "buffer",
    "child_process",
    "cluster",
    "console",
    "constants",
    "crypto",
    "dgram",
    "diagnostics_channel",
    "dns",
    "dns/promises",
    "domain",
    "events",
    "fs",
    "fs/promises",
    "http",
    "http2",
    "https",
    "inspector",
    "inspector/promises",
    "module",
    "net",
    "os",
    "path",
    "path/posix",
    "path/win32",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "readline/promises",
    "repl",
    "stream",
    "stream/consumers",
    "stream/promises",
    "stream/web",
    "string_decoder",
    "sys",
    "timers",
    "timers/promises",
    "tls",
    "trace_events",
    "tty",
    "url",
    "util",
    "util/types",
    "v8",
    "vm",
    "wasi",
    "worker_threads",
    "zlib",
];

/// Why a built-in module can't be had, and what to do.
pub(crate) fn lacking(specifier: &str, from: &str) -> Refusal {
    let message = format!(
        "{specifier} is not there in Leat's own host\nRequired by {from}\nRun the program on Node.js: node --import leat/register APP"
    );
    Refusal::error("ERR_UNKNOWN_BUILTIN_MODULE", message)
}

/// What Leat has for a package that is not installed.
fn absent(specifier: &str) -> Option<Found> {
    let name = "leat:express";
    (specifier == "express" && builtins::is_builtin(name)).then(|| Found::Builtin(name.to_owned()))
}

/// Name and path below it (`.` or `./…`) of a bare specifier.
fn split_package(specifier: &str) -> Option<(&str, String)> {
    let mut end = specifier.find('/').unwrap_or(specifier.len());
    if specifier.starts_with('@') {
        let scoped = specifier.get(end + 1..).filter(|rest| !rest.is_empty())?;
        end += 1 + scoped.find('/').unwrap_or(scoped.len());
    }
    let (name, rest) = specifier.split_at_checked(end)?;
    if name.is_empty() || name.starts_with('.') || name.contains(['\\', '%']) {
        return None;
    }
    Some((name, format!(".{rest}")))
}
