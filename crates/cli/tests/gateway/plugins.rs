//! Plug-ins in front of an upstream: what they change is what the two sides get, and what they do wrong costs no more than it must.

use std::net::TcpListener;

use leat_testkit::{Folder, Gate, Leat, Peer, Script};

use tokio::task::spawn_blocking;

use crate::h2_peers::{connect, listed, request, rest, run};
use crate::support::{BARE, OK, answers, config, first_line, is_problem, lines, url};

/// A module of one middleware with these hooks.
pub(crate) fn module(name: &str, hooks: &str) -> String {
    format!(
        "import {{ middleware, patchResponse }} from 'leat/middleware';\nimport {{ body, counter }} from 'leat/gateway';\nexport default middleware({{ name: '{name}', scope: 'call', {hooks} }});\n"
    )
}

/// A gateway whose only route has one plug-in with these hooks; `root` are further lines of the file.
pub(crate) fn gateway(endpoint: &str, hooks: &str, root: &str) -> Leat {
    let folder = Folder::new();
    folder.write("it.mjs", module("it", hooks));
    let root = format!("{BARE}\nplugins: {{ it: it.mjs }}\n{root}");
    Leat::gateway_in(folder, &config(endpoint, &root, "", "plugins: it", ""), 1)
}

const REQUEST: &str = "GET /a?b=1 HTTP/1.1\r\nHost: h\r\nX-One: 1\r\nx-two: 2\r\nCookie: c\r\n\r\n";

#[test]
fn what_a_plugin_changes_of_a_request_is_what_the_upstream_gets() {
    for (hooks, first, fields) in [
        ("onRequest() {}", "GET /a?b=1 HTTP/1.1", "Host: h|X-One: 1|x-two: 2|Cookie: c"),
        (
            "onRequest: ({ request }) => ({ headers: { 'x-one': request.headers['x-two'], cookie: null, 'x-new': ['n', 'm'] } })",
            "GET /a?b=1 HTTP/1.1",
            "Host: h|X-One: 2|x-two: 2|x-new: n|x-new: m",
        ),
        (
            "onRequest: () => ({ method: 'DELETE', path: '/c?d' })",
            "DELETE /c?d HTTP/1.1",
            "Host: h|X-One: 1|x-two: 2|Cookie: c",
        ),
        (
            "onRequest: () => ({ headers: { host: 'other.test' } })",
            "GET /a?b=1 HTTP/1.1",
            "Host: other.test|X-One: 1|x-two: 2|Cookie: c",
        ),
        (
            "async onRequest() { await new Promise((done) => setTimeout(done, 5)); return { headers: { 'x-one': null } }; }",
            "GET /a?b=1 HTTP/1.1",
            "Host: h|x-two: 2|Cookie: c",
        ),
        (
            "around: (context, next) => next({ path: '/around' })",
            "GET /around HTTP/1.1",
            "Host: h|X-One: 1|x-two: 2|Cookie: c",
        ),
    ] {
        let peer = Peer::listen([answers(OK, 2)]);
        let leat = gateway(&url(&peer), hooks, "");
        let mut client = leat.connect();
        for _ in 0..2 {
            assert_eq!(client.send(REQUEST).response().text(), "ok", "{hooks}");
        }
        drop((client, leat));
        let heads = peer.finish().concat();
        let second = heads.len() / 2;
        assert_eq!(heads[..second], heads[second..], "{hooks}: the second request is as the first");
        assert_eq!((first_line(&heads).as_str(), lines(&heads).join("|").as_str()), (first, fields), "{hooks}");
    }
}

