use std::io::Read;

use leat_redis::{Secret, Server, Target};

use super::address;
use super::route::upstream_or_route_name;
use crate::config::problem::Place;
use crate::config::table::{Key, Kind, Open, Reader, Section, Text, nearest, quoted, shorten};

/// The port of a Redis server where the URL has none.
const PORT: u16 = 6379;
/// The longest password, in bytes.
const PASSWORD_BYTES_MAX: u64 = 4 * 1024;

pub(super) static REDIS: Section = Section::new(
    "redis",
    "a Redis server",
    "A Redis or Valkey server that several gateways count their rate limits in. Every core has one connection to it.",
    &[
        Key::required(
            "url",
            Kind::Text { what: "a URL", example: "redis://127.0.0.1:6379" },
            "`redis://host:port`, `redis://host:port/database`, or `unix:/path`.",
        )
        .aka(&["address", "host", "server"]),
        Key::optional(
            "username",
            Kind::Text { what: "a name", example: "leat" },
            "The user to log in as (ACL). Without it: the default one.",
        )
        .aka(&["user"]),
        Key::optional(
            "password_file",
            Kind::Text { what: "a file", example: "redis.password" },
            "A file with the password; white space around it is ignored.",
        )
        .aka(&["password", "auth"]),
        Key::default(
            "deadline",
            Kind::Time { min_ms: 20, max_ms: 10_000, off: false },
            "100ms",
            "How long a request waits for an answer, to within 20 ms. A server that is silent for so long counts as down until it answers.",
        )
        .aka(&["timeout"]),
    ],
)
.shorthand("url");

/// The Redis servers of a configuration while its rate limits are read.
pub(super) struct Servers {
    list: Vec<Named>,
}

struct Named {
    name: String,
    place: Place,
    used: bool,
    /// `None` if it is wrong; limits that name it are fine all the same.
    server: Option<Server>,
}

/// What a limit that names a server finds.
pub(super) enum Found {
    Server(Server),
    /// There is none, or it is wrong; that was reported.
    Wrong,
}

impl Servers {
    pub(super) fn read(open: &Open<'_>) -> Self {
        let mut list = Vec::new();
        for (pair, section) in open.section_pairs("redis") {
            if upstream_or_route_name(&pair.key).is_none() {
                open.reader.problem_help(
                    pair.place,
                    format!(
                        "the name `{}` of a Redis server is not letters, digits, `-`, `_` and `.`",
                        shorten(&pair.key)
                    ),
                    "write for example `shared:`",
                );
            }
            list.push(Named { name: pair.key.clone(), place: pair.place, used: false, server: read_server(&section) });
        }
        Self { list }
    }

    pub(super) fn find(&mut self, reader: &Reader, text: Text<'_>) -> Found {
        if let Some(named) = self.list.iter_mut().find(|named| named.name == text.value) {
            named.used = true;
            return named.server.clone().map_or(Found::Wrong, Found::Server);
        }
        let names = || self.list.iter().map(|named| named.name.as_str());
        let help = match nearest(text.value, names()) {
            Some(name) => format!("write `{name}`"),
            None if self.list.is_empty() => {
                format!("add `redis: {{ {}: \"redis://127.0.0.1:6379\" }}` at the top of the file", shorten(text.value))
            }
            None => format!("known are {}", quoted(names())),
        };
        reader.problem_help(text.place, format!("unknown Redis server `{}`", shorten(text.value)), help);
        Found::Wrong
    }

    pub(super) fn warn_unused(&self, open: &Open<'_>) {
        for named in self.list.iter().filter(|named| !named.used) {
            open.reader.warn(
                named.place,
                format!("no rate limit uses the Redis server `{}`", named.name),
                "remove it, or name it as the `redis` of a rate limit",
            );
        }
    }
}

fn read_server(open: &Open<'_>) -> Option<Server> {
    let url = open.text("url").and_then(|text| read_url(open.reader, text));
    let username = open.text("username");
    let file = open.text("password_file");
    let deadline_ms = open.time("deadline");
    let password = match file {
        Some(text) => Some(read_password(open.reader, text)?),
        None => None,
    };
    if let (Some(user), None) = (username, file) {
        open.reader.problem_help(
            user.place,
            "a `username` without a password logs nobody in",
            "add `password_file`, or remove `username` for the default user",
        );
        return None;
    }
    let (target, database) = url?;
    let username = username.map(|text| text.value.to_owned());
    Some(Server { target, username, password, database, deadline_ms: deadline_ms? })
}

/// Messages do not show the whole URL where it could hold a password.
fn read_url(reader: &Reader, text: Text<'_>) -> Option<(Target, u32)> {
    let example = "write for example `redis://127.0.0.1:6379`";
    if let Some(path) = text.value.strip_prefix("unix:") {
        let path = address::unix(reader, Text { value: path, ..text })?;
        return Some((Target::Unix(path), 0));
    }
    let scheme = text.value.split_once("://");
    let Some(("redis" | "valkey", rest)) = scheme else {
        let message = match scheme {
            Some(("rediss" | "valkeys", _)) => "Redis over TLS is not supported",
            _ => "the URL of a Redis server starts with `redis://` or `unix:`",
        };
        reader.problem_help(text.place, message, example);
        return None;
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
        _ => (authority, Some(PORT)),
    };
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    match (database, port) {
        (Some(database), Some(port)) if !bare.is_empty() => Some((Target::Tcp(bare.to_owned(), port), database)),
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

fn read_password(reader: &Reader, text: Text<'_>) -> Option<Secret> {
    let mut password = String::new();
    let file = std::fs::File::open(reader.path(text.value));
    let read = file.and_then(|file| file.take(PASSWORD_BYTES_MAX + 1).read_to_string(&mut password));
    let message = match read {
        Err(error) => format!("the file `{}` cannot be read: {error}", shorten(text.value)),
        Ok(_) if password.len() as u64 > PASSWORD_BYTES_MAX => {
            format!("the file `{}` is longer than a password", shorten(text.value))
        }
        Ok(_) if password.trim().is_empty() => format!("the file `{}` is empty", shorten(text.value)),
        Ok(_) => return Some(Secret::new(password.trim())),
    };
    reader.problem_help(text.place, message, "name a file that has the password and nothing else");
    None
}
