//! Which requests are sent again, and where.

use std::net::TcpListener;
use std::time::Duration;

use leat_testkit::{Gate, Leat, Peer, Script};

use crate::support::{BARE, OK, answers, bare, config, is_problem, url};

#[test]
fn a_stale_connection_is_tried_again_only_where_that_is_safe() {
    for (request, again) in [
        ("GET / HTTP/1.1\r\nhost: h\r\n\r\n", true),
        ("DELETE / HTTP/1.1\r\nhost: h\r\n\r\n", true),
        ("POST / HTTP/1.1\r\nhost: h\r\n\r\n", false),
        ("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n", false),
        ("PATCH / HTTP/1.1\r\nhost: h\r\n\r\n", false),
        ("PUT / HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\n\r\nhello", false),
    ] {
        // The first connection dies as the second request arrives: no byte of an answer comes.
        let peer = Peer::listen([answers(OK, 1).expect_head().close(), answers(OK, 1)]);
        let mut leat = bare(&peer);
        let mut client = leat.connect();
        assert_eq!(client.get("/").response().status, 200);
        client.send(request);
        let response = client.response();
        assert_eq!(response.status, if again { 200 } else { 502 }, "{request}");
        assert_eq!(peer.connections(), if again { 2 } else { 1 }, "{request}");
        let method = request.split(' ').next().unwrap();
        let wanted = format!("\"attempts\":{}", if again { 2 } else { 1 });
        leat.wait_log("the number of tries", |line| {
            line.contains(&format!("\"method\":\"{method}\"")) && line.contains(&wanted)
        });
    }
}

#[test]
fn a_fresh_connection_that_dies_is_not_tried_again() {
    let peer = Peer::listen([Script::new().expect_head().close(), answers(OK, 1)]);
    let leat = bare(&peer);
    is_problem(&leat.connect().get("/").response(), 502, "upstream.reset");
    assert_eq!(peer.connections(), 1);
}

#[test]
fn an_answer_that_began_is_not_tried_again() {
    let peer = Peer::listen([answers(OK, 1).expect_head().send("HTTP/1.1 2").close(), answers(OK, 1)]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    assert_eq!(client.get("/").response().status, 200);
    is_problem(&client.get("/").response(), 502, "upstream.reset");
}

#[test]
fn a_connection_that_was_closed_meanwhile_is_not_used() {
    let peer = Peer::listen([answers(OK, 1).close(), answers(OK, 1)]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    assert_eq!(client.get("/").response().status, 200);
    std::thread::sleep(Duration::from_millis(20));
    client.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n");
    assert_eq!(client.response().status, 200);
}

#[test]
fn another_endpoint_takes_over_where_one_cannot_be_reached() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let peer = Peer::listen([answers(OK, 20)]);
    let endpoints = format!("http://{free}\", \"{}", url(&peer));
    let leat = Leat::gateway(&config(endpoints, BARE, "", "", ""), 1);
    let mut client = leat.connect();
    for _ in 0..10 {
        client.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n");
        assert_eq!(client.response().status, 200);
    }
}

#[test]
fn another_endpoint_takes_over_where_the_queue_of_one_is_full() {
    for (keys, status) in [("queue_max: 0", 200), ("queue_max: 0, retry: {}", 200), ("queue_time: 100ms", 503)] {
        let gate = Gate::new();
        let busy = Peer::listen([Script::new().expect_head().wait(&gate).send(OK)]);
        let free = Peer::listen([answers(OK, 9)]);
        let endpoints = format!("{}\", \"{}", url(&busy), url(&free));
        let leat = Leat::gateway(&config(endpoints, BARE, "", "", &format!("connections_max: 1, {keys}")), 1);
        let mut first = leat.connect();
        first.get("/");
        busy.wait_connections(1);
        let mut client = leat.connect();
        assert_eq!(client.get("/").response().status, 200, "{keys}");
        // This one's turn is that of the endpoint that is busy.
        client.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n");
        assert_eq!(client.response().status, status, "{keys}");
        gate.open();
        assert_eq!(first.response().status, 200, "{keys}");
    }
}
