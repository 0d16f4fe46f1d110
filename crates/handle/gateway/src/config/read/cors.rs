use leat_route::{MethodError, Methods};

use super::edits::name;
use crate::config::cors::{Cors, Origin, Origins};
use crate::config::table::{Key, Kind, Open, Reader, Section, Text};

const ORIGIN: Kind = Kind::Text { what: "an origin", example: "https://app.example.com" };
const METHOD: Kind = Kind::Text { what: "a method", example: "PUT" };
const NAME: Kind = Kind::Text { what: "a field name", example: "x-name" };

/// What pages may use where the file names no methods.
const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

pub(super) static CORS: Section = Section::new(
    "cors",
    "the `cors` section",
    "Which web pages of other origins may use a route. The gateway answers preflight requests itself, and it alone decides on the `access-control-` fields of replies: an upstream's are taken out.",
    &[
        Key::required(
            "origins",
            Kind::List { of: &ORIGIN, one: true },
            "Whose pages may: origins as browsers write them, `https://*.example.com` for all hosts below a name, or `*` for everybody.",
        )
        .aka(&["origin", "allow_origins", "allow_origin"]),
        Key::optional(
            "methods",
            Kind::List { of: &METHOD, one: true },
            "The methods that pages may use; `*` for all. Without it: GET, HEAD, POST, PUT, PATCH and DELETE.",
        )
        .aka(&["allow_methods"]),
        Key::optional(
            "headers",
            Kind::List { of: &NAME, one: true },
            "The fields that pages may send. Without it, and with `*`: whatever they ask for.",
        )
        .aka(&["allow_headers", "fields"]),
        Key::optional(
            "expose",
            Kind::List { of: &NAME, one: true },
            "The fields of a reply that pages may read, beside the few that they always may; `*` for all, without `credentials`.",
        )
        .aka(&["expose_headers", "exposed_headers"]),
        Key::default("credentials", Kind::Flag, "false", "Whether browsers send cookies along; not with `origins: \"*\"`.")
            .aka(&["allow_credentials"]),
        Key::default(
            "private_network",
            Kind::Flag,
            "false",
            "Whether pages of a public network may reach this server in a private one.",
        ),
        Key::default(
            "max_age",
            Kind::Time { min_ms: 0, max_ms: 86_400_000, off: false },
            "10m",
            "How long a browser may remember the answer to a preflight request. Whole seconds.",
        )
        .aka(&["age"]),
    ],
)
.shorthand("origins");

pub(super) fn read_cors(open: &Open<'_>) -> Option<Cors> {
    let texts = open.texts("origins");
    if let Some(place) = open.empty_list("origins") {
        open.reader.problem_help(place, "`origins` is empty", "list origins, as `[https://app.example.com]`");
    }
    let any = texts.iter().find(|text| text.value == "*");
    let credentials = open.flag("credentials");
    if let (Some(any), true) = (any, credentials) {
        open.reader.problem_help(
            any.place,
            "`*` with `credentials` would let every page act as its visitor",
            "list the origins whose pages are trusted",
        );
    }
    let origins = match any {
        Some(_) => Origins::Any,
        None => Origins::Listed(texts.iter().filter_map(|text| origin(open.reader, *text)).collect()),
    };
    let methods = read_methods(open);
    let list = |key: &str| {
        let names = open.texts(key).into_iter().filter_map(|text| name(open.reader, text));
        open.place_of(key).map(|_| names.collect::<Vec<_>>())
    };
    if let (Some(text), true) = (open.texts("expose").iter().find(|text| text.value == "*"), credentials) {
        open.reader.problem_help(
            text.place,
            "`*` is a field's name to browsers where `credentials` are sent",
            "list the fields that pages may read",
        );
    }
    let cors = Cors {
        origins,
        methods_list: (!methods.is_any()).then(|| methods.names().join(", ")),
        methods,
        fields: list("headers").filter(|names| !names.iter().any(|name| name == "*")),
        exposed: list("expose").map(|names| names.join(", ")),
        credentials,
        private_network: open.flag("private_network"),
        age_s: (open.time("max_age").unwrap_or_default() / 1_000).to_string(),
    };
    (!texts.is_empty()).then_some(cors)
}

fn read_methods(open: &Open<'_>) -> Methods {
    let mut methods = Methods::any();
    let texts = open.texts("methods");
    if texts.iter().any(|text| text.value == "*") {
        return methods;
    }
    for text in texts {
        if let Err(error) = methods.add(text.value) {
            let help = match error {
                MethodError::Case => format!("write `{}`", text.value.to_ascii_uppercase()),
                MethodError::Empty | MethodError::Character(_) => "write for example `PUT`".to_owned(),
            };
            open.reader.problem_help(text.place, error.to_string(), help);
        }
    }
    if methods.is_any() {
        for method in METHODS {
            // Each is a token in capitals.
            let _ = methods.add(method);
        }
    }
    methods
}

/// Reads an origin as browsers write it: anything else would never be equal to one.
fn origin(reader: &Reader, text: Text<'_>) -> Option<Origin> {
    if text.value == "null" {
        return Some(Origin::Exactly("null".to_owned()));
    }
    match parts(text.value) {
        Ok((before, host)) => Some(match host.strip_prefix('*') {
            Some(behind) => Origin::Below(before.to_owned(), behind.to_owned()),
            None => Origin::Exactly(text.value.to_owned()),
        }),
        Err((wrong, help)) => {
            reader.problem_help(text.place, format!("the origin `{}` {wrong}", text.value.escape_debug()), help);
            None
        }
    }
}

/// The scheme with its slashes, and the rest; or what is wrong, and what to write.
fn parts(text: &str) -> Result<(&str, &str), (&'static str, String)> {
    let Some(at) = text.find("://") else {
        return Err(("has no scheme", format!("write `https://{}`", text.trim_start_matches('/'))));
    };
    let (before, host) = text.split_at(at + 3);
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Err(("has capitals, and browsers write none", format!("write `{}`", text.to_ascii_lowercase())));
    }
    if let Some(end) = host.find(['/', '?', '#']) {
        return Err(("has a path", format!("write `{before}{}`", host.get(..end).unwrap_or_default())));
    }
    for (scheme, port) in [("http://", ":80"), ("https://", ":443")] {
        if let (true, Some(bare)) = (before == scheme, host.strip_suffix(port)) {
            return Err(("has its scheme's own port, which browsers leave out", format!("write `{before}{bare}`")));
        }
    }
    let name = host.strip_prefix("*.").unwrap_or(host);
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    if name.is_empty() || !name.bytes().all(fine) {
        return Err((
            "is not a scheme, a host and perhaps a port",
            "write for example `https://app.example.com` or `https://*.example.com`".to_owned(),
        ));
    }
    Ok((before, host))
}
