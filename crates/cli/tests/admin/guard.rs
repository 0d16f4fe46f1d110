//! Who may look, and who may change something.

use leat_testkit::Leat;

use crate::asked::{TOKEN, gateway, refusal, send};
use crate::support::events;

const ROUTES: &str = "routes: [{ respond: { body: here } }]\n";

#[test]
fn a_host_name_must_be_known_but_for_probes_and_metrics() {
    let config = "listeners: 127.0.0.1:0\nadmin: { address: 127.0.0.1:0, hosts: Leat.Internal }\n";
    let mut leat = Leat::gateway(&format!("{config}{ROUTES}"), 1);
    for (host, known) in [
        ("localhost", true),
        ("LOCALHOST:9900", true),
        ("127.0.0.1", true),
        ("[::1]:9900", true),
        ("10.1.2.3:80", true),
        ("leat.internal:9900", true),
        ("rebound.example", false),
        ("localhost.rebound.example", false),
        ("127.0.0.1.rebound.example", false),
        ("leat.internal.", false),
    ] {
        for (path, open) in
            [("/config", false), ("/", false), ("/upstreams", false), ("/metrics", true), ("/readyz", true)]
        {
            let answer = send(&mut leat, "GET", path, &format!("host: {host}\r\n"), "");
            if known || open {
                assert_eq!(answer.status, 200, "{host} {path}");
            } else {
                assert_eq!(refusal(&answer), (403, "admin.host".to_owned()), "{host} {path}");
            }
        }
    }
}

#[test]
fn nothing_is_changed_without_the_token_or_from_a_web_page() {
    let mut leat = gateway(ROUTES);
    let with = |fields: &str| format!("host: localhost\r\n{fields}");
    for (fields, status, code) in [
        (with(""), 401, "admin.token_missing"),
        (with("authorization: Basic YTpi\r\n"), 401, "admin.token_missing"),
        (with("authorization: B\r\n"), 401, "admin.token_missing"),
        (with("authorization: Bearer wrong\r\n"), 403, "admin.token_wrong"),
        (with("authorization: Bearer \r\n"), 401, "admin.token_missing"),
        (with(&format!("authorization: Bearer {TOKEN}x\r\n")), 403, "admin.token_wrong"),
        (with(&format!("authorization: Bearer {TOKEN}\r\norigin: http://localhost\r\n")), 403, "admin.origin"),
        (with(&format!("authorization: Bearer {TOKEN}\r\norigin: null\r\n")), 403, "admin.origin"),
        (format!("host: rebound.example\r\nauthorization: Bearer {TOKEN}\r\n"), 403, "admin.host"),
    ] {
        for path in ["/reload", "/log-level", "/upstreams/up/endpoints/a/drain", "/upstreams/up/breaker/reset"] {
            let answer = send(&mut leat, "POST", path, &fields, "{\"level\":\"error\"}");
            assert_eq!(refusal(&answer), (status, code.to_owned()), "{path} {fields}");
            let challenge = answer.field("www-authenticate");
            assert_eq!(challenge, (status == 401).then_some("Bearer"));
        }
    }
    leat.wait_log("a refusal", |line| line.contains("\"event\":\"admin_refused\""));
    let log = leat.log();
    assert_eq!(events(&log, "admin_write") + events(&log, "reloaded"), 0);
    let refused = events(&log, "admin_refused");
    assert!((1..9).contains(&refused), "told of, but not each: {refused}");
    assert!(!log.iter().any(|line| line.contains(TOKEN)), "no token is told of");
}

#[test]
fn without_a_token_in_the_configuration_nothing_is_changed() {
    let mut leat = Leat::gateway(&format!("listeners: 127.0.0.1:0\nadmin: 127.0.0.1:0\n{ROUTES}"), 1);
    for fields in ["", "authorization: Bearer x\r\n"] {
        let answer = send(&mut leat, "POST", "/reload", &format!("host: localhost\r\n{fields}"), "");
        assert_eq!(refusal(&answer), (403, "admin.read_only".to_owned()));
    }
}

#[test]
fn what_is_not_there_is_said_with_a_reason() {
    let mut leat = gateway(ROUTES);
    for (method, path, status, code) in [
        ("GET", "/nowhere", 404, "admin.unknown"),
        ("GET", "/upstreams/none", 404, "admin.unknown"),
        ("GET", "/limits/none", 404, "admin.unknown"),
        ("GET", "/routes/more/than/there/ever/can/be", 404, "admin.unknown"),
        ("GET", "/%ff", 404, "admin.unknown"),
        ("GET", "/reload", 405, "admin.method"),
        ("DELETE", "/routes", 405, "admin.method"),
        ("POST", "/routes", 405, "admin.method"),
        ("GET", "/routes?from=x", 400, "admin.request"),
        ("GET", "/routes?from=1&from=2", 400, "admin.request"),
        ("GET", "/routes?form=1", 400, "admin.request"),
        ("GET", "/config?format=xml", 400, "admin.request"),
        ("GET", "/config?path=nothing", 404, "admin.unknown"),
    ] {
        let answer = send(&mut leat, method, path, "host: localhost\r\n", "");
        assert_eq!(refusal(&answer), (status, code.to_owned()), "{method} {path}");
    }
    let head = send(&mut leat, "HEAD", "/info", "host: localhost\r\n", "");
    assert_eq!((head.status, head.body.len()), (200, 0));
}

#[test]
fn who_asks_by_another_method_is_told_which_there_are() {
    let mut leat = gateway(ROUTES);
    for (method, path, allow) in [
        ("GET", "/reload", "POST"),
        ("OPTIONS", "/log-level", "POST"),
        ("PUT", "/upstreams/a/breaker/reset", "POST"),
        ("GET", "/mock/verify", "POST"),
        ("POST", "/info", "GET, HEAD"),
        ("DELETE", "/routes", "GET, HEAD"),
        ("OPTIONS", "/metrics", "GET, HEAD"),
        ("POST", "/mock/calls", "GET, HEAD"),
    ] {
        let answer = send(&mut leat, method, path, "host: localhost\r\n", "");
        assert_eq!((answer.status, answer.field("allow")), (405, Some(allow)), "{method} {path}");
    }
}

#[test]
fn clients_that_hold_connections_open_keep_no_probe_out() {
    let mut leat = gateway(ROUTES);
    let admin = leat.admin();
    let mut held = Vec::new();
    for sent in ["", "GET /info HTT"] {
        for _ in 0..100 {
            let mut client = leat_testkit::Client::connect(admin);
            client.send(sent);
            held.push(client);
        }
    }
    assert_eq!(send(&mut leat, "GET", "/healthz", "host: localhost\r\n", "").status, 200);
}

#[test]
fn the_token_is_shown_as_http_has_it() {
    let mut leat = gateway(ROUTES);
    for (shown, status) in [
        (format!("Bearer {TOKEN}"), 200),
        (format!("bearer {TOKEN}"), 200),
        // RFC 9110 section 11.4: one space or several.
        (format!("Bearer   {TOKEN}"), 200),
        (format!("Bearer{TOKEN}"), 401),
        (format!("Basic {TOKEN}"), 401),
        (format!("Bearer {TOKEN} {TOKEN}"), 403),
        (format!("Bearer \"{TOKEN}\""), 403),
        ("Bearer ".to_owned(), 401),
    ] {
        let fields = format!("host: localhost\r\nauthorization: {shown}\r\n");
        assert_eq!(send(&mut leat, "POST", "/reload", &fields, "").status, status, "{shown}");
    }
}
