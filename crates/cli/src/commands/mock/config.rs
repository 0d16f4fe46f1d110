use std::path::Path;

use serde_json::{Map, Value, json};

use crate::arguments::MockArguments;

/// The variable that the token of the admin API is taken from where no file is named.
const TOKEN_VARIABLE: &str = "LEAT_ADMIN_TOKEN";

/// The gateway's configuration that a mock is, as text. JSON, which is YAML too: nothing that stands in a flag can become
/// anything else there.
pub(crate) fn text(arguments: &MockArguments, has_token_variable: bool) -> String {
    let mut mock = Map::new();
    let mut put = |key: &str, value: Value| drop(mock.insert(key.to_owned(), value));
    if !arguments.proto.is_empty() {
        put("proto", paths(&arguments.proto));
    }
    if !arguments.include.is_empty() {
        put("include", paths(&arguments.include));
    }
    if let Some(server) = &arguments.reflect {
        put("reflect", server.as_str().into());
    }
    if !arguments.rules.is_empty() {
        put("rules", paths(&arguments.rules));
    }
    put("validate", arguments.validate.word().into());
    put("fake", arguments.fake.into());
    put("seed", arguments.seed.into());
    if let Some(name) = &arguments.session_key {
        put("session_key", name.as_str().into());
    }
    if !arguments.redact.is_empty() {
        put("redact", arguments.redact.clone().into());
    }
    if let Some([server, folder]) = arguments.record.as_deref() {
        put("record", json!({ "upstream": server, "folder": folder }));
    }
    if let Some(ca) = &arguments.ca {
        put("ca", path(ca));
    }
    let mut listener = json!({ "address": arguments.listen });
    if let (Some(cert), Some(key)) = (&arguments.tls_cert, &arguments.tls_key) {
        listener["tls"] = json!({ "certificates": [{ "cert": path(cert), "key": path(key) }] });
        if let Some(authorities) = &arguments.client_ca {
            listener["tls"]["client_ca"] = path(authorities);
        }
    }
    let mut config = json!({
        "listeners": [listener],
        "workers": arguments.workers.map_or(1, std::num::NonZeroUsize::get),
        "access_log": { "path": arguments.access_log.as_deref().unwrap_or("off") },
        "routes": [{ "name": "mock", "mock": mock }],
    });
    if let Some(address) = &arguments.admin {
        config["admin"] = json!({ "address": address });
        match &arguments.admin_token_file {
            Some(file) => config["admin"]["token"] = json!({ "file": path(file) }),
            None if has_token_variable => config["admin"]["token"] = json!({ "env": TOKEN_VARIABLE }),
            None => {}
        }
    }
    format!("{config:#}\n")
}

/// Whether the environment has a token for the admin API.
pub(crate) fn has_token_variable() -> bool {
    std::env::var_os(TOKEN_VARIABLE).is_some_and(|token| !token.is_empty())
}

fn paths(paths: &[std::path::PathBuf]) -> Value {
    paths.iter().map(|one| path(one)).collect()
}

fn path(path: &Path) -> Value {
    path.display().to_string().into()
}
