//! What becomes of heads on their way from HTTP/1 to HTTP/1.

use leat_testkit::{Client, Leat, Peer, Script};

use crate::support::{BARE, OK, answers, bare, bare_with, config, first_line, lines, url};

#[test]
fn heads_keep_their_order_case_and_repetitions_in_both_directions() {
    let request = "POST /a%2Fb/?c=d&&e HTTP/1.1\r\nX-First: 1\r\nHost: Leat.Test:80\r\naCCept: a, b\r\nContent-LENGTH: 5\r\n\
                   X-Dup: one\r\nEmpty: \r\nx-dup: two\r\nCONTENT-TYPE: text/plain\r\n\r\nhello";
    let reply = "HTTP/1.1 200 OK\r\nSERVER: up/1\r\nSet-Cookie: a=1\r\nX-Dup: 1\r\nContent-length: 2\r\n\
                 DATE: Mon, 01 Jan 2024 00:00:00 GMT\r\nx-dup: 2\r\nset-cookie: b=2\r\n\r\nok";
    let peer = Peer::listen([Script::new().expect(request).send(reply)]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    client.send(request);
    assert_eq!(String::from_utf8_lossy(&client.until("\r\n\r\nok")), reply);
    drop(client);
    peer.finish();
}

#[test]
fn a_chunked_head_keeps_its_order_with_the_framing_behind_it() {
    let peer = Peer::listen([Script::new()
        .expect(
            "PUT / HTTP/1.1\r\nhost: h\r\nB: 1\r\na: 2\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        )
        .send("HTTP/1.1 200 OK\r\nB: 1\r\nTransfer-Encoding: chunked\r\na: 2\r\ndate: x\r\n\r\n2\r\nok\r\n0\r\n\r\n")]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    client
        .send("PUT / HTTP/1.1\r\nhost: h\r\nB: 1\r\nTransfer-Encoding: chunked\r\na: 2\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
    let wanted = "HTTP/1.1 200 OK\r\nB: 1\r\na: 2\r\ndate: x\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
    assert_eq!(String::from_utf8_lossy(&client.until("0\r\n\r\n")), wanted);
    drop(client);
    peer.finish();
}

#[test]
fn fields_of_one_connection_stay_on_it() {
    for (sent, wanted) in [
        ("connection: close, X-Hop\r\nx-hop: 1\r\nx-end: 2\r\n", vec!["x-end: 2"]),
        ("Connection: keep-alive\r\nKeep-Alive: timeout=5\r\nproxy-connection: keep-alive\r\nx: y\r\n", vec!["x: y"]),
        ("te: trailers, deflate\r\nconnection: te\r\n", vec!["te: trailers", "connection: te"]),
        ("te: gzip\r\nconnection: te\r\n", vec![]),
        ("trailer: x-sum\r\n", vec!["trailer: x-sum"]),
        ("upgrade: websocket\r\nx: y\r\n", vec!["x: y"]),
        ("connection: upgrade\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n", vec![]),
        ("connection: upgrade\r\nupgrade: websocket, h2c\r\n", vec![]),
        (
            "connection: upgrade\r\nupgrade: WebSocket\r\nx: y\r\n",
            vec!["upgrade: WebSocket", "x: y", "connection: upgrade"],
        ),
        // They are for the next proxy that asks for them, and this one never does (RFC 9110 section 11.7).
        ("proxy-authorization: Basic eDp5\r\n", vec!["proxy-authorization: Basic eDp5"]),
    ] {
        let peer = Peer::listen([answers(OK, 1)]);
        let leat = bare(&peer);
        let mut client = leat.connect();
        client.send(format!("GET / HTTP/1.1\r\nhost: h\r\n{sent}\r\n"));
        assert_eq!(client.response().status, 200, "{sent}");
        drop(client);
        let mut all = vec!["host: h"];
        all.extend(wanted);
        assert_eq!(lines(&peer.finish()[0]), all, "{sent}");
    }
}

#[test]
fn fields_of_the_upstreams_connection_stay_on_it() {
    for (sent, wanted) in [
        ("connection: close, x-hop\r\nx-hop: 1\r\nx-end: 2\r\n", vec!["x-end: 2"]),
        ("keep-alive: timeout=5\r\nproxy-connection: close\r\nx: y\r\n", vec!["x: y"]),
        ("upgrade: h2c\r\ntrailer: x-sum\r\n", vec!["trailer: x-sum"]),
        ("proxy-authenticate: Basic\r\n", vec!["proxy-authenticate: Basic"]),
    ] {
        let reply = format!("HTTP/1.1 200 OK\r\n{sent}date: d\r\ncontent-length: 0\r\n\r\n");
        let peer = Peer::listen([answers(&reply, 1)]);
        let leat = bare(&peer);
        let response = leat.connect().get("/").response();
        let mut all = wanted.clone();
        all.extend(["date: d", "content-length: 0"]);
        assert_eq!(lines(&response.head), all, "{sent}");
    }
}

#[test]
fn a_date_and_a_server_are_the_upstreams_own() {
    let peer = Peer::listen([answers("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", 1)]);
    let response = bare(&peer).connect().get("/").response();
    assert_eq!(response.fields_named("date").len(), 1, "a missing date is added");
    assert!(response.fields_named("server").is_empty());
}

#[test]
fn fields_are_set_added_and_removed_on_both_ways() {
    let peer = Peer::listen([answers(
        "HTTP/1.1 200 OK\r\nServer: up\r\nx-a: 1\r\nx-b: 2\r\ndate: d\r\ncontent-length: 0\r\n\r\n",
        1,
    )]);
    let edits = "request_headers: { remove: X-Gone, set: { x-set: s, via: mine }, add: { x-more: [m, n] } }, \
                 response_headers: { remove: server, set: { X-A: 9 }, add: { x-b: 3 } }";
    let leat = Leat::gateway(&config(url(&peer), "forwarded: { style: off, request_id: off }", "", edits, ""), 1);
    let mut client = leat.connect();
    client.send("GET / HTTP/1.1\r\nhost: h\r\nx-gone: 1\r\nX-SET: 0\r\nx-more: l\r\nx-set: 00\r\n\r\n");
    let response = client.response();
    assert_eq!(lines(&response.head), ["x-b: 2", "date: d", "content-length: 0", "X-A: 9", "x-b: 3"]);
    drop(client);
    let wanted = ["host: h", "x-more: l", "x-set: s", "via: mine", "x-more: m", "x-more: n"];
    assert_eq!(lines(&peer.finish()[0]), wanted);
}

#[test]
fn the_upstream_is_asked_for_the_host_that_the_route_says() {
    for (policy, request, wanted) in [
        ("keep", "GET / HTTP/1.1\r\nHost: Leat.Test:81\r\n\r\n", "Host: Leat.Test:81"),
        ("keep", "GET http://leat.test/x HTTP/1.1\r\nhost: leat.test\r\n\r\n", "host: leat.test"),
        ("keep", "GET / HTTP/1.0\r\n\r\n", "host: ENDPOINT"),
        ("endpoint", "GET / HTTP/1.1\r\nhost: leat.test\r\n\r\n", "host: ENDPOINT"),
        ("app.internal", "GET / HTTP/1.1\r\nhost: leat.test\r\n\r\n", "host: app.internal"),
    ] {
        let peer = Peer::listen([answers(OK, 1)]);
        let leat = bare_with(&peer, &format!("host: {policy}"));
        let mut client = leat.connect();
        client.send(request);
        client.until("\r\n\r\nok");
        let address = peer.address().to_string();
        assert_eq!(lines(&peer.finish()[0]), [wanted.replace("ENDPOINT", &address)], "{policy} {request}");
    }
}

#[test]
fn a_path_goes_on_as_it_came_unless_the_route_rewrites_it() {
    for (matched, change, path, wanted) in [
        ("prefix: /", "", "/a%2fb//c/?x=1&y", "/a%2fb//c/?x=1&y"),
        ("prefix: /", "", "/?", "/?"),
        ("prefix: /api", "strip_prefix: /api", "/api/v1/x?y=1", "/v1/x?y=1"),
        ("prefix: /api", "strip_prefix: /api", "/api?y=1", "/?y=1"),
        ("prefix: /api", "strip_prefix: /api", "/api/", "/"),
        (
            "\"path\": \"/users/{id}\"",
            "rewrite: \"/internal/{id}/profile\"",
            "/users/4%202?q",
            "/internal/4%202/profile?q",
        ),
        ("\"path\": \"/users/{id}\"", "rewrite: \"/find?user={id}\"", "/users/42?q=1", "/find?user=42"),
        ("\"path\": \"/v1/{*rest}\"", "rewrite: \"/v2/{rest}\"", "/v1/a/b?c", "/v2/a/b?c"),
    ] {
        let peer = Peer::listen([answers(OK, 1)]);
        let change = if change.is_empty() { String::new() } else { format!(", {change}") };
        let route = format!("match: {{ {matched} }}{change}");
        let leat = Leat::gateway(&config(url(&peer), BARE, "", &route, ""), 1);
        assert_eq!(leat.connect().get(path).response().status, 200, "{path}");
        assert_eq!(first_line(&peer.finish()[0]), format!("GET {wanted} HTTP/1.1"), "{matched} {change}");
    }
}

#[test]
fn asterisk_and_absolute_targets_become_origin_form() {
    for (line, wanted) in [
        ("OPTIONS * HTTP/1.1", "OPTIONS * HTTP/1.1"),
        // RFC 9112 section 3.2.4.
        ("OPTIONS http://h HTTP/1.1", "OPTIONS * HTTP/1.1"),
        ("OPTIONS http://h/ HTTP/1.1", "OPTIONS / HTTP/1.1"),
        ("OPTIONS http://h?x HTTP/1.1", "OPTIONS /?x HTTP/1.1"),
        ("OPTIONS / HTTP/1.1", "OPTIONS / HTTP/1.1"),
        ("GET http://h/x?y HTTP/1.1", "GET /x?y HTTP/1.1"),
        ("GET http://h HTTP/1.1", "GET / HTTP/1.1"),
        ("M-SEARCH /x HTTP/1.1", "M-SEARCH /x HTTP/1.1"),
    ] {
        let peer = Peer::listen([answers(OK, 1)]);
        let leat = bare(&peer);
        let mut client: Client = leat.connect();
        client.send(format!("{line}\r\nhost: h\r\n\r\n"));
        assert_eq!(client.response().status, 200, "{line}");
        assert_eq!(first_line(&peer.finish()[0]), wanted);
    }
}

#[test]
fn connect_goes_to_no_route_that_does_not_name_it() {
    let peer = Peer::listen([Script::new()]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    client.send("CONNECT h:80 HTTP/1.1\r\nhost: h:80\r\n\r\n");
    let response = client.response_to("CONNECT");
    assert_eq!((response.status, response.field("connection")), (405, Some("close")));
    assert_eq!(peer.connections(), 0);
}

#[test]
fn a_trace_or_options_comes_as_far_as_it_may() {
    for (method, sent, wanted) in [
        ("OPTIONS", "Max-Forwards: 10\r\n", vec!["Max-Forwards: 9"]),
        ("TRACE", "max-forwards: 1\r\n", vec!["max-forwards: 0"]),
        ("TRACE", "max-forwards: 18446744073709551616\r\n", vec!["max-forwards: 18446744073709551614"]),
        ("TRACE", "x: y\r\n", vec!["x: y"]),
        // Nothing that can be counted, and methods that it says nothing of (RFC 9110 section 7.6.2).
        ("OPTIONS", "max-forwards: ten\r\n", vec!["max-forwards: ten"]),
        ("OPTIONS", "max-forwards: 0\r\nmax-forwards: 1\r\n", vec!["max-forwards: 0", "max-forwards: 1"]),
        ("GET", "max-forwards: 0\r\n", vec!["max-forwards: 0"]),
    ] {
        let peer = Peer::listen([answers(OK, 1)]);
        let leat = bare(&peer);
        let mut client = leat.connect();
        client.send(format!("{method} / HTTP/1.1\r\nhost: h\r\n{sent}\r\n"));
        assert_eq!(client.response().status, 200, "{method} {sent}");
        drop(client);
        assert_eq!(lines(&peer.finish()[0]).split_off(1), wanted, "{method} {sent}");
    }
}

#[test]
fn a_trace_or_options_that_may_go_no_further_is_answered_here() {
    let leat =
        Leat::gateway(&config("http://127.0.0.1:9", BARE, "", "match: { method: [OPTIONS, TRACE, PUT] }", ""), 1);
    let mut client = leat.connect();
    let asked = client.send("OPTIONS / HTTP/1.1\r\nhost: h\r\nmax-forwards: 0\r\n\r\n").response();
    assert_eq!((asked.status, asked.field("allow")), (204, Some("PUT, OPTIONS, TRACE")));
    client.send(
        "TRACE /a?b HTTP/1.1\r\nHost: h\r\nMax-Forwards: 0\r\ncookie: c\r\nauthorization: Basic eDp5\r\nx: y\r\n\r\n",
    );
    let traced = client.response();
    assert_eq!((traced.status, traced.field("content-type")), (200, Some("message/http")));
    assert_eq!(traced.text(), "TRACE /a?b HTTP/1.1\r\nHost: h\r\nMax-Forwards: 0\r\nx: y\r\n\r\n");
}