#[test]
fn what_a_plugin_changes_of_a_response_is_what_the_client_gets() {
    const UP: &str = "HTTP/1.1 200 OK\r\nServer: up\r\nContent-Length: 2\r\nX-A: 1\r\n\r\nok";
    for (hooks, status, fields, body) in [
        ("onResponse() {}", 200, "Server: up|Content-Length: 2|X-A: 1", "ok"),
        (
            "onResponse: ({ response }) => ({ status: 203, headers: { server: null, 'x-a': response.headers['x-a'] + '!' } })",
            203,
            "Content-Length: 2|X-A: 1!",
            "ok",
        ),
        (
            "onResponse: () => ({ body: 'something else' })",
            200,
            "Server: up|X-A: 1|content-length: 14",
            "something else",
        ),
        ("onResponse: () => ({ body: null })", 200, "Server: up|X-A: 1|content-length: 0", ""),
        (
            "async onResponse() { await new Promise((done) => setTimeout(done, 5)); return { headers: { server: null } }; }",
            200,
            "Content-Length: 2|X-A: 1",
            "ok",
        ),
        (
            "async around(context, next) { const response = await next(); return patchResponse(response, { status: 201 }); }",
            201,
            "Server: up|Content-Length: 2|X-A: 1",
            "ok",
        ),
        (
            "async around(context, next) { await next(); return { status: 202, headers: { 'x-b': '2' }, body: 'whole' }; }",
            202,
            "x-b: 2|content-length: 5",
            "whole",
        ),
        (
            "onRequest: () => ({ respond: { status: 403, headers: { 'x-b': '2' }, body: 'no' } })",
            403,
            "x-b: 2|content-length: 2",
            "no",
        ),
    ] {
        for chunked in [false, true] {
            let up = if chunked {
                UP.replace("Content-Length: 2", "Transfer-Encoding: chunked")
                    .replace("ok", "1\r\no\r\n1\r\nk\r\n0\r\n\r\n")
            } else {
                UP.to_owned()
            };
            let wanted = if chunked {
                let list: Vec<&str> = fields.split('|').filter(|field| !field.starts_with("Content-Length")).collect();
                let framed = list.iter().any(|field| field.starts_with("content-length"));
                list.join("|") + if framed { "" } else { "|transfer-encoding: chunked" }
            } else {
                fields.to_owned()
            };
            let peer = Peer::listen([answers(&up, 2)]);
            let leat = gateway(&url(&peer), hooks, "");
            let mut client = leat.connect();
            for _ in 0..2 {
                let response = client.send(REQUEST).response();
                assert_eq!((response.status, response.text()), (status, body), "{hooks}, chunked: {chunked}");
                let found: Vec<String> = response
                    .fields
                    .iter()
                    .filter(|(name, _)| name != "date")
                    .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value)))
                    .collect();
                assert_eq!(found.join("|"), wanted, "{hooks}, chunked: {chunked}");
            }
        }
    }
}

#[test]
fn another_status_leaves_the_connection_in_order() {
    const FULL: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    const EMPTY: &str = "HTTP/1.1 304 Not Modified\r\nContent-Length: 50\r\n\r\n";
    const TOLD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n";
    for (method, up, status, length, body) in [
        ("GET", FULL, 203, Some("2"), "ok"),
        ("GET", FULL, 204, None, ""),
        ("GET", FULL, 304, Some("2"), ""),
        ("GET", EMPTY, 304, Some("50"), ""),
        ("GET", EMPTY, 200, Some("0"), ""),
        ("HEAD", TOLD, 203, Some("50"), ""),
        ("HEAD", TOLD, 204, None, ""),
    ] {
        let what = format!("{method} {status} {up:?}");
        let hooks = format!("onResponse: () => ({{ status: {status} }})");
        let peer = Peer::listen([answers(up, 3), answers(up, 3)]);
        let leat = gateway(&url(&peer), &hooks, "");
        let mut client = leat.connect();
        for _ in 0..2 {
            let response = client.send(format!("{method} / HTTP/1.1\r\nhost: h\r\n\r\n")).response_to(method);
            assert_eq!((response.status, response.field("content-length")), (status, length), "{what}");
            assert_eq!(response.text(), body, "{what}");
        }
        run(async {
            let mut client = connect(leat.address(0)).await;
            let (answer, _) = client.send_request(request(method, "http://leat.test/", &[]), true).unwrap();
            let answer = answer.await.unwrap();
            assert_eq!(answer.status().as_u16(), status, "{what}");
            assert_eq!(rest(&mut answer.into_body()).await.0, body.as_bytes(), "{what}");
        });
    }
}

#[test]
fn a_body_in_place_of_another_leaves_the_connection_in_order() {
    // A short one is read to its end, so that the connection is used again; a long one is not.
    for (bytes, connections) in [(1_000, 1), (300_000, 2)] {
        let up = format!("HTTP/1.1 200 OK\r\ncontent-length: {bytes}\r\n\r\n");
        let script = || Script::new().expect_head().send(up.clone()).send_bytes(bytes);
        let peer = if connections == 1 {
            Peer::listen([script().expect_head().send(up.clone()).send_bytes(bytes)])
        } else {
            Peer::listen([script(), script()])
        };
        let leat = gateway(&url(&peer), "onResponse: () => ({ body: 'x'.repeat(100_000) })", "");
        let mut client = leat.connect();
        for method in ["GET", "GET"] {
            let response = client.send(format!("{method} / HTTP/1.1\r\nhost: h\r\n\r\n")).response_to(method);
            assert_eq!(response.text().len(), 100_000);
        }
        assert_eq!(peer.connections(), connections);
    }
}

