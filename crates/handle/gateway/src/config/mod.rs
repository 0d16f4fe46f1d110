//! The configuration: a file of YAML becomes a [`Config`] whose values cannot be wrong, or a list of all that is wrong
//! with it.

mod access;
mod access_log;
mod action;
mod admin;
mod auth;
mod compression;
mod concurrency;
mod cors;
mod decompression;
mod fault;
mod fields;
mod head_limits;
mod layers;
mod log_level;
mod maintenance;
mod mirror;
mod mock;
mod model;
mod observation;
mod plugin;
mod policies;

mod query_edits;
mod rate_limit;
mod read;
mod regex_rewrite;
mod secrets;
mod source;

mod template;
mod transcode;
mod upstream;

use std::path::Path;

use leat_config::{problem, table, yaml};
use table::{Open, Reader};

pub use access::Access;
pub use access_log::{AccessLog, LogFormat, LogTarget};
pub use action::{Coding, Files, Proxy, ProxyHost, Redirect, Split, SplitWhen};
pub use admin::{Admin, AdminToken};
pub(crate) use auth::{AuthKind, ExternalRules, JwksUrl, JwtKeys, OnFailure};
pub use auth::{AuthScheme, RouteAuth};
pub use compression::Compression;
pub use concurrency::Concurrency;
pub use cors::{Cors, Origin, Origins};
pub use decompression::{Decompression, RequestCoding};
pub use fault::{Fault, FaultEnd};
pub use fields::FieldEdits;
pub use head_limits::HeadLimits;
pub use log_level::LogLevel;
pub use maintenance::Maintenance;
pub use mirror::Mirror;
pub use mock::Mock;
pub(crate) use model::TRUSTED_HOPS_MAX;
pub use model::{
    Action, Bind, Certificate, ClientCertificates, Config, Drain, Forwarded, ForwardedStyle, Listener, Network,
    OnError, ProxyProtocol, RequestId, Route, ServerTls, TlsVersion, Workers,
};
pub use observation::{Observation, Otlp, ServerTiming, Share, Tracing};
pub use plugin::{OnPluginError, Plugin, PluginLimits, Plugins};
pub use policies::{Balance, BreakerScope, HashBy, HashTable, HealthCheck, HealthKind, Policies, Retries};
pub use problem::{Place, Problem};
pub use query_edits::QueryEdits;
pub(crate) use rate_limit::KeyPart;
pub use rate_limit::{ROUTE_LIMITS_MAX, RateLimit, RouteLimit, StoreError};
pub use regex_rewrite::RegexRewrite;
pub use source::{Change, Setting, Source};
pub use template::{Rewrite, Template};
pub use upstream::{ClientTls, Endpoint, EndpointAddress, Protocol, Upstream};
pub use yaml::FILE_BYTES_MAX;

/// A configuration that was read, and what is doubtful about it.
#[derive(Debug)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// What is probably a mistake but stops nothing.
    pub warnings: Vec<Problem>,
}

/// Reads a file. Relative paths in it start at its directory.
///
/// # Errors
/// All that is wrong with it, in the order of the file.
pub fn load(path: &Path) -> Result<Loaded, Vec<Problem>> {
    let name = path.display().to_string();
    let base = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match read_file(path) {
        Ok(text) => parse(&text, &name, base),
        Err(Unread { place, message, help }) => {
            let reader = Reader::new(&name, base);
            match place {
                Some(place) => reader.problem_help(place, message, help),
                None => reader.problem_of_file(message, Some(help.to_owned())),
            }
            Err(reader.finish().0)
        }
    }
}

/// Why a file has no text.
struct Unread {
    place: Option<Place>,
    message: String,
    help: &'static str,
}

fn read_file(path: &Path) -> Result<String, Unread> {
    use std::io::{ErrorKind, Read};

    let mut bytes = Vec::new();
    let file = std::fs::File::open(path);
    let read = file.and_then(|file| file.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes));
    if let Err(error) = read {
        let (message, help) = match error.kind() {
            ErrorKind::NotFound => ("there is no such file".to_owned(), "check the path"),
            ErrorKind::PermissionDenied => {
                ("this user may not read the file".to_owned(), "change its owner or its mode")
            }
            ErrorKind::IsADirectory => ("this is a directory, not a file".to_owned(), "name a file in it"),
            _ => (format!("the file cannot be read: {error}"), "check the path, and what it is on"),
        };
        return Err(Unread { place: None, message, help });
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
        let valid = str::from_utf8(valid).unwrap_or_default();
        let line = valid.rsplit('\n').next().unwrap_or_default();
        let (line, column) = (valid.matches('\n').count() + 1, line.chars().count() + 1);
        let place = Place { line: line as u32, column: column as u32 };
        Unread { place: Some(place), message: "this is not UTF-8".to_owned(), help: "save the file as UTF-8" }
    })
}

/// Reads the text of a configuration. `file` is how problems call it; relative paths in it start at `base`.
///
/// # Errors
/// All that is wrong with it, in the order of the file.
pub fn parse(text: &str, file: &str, base: &Path) -> Result<Loaded, Vec<Problem>> {
    let base = std::path::absolute(base).unwrap_or_else(|_| base.to_owned());
    let reader = Reader::new(file, &base);
    let config = if text.len() > FILE_BYTES_MAX {
        let help = "put long bodies into files of their own, for `files` to serve";
        reader.problem_of_file(format!("the file is longer than {FILE_BYTES_MAX} bytes"), Some(help.to_owned()));
        None
    } else {
        yaml::read(text, &reader).and_then(|node| {
            let mut config = read::read(&Open::new(&reader, &read::ROOT, &node))?;
            config.source = config.admin.is_some().then(|| source::masked(file, &read::ROOT, &node));
            Some(config)
        })
    };
    let (problems, warnings) = reader.finish();
    match config {
        Some(config) if problems.is_empty() => Ok(Loaded { config, warnings }),
        _ => {
            debug_assert!(!problems.is_empty(), "a configuration was refused without a reason");
            Err(problems)
        }
    }
}

/// The JSON Schema of a configuration, from the same tables as the reader.
pub fn schema() -> serde_json::Value {
    table::schema(&read::ROOT, "Leat gateway configuration")
}

/// The reference page of a configuration, from the same tables as the reader.
pub fn reference_markdown() -> String {
    table::markdown(
        &read::ROOT,
        "# Configuration\n\n\
         The file of `leat gateway`, in YAML. `leat gateway FILE --check` lists all that is wrong with one, and the JSON\n\
         Schema beside this page tells editors. Both, and this page, are made from the same tables as the reader.\n\n\
         Relative paths start at the directory of the file. Sizes are a number with `B`, `kB`, `MB`, `GB`, `TB`, `KiB`,\n\
         `MiB`, `GiB` or `TiB`, or a bare number of bytes; times have a unit: `ms`, `s`, `m` or `h`. Fields are what HTTP calls headers.\n",
    )
}
