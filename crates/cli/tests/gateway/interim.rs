//! Interim responses, and bodies that wait for 100 (Continue).

use leat_testkit::{Gate, Leat, Peer, Script};

use crate::support::{BARE, bare, config, url};

const EXPECTING: &str = "POST / HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n";
const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const CONTINUE: &str = "HTTP/1.1 100 Continue\r\n\r\n";

#[test]
fn early_hints_arrive_before_the_response() {
    let gate = Gate::new();
    let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nlink: </b.js>\r\n\r\n";
    let peer = Peer::listen([Script::new().expect_head().send(hints).wait(&gate).send(hints).send(OK)]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    client.get("/");
    assert_eq!(String::from_utf8_lossy(&client.until("\r\n\r\n")), hints);
    gate.open();
    let response = client.response();
    assert_eq!((response.status, response.interim), (200, vec![103]));
}

#[test]
fn an_interim_response_loses_what_was_meant_for_one_connection() {
    let hints = "HTTP/1.1 103 Early Hints\r\nconnection: close, x-hop\r\nx-hop: 1\r\nkeep-alive: timeout=5\r\nlink: </a>\r\n\r\n";
    let peer = Peer::listen([Script::new().expect_head().send(hints).send(OK)]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    client.get("/");
    let head = client.until("\r\n\r\n");
    assert_eq!(String::from_utf8_lossy(&head), "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n");
}

#[test]
fn an_interim_response_loses_what_the_configuration_takes_out() {
    let hints = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\nX-Inner: 1\r\nx-by: inner\r\n\r\n";
    let peer = Peer::listen([Script::new().expect_head().send(hints).send(OK)]);
    let route = "response_headers: { remove: x-inner, set: { X-By: leat } }";
    let leat = Leat::gateway(&config(url(&peer), BARE, "", route, ""), 1);
    let mut client = leat.connect();
    client.get("/");
    let head = client.until("\r\n\r\n");
    assert_eq!(String::from_utf8_lossy(&head), "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n");
    assert_eq!(client.response().fields_named("x-by"), ["leat"]);
}

#[test]
fn a_client_of_http_1_0_gets_no_interim_response() {
    let peer = Peer::listen([Script::new().expect_head().send("HTTP/1.1 103 Early Hints\r\n\r\n").send(OK)]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    client.send("GET / HTTP/1.0\r\nhost: h\r\n\r\n");
    assert!(client.rest().starts_with(b"HTTP/1.1 200 OK\r\n"));
}

#[test]
fn the_upstream_says_when_to_continue() {
    let gate = Gate::new();
    let peer = Peer::listen([Script::new()
        .expect("POST / HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n")
        .wait(&gate)
        .send(CONTINUE)
        .expect("hello")
        .send(OK)]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    client.send(EXPECTING);
    peer.wait_connections(1);
    gate.open();
    assert_eq!(client.until("\r\n\r\n"), CONTINUE.as_bytes());
    client.send("hello");
    let response = client.response();
    assert_eq!((response.status, response.interim), (200, vec![]));
    peer.finish();
}

#[test]
fn an_upstream_that_never_says_continue_gets_the_body_all_the_same() {
    let peer = Peer::listen([Script::new().expect_head().expect("hello").send(OK)]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    client.send(EXPECTING);
    assert_eq!(client.until("\r\n\r\n"), CONTINUE.as_bytes());
    client.send("hello");
    assert_eq!(client.response().status, 200);
    peer.finish();
}

#[test]
fn a_client_that_does_not_wait_for_continue_is_not_held_up() {
    let peer = Peer::listen([Script::new().expect_head().send(CONTINUE).expect("hello").send(OK)]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    client.send(format!("{EXPECTING}hello"));
    let response = client.response();
    assert_eq!((response.status, response.interim), (200, vec![100]));
}

#[test]
fn a_final_answer_in_place_of_continue_spares_the_body() {
    let peer = Peer::listen([Script::new()
        .expect_head()
        .send("HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\nno")
        .expect_end()]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    client.send(EXPECTING);
    let response = client.response();
    assert_eq!((response.status, &response.interim, response.text()), (401, &vec![], "no"));
    assert_eq!(response.field("connection"), Some("close"));
    client.expect_end();
    peer.finish();
}

#[test]
fn a_success_in_place_of_continue_lets_the_body_through() {
    let peer = Peer::listen([Script::new()
        .expect_head()
        .send("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n")
        .expect("hello")
        .send("HELLO")]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    client.send(EXPECTING).until("\r\n\r\n");
    client.send("hello").until("HELLO");
    client.expect_end();
    peer.finish();
}

#[test]
fn a_success_in_place_of_continue_needs_no_body() {
    let peer =
        Peer::listen([Script::new().expect_head().send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").expect_end()]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    client.send(EXPECTING);
    assert_eq!(client.response().text(), "ok");
    client.expect_end();
    peer.finish();
}
