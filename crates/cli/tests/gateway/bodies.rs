//! How bodies are delimited on both sides.

use leat_testkit::{Folder, Leat, Peer, Script};

use crate::h2_peers::{connect, request, run};
use crate::plugins::module;
use crate::support::{answers, bare, lines};

#[test]
fn every_method_but_trace_and_connect_may_have_a_body() {
    for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "QUERY", "PROPFIND"] {
        let reply = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
        let peer = Peer::listen([Script::new()
            .expect_until("\r\n\r\nhello")
            .send(reply)
            .expect_until("\r\n\r\n")
            .send(reply)]);
        let leat = bare(&peer);
        let mut client = leat.connect();
        client.send(format!("{method} / HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\n\r\nhello"));
        assert_eq!(client.response_to(method).status, 200, "{method}");
        assert_eq!(client.get("/").response().status, 200, "the connection goes on after {method}");
        drop(client);
        assert_eq!(peer.finish().len(), 1, "one connection carries both requests of {method}");
    }
}

#[test]
fn trace_with_a_body_is_refused() {
    let peer = Peer::listen([Script::new()]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    client.send("TRACE / HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\n\r\nhello");
    let response = client.response();
    assert_eq!(response.status, 400);
    assert!(response.text().contains("body.not_allowed"), "{}", response.text());
    assert_eq!(peer.connections(), 0);
}

#[test]
fn a_response_without_a_body_keeps_what_it_says_about_one() {
    for (method, reply, wanted) in [
        ("HEAD", "200 OK\r\ncontent-length: 12345\r\ndate: d\r\n", vec!["content-length: 12345", "date: d"]),
        ("HEAD", "200 OK\r\ntransfer-encoding: chunked\r\ndate: d\r\n", vec!["date: d"]),
        ("HEAD", "200 OK\r\ndate: d\r\n", vec!["date: d"]),
        ("GET", "204 No Content\r\ndate: d\r\n", vec!["date: d"]),
        // RFC 9110 section 8.6: a 204 says nothing about a length.
        ("GET", "204 No Content\r\ncontent-length: 0\r\ndate: d\r\n", vec!["date: d"]),
        ("GET", "304 Not Modified\r\ncontent-length: 12345\r\ndate: d\r\n", vec!["content-length: 12345", "date: d"]),
        ("GET", "304 Not Modified\r\ndate: d\r\n", vec!["date: d"]),
        ("HEAD", "204 No Content\r\ndate: d\r\n", vec!["date: d"]),
        ("GET", "200 OK\r\ncontent-length: 0\r\ndate: d\r\n", vec!["content-length: 0", "date: d"]),
    ] {
        let ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
        let peer =
            Peer::listen([Script::new().expect_head().send(format!("HTTP/1.1 {reply}\r\n")).expect_head().send(ok)]);
        let leat = bare(&peer);
        let mut client = leat.connect();
        client.send(format!("{method} / HTTP/1.1\r\nhost: h\r\n\r\n"));
        assert_eq!(lines(&client.response_to(method).head), wanted, "{method} {reply}");
        assert_eq!(client.get("/").response().text(), "ok", "{method} {reply}");
        drop(client);
        assert_eq!(peer.finish().len(), 1, "{method} {reply}: the upstream's connection is kept");
    }
}

/// RFC 9110 section 8.6: the length of a 304 would be that of a 200's.
#[test]
fn a_304_of_the_gateways_own_says_nothing_about_a_length() {
    let folder = Folder::new();
    folder.write("it.mjs", module("it", "onRequest: () => ({ respond: { status: 304, headers: {}, body: '' } })"));
    let config = "listeners: 127.0.0.1:0
plugins: { it: it.mjs }
routes:
  - { match: { path: /fixed }, respond: { status: 304, headers: { etag: '\"x\"' } } }
  - { match: { path: /edited }, response_headers: { set: { x-a: b } }, respond: { status: 304 } }
  - { match: { path: /empty }, respond: { status: 200, body: '' } }
  - { match: { path: /plugin }, plugins: it, respond: { body: no } }
";
    let leat = Leat::gateway_in(folder, config, 1);
    let mut client = leat.connect();
    for (path, status, length) in
        [("fixed", 304, None), ("edited", 304, None), ("plugin", 304, None), ("empty", 200, Some("0"))]
    {
        let response = client.get(&format!("/{path}")).response();
        assert_eq!((response.status, response.field("content-length")), (status, length), "{path}");
    }
    run(async {
        let mut client = connect(leat.address(0)).await;
        for path in ["fixed", "edited", "plugin"] {
            let (answer, _) = client.send_request(request("GET", &format!("http://h/{path}"), &[]), true).unwrap();
            let answer = answer.await.unwrap();
            assert_eq!((answer.status().as_u16(), answer.headers().get("content-length")), (304, None), "{path}");
        }
    });
}

/// RFC 9112 section 6.3, rule 1. What stands behind it is nobody's, least of all the next request's response.
#[test]
fn a_response_that_has_no_body_ends_with_its_head_whatever_it_says() {
    let evil = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil";
    let ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    let dated = "HTTP/1.1 200 OK\r\ndate: d\r\ncontent-length: 2\r\n\r\nok";
    for (head, behind, status, wanted) in [
        ("204 No Content\r\ndate: d\r\ntransfer-encoding: chunked\r\n", "", 204, vec!["date: d"]),
        (
            "204 No Content\r\ndate: d\r\ntransfer-encoding: chunked\r\n",
            "5\r\nhello\r\n0\r\n\r\n",
            204,
            vec!["date: d"],
        ),
        ("204 No Content\r\ndate: d\r\ntransfer-encoding: gzip\r\ncontent-length: x\r\n", evil, 204, vec!["date: d"]),
        ("204 No Content\r\ndate: d\r\ncontent-length: 5\r\n", "hello", 204, vec!["date: d"]),
        ("204 No Content\r\ndate: d\r\ncontent-length: 5\r\n", "", 204, vec!["date: d"]),
        ("204 No Content\r\ndate: d\r\n", evil, 204, vec!["date: d"]),
        ("304 Not Modified\r\ndate: d\r\ntransfer-encoding: chunked\r\n", "", 304, vec!["date: d"]),
        ("304 Not Modified\r\ndate: d\r\ncontent-length: 9\r\n", evil, 304, vec!["date: d", "content-length: 9"]),
        ("103 Early Hints\r\ntransfer-encoding: chunked\r\n", dated, 200, vec!["date: d", "content-length: 2"]),
        ("103 Early Hints\r\ncontent-length: 5\r\n", dated, 200, vec!["date: d", "content-length: 2"]),
    ] {
        let doubtful = Script::new().expect_head().send(format!("HTTP/1.1 {head}\r\n{behind}"));
        let peer = Peer::listen([doubtful.expect_end(), answers(ok, 1)]);
        let leat = bare(&peer);
        let mut client = leat.connect();
        let response = client.get("/").response();
        assert_eq!(
            (response.status, lines(&response.head)),
            (status, wanted.iter().map(|line| (*line).to_owned()).collect()),
            "{head}"
        );
        assert_eq!(client.get("/").response().text(), "ok", "the client's connection goes on after {head}");
        drop(client);
        assert_eq!(peer.finish().len(), 2, "{head}: the upstream's connection is not used again");
    }
}

#[test]
fn a_body_that_ends_with_the_connection_is_chunked_for_those_who_know_chunks() {
    let script = Script::new().expect_head().send("HTTP/1.0 200 OK\r\ndate: d\r\n\r\nto the end").close();
    let peer = Peer::listen([script.clone(), script.clone(), script]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    let response = client.get("/").response();
    assert_eq!(lines(&response.head), ["date: d", "transfer-encoding: chunked"]);
    assert_eq!(response.text(), "to the end");

    client.send("GET / HTTP/1.0\r\nhost: h\r\n\r\n");
    assert_eq!(client.rest(), b"HTTP/1.1 200 OK\r\ndate: d\r\nconnection: close\r\n\r\nto the end");
    let mut client = leat.connect();
    client.send("GET / HTTP/1.0\r\nhost: h\r\nconnection: keep-alive\r\n\r\n");
    assert_eq!(client.rest(), b"HTTP/1.1 200 OK\r\ndate: d\r\nconnection: close\r\n\r\nto the end");
}

#[test]
fn a_client_of_http_1_0_is_served_as_far_as_it_goes() {
    let chunked = "HTTP/1.1 200 OK\r\ndate: d\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx-sum: 1\r\n\r\n";
    let known = "HTTP/1.1 200 OK\r\ndate: d\r\ncontent-length: 2\r\n\r\nok";
    for (keep_alive, reply, wanted) in [
        ("", chunked, "HTTP/1.1 200 OK\r\ndate: d\r\nconnection: close\r\n\r\nok"),
        ("connection: keep-alive\r\n", chunked, "HTTP/1.1 200 OK\r\ndate: d\r\nconnection: close\r\n\r\nok"),
        ("", known, "HTTP/1.1 200 OK\r\ndate: d\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok"),
    ] {
        let peer = Peer::listen([answers(reply, 1)]);
        let leat = bare(&peer);
        let mut client = leat.connect();
        client.send(format!("GET / HTTP/1.0\r\nhost: h\r\n{keep_alive}\r\n"));
        assert_eq!(String::from_utf8_lossy(&client.rest()), wanted);
        drop(client);
        assert!(peer.finish()[0].starts_with(b"GET / HTTP/1.1\r\n"));
    }
    let peer = Peer::listen([answers(known, 2)]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    for _ in 0..2 {
        client.send("GET / HTTP/1.0\r\nhost: h\r\nconnection: keep-alive\r\n\r\n");
        assert_eq!(client.response().field("connection"), Some("keep-alive"));
    }
}

#[test]
fn trailers_go_through_in_both_directions() {
    let peer =
        Peer::listen([Script::new().expect_until("\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\nx-sum: 2\r\n\r\n").send(
            "HTTP/1.1 200 OK\r\ntrailer: x-sum\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 3\r\n\r\n",
        )]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    client.send("POST / HTTP/1.1\r\nhost: h\r\ntrailer: x-sum\r\ntransfer-encoding: chunked\r\n\r\n");
    client.send("5\r\nhello\r\n0\r\nX-Sum: 1\r\nx-sum: 2\r\n\r\n");
    let response = client.response();
    assert_eq!((response.text(), &response.trailers), ("ok", &vec![("X-Sum".to_owned(), b"3".to_vec())]));
    peer.finish();
}

#[test]
fn pipelined_requests_are_answered_in_their_order() {
    let reply = |name: &str| format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{name}", name.len());
    let peer = Peer::listen([Script::new()
        .expect("GET /1 HTTP/1.1\r\nhost: h\r\n\r\n")
        .send(reply("one"))
        .expect("POST /2 HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\n\r\nhello")
        .send(reply("two"))
        .expect("PUT /3 HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
        .send(reply("three"))
        .expect("GET /4 HTTP/1.1\r\nhost: h\r\n\r\n")
        .send(reply("four"))]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    client.send(
        "GET /1 HTTP/1.1\r\nhost: h\r\n\r\nPOST /2 HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\n\r\nhello\
         PUT /3 HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n\
         GET /4 HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n",
    );
    for name in ["one", "two", "three", "four"] {
        assert_eq!(client.response().text(), name);
    }
    client.expect_end();
    peer.finish();
}

#[test]
fn a_head_may_arrive_in_pieces_from_either_side() {
    let request = "POST /x HTTP/1.1\r\nHost: h\r\nA: 1\r\nContent-Length: 3\r\n\r\nabc";
    let reply = "HTTP/1.1 200 OK\r\nDate: d\r\nContent-Length: 2\r\n\r\nok";
    let mut script = Script::new();
    for cut in 1..reply.len() {
        script = script.expect(request).send(&reply[..cut]).send(&reply[cut..]);
    }
    let peer = Peer::listen([script]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    for cut in 1..reply.len() {
        client.send_pieces([&request[..cut], &request[cut..]]);
        assert_eq!(String::from_utf8_lossy(&client.until("\r\n\r\nok")), reply, "cut at {cut}");
    }
}
