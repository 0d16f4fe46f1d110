use crate::config::read::endpoint;
use crate::config::table::{Open, Text};
use crate::config::upstream::Endpoint;

/// A URL with a path: where to connect, and the path with its query.
pub(in crate::config::read) fn read(open: &Open<'_>, text: Text<'_>) -> Option<(Endpoint, String)> {
    let after_scheme = text.value.find("://").map_or(0, |at| at + 3);
    let path_at = text.value.get(after_scheme..)?.find(['/', '?', '#']).map(|at| after_scheme + at);
    let (origin, path) = text.value.split_at_checked(path_at.unwrap_or(text.value.len()))?;
    let endpoint = endpoint::parse(open.reader, Text { value: origin, ..text })?;
    let is_path =
        |path: &str| path.starts_with('/') && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#');
    match path {
        "" => Some((endpoint, "/".to_owned())),
        path if is_path(path) => Some((endpoint, path.to_owned())),
        _ => {
            open.reader.problem_help(
                text.place,
                format!("the URL `{}` has no usable path", text.value.escape_debug()),
                "write for example `https://issuer.example/.well-known/jwks.json`",
            );
            None
        }
    }
}
