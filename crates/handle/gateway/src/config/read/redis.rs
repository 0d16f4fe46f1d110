use leat_redis::{Login, Place as Whereabouts, Security, SecurityError, Server};

use super::auth::{secret_file, secret_variable};
use super::redis_url::{read_url, read_urls};
use super::route::upstream_or_route_name;
use crate::config::problem::Place;
use crate::config::table::{Group, Key, Kind, Open, Reader, Section, Text, nearest, quoted, shorten};

const FILE: Kind = Kind::Text { what: "a file", example: "ca.pem" };
const USER: Kind = Kind::Text { what: "a name", example: "leat" };
const PASSWORD_FILE: Kind = Kind::Text { what: "a file", example: "redis.password" };
const URLS: Kind = Kind::List { of: &Kind::Text { what: "a URL", example: "redis://10.0.0.1:6379" }, one: true };

static TLS: Section = Section::new(
    "redis_tls",
    "the `tls` section of a Redis server",
    "TLS towards the servers whose URL asks for it (`rediss://`). Certificates are always verified.",
    &[
        Key::optional("ca", FILE, "Authorities to trust instead of the public ones, PEM.").aka(&["ca_file", "cafile"]),
        Key::optional("certificate", FILE, "A certificate to show to servers that ask for one, with its chain, PEM.")
            .aka(&["cert", "client_certificate"]),
        Key::optional("key", FILE, "The key of that certificate, PEM.").aka(&["private_key", "client_key"]),
        Key::optional(
            "server_name",
            Kind::Text { what: "a host", example: "redis.internal" },
            "The name to ask for and to verify instead of the host that is connected to: for servers that a cluster or sentinels name by their addresses.",
        )
        .aka(&["sni"]),
    ],
);

pub(super) static REDIS: Section = Section::new(
    "redis",
    "a Redis server",
    "Redis or Valkey that several gateways count their rate limits in: one server, the master that sentinels name, or a cluster. Every core has one connection to each server.",
    &[
        Key::optional(
            "url",
            Kind::Text { what: "a URL", example: "redis://127.0.0.1:6379" },
            "One server: `redis://host:port`, `redis://host:port/database`, `rediss://…` over TLS, or `unix:/path`.",
        )
        .aka(&["address", "host", "server"]),
        Key::optional(
            "sentinels",
            URLS,
            "Sentinels that say which server is the master, as `redis://host:26379`, or `rediss://…`: then the servers are spoken to over TLS as well.",
        )
        .aka(&["sentinel"]),
        Key::optional(
            "master",
            Kind::Text { what: "a name", example: "mymaster" },
            "The name that the sentinels know the master by.",
        )
        .aka(&["master_name", "service"]),
        Key::optional(
            "cluster",
            URLS,
            "Nodes of a cluster that are asked who has which slots, as `redis://host:port`, or `rediss://…` for all nodes.",
        )
        .aka(&["nodes", "seeds"]),
        Key::optional("username", USER, "The user to log in as (ACL). Without it: the default one.").aka(&["user"]),
        Key::optional("password_file", PASSWORD_FILE, "A file with the password; white space around it is ignored.")
            .aka(&["password", "auth"]),
        Key::optional(
            "password_env",
            Kind::Text { what: "a variable's name", example: "REDIS_PASSWORD" },
            "A variable of the environment with the password.",
        ),
        Key::optional("sentinel_username", USER, "The user to log in as at the sentinels."),
        Key::optional("sentinel_password_file", PASSWORD_FILE, "A file with the password for the sentinels.")
            .aka(&["sentinel_password"]),
        Key::optional("tls", Kind::Section(&TLS), "TLS towards the servers.").aka(&["ssl"]),
        Key::default(
            "deadline",
            Kind::Time { min_ms: 20, max_ms: 10_000, off: false },
            "100ms",
            "How long a request waits for an answer, to within 20 ms. A server that is silent for so long counts as down until it answers.",
        )
        .aka(&["timeout"]),
    ],
)
.shorthand("url")
.groups(&[
    Group { keys: &["url", "sentinels", "cluster"], required: true },
    Group { keys: &["password_file", "password_env"], required: false },
]);

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
    let reader = open.reader;
    let (one, sentinels, cluster, master) =
        (open.text("url"), open.texts("sentinels"), open.texts("cluster"), open.text("master"));
    let login = read_login(open, "username", &["password_file", "password_env"]);
    let sentinel_login = read_login(open, "sentinel_username", &["sentinel_password_file"]);
    let deadline_ms = open.time("deadline");
    let section = open.section("tls");
    let tls = ["ca", "certificate", "key", "server_name"].map(|key| section.text(key));
    for (key, help) in [("sentinels", "[redis://10.0.0.1:26379]"), ("cluster", "[redis://10.0.0.1:6379]")] {
        if let Some(place) = open.empty_list(key) {
            reader.problem_help(place, format!("`{key}` is empty"), format!("write for example `{key}: {help}`"));
            return None;
        }
    }
    for key in ["master", "sentinel_username", "sentinel_password_file"] {
        if let (true, Some(place)) = (sentinels.is_empty(), open.place_of(key)) {
            reader.problem_help(
                place,
                format!("`{key}` has no meaning without sentinels"),
                "name them in `sentinels`, or remove it",
            );
            return None;
        }
    }
    let (place, url) = if let Some(text) = one {
        let url = read_url(reader, text)?;
        (Whereabouts::One(url.target.clone()), url)
    } else if !cluster.is_empty() {
        let (seeds, url) = read_urls(reader, &cluster, 6379)?;
        (Whereabouts::Cluster { seeds }, url)
    } else {
        let first = *sentinels.first()?;
        let (sentinels, url) = read_urls(reader, &sentinels, 26379)?;
        let Some(master) = master.filter(|master| !master.value.is_empty()) else {
            reader.problem_help(
                master.map_or(first.place, |master| master.place),
                "sentinels are asked about a master by its name",
                "add for example `master: mymaster`",
            );
            return None;
        };
        (Whereabouts::Sentinel { sentinels, master: master.value.to_owned() }, url)
    };
    if section.is_present() && !url.is_tls {
        reader.warn(
            open.place_of("tls").unwrap_or(section.place()),
            "`tls` does nothing: the URL does not ask for it",
            "write `rediss://…`, or remove `tls`",
        );
    }
    let security = if url.is_tls { Some(read_tls(&section, tls)?) } else { None };
    let (login, sentinel_login) = (login?, sentinel_login?);
    Some(Server { place, security, login, sentinel_login, database: url.database, deadline_ms: deadline_ms? })
}

