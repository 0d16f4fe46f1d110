use std::collections::HashMap;

use leat_message::Limits;
use leat_route::{Conflict, Entry, Path, Table};

use super::access::{ACCESS, read_access};
use super::auth::{ROUTE_AUTH, Schemes, read_route_auth};
use super::buffer::{BUFFER_RESPONSE, read_buffer_response};
use super::compression::{COMPRESSION, read_compression};
use super::cors::{CORS, read_cors};
use super::decompression::{DECOMPRESSION, read_decompression};
use super::edits::{FIELD_EDITS, Way, read_edits};
use super::faults::{FAULT, read_fault};
use super::files::{FILES, read_files};
use super::limits::{ROUTE_LIMITS, read_head_limits, read_route_limits};
use super::maintenance::{MAINTENANCE, read_maintenance};
use super::matching::{MATCH, Match, read_match};
use super::mock::{MOCK, read_mock};
use super::plugin::PluginSets;
use super::proxy::{PROXY, read_proxy};
use super::query_edits::{QUERY_EDITS, read_query_edits};
use super::rate_limit::{Known, ROUTE_RATE_LIMIT, RateLimits};
use super::redirect::{REDIRECT, read_redirect};
use super::regex_rewrite::REWRITE_REGEX;
use super::respond::{RESPOND, read_respond};
use super::rewrite::read_rewrite;
use super::transcode::{TRANSCODE, read_transcode};
use super::upstream::Upstreams;
use crate::config::fields::FieldEdits;
use crate::config::layers::Layers;
use crate::config::model::{Action, Route};
use crate::config::problem::Place;
use crate::config::table::{Group, Key, Kind, Open, Section, shorten};
use crate::config::template::Rewrite;

/// The longest name of a route or an upstream.
const NAME_MAX: usize = 64;

