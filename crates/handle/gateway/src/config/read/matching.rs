use leat_route::{Host, MethodError, Methods, Path, PathError, Pattern, Predicate, Test};

use super::edits;
use crate::config::table::{Key, Kind, Open, Section, Text};

const HOST: Kind = Kind::Text { what: "a host", example: "api.example.org" };
const METHOD: Kind = Kind::Text { what: "a method", example: "GET" };
const VALUE: Kind = Kind::Text { what: "a text", example: "value" };

static TEST: Section = Section::new(
    "test",
    "a condition",
    "What a field or a query parameter must be like. Where it is repeated, one that passes is enough.",
    &[
        Key::optional("is", VALUE, "It has exactly this value.").aka(&["exact", "equals", "value"]),
        Key::optional("prefix", VALUE, "Its value starts with this.").aka(&["starts_with"]),
        Key::optional("present", Kind::Flag, "`true`: it is there, with any value; `false`: it is not there.")
            .aka(&["exists", "absent"]),
    ],
)
.shorthand("is")
.groups(&[crate::config::table::Group { keys: &["is", "prefix", "present"], required: true }]);

pub(super) static MATCH: Section = Section::new(
    "match",
    "the `match` section",
    "Which requests a route is for: all that is written here must be true of them. The most specific route wins: exact host before wildcard (longest first) before any; exact path before parameters before prefix (longest first); then the one with more conditions (`method`, `headers`, `query`); then the order of the file.",
    &[
        Key::optional(
            "host",
            Kind::List { of: &HOST, one: true },
            "`api.example.org`, or `*.example.org` for everything below it; without a port. Without it: any host.",
        )
        .aka(&["hosts", "server_name", "domain"]),
        Key::optional(
            "path",
            Kind::Text { what: "a path", example: "/users/{id}" },
            "This path alone. `{id}` stands for one segment, `{*rest}` at the end for all that follows.",
        )
        .aka(&["url", "uri", "location"]),
        Key::optional(
            "prefix",
            Kind::Text { what: "a path", example: "/api" },
            "This path and everything below it: `/api` is `/api` and `/api/x` but not `/apix`; `/api/` leaves `/api` out. Without `path` and `prefix`: any path.",
        )
        .aka(&["path_prefix"]),
        Key::optional(
            "method",
            Kind::List { of: &METHOD, one: true },
            "One of these methods; `GET` brings `HEAD` along. Without it: any method but `CONNECT`.",
        )
        .aka(&["methods"]),
        Key::optional(
            "headers",
            Kind::Map { key: "field names", of: &Kind::Section(&TEST) },
            "Conditions on fields: `x-version: \"2\"`, `{ prefix: … }` or `{ present: true }`.",
        )
        .aka(&["header", "fields"]),
        Key::optional(
            "query",
            Kind::Map { key: "parameter names", of: &Kind::Section(&TEST) },
            "Conditions on query parameters, compared after decoding.",
        )
        .aka(&["params"]),
    ],
)
.groups(&[crate::config::table::Group { keys: &["path", "prefix"], required: false }]);

/// What a `match` section says, before it is taken apart by host.
pub(super) struct Match {
    pub(super) hosts: Vec<Host>,
    pub(super) path: Path,
    methods: Methods,
    predicates: Vec<Predicate>,
}

impl Match {
    /// A pattern for each host.
    pub(super) fn patterns(&self) -> impl Iterator<Item = Pattern> {
        self.hosts.iter().map(|host| Pattern {
            host: host.clone(),
            path: self.path.clone(),
            methods: self.methods.clone(),
            predicates: self.predicates.clone(),
        })
    }

    /// Any request.
    pub(super) fn any() -> Self {
        Self { hosts: vec![Host::Any], path: Path::any(), methods: Methods::any(), predicates: Vec::new() }
    }

    /// A short name for logs and metrics.
    pub(super) fn name(&self) -> String {
        let mut name = String::new();
        if !self.methods.is_any() {
            name = format!("{} ", self.methods.names().join(","));
        }
        if let Some(host) = self.hosts.first().filter(|host| **host != Host::Any) {
            name.push_str(&host.to_string());
        }
        name.push_str(self.path.text());
        if self.path.is_open() && !name.ends_with('}') {
            name.push('*');
        }
        name
    }
}

/// Reads a `match` section; `None` if it cannot be compiled.
pub(super) fn read_match(open: &Open<'_>) -> Option<Match> {
    let hosts = read_hosts(open);
    let path = match (open.text("path"), open.text("prefix")) {
        (Some(text), _) => read_path(open, text, Path::exact, "path"),
        (None, Some(text)) => read_path(open, text, Path::prefix, "prefix"),
        (None, None) if open.place_of("path").or(open.place_of("prefix")).is_some() => None,
        (None, None) => Some(Path::any()),
    };
    let methods = read_methods(open);
    let mut predicates = Vec::new();
    let mut complete = true;
    for (pair, section) in open.section_pairs("headers") {
        let text = Text { value: &pair.key, place: pair.place };
        let (name, test) = (edits::name(open.reader, text), read_test(&section));
        match (name, test) {
            (Some(name), _) if name.eq_ignore_ascii_case("host") => {
                open.reader.problem_help(pair.place, "`host` among `headers`", "write `host:` in `match` instead");
                complete = false;
            }
            (Some(name), Some(test)) => predicates.push(Predicate::field(&name, test)),
            _ => complete = false,
        }
    }
    for (pair, section) in open.section_pairs("query") {
        match read_test(&section) {
            Some(test) => predicates.push(Predicate::query(&pair.key, test)),
            None => complete = false,
        }
    }
    let found = Match { hosts: hosts?, path: path?, methods: methods?, predicates };
    complete.then_some(found)
}

