//! Which web pages of other origins may use a route (the Fetch standard's CORS protocol).

use leat_testkit::{Leat, Peer, Response};

use crate::support::{answers, config, is_problem, url};

const ROUTES: &str = r#"listeners: 127.0.0.1:0
workers: 1
routes:
  - { name: open, match: { path: /open }, cors: "*", respond: { body: open } }
  - name: some
    match: { path: /some, method: [GET, PUT] }
    cors:
      origins: ["https://app.test", "https://*.app.test"]
      methods: [GET, PUT]
      headers: [content-type, x-name]
      expose: [x-total, x-page]
      credentials: true
      private_network: true
      max_age: 90s
    respond: { body: some }
  - { name: shut, match: { path: /shut }, cors: "https://app.test", access: { deny: 127.0.0.1 }, respond: { body: shut } }
  - { name: away, match: { path: /away }, cors: "https://app.test", redirect: { to: /open } }
  - { name: none, match: { path: /none }, respond: { body: none } }
  - name: any
    match: { path: /any }
    cors: { origins: "https://app.test", methods: "*", headers: [x-a, "*"], credentials: true }
    respond: { body: any }
"#;

fn ask(leat: &Leat, line: &str, fields: &str) -> Response {
    let mut client = leat.connect();
    client.send(format!("{line} HTTP/1.1\r\nhost: h\r\n{fields}\r\n"));
    client.response()
}

/// The fields that browsers go by.
fn words(response: &Response) -> String {
    let names = ["origin", "credentials", "expose-headers", "methods", "headers", "private-network"];
    let named = names.iter().filter_map(|name| {
        let value = response
            .field(&format!("access-control-{}{name}", if name.starts_with("expose") { "" } else { "allow-" }))?;
        Some(format!("{name}={value}"))
    });
    let rest =
        ["access-control-max-age", "vary"].iter().filter_map(|name| Some(format!("{name}={}", response.field(name)?)));
    named.chain(rest).collect::<Vec<_>>().join("; ")
}

#[test]
fn replies_tell_browsers_which_pages_may_see_them() {
    let leat = Leat::gateway(ROUTES, 1);
    for (line, fields, status, wanted) in [
        ("GET /open", "origin: https://a.test\r\n", 200, "origin=*"),
        ("GET /open", "", 200, "origin=*"),
        (
            "GET /some",
            "origin: https://app.test\r\n",
            200,
            "origin=https://app.test; credentials=true; expose-headers=x-total, x-page; vary=origin",
        ),
        (
            "GET /some",
            "origin: https://a.b.app.test\r\n",
            200,
            "origin=https://a.b.app.test; credentials=true; expose-headers=x-total, x-page; vary=origin",
        ),
        ("GET /some", "origin: https://evilapp.test\r\n", 200, "vary=origin"),
        ("GET /some", "origin: null\r\n", 200, "vary=origin"),
        ("GET /some", "", 200, "vary=origin"),
        // Pages may see why they were refused, and follow a redirect.
        ("GET /shut", "origin: https://app.test\r\n", 403, "origin=https://app.test; vary=origin"),
        ("GET /away", "origin: https://app.test\r\n", 308, "origin=https://app.test; vary=origin"),
        ("GET /none", "origin: https://app.test\r\n", 200, ""),
    ] {
        let response = ask(&leat, line, fields);
        assert_eq!((response.status, words(&response).as_str()), (status, wanted), "{line} {fields}");
    }
}

#[test]
fn origins_that_only_look_like_one_that_may_are_told_nothing() {
    let leat = Leat::gateway(ROUTES, 1);
    for origin in [
        "http://app.test",
        "https://app.test:8443",
        "https://app.test.",
        "https://app.test/",
        "https://APP.test",
        "https://app.test.evil.test",
        "https://evil.test#.app.test",
        "https://evil.test?.app.test",
        "https://evil.test/.app.test",
        "https://evil.test\\.app.test",
        "https://evil@x.app.test",
        "https://evil.test:1.app.test",
        "https://.app.test",
        "https://app.test, https://evil.test",
        "https://app.test https://evil.test",
        "https://evil.test%00.app.test",
        "null",
        "",
    ] {
        let response = ask(&leat, "GET /some", &format!("origin: {origin}\r\n"));
        assert_eq!((response.status, words(&response).as_str()), (200, "vary=origin"), "{origin}");
        let fields = format!("origin: {origin}\r\naccess-control-request-method: PUT\r\n");
        let response = ask(&leat, "OPTIONS /some", &fields);
        is_problem(&response, 403, "cors.origin");
        assert_eq!(words(&response), "", "{origin}");
    }
}

