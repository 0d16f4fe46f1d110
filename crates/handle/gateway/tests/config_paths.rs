//! What becomes of a request's path: stripped, rewritten, or the target of a redirect.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

use leat_gateway::config::{self, Action};
use leat_message::{Head, Method, RequestLines, Span};
use leat_route::{Found, Params};

/// What the only route of `config` makes of a request for `http://client.example{target}`.
fn through(config: &str, target: &str) -> String {
    let text = format!("routes:\n  - {config}\n");
    let loaded = config::parse(&text, "leat.yaml", Path::new("."));
    let config = loaded.unwrap_or_else(|problems| panic!("{config}: {problems:#?}")).config;
    let bytes = format!("GET {target} client.example");
    let query = target.find('?').map(|at| Span::new(4 + at + 1, 4 + target.len()));
    let lines = RequestLines {
        method: Method::Get,
        method_span: Span::new(0, 3),
        path: Span::new(4, 4 + target.find('?').unwrap_or(target.len())),
        query,
        authority: Span::new(4 + target.len() + 1, bytes.len()),
        ..RequestLines::default()
    };
    let head = Head::new(bytes.as_bytes(), &lines);
    let mut params = Params::default();
    match config.table().find(&head, &mut params) {
        Found::Route(0) => {}
        Found::Refused(reason) => return reason.code().to_owned(),
        found => return format!("{found:?}"),
    }
    let mut out = Vec::new();
    match config.routes()[0].action() {
        Action::Proxy(_, rewrite) => rewrite.write_target(&head, &params, &mut out),
        Action::Redirect(redirect) => redirect.to().write(&head, &params, &mut out),
        other => panic!("{other:?}"),
    }
    String::from_utf8(out).unwrap()
}

const PROXY: &str = "proxy: \"http://127.0.0.1:3000\"";

#[test]
fn a_target_that_is_not_changed_goes_on_as_it_arrived() {
    let config = format!("{{ {PROXY} }}");
    for target in ["/", "/a/b?c=d", "/a%2fb//c;d", "/%7Euser?", "/caf%C3%A9", "*"] {
        assert_eq!(through(&config, target), target);
    }
}

#[test]
fn a_prefix_is_taken_off_by_segments() {
    let config = format!("{{ match: {{ prefix: /api/v1 }}, strip_prefix: /api, {PROXY} }}");
    for (target, wanted) in [
        ("/api/v1", "/v1"),
        ("/api/v1/", "/v1/"),
        ("/api/v1/x?y=z", "/v1/x?y=z"),
        ("/%61pi/v1/%61", "/v1/%61"),
        ("/api/v1/a%2fb", "/v1/a%2fb"),
        ("/api/v1x", "NotFound"),
        ("/api/v1/../x", "route.path_dots"),
    ] {
        assert_eq!(through(&config, target), wanted, "{target}");
    }
    let whole = format!("{{ match: {{ prefix: /api }}, strip_prefix: /api/, {PROXY} }}");
    for (target, wanted) in
        [("/api", "/"), ("/api?a", "/?a"), ("/api/", "/"), ("/api//evil.example/x", "/evil.example/x")]
    {
        assert_eq!(through(&whole, target), wanted, "{target}");
    }
    let param = format!("{{ match: {{ prefix: \"/{{tenant}}/api\" }}, strip_prefix: \"/{{tenant}}\", {PROXY} }}");
    assert_eq!(through(&param, "/acme/api/x"), "/api/x");
}

#[test]
fn a_rewrite_fills_in_parameters_as_they_arrived() {
    let config =
        format!("{{ match: {{ path: \"/users/{{id}}/{{*rest}}\" }}, rewrite: \"/u/{{rest}}/by/{{id}}\", {PROXY} }}");
    for (target, wanted) in [
        ("/users/7/a/b?q=1", "/u/a/b/by/7?q=1"),
        ("/users/a%20b/", "/u//by/a%20b"),
        ("/users/7", "NotFound"),
        ("/users//x", "NotFound"),
        ("/users//x/y", "route.path_ambiguous"),
    ] {
        assert_eq!(through(&config, target), wanted, "{target}");
    }
    let query = format!("{{ match: {{ path: \"/q/{{id}}\" }}, rewrite: \"/find?id={{id}}\", {PROXY} }}");
    assert_eq!(through(&query, "/q/7?other=1"), "/find?id=7");
    let front = format!("{{ match: {{ path: \"/x/{{*rest}}\" }}, rewrite: \"/{{rest}}\", {PROXY} }}");
    assert_eq!(through(&front, "/x//evil.example"), "/evil.example");
}

#[test]
fn redirects_cannot_be_sent_to_another_host_by_a_client() {
    let to = |path: &str, to: &str| format!("{{ match: {{ path: \"{path}\" }}, redirect: \"{to}\" }}");
    for (config, target, wanted) in [
        (to("/a", "https://example.org{path}{query}"), "/a?b=c", "https://example.org/a?b=c"),
        (to("/a", "https://{host}{path}{query}"), "/a", "https://client.example/a"),
        (to("/old/{id}", "/new/{id}{query}"), "/old/7?x", "/new/7?x"),
        (to("/x/{*rest}", "/{rest}"), "/x/a/b", "/a/b"),
        (to("/x/{*rest}", "/{rest}"), "/x//evil.example", "/evil.example"),
        (to("/x/{*rest}", "/{rest}"), "/x/\\evil.example", "/evil.example"),
        (to("/x/{*rest}", "/{rest}"), "/x/\\/\\evil.example", "/evil.example"),
        (to("/{*rest}", "{path}?moved"), "//evil.example", "/evil.example?moved"),
    ] {
        assert_eq!(through(&config, target), wanted, "{config} {target}");
    }
}

#[test]
fn an_expression_replaces_paths_that_it_matches_as_a_whole() {
    let config =
        |pattern: &str, to: &str| format!("{{ rewrite_regex: {{ pattern: '{pattern}', to: '{to}' }}, {PROXY} }}");
    for (pattern, to, target, wanted) in [
        ("/v([0-9]+)/(.*)", "/api/{2}", "/v2/users/7?q=1", "/api/users/7?q=1"),
        ("/v([0-9]+)/(.*)", "/api/{2}?version={1}", "/v2/users?q=1", "/api/users?version=2"),
        ("/v([0-9]+)/(.*)", "/api/{2}?version={1}", "/w2/users?q=1", "/w2/users?q=1"),
        ("/v([0-9]+)", "/x", "/v2/", "/v2/"),
        ("/v([0-9]+)", "/x", "/a/v2", "/a/v2"),
        ("/a|/b", "/x", "/bb", "/bb"),
        ("/(?<who>[^/]+)(/.*)?", "/of/{who}{2}", "/ann", "/of/ann"),
        ("/(?<who>[^/]+)(/.*)?", "/of/{who}{2}", "/ann/x%2fy", "/of/ann/x%2fy"),
        ("/x/(.*)", "/{1}", "/x//evil.example", "/evil.example"),
        (r"/\w+", "/{0}{0}", "/a", "/a/a"),
    ] {
        assert_eq!(through(&config(pattern, to), target), wanted, "{pattern} {to} {target}");
    }
}