#[test]
fn plugins_see_what_the_gateway_answers_itself() {
    let folder = Folder::new();
    folder.write("it.mjs", module("it", "onRequest: () => ({ path: '/new?x=1' }), onResponse: ({ response }) => ({ headers: { 'x-was': String(response.status) } })"));
    folder.write("public/a.txt", "file");
    let leat = Leat::gateway_in(
        folder,
        "listeners: 127.0.0.1:0
plugins: { it: it.mjs }
routes:
  - { match: { path: /fixed }, plugins: [it], respond: { body: fixed } }
  - { match: { path: /moved }, plugins: [it], redirect: { to: 'https://other.test{path}' } }
  - { match: { prefix: /files }, plugins: [it], rewrite: /a.txt, files: { root: public } }
",
        1,
    );
    let mut client = leat.connect();
    for (method, path, status, body, location) in [
        ("GET", "/fixed", 200, "fixed", None),
        ("HEAD", "/fixed", 200, "", None),
        ("GET", "/moved", 308, "", Some("https://other.test/new")),
        ("GET", "/files/b", 200, "file", None),
        ("GET", "/none", 404, "", None),
    ] {
        let response = client.send(format!("{method} {path} HTTP/1.1\r\nhost: h\r\n\r\n")).response_to(method);
        assert_eq!(response.status, status, "{method} {path}");
        let seen = status != 404;
        assert_eq!(response.field("x-was").is_some(), seen, "{method} {path}");
        assert_eq!(response.field("location"), location, "{method} {path}");
        assert!(!seen || response.text() == body, "{method} {path}: {}", response.text());
    }
}

#[test]
fn a_plugin_may_answer_in_place_of_an_upstream_that_does_not() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let hooks = "onError: ({ error }) => ({ respond: { status: 418, headers: {}, body: error.code } })";
    let leat = gateway(&format!("http://{free}"), hooks, "");
    let response = leat.connect().get("/").response();
    assert_eq!((response.status, response.text()), (418, "upstream.connect"));
    let leat = gateway(&format!("http://{free}"), "onError() {}", "");
    is_problem(&leat.connect().get("/").response(), 502, "upstream.connect");
}

#[test]
fn what_goes_wrong_is_answered_with_its_reason_and_told() {
    for (hooks, limits, status, code, told) in [
        ("onRequest() { throw new TypeError('it broke'); }", "", 500, "plugin.failed", "TypeError: it broke"),
        ("onResponse() { throw new TypeError('late'); }", "", 500, "plugin.failed", "TypeError: late"),
        (
            "async onResponse() { await null; throw new TypeError('later'); }",
            "",
            500,
            "plugin.failed",
            "TypeError: later",
        ),
        ("onRequest: () => ({ headers: { 'x-a': 'a\\r\\nb: c' } })", "", 500, "plugin.failed", "can't be sent"),
        ("onRequest: () => ({ headers: { host: 'a b' } })", "", 500, "plugin.failed", "`host`"),
        ("onRequest: () => ({ headers: { host: ['a', 'b'] } })", "", 500, "plugin.failed", "`host`"),
        ("onRequest() { const deep = () => deep() + 1; deep(); }", "", 500, "plugin.failed", "stack"),
        ("onRequest() { for (;;); }", "turn_time: 50ms", 503, "plugin.turn_time", "ran for more than 50 ms"),
        (
            "onRequest: () => new Promise(() => {})",
            "wait_time: 50ms",
            504,
            "plugin.wait_time",
            "waited for more than 50 ms",
        ),
        (
            "onResponse: () => new Promise(() => {})",
            "wait_time: 50ms",
            504,
            "plugin.wait_time",
            "waited for more than 50 ms",
        ),
        (
            "kept: [], onRequest() { for (;;) this.kept.push(new Uint8Array(100_000)); }",
            "memory: 16MB",
            503,
            "plugin.lost",
            "out of memory",
        ),
        ("onRequest() { process.exit(3); }", "", 503, "plugin.lost", "ended the process"),
    ] {
        let peer = Peer::listen([answers(OK, 1), answers(OK, 1), answers(OK, 1)]);
        let mut leat = gateway(&url(&peer), hooks, &format!("plugin_limits: {{ {limits} }}"));
        let mut client = leat.connect();
        // Once more: the world is there again, and so is the connection.
        for _ in 0..2 {
            is_problem(&client.get("/").response(), status, code);
        }
        let line = leat.wait_log("the reason", |line| line.contains("\"event\":\"plugin_failed\""));
        assert!(line.contains(told) && line.contains(code), "{hooks}: {line}");
        leat.wait_log("the access record", |line| line.contains(&format!("\"reason\":\"{code}\"")));
    }
}