#[test]
fn preflight_requests_are_answered_before_any_check() {
    let leat = Leat::gateway(ROUTES, 1);
    const VARY: &str = "vary=origin, access-control-request-method, access-control-request-headers";
    for (path, origin, asked, rest, wanted) in [
        (
            "/some",
            "https://app.test",
            "PUT",
            "access-control-request-headers: X-Name,content-type\r\n",
            "origin=https://app.test; credentials=true; methods=GET, PUT; headers=X-Name,content-type; access-control-max-age=90",
        ),
        (
            "/some",
            "https://app.test",
            "GET",
            "access-control-request-private-network: true\r\n",
            "origin=https://app.test; credentials=true; methods=GET, PUT; private-network=true; access-control-max-age=90",
        ),
        (
            "/open",
            "https://a.test",
            "DELETE",
            "access-control-request-headers: a, b\r\n",
            "origin=*; methods=DELETE, GET, HEAD, PATCH, POST, PUT; headers=a, b; access-control-max-age=600",
        ),
        (
            "/any",
            "https://app.test",
            "PROPFIND",
            "access-control-request-headers: x-b\r\n",
            "origin=https://app.test; credentials=true; methods=PROPFIND; headers=x-b; access-control-max-age=600",
        ),
        (
            "/shut",
            "https://app.test",
            "GET",
            "",
            "origin=https://app.test; methods=DELETE, GET, HEAD, PATCH, POST, PUT; access-control-max-age=600",
        ),
    ] {
        let fields = format!("origin: {origin}\r\naccess-control-request-method: {asked}\r\n{rest}");
        let response = ask(&leat, &format!("OPTIONS {path}"), &fields);
        assert_eq!((response.status, words(&response)), (204, format!("{wanted}; {VARY}")), "{path} {fields}");
        assert_eq!(response.field("content-length"), None);
    }
    for (path, origin, asked, rest, code) in [
        ("/some", "https://b.test", "PUT", "", "cors.origin"),
        ("/open", "https://b.test", "TRACE", "", "cors.method"),
        ("/some", "https://app.test", "PUT", "access-control-request-headers: x-name, x-other\r\n", "cors.headers"),
    ] {
        let fields = format!("origin: {origin}\r\naccess-control-request-method: {asked}\r\n{rest}");
        is_problem(&ask(&leat, &format!("OPTIONS {path}"), &fields), 403, code);
    }
    // Neither is one: the route itself is asked.
    assert_eq!(ask(&leat, "OPTIONS /open", "origin: https://a.test\r\n").text(), "open");
    let fields = "origin: https://a.test\r\naccess-control-request-method: GET\r\n";
    assert_eq!(ask(&leat, "OPTIONS /none", fields).text(), "none");
    is_problem(&ask(&leat, "OPTIONS /some", "access-control-request-method: GET\r\n"), 405, "route.method_not_allowed");
}

#[test]
fn the_gateway_alone_decides_what_browsers_are_told() {
    let reply = "HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\naccess-control-allow-credentials: true\r\n\
                 access-control-allow-methods: PUT\r\naccess-control-allow-headers: x\r\naccess-control-max-age: 9\r\n\
                 access-control-allow-private-network: true\r\naccess-control-expose-headers: x\r\n\
                 vary: accept\r\ncontent-length: 2\r\n\r\nok";
    let peer = Peer::listen([answers(reply, 1)]);
    let leat = Leat::gateway(&config(url(&peer), "", "", "cors: \"https://app.test\"", ""), 1);
    let response = ask(&leat, "GET /", "origin: https://other.test\r\n");
    assert_eq!((response.text(), words(&response).as_str()), ("ok", "vary=accept"));
    let lines = response.fields_named("vary");
    assert_eq!(lines, ["accept", "origin"]);
}

#[test]
fn a_page_sees_that_the_upstream_failed() {
    let leat = Leat::gateway(&config("http://127.0.0.1:1", "", "", "cors: \"https://app.test\"", ""), 1);
    let response = ask(&leat, "GET /", "origin: https://app.test\r\n");
    is_problem(&response, 502, "upstream.connect");
    assert_eq!(words(&response), "origin=https://app.test; vary=origin");
}