pub(super) static ROUTE: Section = Section::new(
    "route",
    "a route",
    "Which requests, and what answers them: exactly one of `proxy`, `transcode`, `respond`, `redirect`, `files` and `mock`.",
    &[
        Key::optional(
            "name",
            Kind::Text { what: "a name", example: "api" },
            "A unique name for logs and metrics. Without it one is made from `match`.",
        )
        .aka(&["id"]),
        Key::optional("match", Kind::Section(&MATCH), "Which requests. Without it: all of them.")
            .aka(&["when", "path", "prefix", "host", "method", "if"]),
        Key::optional(
            "strip_prefix",
            Kind::Text { what: "a path", example: "/api" },
            "Takes this off the front of the path, for `proxy` and `files`. Must be how the matched paths start.",
        ),
        Key::optional(
            "rewrite",
            Kind::Text { what: "a path", example: "/internal/{id}" },
            "Replaces the path, for `proxy` and `files`; parameters of the matched path and `{path}` are filled in; behind a `?` each is one value, whatever is in it. The query stays unless the text has its own.",
        ),
        Key::optional("rewrite_regex", Kind::Section(&REWRITE_REGEX), "Replaces the path by what a regular expression finds in it, for `proxy` and `files`.")
            .aka(&["regex_rewrite", "rewrite_path"]),
        Key::optional("request_query", Kind::Section(&QUERY_EDITS), "Changes to the query that an upstream gets.")
            .aka(&["query_params"]),
        Key::optional("request_headers", Kind::Section(&FIELD_EDITS), "Changes to what an upstream gets.")
            .aka(&["headers", "request_fields"]),
        Key::optional("response_headers", Kind::Section(&FIELD_EDITS), "Changes to what the client gets from the upstream, the file, the redirect or the fixed reply; the gateway's own error replies stay as they are.")
            .aka(&["response_fields"]),
        Key::optional("limits", Kind::Section(&ROUTE_LIMITS), "Limits of the requests of this route."),
        Key::optional("access", Kind::Section(&ACCESS), "Who may use the route, by address. Without it: everybody."),
        Key::optional("cors", Kind::Section(&CORS), "Which web pages of other origins may use the route. Without it that is left to whatever answers."),
        Key::optional("compression", Kind::Section(&COMPRESSION), "Compresses replies for clients that take it. Without it they go as they are.")
            .aka(&["compress", "gzip"]),
        Key::optional("decompress", Kind::Section(&DECOMPRESSION), "Decodes the bodies of requests before an upstream gets them. Without it they go on as they are.")
            .aka(&["decompression", "gunzip"]),
        Key::optional("buffer_response", Kind::Section(&BUFFER_RESPONSE), "Reads replies of an upstream whole before the client gets them. Without it they stream.")
            .aka(&["proxy_buffering", "response_buffering"]),
        Key::optional("maintenance", Kind::Section(&MAINTENANCE), "Closes the route for a while."),
        Key::optional(
            "faults",
            Kind::List { of: &Kind::Section(&FAULT), one: true },
            "Failures that are wished for, to see how clients take them.",
        ),
        Key::optional(
            "rate_limits",
            Kind::List { of: &Kind::Section(&ROUTE_RATE_LIMIT), one: true },
            "Limits of the configuration's `rate_limits` that count the requests of this route. All must admit a request; one that any refuses counts for none that is counted in the same place. Those of this process are asked first, and keep what Redis refuses then.",
        )
        .aka(&["rate_limit", "throttle", "limit_req"]),
        Key::optional("auth", Kind::Section(&ROUTE_AUTH), "Who may use the route, by what schemes of the root's `auth` say of them. Without it: everybody.")
            .aka(&["authentication", "require"]),
        Key::optional(
            "plugins",
            Kind::List { of: &Kind::Text { what: "the name of a plug-in", example: "tenant" }, one: true },
            "Plug-ins that see its requests and responses, outermost first.",
        )
        .aka(&["plugin", "middleware"]),
        Key::optional("proxy", Kind::Section(&PROXY), "Passes requests on to an upstream.")
            .aka(&["proxy_pass", "upstream", "reverse_proxy"]),
        Key::optional("transcode", Kind::Section(&TRANSCODE), "Passes RPC on to an upstream that speaks gRPC, for clients of every RPC protocol and REST.")
            .aka(&["grpc", "grpc_web", "grpc_json_transcoder", "connect"]),
        Key::optional("respond", Kind::Section(&RESPOND), "Answers with the same reply every time.")
            .aka(&["response", "return", "reply"]),
        Key::optional("redirect", Kind::Section(&REDIRECT), "Sends clients elsewhere."),
        Key::optional("files", Kind::Section(&FILES), "Serves the files of a directory.")
            .aka(&["static", "root", "file_server"]),
        Key::optional("mock", Kind::Section(&MOCK), "Answers RPC calls by rules."),
    ],
)
.groups(&[
    Group { keys: &["proxy", "transcode", "respond", "redirect", "files", "mock"], required: true },
    Group { keys: &["strip_prefix", "rewrite", "rewrite_regex"], required: false },
]);

/// Reads the routes, and compiles what they match.
pub(super) struct Routes;

impl Routes {
    pub(super) fn read(
        open: &Open<'_>,
        limits: &Limits,
        upstreams: &mut Upstreams,
        rate_limits: &mut RateLimits,
        schemes: &mut Schemes,
        plugins: &mut PluginSets,
    ) -> Option<(Vec<Route>, Table)> {
        let mut routes = Vec::new();
        let mut entries = Vec::new();
        let mut places: Vec<Place> = Vec::new();
        let mut names: HashMap<String, Place> = HashMap::new();
        let mut complete = true;
        for (number, section) in open.sections("routes").iter().enumerate() {
            places.push(section.place());
            let matched = match section.section_if("match") {
                Some(section) => read_match(&section),
                None => Some(Match::any()),
            };
            if let Some(matched) = &matched {
                entries.extend(matched.patterns().map(|pattern| Entry { pattern, route: number as u32 }));
            }
            let plugins = plugins.of_route(section);
            match read_route(section, matched.as_ref(), limits, upstreams, rate_limits, schemes) {
                Some(mut route) => {
                    route.plugins = plugins;
                    complete &= claim(section, &route, &mut names);
                    routes.push(route);
                }
                None => complete = false,
            }
        }
        let table = match Table::compile(&entries) {
            Ok(table) => table,
            Err(conflicts) => {
                conflicts.iter().for_each(|conflict| report(open, conflict, &entries, &places));
                return None;
            }
        };
        for route in &mut routes {
            name(route, &mut names);
        }
        complete.then_some((routes, table))
    }
}

