use super::address;
use super::auth::secret;
use crate::config::admin::{Admin, AdminToken};
use crate::config::problem::Place;
use crate::config::table::{Group, Key, Kind, Open, Section};

/// The shortest token, in bytes: what cannot be guessed over a network.
const TOKEN_BYTES_MIN: usize = 16;
/// The longest token, in bytes: far below what a head may have.
const TOKEN_BYTES_MAX: usize = 1_024;
/// Host names, at most.
const HOSTS_MAX: usize = 32;

static TOKEN: Section = Section::new(
    "admin_token",
    "the `token` section",
    "Where the token is that requests must show as `Authorization: Bearer TOKEN` to change something: 16 to 1,024 visible characters of ASCII.",
    &[
        Key::optional("env", Kind::Text { what: "a variable", example: "LEAT_ADMIN_TOKEN" }, "A variable of the environment.")
            .aka(&["variable", "token_env"]),
        Key::optional(
            "file",
            Kind::Text { what: "a file", example: "admin.token" },
            "A file; a line break at its end does not count.",
        )
        .aka(&["path", "token_file"]),
    ],
)
.groups(&[Group { keys: &["env", "file"], required: true }])
.secret();

pub(super) static ADMIN: Section = Section::new(
    "admin",
    "the `admin` section",
    "Where metrics, health and the [admin API](admin.md) are served. Keep it away from the public.",
    &[
        Key::default(
            "address",
            Kind::Text { what: "an address", example: "127.0.0.1:8080" },
            "127.0.0.1:9900",
            "As for a listener.",
        )
        .aka(&["listen", "bind", "port"]),
        Key::optional(
            "token",
            Kind::Section(&TOKEN),
            "What shows that a request may change something. Without it nothing can be changed, only looked at.",
        )
        .aka(&["password", "secret"]),
        Key::optional(
            "hosts",
            Kind::List { of: &Kind::Text { what: "a host name", example: "leat.internal" }, one: true },
            "Names that the address is asked by, beside IP addresses and `localhost`. Others are refused, so that no web page reaches it by a name of its own (DNS rebinding); `/metrics`, `/healthz` and `/readyz` answer to every name.",
        )
        .aka(&["host", "names"]),
    ],
)
.shorthand("address");

pub(super) fn read_admin(open: &Open<'_>) -> Option<(Admin, Place)> {
    let bind = open.text("address").and_then(|text| address::bind(open.reader, text));
    let token = open.section_if("token").map(|section| read_token(&section));
    let hosts = open.texts("hosts");
    if let (true, Some(place)) = (hosts.len() > HOSTS_MAX, open.place_of("hosts")) {
        open.reader.problem_help(place, format!("more than {HOSTS_MAX} names"), "name fewer");
    }
    let is_name = |name: &str| {
        !name.is_empty() && name.len() <= 253 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b".-_".contains(&b))
    };
    let mut names = Vec::with_capacity(hosts.len());
    for text in hosts {
        if is_name(text.value) {
            names.push(text.value.to_ascii_lowercase());
        } else {
            let message = format!("`{}` is not a host name", text.value.escape_debug());
            open.reader.problem_help(text.place, message, "write it without a port, such as `leat.internal`");
        }
    }
    // The inner `None` was reported where it was read.
    let token = match token {
        Some(None) => return None,
        token => token.flatten(),
    };
    Some((Admin { bind: bind?, token, hosts: names }, open.place()))
}

fn read_token(open: &Open<'_>) -> Option<AdminToken> {
    let variable = open.text("env").map(|text| (text, secret::variable(open.reader, text)));
    let file = open.text("file").map(|text| (text, secret::secret_file(open.reader, text)));
    let (text, bytes) = variable.or(file)?;
    let bytes = bytes?;
    let is_long_enough = (TOKEN_BYTES_MIN..=TOKEN_BYTES_MAX).contains(&bytes.len());
    if !is_long_enough || !bytes.iter().all(u8::is_ascii_graphic) {
        open.reader.problem_help(
            text.place,
            format!("the token is not {TOKEN_BYTES_MIN} to {TOKEN_BYTES_MAX} visible characters of ASCII"),
            "make one with `openssl rand -hex 32`",
        );
        return None;
    }
    Some(AdminToken::new(&bytes))
}
