use leat_redis::Target;

use super::address;
use crate::config::table::{Reader, Text, shorten};

/// The port of a Redis server where the URL has none.
const PORT: u16 = 6379;
/// Nodes or sentinels that a configuration names.
const URLS_MAX: usize = 64;

/// What the URL of a Redis server says.
pub(super) struct Url {
    pub(super) target: Target,
    pub(super) is_tls: bool,
    pub(super) database: u32,
}

/// The URL of one server.
pub(super) fn read_url(reader: &Reader, text: Text<'_>) -> Option<Url> {
    read(reader, text, PORT)
}

/// URLs of servers that belong together, with the default of their port; what the first says holds for all.
pub(super) fn read_urls(reader: &Reader, texts: &[Text<'_>], port: u16) -> Option<(Vec<Target>, Url)> {
    let mut urls: Vec<Url> = Vec::new();
    for text in texts {
        let url = read(reader, *text, port)?;
        let wrong = if matches!(url.target, Target::Unix(_)) {
            Some("a Unix socket is no place for a cluster or a sentinel")
        } else if url.database != 0 {
            Some("a cluster has one database, and sentinels have none")
        } else if urls.first().is_some_and(|first| first.is_tls != url.is_tls) {
            Some("either all of these URLs ask for TLS or none does")
        } else if urls.iter().any(|known| known.target == url.target) {
            Some("this URL stands twice")
        } else if urls.len() >= URLS_MAX {
            Some("there are more than 64 URLs")
        } else {
            None
        };
        if let Some(message) = wrong {
            reader.problem_help(text.place, message, format!("write `redis://host:{port}` for each"));
            return None;
        }
        urls.push(url);
    }
    let targets = urls.iter().map(|url| url.target.clone()).collect();
    Some((targets, urls.into_iter().next()?))
}

/// Messages do not show the whole URL where it could hold a password.
fn read(reader: &Reader, text: Text<'_>, default_port: u16) -> Option<Url> {
    let example = format!("write for example `redis://127.0.0.1:{default_port}`");
    if let Some(path) = text.value.strip_prefix("unix:") {
        let path = address::unix(reader, Text { value: path, ..text })?;
        return Some(Url { target: Target::Unix(path), is_tls: false, database: 0 });
    }
    let (is_tls, rest) = match text.value.split_once("://") {
        Some(("redis" | "valkey", rest)) => (false, rest),
        Some(("rediss" | "valkeys", rest)) => (true, rest),
        _ => {
            let message = "the URL of a Redis server starts with `redis://`, `rediss://` or `unix:`";
            reader.problem_help(text.place, message, example);
            return None;
        }
    };
    if rest.contains('@') {
        reader.problem_help(
            text.place,
            "the URL of a Redis server has a password in it, which a log could show",
            "write the user as `username`, and the password into a file: `password_file`",
        );
        return None;
    }
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    let database = match database {
        "" => Some(0),
        number if number.bytes().all(|b| b.is_ascii_digit()) => number.parse().ok(),
        _ => None,
    };
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok().filter(|port| *port > 0)),
        _ => (authority, Some(default_port)),
    };
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    match (database, port) {
        (Some(database), Some(port)) if !bare.is_empty() => {
            Some(Url { target: Target::Tcp(bare.to_owned(), port), is_tls, database })
        }
        _ => {
            let message = format!("`{}` is not the URL of a Redis server", shorten(text.value));
            reader.problem_help(
                text.place,
                message,
                "write `redis://host:port`, or `redis://host:port/0` for a database",
            );
            None
        }
    }
}
