//! Replies that are read whole before the client gets their head.

use leat_testkit::{Folder, Gate, Leat, Peer, Script};

use crate::support::{BARE, config, is_problem, lines, url};

fn gateway(peer: &Peer, route: &str) -> Leat {
    Leat::gateway(&config(url(peer), BARE, "", route, ""), 1)
}

const HEAD: &str = "HTTP/1.1 200 OK\r\ndate: d\r\n";

#[test]
fn the_length_is_known_once_the_reply_is_whole() {
    let chunked = format!("{HEAD}transfer-encoding: chunked\r\n\r\n3\r\none\r\n4\r\n two\r\n0\r\n");
    for (reply, wanted, body) in [
        (format!("{chunked}\r\n"), vec!["date: d", "content-length: 7"], "one two"),
        (format!("{chunked}x-sum: 1\r\n\r\n"), vec!["date: d", "transfer-encoding: chunked"], "one two"),
        (format!("{HEAD}content-length: 3\r\nx: 1\r\n\r\none"), vec!["date: d", "content-length: 3", "x: 1"], "one"),
        (format!("{HEAD}transfer-encoding: chunked\r\n\r\n0\r\n\r\n"), vec!["date: d", "content-length: 0"], ""),
    ] {
        let peer = Peer::listen([Script::new().expect_head().send(reply.clone())]);
        let leat = gateway(&peer, "buffer_response: {}");
        let response = leat.connect().get("/").response();
        assert_eq!(lines(&response.head), wanted, "{reply}");
        assert_eq!(response.text(), body, "{reply}");
        let trailers: Vec<_> = response.trailers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(trailers, if reply.contains("x-sum") { vec!["x-sum"] } else { vec![] });
    }
}

#[test]
fn an_upstream_that_fails_in_the_middle_is_a_502() {
    for start in ["content-length: 100\r\n\r\nhalf", "transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n"] {
        let script = Script::new().expect_head().send(format!("{HEAD}content-type: text/plain\r\n{start}")).close();
        let peer = Peer::listen([script]);
        for route in ["buffer_response: {}", "buffer_response: {}, compression: { bytes_min: 0B }"] {
            let leat = gateway(&peer, route);
            let mut client = leat.connect();
            client.send("GET / HTTP/1.1\r\nhost: h\r\naccept-encoding: gzip\r\n\r\n");
            is_problem(&client.response(), 502, "upstream.reset");
            client.send("GET / HTTP/1.1\r\nhost: h\r\n\r\n");
            assert_eq!(client.response().status, 502, "the client's connection goes on");
        }
    }
}

#[test]
fn the_connection_is_free_before_a_slow_client_has_its_reply() {
    // More than sockets and the gateway's buffers hold, so that the client's pace counts.
    const BYTES: u64 = 24 << 20;
    let peer = Peer::listen([Script::new()
        .expect_head()
        .send(format!("{HEAD}content-length: {BYTES}\r\n\r\n"))
        .send_bytes(BYTES)
        .expect_head()
        .send(format!("{HEAD}content-length: 2\r\n\r\nok"))]);
    let leat = gateway(&peer, "buffer_response: { bytes_max: 32MiB }");
    let mut slow = leat.connect();
    slow.get("/");
    let head = String::from_utf8(slow.until("\r\n\r\n")).unwrap();
    assert!(head.contains("content-length: 25165824\r\n"), "{head}");
    assert_eq!(leat.connect().get("/").response().text(), "ok");
    slow.discard(BYTES);
    drop((slow, leat));
    assert_eq!(peer.finish().len(), 1, "one connection carries both");
}

#[test]
fn longer_replies_stream_from_the_limit_on() {
    for (head, first, last) in [
        ("transfer-encoding: chunked", "4\r\nlong\r\n7\r\ner than\r\n", "5\r\n that\r\n0\r\n\r\n"),
        ("content-length: 16", "longer than", " that"),
    ] {
        let gate = Gate::new();
        let peer = Peer::listen([Script::new()
            .expect_head()
            .send(format!("{HEAD}{head}\r\n\r\n{first}"))
            .wait(&gate)
            .send(last)]);
        let leat = gateway(&peer, "buffer_response: { bytes_max: 10B }");
        let mut client = leat.connect();
        client.get("/");
        // The first chunk is held, the second one is too much.
        let begun = String::from_utf8(client.until("er than")).unwrap();
        assert!(begun.contains(&format!("{head}\r\n")) && begun.contains("long"), "{begun}");
        gate.open();
        client.until("that");
    }
}