/// `None` where something is wrong, which was reported.
fn read_login(open: &Open<'_>, username: &str, passwords: &[&str]) -> Option<Login> {
    let reader = open.reader;
    let username = open.text(username);
    let found: Vec<_> = passwords.iter().map(|key| (key, open.text(key))).collect();
    let mut password = None;
    for (key, text) in found {
        let Some(text) = text else { continue };
        let found = match *key {
            "password_env" => secret_variable(reader, text)?,
            _ => secret_file(reader, text)?,
        };
        match std::str::from_utf8(&found).map(str::trim) {
            Ok(found) if !found.is_empty() => password = Some(leat_redis::Secret::new(found)),
            Ok(_) => {
                reader.problem_help(
                    text.place,
                    format!("`{key}` has an empty password"),
                    "name a place that has the password and nothing else",
                );
                return None;
            }
            Err(_) => {
                reader.problem_help(
                    text.place,
                    format!("the password of `{key}` is not UTF-8"),
                    "name a place that has the password and nothing else",
                );
                return None;
            }
        }
    }
    if let (Some(user), None) = (username, &password) {
        reader.problem_help(
            user.place,
            "a user name without a password logs nobody in",
            format!("add `{}`, or remove the name for the default user", passwords.first().unwrap_or(&"")),
        );
        return None;
    }
    Some(Login { username: username.map(|text| text.value.to_owned()), password })
}

/// `None` where something is wrong, which was reported.
fn read_tls(open: &Open<'_>, [ca, certificate, key, name]: [Option<Text<'_>>; 4]) -> Option<Security> {
    let reader = open.reader;
    let file = |text: Option<Text<'_>>| match text {
        Some(text) => super::file::content(reader, text).map(Some),
        None => Some(None),
    };
    let (authorities, chain, private) = (file(ca)?, file(certificate)?, file(key)?);
    let client = match (&chain, &private) {
        (Some(chain), Some(key)) => Some((chain.as_slice(), key.as_slice())),
        (None, None) => None,
        _ => {
            let place = certificate.or(key).map_or(open.place(), |text| text.place);
            reader.problem_help(
                place,
                "a certificate needs its key, and a key its certificate",
                "write both `certificate` and `key`",
            );
            return None;
        }
    };
    let error = match Security::new(authorities.as_deref(), client, name.map(|name| name.value)) {
        Ok(security) => return Some(security),
        Err(error) => error,
    };
    let (text, message, help) = match error {
        SecurityError::Authorities => {
            (ca, "has no certificate that can be read", "name a PEM file with `-----BEGIN CERTIFICATE-----`")
        }
        SecurityError::Certificate => {
            (certificate, "has no certificate that can be read", "name a PEM file with `-----BEGIN CERTIFICATE-----`")
        }
        SecurityError::Key => {
            (key, "has no key that fits the certificate", "name the PEM file of the certificate's key")
        }
        SecurityError::ServerName => (name, "is no host name", "write for example `redis.internal`"),
    };
    let (place, value) = text.map_or((open.place(), ""), |text| (text.place, text.value));
    reader.problem_help(place, format!("`{}` {message}", shorten(value)), help);
    None
}