fn read_route(
    open: &Open<'_>,
    matched: Option<&Match>,
    limits: &Limits,
    upstreams: &mut Upstreams,
    rate_limits: &mut RateLimits,
    schemes: &mut Schemes,
) -> Option<Route> {
    let named = open.text("name").and_then(|text| {
        let name = upstream_or_route_name(text.value);
        if name.is_none() {
            open.reader.problem_help(
                text.place,
                format!(
                    "the name `{}` is not letters, digits, `-`, `_` and `.`, or longer than {NAME_MAX}",
                    shorten(text.value)
                ),
                "write for example `name: api`",
            );
        }
        name
    });
    let path = matched.map(|matched| &matched.path);
    let rewrite = read_rewrite(open, path);
    let request_fields = read_edits(&open.section("request_headers"), Way::Request);
    let response_fields = read_edits(&open.section("response_headers"), Way::Response);
    let request_query = read_query_edits(&open.section("request_query"));
    let limits_section = open.section("limits");
    let (body, head) = (read_route_limits(&limits_section, limits), read_head_limits(&limits_section, limits));
    let access = open.section_if("access").and_then(|section| read_access(&section));
    let cors = open.section_if("cors").and_then(|section| read_cors(&section));
    let compression = open.section_if("compression").map(|section| read_compression(&section));
    let layers = Layers {
        decompression: open.section_if("decompress").map(|section| read_decompression(&section)),
        buffer_bytes_max: open.section_if("buffer_response").map(|section| read_buffer_response(&section)),
    };
    let maintenance = open.section_if("maintenance").map(|section| read_maintenance(&section));
    let faults = open.sections("faults").iter().filter_map(read_fault).collect();
    let named_limits = rate_limits.of_route(open);
    let auth = open.section_if("auth").map(|section| read_route_auth(&section, schemes));
    match &auth {
        None => rate_limits.check_users(open, &named_limits, Known::Nothing),
        Some(Some(found)) => {
            rate_limits.check_users(open, &named_limits, schemes.known(found));
            schemes.warn_told(open, found, &request_fields);
        }
        Some(None) => {}
    }
    let action = read_action(open, path, rewrite, &response_fields, upstreams);
    warn_idle_keys(open);
    let name = named.clone().unwrap_or_else(|| matched.map(Match::name).unwrap_or_default());
    let named = named.is_some();
    // A route whose `auth` is wrong must never become one without.
    let auth = match auth {
        None => None,
        Some(auth) => Some(auth?),
    };
    Some(Route {
        name,
        named,
        path: matched.map(|matched| matched.path.clone()).unwrap_or_default(),
        request_fields,
        response_fields,
        request_query,
        body,
        times_streams: limits_section.place_of("body_time").is_some(),
        access,
        cors,
        compression,
        layers,
        head,
        maintenance,
        faults,
        rate_limits: named_limits,
        auth,
        plugins: None,
        action: action?,
        place: open.place(),
    })
}