#[test]
fn a_bypassed_plugin_costs_nobody_its_request() {
    for hooks in [
        "onRequest() { throw new TypeError('it broke'); }",
        "onResponse() { throw new TypeError('it broke'); }",
        "async around(context, next) { await next(); throw new TypeError('it broke'); }",
        "when() { throw new TypeError('it broke'); }, around: (context, next) => next()",
        "when: () => 1, around: (context, next) => next()",
        "onRequest() { for (;;); }",
        "onRequest: () => new Promise(() => {})",
        "onResponse() { process.exit(1); }",
    ] {
        let folder = Folder::new();
        folder.write("it.mjs", module("it", hooks));
        let root = format!(
            "{BARE}\nplugins: {{ it: {{ file: it.mjs, on_error: bypass }} }}\nplugin_limits: {{ turn_time: 50ms, wait_time: 50ms }}"
        );
        let peer = Peer::listen([answers(OK, 1)]);
        let mut leat = Leat::gateway_in(folder, &config(url(&peer), &root, "", "plugins: it", ""), 1);
        assert_eq!(leat.connect().get("/").response().text(), "ok", "{hooks}");
        leat.wait_log("what it threw", |line| line.contains("\"event\":\"plugin_bypassed\""));
    }
}

#[test]
fn a_client_that_leaves_a_plugin_that_waits_costs_nobody_else() {
    let peer = Peer::listen([answers(OK, 1)]);
    let hooks = "count: 0, onRequest({ request }) { if (request.path === '/wait') return new Promise(() => {}); return { headers: { 'x-count': String(this.count) } }; }, onComplete() { this.count++; }";
    let mut leat = gateway(&url(&peer), hooks, "");
    let mut client = leat.connect();
    client.get("/wait");
    drop(client);
    leat.wait_log("its access record", |line| line.contains("\"reason\":\"peer."));
    assert_eq!(leat.connect().get("/").response().text(), "ok");
    drop(leat);
    assert!(lines(&peer.finish().concat()).iter().any(|line| line.starts_with("x-count: ")));
}

#[test]
fn a_body_passes_beside_a_plugin_that_waits() {
    // The upstream answers before it has read the body, and goes on when the client does.
    let gate = Gate::new();
    let script =
        Script::new().expect_head().send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n");
    let peer = Peer::listen([script.wait(&gate).expect_until("0\r\n\r\n").send("4\r\nlast\r\n0\r\nx-t: 1\r\n\r\n")]);
    let hooks = "async onResponse() { await new Promise((done) => setTimeout(done, 20)); return { headers: { 'x-late': '1' } }; }";
    let leat = gateway(&url(&peer), hooks, "");
    let mut client = leat.connect();
    client.send("POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n");
    let head = client.until("first\r\n");
    assert!(String::from_utf8_lossy(&head).contains("x-late: 1\r\n"));
    gate.open();
    client.send("0\r\n\r\n");
    let rest = client.until("0\r\nx-t: 1\r\n\r\n");
    assert!(String::from_utf8_lossy(&rest).contains("last"));
}

#[test]
fn a_client_that_waits_for_100_is_told_in_time() {
    let peer = Peer::listen([Script::new()
        .expect_head()
        .send("HTTP/1.1 100 Continue\r\n\r\n")
        .expect("hello")
        .send(OK)
        .expect_head()
        .expect("hello")
        .send(OK)]);
    let leat = gateway(&url(&peer), "onRequest: () => ({ headers: { 'x-a': '1' } })", "");
    let mut client = leat.connect();
    let head = "POST / HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n";
    client.send(head);
    client.until("HTTP/1.1 100 Continue\r\n\r\n");
    assert_eq!(client.send("hello").response().text(), "ok");
    // One that does not wait is not made to.
    let before = std::time::Instant::now();
    client.send(format!("{head}hello"));
    assert_eq!(client.response().text(), "ok");
    assert!(before.elapsed().as_millis() < 900, "{:?}", before.elapsed());
}