fn read_hosts(open: &Open<'_>) -> Option<Vec<Host>> {
    let mut hosts: Vec<Host> = Vec::new();
    let mut complete = true;
    for text in open.texts("host") {
        match Host::parse(text.value) {
            Ok(host) if hosts.contains(&host) => {
                open.reader.problem_help(text.place, format!("the host `{host}` is listed twice"), "keep one of them");
            }
            Ok(host) => hosts.push(host),
            Err(error) => {
                complete = false;
                let help = match error {
                    leat_route::HostError::Port => {
                        let name = text.value.rsplit_once(':').map_or(text.value, |(name, _)| name);
                        format!("write `{name}`")
                    }
                    leat_route::HostError::Url => {
                        let rest = text.value.split_once("://").map_or(text.value, |(_, rest)| rest);
                        let name = rest.split(['/', ':']).next().unwrap_or_default();
                        if name.is_empty() {
                            "write for example `example.org`".to_owned()
                        } else {
                            format!("write `{name}`")
                        }
                    }
                    _ => "write for example `example.org` or `*.example.org`".to_owned(),
                };
                open.reader.problem_help(text.place, format!("host `{}`: {error}", text.value), help);
            }
        }
    }
    if hosts.is_empty() {
        if let (true, Some(place)) = (complete, open.place_of("host")) {
            open.reader.problem_help(place, "`host` is empty", "leave it out to match any host");
        }
        hosts.push(Host::Any);
    }
    complete.then_some(hosts)
}

fn read_path(open: &Open<'_>, text: Text<'_>, parse: fn(&str) -> Result<Path, PathError>, key: &str) -> Option<Path> {
    let error = match parse(text.value) {
        Ok(path) => {
            if let Some(name) = text.value.split('/').find_map(|segment| segment.strip_prefix(':')) {
                open.reader.warn(
                    text.place,
                    format!("`:{name}` in a path is matched as it is written"),
                    format!("write `{{{name}}}` for a parameter"),
                );
            }
            return Some(path);
        }
        Err(error) => error,
    };
    let value = text.value;
    let help = match &error {
        PathError::NoSlash if value.contains("://") => "write the path alone; the host goes to `host`".to_owned(),
        PathError::NoSlash if value == "*" => "leave it out to match any path".to_owned(),
        PathError::NoSlash => format!("write `/{value}`"),
        PathError::Query(_) => "write the path alone; conditions on the query go to `query`".to_owned(),
        PathError::Character(_) => "write it percent-encoded, such as `%20` for a space".to_owned(),
        PathError::Dots => "write the path without them".to_owned(),
        PathError::Doubled => "write one slash".to_owned(),
        PathError::Ambiguous(_) => "match a shorter prefix; requests are routed the same however it is read".to_owned(),
        PathError::Braces(_) | PathError::Name(_) => "write a parameter as `{name}` between slashes".to_owned(),
        PathError::Repeated(_) => "give each parameter a name of its own".to_owned(),
        PathError::RestNotLast(_) => "end the path with it, or use `{name}` for one segment".to_owned(),
        PathError::RestInPrefix => match value.split_once("/{*") {
            Some((before, _)) if !before.is_empty() => format!("write `prefix: {before}`, or `path: {value}`"),
            _ => format!("write `path: {value}`"),
        },
        PathError::Star if key == "path" && value.ends_with("/*") => {
            let before = value.trim_end_matches("/*");
            format!("write `prefix: {}`", if before.is_empty() { "/" } else { before })
        }
        PathError::Star => {
            "write `{name}` for one segment, or `{*rest}` at the end of `path` for all that follows".to_owned()
        }
        PathError::Params | PathError::Segments => "use a shorter `prefix`".to_owned(),
    };
    open.reader.problem_help(text.place, format!("`{key}`: {error}"), help);
    None
}

fn read_methods(open: &Open<'_>) -> Option<Methods> {
    let mut methods = Methods::any();
    let mut complete = true;
    for text in open.texts("method") {
        if let Err(error) = methods.add(text.value) {
            complete = false;
            let help = match error {
                MethodError::Case => format!("write `{}`", text.value.to_ascii_uppercase()),
                _ => "write for example `[GET, POST]`; leave it out for any method".to_owned(),
            };
            open.reader.problem_help(text.place, format!("method `{}`: {error}", text.value.escape_debug()), help);
        }
    }
    if let (true, true, Some(place)) = (complete, methods.is_any(), open.place_of("method")) {
        open.reader.problem_help(place, "`method` is empty", "leave it out to match any method");
        complete = false;
    }
    complete.then_some(methods)
}

fn read_test(open: &Open<'_>) -> Option<Test> {
    let (is, prefix, present) = (open.text("is"), open.text("prefix"), open.flag("present"));
    match (is, prefix) {
        (Some(text), _) => Some(Test::Equals(text.value.as_bytes().to_vec())),
        (None, Some(text)) => Some(Test::Prefix(text.value.as_bytes().to_vec())),
        (None, None) if open.place_of("present").is_some() => Some(if present { Test::Present } else { Test::Absent }),
        (None, None) => None,
    }
}
