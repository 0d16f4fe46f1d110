//! Clients that end early, ask for a tunnel, or do not wait, through the real gateway.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use leat_testkit::{Gate, Leat, Peer, Script};

const REPLY: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi";

fn gateway(upstream: &Peer) -> Leat {
    let address = upstream.address();
    Leat::gateway(&format!("listeners: [127.0.0.1:0]\naccess_log: off\nroutes:\n  - proxy: http://{address}\n"), 1)
}

#[test]
fn a_client_that_has_ended_its_direction_still_gets_its_reply() {
    let gate = Gate::new();
    let upstream = Peer::listen([Script::new().expect_head().wait(&gate).send(REPLY)]);
    let leat = gateway(&upstream);
    let mut client = leat.connect();
    client.get("/").close_write();
    // The end has arrived by the time the request has reached the upstream, or soon after.
    upstream.wait_connections(1);
    gate.open();
    assert_eq!(client.response().text(), "hi");
    client.expect_end();
}

#[test]
fn a_client_that_has_ended_is_given_up_after_a_while() {
    let upstream = Peer::listen([Script::new().expect_head().expect_end()]);
    let leat = gateway(&upstream);
    let mut client = leat.connect();
    client.get("/").close_write();
    assert_eq!(client.rest(), b"");
    upstream.finish();
}

#[test]
fn connect_goes_to_no_route_that_does_not_name_it_and_nothing_behind_it_is_a_request() {
    let upstream = Peer::listen([Script::new().expect_head().send(REPLY)]);
    let leat = gateway(&upstream);
    let mut client = leat.connect();
    client.send("CONNECT a:80 HTTP/1.1\r\nhost: a:80\r\n\r\nGET /inside HTTP/1.1\r\nhost: a\r\n\r\n");
    let response = client.response();
    assert_eq!((response.status, response.field("connection")), (405, Some("close")));
    client.expect_end();
    assert_eq!(upstream.connections(), 0);
}

#[test]
fn a_body_that_does_not_wait_for_100_is_passed_on_at_once() {
    let upstream = Peer::listen([Script::new().expect_until("hello").send(REPLY).expect_until("world").send(REPLY)]);
    let leat = gateway(&upstream);
    let mut client = leat.connect();
    let head = "PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\nexpect: 100-continue\r\n\r\n";
    for body in ["hello", "world"] {
        let started = std::time::Instant::now();
        client.send(head).send(body);
        let response = client.response();
        // Held back, it would have taken the second that the upstream has to say 100.
        assert!(started.elapsed() < std::time::Duration::from_millis(900));
        assert_eq!((response.text(), &*response.interim), ("hi", &[][..]));
    }
}