fn read_action(
    open: &Open<'_>,
    path: Option<&Path>,
    rewrite: Rewrite,
    edits: &FieldEdits,
    upstreams: &mut Upstreams,
) -> Option<Action> {
    let proxy = open.section_if("proxy").map(|section| read_proxy(&section, upstreams));
    let transcode = open.section_if("transcode").map(|section| read_transcode(&section, upstreams));
    let respond = open.section_if("respond").map(|section| read_respond(&section, edits));
    let redirect = open.section_if("redirect").map(|section| read_redirect(&section, path));
    let files = open.section_if("files").map(|section| read_files(&section));
    let mock = open.section_if("mock").map(|section| read_mock(&section));
    match (proxy.or(transcode), respond, redirect, files, mock) {
        (Some(proxy), None, None, None, None) => {
            let proxy = proxy?;
            let rewrite = if proxy.transcoder().is_some() { Rewrite::Keep } else { rewrite };
            Some(Action::Proxy(proxy, rewrite))
        }
        (None, Some(respond), None, None, None) => respond.map(Action::Respond),
        (None, None, Some(redirect), None, None) => redirect.map(Action::Redirect),
        (None, None, None, Some(files), None) => Some(Action::Files(files?, rewrite)),
        (None, None, None, None, Some(mock)) => mock.map(|mock| Action::Mock(Box::new(mock))),
        // Reported when the section was opened.
        _ => None,
    }
}

/// Keys that do nothing with the action that the route has.
fn warn_idle_keys(open: &Open<'_>) {
    let has = |name: &str| open.place_of(name).is_some();
    let mut idle = Vec::new();
    if has("transcode") {
        // The path is the method's, and its query the message's.
        idle.extend(["strip_prefix", "rewrite", "rewrite_regex", "request_query"]);
    } else if !has("proxy") && !has("files") {
        idle.extend(["strip_prefix", "rewrite", "rewrite_regex"]);
    }
    if !has("proxy") && !has("transcode") {
        idle.extend(["request_headers", "request_query", "decompress", "buffer_response"]);
    }
    // A fixed reply is what plug-ins may make of it, or goes as it is written.
    if (has("respond") || has("redirect")) && !has("plugins") {
        idle.push("compression");
    }
    for name in idle {
        if let Some(place) = open.place_of(name) {
            open.reader.warn(place, format!("`{name}` does nothing in this route"), "remove it, or use `proxy`");
        }
    }
}

/// Reads a name: letters, digits, `-`, `_` and `.`.
pub(super) fn upstream_or_route_name(text: &str) -> Option<String> {
    let fine = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    (!text.is_empty() && text.chars().count() <= NAME_MAX && text.chars().all(fine)).then(|| text.to_owned())
}

/// Notes the name that the file gives; says whether it is free.
fn claim(open: &Open<'_>, route: &Route, names: &mut HashMap<String, Place>) -> bool {
    if !route.named {
        return true;
    }
    let place = open.place_of("name").unwrap_or(route.place);
    let Some(first) = names.insert(route.name.clone(), place) else {
        return true;
    };
    open.reader.problem_help(
        place,
        format!("the route name `{}` is already used at {first}", route.name),
        "give each route a name of its own",
    );
    false
}

/// Makes the name that was made from a match unique.
fn name(route: &mut Route, names: &mut HashMap<String, Place>) {
    if route.named {
        return;
    }
    let plain = route.name.clone();
    let mut count = 1;
    while names.contains_key(&route.name) {
        count += 1;
        route.name = format!("{plain}#{count}");
    }
    names.insert(route.name.clone(), route.place);
}

fn report(open: &Open<'_>, conflict: &Conflict, entries: &[Entry], places: &[Place]) {
    let place_of = |entry: usize| {
        let route = entries.get(entry).map(|entry| entry.route as usize);
        route.and_then(|route| places.get(route)).copied().unwrap_or(open.place())
    };
    match *conflict {
        Conflict::Unreachable { first, second } => {
            let pattern = entries.get(second).map(|entry| entry.pattern.to_string()).unwrap_or_default();
            open.reader.problem_help(
                place_of(second),
                format!(
                    "this route is never reached: the route at {} takes all of its requests ({pattern})",
                    place_of(first)
                ),
                "remove one of them, or tell them apart by `method`, `headers` or `query`",
            );
        }
        Conflict::Methods { entry } => open.reader.problem_help(
            place_of(entry),
            "too many methods that are not well known",
            "leave `method` out of some routes",
        ),
    }
}