#[test]
fn replies_stream_where_the_process_has_no_memory_to_hold_them() {
    const BYTES: u64 = 4 << 20;
    let gate = Gate::new();
    let peer = Peer::listen([Script::new()
        .expect_head()
        .send(format!("{HEAD}content-length: {}\r\n\r\n", BYTES + 4))
        .send_bytes(BYTES)
        .wait(&gate)
        .send("last")]);
    let root = format!("{BARE}\nlimits: {{ memory_bytes_max: 1MiB }}");
    let leat = Leat::gateway(&config(url(&peer), &root, "", "buffer_response: { bytes_max: 32MiB }", ""), 1);
    let mut client = leat.connect();
    // The reply is not whole, and shorter than what a route may hold.
    let head = String::from_utf8(client.get("/").until("\r\n\r\n")).unwrap();
    assert!(head.contains("content-length: 4194308\r\n"), "{head}");
    client.discard(BYTES);
    gate.open();
    client.until("last");
}

#[test]
fn streams_that_are_live_pass_at_once() {
    for kind in ["text/event-stream", "Text/Event-Stream; charset=utf-8", "application/grpc+proto"] {
        let gate = Gate::new();
        let peer = Peer::listen([Script::new()
            .expect_head()
            .send(format!("{HEAD}content-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n"))
            .wait(&gate)
            .send("4\r\nlast\r\n0\r\n\r\n")]);
        let leat = gateway(&peer, "buffer_response: {}");
        let mut client = leat.connect();
        client.get("/").until("first");
        gate.open();
        client.until("last");
    }
}

#[test]
fn replies_without_a_body_pass() {
    for (method, status, fields) in [
        ("HEAD", "200 OK", "content-length: 2000\r\n"),
        ("GET", "304 Not Modified", "etag: \"1\"\r\n"),
        ("GET", "204 No Content", ""),
        ("GET", "404 Not Found", "content-length: 0\r\n"),
    ] {
        let peer = Peer::listen([Script::new().expect_head().send(format!("HTTP/1.1 {status}\r\n{fields}\r\n"))]);
        let leat = gateway(&peer, "buffer_response: {}");
        let mut client = leat.connect();
        client.send(format!("{method} / HTTP/1.1\r\nhost: h\r\n\r\n"));
        let response = client.response_to(method);
        assert!(status.starts_with(&response.status.to_string()), "{method} {status}");
        assert!(fields.is_empty() || String::from_utf8_lossy(&response.head).contains(fields), "{method} {status}");
    }
}

#[test]
fn the_length_is_that_of_the_compressed_body() {
    let body = "leat mill water ".repeat(200);
    let peer = Peer::listen([Script::new()
        .expect_head()
        .send(format!("{HEAD}content-type: text/plain\r\ncontent-length: {}\r\n\r\n{body}", body.len()))]);
    let leat = gateway(&peer, "buffer_response: {}, compression: {}");
    let mut client = leat.connect();
    client.send("GET / HTTP/1.1\r\nhost: h\r\naccept-encoding: zstd\r\n\r\n");
    let response = client.response();
    assert_eq!(response.field("content-encoding"), Some("zstd"));
    assert_eq!(response.field("content-length"), Some(response.body.len().to_string().as_str()));
    assert_eq!(zstd::stream::decode_all(&response.body[..]).unwrap(), body.as_bytes());
}

/// A gateway whose route has a plug-in with these hooks.
fn plugged(peer: &Peer, hooks: &str, route: &str) -> Leat {
    let folder = Folder::new();
    let import = "import { middleware } from 'leat/middleware';";
    folder.write("it.mjs", format!("{import}\nexport default middleware({{ name: 'it', scope: 'call', {hooks} }});\n"));
    let root = format!("{BARE}\nplugins: {{ it: it.mjs }}");
    Leat::gateway_in(folder, &config(url(peer), &root, "", &format!("plugins: it, {route}"), ""), 1)
}

#[test]
fn a_plugin_that_has_seen_the_head_is_not_asked_about_a_body_that_breaks_off() {
    let script = Script::new().expect_head().send(format!("{HEAD}content-length: 100\r\n\r\nhalf")).close();
    let peer = Peer::listen([script]);
    for buffer in ["buffer_response: {}", "buffer_response: {}, compression: { bytes_min: 0B }"] {
        let hooks = "onResponse: () => ({ headers: { 'x-seen': '1' } }), onError: () => ({ respond: { status: 418, headers: {}, body: '' } })";
        let leat = plugged(&peer, hooks, buffer);
        is_problem(&leat.connect().get("/").response(), 502, "upstream.reset");
    }
}

#[test]
fn a_plugin_sees_the_reply_before_it_is_held() {
    let peer = Peer::listen([Script::new()
        .expect_head()
        .send(format!("{HEAD}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"))]);
    let hooks = "onResponse: async () => { await null; return { headers: { 'x-seen': '1' } }; }";
    let leat = plugged(&peer, hooks, "buffer_response: {}");
    let response = leat.connect().get("/").response();
    assert_eq!(
        (response.text(), response.field("x-seen"), response.field("content-length")),
        ("hello", Some("1"), Some("5"))
    );
}
