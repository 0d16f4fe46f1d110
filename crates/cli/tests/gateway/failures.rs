//! Upstreams that fail, and what the client is told.

use std::net::TcpListener;

use leat_testkit::{Folder, Gate, Leat, Peer, Script};

use crate::support::{BARE, OK, answers, bare, config, is_problem, url};

#[test]
fn an_endpoint_that_cannot_be_reached_is_a_502() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let folder = Folder::new();
    for (endpoint, code) in [
        (format!("http://{free}"), "upstream.connect"),
        ("http://no-such-name.invalid:80".to_owned(), "upstream.resolve"),
        (format!("unix:{}/none.sock", folder.path().display()), "upstream.connect"),
    ] {
        let leat = Leat::gateway(&config(endpoint, BARE, "", "", ""), 1);
        let mut client = leat.connect();
        is_problem(&client.get("/").response(), 502, code);
        is_problem(&client.get("/").response(), 502, code);
    }
}

#[test]
fn an_endpoint_that_does_not_speak_tls_is_a_502() {
    let peer = Peer::listen([Script::new().send("HTTP/1.1 400 Bad Request\r\n\r\n").close()]);
    let leat = Leat::gateway(&config(format!("https://{}", peer.address()), BARE, "", "", ""), 1);
    is_problem(&leat.connect().get("/").response(), 502, "upstream.tls");
}

#[test]
fn what_is_no_response_is_a_502() {
    for (reply, code) in [
        ("SSH-2.0-OpenSSH_9.6\r\n\r\n", "upstream.invalid"),
        ("HTTP/1.1 20 OK\r\n\r\n", "upstream.invalid"),
        ("HTTP/1.1 200 OK\r\nbad name: x\r\n\r\n", "upstream.invalid"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n", "upstream.invalid"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n", "upstream.invalid"),
        ("HTTP/1.1 200 OK\r\nx: a\nb\r\n\r\n", "upstream.invalid"),
        ("HTTP/2 200\r\n\r\n", "upstream.invalid"),
        ("HTTP/1.1 200 OK\r\nx", "upstream.reset"),
        ("", "upstream.reset"),
    ] {
        let peer = Peer::listen([Script::new().expect_head().send(reply).close()]);
        let mut leat = bare(&peer);
        is_problem(&leat.connect().get("/").response(), 502, code);
        let line = leat.wait_log("the access line", |line| line.contains(code));
        assert_eq!(line.contains("\"detail\":"), code == "upstream.invalid", "{line}");
    }
}

#[test]
fn a_head_that_is_too_long_is_a_502() {
    let long = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "y".repeat(5_000));
    let peer = Peer::listen([answers(&long, 1)]);
    let leat = Leat::gateway(&config(url(&peer), BARE, "", "", "response_head_bytes_max: 2KiB"), 1);
    is_problem(&leat.connect().get("/").response(), 502, "upstream.head_bytes");
}

#[test]
fn a_body_that_is_cut_off_is_seen_to_be() {
    for reply in [
        "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n",
    ] {
        let gate = Gate::new();
        let (start, rest) = reply.split_at(reply.find("hello").unwrap() + 5);
        let peer = Peer::listen([Script::new().expect_head().send(start).wait(&gate).send(rest).close()]);
        let leat = bare(&peer);
        let mut client = leat.connect();
        client.get("/").until("hello");
        gate.open();
        let rest = client.rest();
        assert!(!rest.ends_with(b"0\r\n\r\n"), "{reply}");
    }
}

#[test]
fn a_client_that_goes_away_takes_the_upstreams_connection_along() {
    let peer = Peer::listen([Script::new().expect_head().expect_end()]);
    let mut leat = bare(&peer);
    let mut client = leat.connect();
    client.get("/");
    peer.wait_connections(1);
    client.reset();
    leat.wait_log("the client's end", |line| line.contains("peer.reset"));
    peer.finish();
}

#[test]
fn a_client_that_goes_away_in_the_middle_of_a_body_is_noticed() {
    let gate = Gate::new();
    let start = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n";
    let peer = Peer::listen([Script::new().expect_head().send(start).expect_end(), answers(OK, 1).wait(&gate)]);
    let mut leat = bare(&peer);
    let mut client = leat.connect();
    client.get("/").until("hello");
    client.reset();
    let line = leat.wait_log("the client's end", |line| line.contains("peer.reset"));
    assert!(line.contains("\"status\":200") && line.contains("\"blame\":\"peer\""), "{line}");
    // The connection with half an answer on it is not used again.
    assert_eq!(leat.connect().get("/").response().text(), "ok");
    gate.open();
    peer.finish();
}

#[test]
fn a_client_that_goes_away_while_it_sends_is_noticed() {
    let peer = Peer::listen([Script::new().expect_head().expect("he").expect_end()]);
    let mut leat = bare(&peer);
    let mut client = leat.connect();
    client.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\n\r\nhe");
    peer.wait_connections(1);
    client.reset();
    leat.wait_log("the client's end", |line| line.contains("peer.reset") || line.contains("body.cut_off"));
    peer.finish();
}

#[test]
fn an_upstream_that_dies_while_it_is_sent_a_body_is_a_502_unless_it_has_answered() {
    for (reply, status) in
        [("", 502), ("HTTP/1.1 413 Content Too Large\r\ncontent-length: 2\r\nconnection: close\r\n\r\nno", 413)]
    {
        let peer = Peer::listen([Script::new().expect_head().expect("hello").send(reply).close()]);
        let leat = bare(&peer);
        let mut client = leat.connect();
        client.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 100000\r\n\r\nhello");
        let response = client.response();
        assert_eq!(response.status, status);
        // There is more to come from this client, so that nothing else can be on this connection.
        client.send_bytes(10);
    }
}