#[test]
fn a_plugin_may_choose_the_upstream() {
    let (first, second) = (Peer::listen([answers(OK, 2)]), Peer::listen([answers(&OK.replace("ok", "2!"), 1)]));
    let folder = Folder::new();
    folder.write(
        "it.mjs",
        "import { middleware } from 'leat/middleware';
import { upstream } from 'leat/gateway';
export default middleware({ name: 'it', scope: 'call', writes: [upstream], onRequest: ({ request }) => ({ set: { upstream: request.headers['x-to'] } }) });
",
    );
    let config = format!(
        "listeners: 127.0.0.1:0
plugins: {{ it: it.mjs }}
routes: [{{ plugins: it, proxy: first }}]
upstreams: {{ first: {}, second: {} }}
",
        url(&first),
        url(&second)
    );
    let mut leat = Leat::gateway_in(folder, &config, 1);
    assert!(!leat.log().iter().any(|line| line.contains("warning")), "{:?}", leat.log());
    let mut client = leat.connect();
    let mut ask = |to: &str| client.send(format!("GET / HTTP/1.1\r\nhost: h\r\n{to}\r\n")).response();
    for (to, text) in [("", "ok"), ("x-to: second\r\n", "2!"), ("x-to: first\r\n", "ok")] {
        assert_eq!(ask(to).text(), text, "{to}");
    }
    is_problem(&ask("x-to: third\r\n"), 500, "plugin.failed");
    leat.wait_log("the reason", |line| line.contains("there is no upstream `third`"));
}

#[test]
fn the_same_file_runs_here_and_in_the_transport() {
    let reply = "HTTP/1.1 200 OK\r\nserver: up\r\ncontent-length: 2\r\n\r\nok";
    let (first, canary) = (Peer::listen([answers(reply, 1)]), Peer::listen([answers(reply, 1)]));
    let folder = Folder::new();
    // `same_file.test.mjs` beside it is the other half.
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packages/leat/test/gateway/tenant.mjs");
    folder.write("tenant.mjs", std::fs::read(file).unwrap());
    let config = format!(
        "listeners: 127.0.0.1:0
{BARE}
plugins: {{ tenant: {{ file: tenant.mjs, options: {{ header: x-who, canary: Carol }} }} }}
routes: [{{ plugins: tenant, proxy: first }}]
upstreams: {{ first: {}, canary: {} }}
",
        url(&first),
        url(&canary)
    );
    let leat = Leat::gateway_in(folder, &config, 1);
    let mut client = leat.connect();
    for who in ["Ada", "Carol"] {
        let response = client.send(format!("GET /a?b=1 HTTP/1.1\r\nhost: h\r\nx-who: {who}\r\n\r\n")).response();
        assert_eq!((response.text(), response.field("x-answered")), ("ok", Some("200")));
        assert_eq!(response.field("server"), None);
    }
    let refused = client.get("/a").response();
    assert_eq!((refused.status, refused.text()), (400, "no tenant"));
    drop((client, leat));
    for (peer, who) in [(first, "Ada"), (canary, "Carol")] {
        let wanted = format!("host: h|x-who: {who}|x-tenant: {}|x-path: /a?b=1", who.to_lowercase());
        assert_eq!(lines(&peer.finish().concat()).join("|"), wanted);
    }
}

#[test]
fn a_plugin_may_ask_another_server() {
    let asked = Peer::listen([answers("HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\ngold", 1)]);
    let peer = Peer::listen([answers(OK, 1)]);
    let hooks = format!(
        "async onRequest() {{ const reply = await fetch('{}/plan'); return {{ headers: {{ 'x-plan': await reply.text() }} }}; }}",
        url(&asked)
    );
    let leat = gateway(&url(&peer), &hooks, "");
    assert_eq!(leat.connect().get("/").response().text(), "ok");
    drop(leat);
    assert!(lines(&peer.finish().concat()).contains(&"x-plan: gold".to_owned()));
}

#[test]
fn what_a_plugin_fetches_and_keeps_counts_for_its_memory() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 40000000\r\n\r\n";
    for keeps in [
        "await (await fetch(to)).arrayBuffer()",
        "await (await fetch(to)).text()",
        "kept.push(...await Array.fromAsync((await fetch(to)).body))",
        "for (let at = 0; at < 40; at++) kept.push(new TextEncoder().encode('x'.repeat(1_000_000)))",
    ] {
        let asked = Peer::listen([Script::new().expect_head().send(head).send_bytes(40_000_000)]);
        let peer = Peer::listen([answers(OK, 1)]);
        let hooks = format!(
            "async onRequest({{ request }}) {{ const kept = [], to = '{}'; if (request.path === '/big') {keeps}; }}",
            url(&asked)
        );
        let leat = gateway(&url(&peer), &hooks, "plugin_limits: { memory: 16MB, turn_time: 5s, wait_time: 60s }");
        let mut client = leat.connect();
        is_problem(&client.get("/big").response(), 503, "plugin.lost");
        assert_eq!(client.get("/").response().text(), "ok", "{keeps}: the world is there again");
    }
}

#[test]
fn what_the_routes_checks_add_and_its_compression_stand_outside_of_plugins() {
    let folder = Folder::new();
    folder.write(
        "answer.mjs",
        module("answer", "onRequest: () => ({ respond: { status: 403, headers: {}, body: 'no' } })"),
    );
    folder.write("fail.mjs", module("fail", "onResponse() { throw new Error('late'); }"));
    folder.write(
        "body.mjs",
        module("body", "onResponse: () => ({ headers: { 'content-type': 'text/plain' }, body: 'leat '.repeat(1000) })"),
    );
    let route = |name: &str| {
        format!(
            "  - {{ match: {{ path: /{name} }}, plugins: {name}, cors: {{ origins: ['https://a.test'] }}, compression: {{}}, respond: {{ body: fixed }} }}\n"
        )
    };
    let config = format!(
        "listeners: 127.0.0.1:0\nplugins: {{ answer: answer.mjs, fail: fail.mjs, body: body.mjs }}\nroutes:\n{}{}{}",
        route("answer"),
        route("fail"),
        route("body")
    );
    let leat = Leat::gateway_in(folder, &config, 1);
    let mut client = leat.connect();
    for (path, status, coding) in [("/answer", 403, None), ("/fail", 500, None), ("/body", 200, Some("gzip"))] {
        let request =
            format!("GET {path} HTTP/1.1\r\nhost: h\r\norigin: https://a.test\r\naccept-encoding: gzip\r\n\r\n");
        let response = client.send(request).response();
        assert_eq!((response.status, response.field("content-encoding")), (status, coding), "{path}");
        assert_eq!(response.field("access-control-allow-origin"), Some("https://a.test"), "{path}");
    }
}

#[test]
fn plugins_take_part_in_http2_too() {
    run(async {
        let peer = Peer::listen([Script::new()
            .expect("POST /y?z HTTP/1.1\r\nhost: other.test\r\nx-a: 1\r\nx-b: http2\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
            .send("HTTP/1.1 200 OK\r\nserver: up\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx-sum: 1\r\n\r\n")]);
        let hooks = "onRequest: ({ request }) => ({ path: '/y?z', headers: { host: 'other.test', 'x-b': request.headers['x-b'] + '2' } }), \
                     async onResponse() { await new Promise((done) => setTimeout(done, 20)); return { headers: { server: null, 'x-late': '1' } }; }";
        let leat = gateway(&url(&peer), hooks, "");
        let mut client = connect(leat.address(0)).await;
        let fields = [("x-a", "1"), ("x-b", "http")];
        let (answer, mut out) = client.send_request(request("POST", "http://leat.test/x", &fields), false).unwrap();
        out.send_data("hello".into(), true).unwrap();
        let answer = answer.await.unwrap();
        let mut got = listed(answer.headers());
        got.retain(|line| !line.starts_with("date: "));
        assert_eq!((answer.status().as_u16(), got), (200, vec!["x-late: 1".to_owned()]));
        assert_eq!(rest(&mut answer.into_body()).await, (b"ok".to_vec(), vec!["x-sum: 1".to_owned()]));
        spawn_blocking(|| peer.finish()).await.unwrap();
    });
}
