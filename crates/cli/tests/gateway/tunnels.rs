//! Connections that change to another protocol.

use leat_testkit::{Gate, Leat, Peer, Script};

use crate::support::{BARE, bare, bare_with, config, url};

const ASK: &str = "GET /chat HTTP/1.1\r\nhost: h\r\nupgrade: websocket\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
                   connection: upgrade\r\n\r\n";
const SWITCH: &str = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nsec-websocket-accept: x\r\ndate: d\r\n\
                      connection: upgrade\r\n\r\n";

#[test]
fn a_websocket_carries_bytes_both_ways() {
    let peer = Peer::listen([Script::new()
        .expect(ASK)
        .send(SWITCH)
        .expect("ping")
        .send("pong")
        .expect("more")
        .send("bye")
        .close()]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    client.send(ASK);
    assert_eq!(String::from_utf8_lossy(&client.until("\r\n\r\n")), SWITCH);
    client.send("ping").until("pong");
    client.send("more").until("bye");
    client.close_write();
    client.expect_end();
    peer.finish();
}

#[test]
fn bytes_that_come_with_either_head_are_not_lost() {
    let peer = Peer::listen([Script::new().expect(ASK).send(format!("{SWITCH}hello")).expect("early").send("done")]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    client.send(format!("{ASK}early"));
    client.until("\r\n\r\nhello");
    client.until("done");
}

#[test]
fn either_side_of_a_tunnel_may_end_first() {
    let peer = Peer::listen([
        Script::new().expect(ASK).send(SWITCH).expect("last words").expect_end().send("an answer").close(),
        Script::new().expect(ASK).send(SWITCH).send("last words").close_write().expect("an answer").expect_end(),
    ]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    client.send(ASK).until("\r\n\r\n");
    client.send("last words").close_write();
    client.until("an answer");
    client.expect_end();

    let mut client = leat.connect();
    client.send(ASK).until("\r\n\r\n");
    client.until("last words");
    client.expect_end();
    client.send("an answer").close_write();
    peer.finish();
}

#[test]
fn a_tunnel_without_traffic_ends_after_the_idle_time() {
    let peer = Peer::listen([Script::new().expect(ASK).send(SWITCH).expect_end()]);
    let leat = bare_with(&peer, "idle_time: 200ms");
    let mut client = leat.connect();
    client.send(ASK).until("\r\n\r\n");
    client.rest();
    peer.finish();
}

#[test]
fn an_upstream_that_switches_unasked_is_refused() {
    for request in [
        "GET / HTTP/1.1\r\nhost: h\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: h\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: h\r\nupgrade: websocket\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: h\r\nconnection: upgrade\r\nupgrade: websocket, h2c\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: h\r\nconnection: upgrade\r\nupgrade: websocket\r\ncontent-length: 1\r\n\r\n.",
    ] {
        let peer = Peer::listen([Script::new().expect_head().send(SWITCH)]);
        let leat = bare(&peer);
        let mut client = leat.connect();
        client.send(request);
        let response = client.response();
        assert_eq!(response.status, 502, "{request}");
        assert!(response.text().contains("upstream.upgrade"), "{}", response.text());
    }
}

#[test]
fn an_upgrade_that_is_declined_is_an_ordinary_response() {
    let gate = Gate::new();
    let ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    let peer = Peer::listen([Script::new().expect(ASK).send(ok).wait(&gate).expect_head().send(ok)]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    client.send(ASK);
    assert_eq!(client.response().text(), "ok");
    gate.open();
    assert_eq!(client.get("/").response().text(), "ok");
}

#[test]
fn a_route_that_names_connect_opens_tunnels() {
    let asked = "CONNECT db.test:5432 HTTP/1.1\r\nhost: db.test:5432\r\n\r\n";
    let peer = Peer::listen([
        Script::new().expect(asked).send("HTTP/1.1 200 OK\r\ndate: d\r\n\r\nhello").expect("ping").send("pong"),
        Script::new().expect(asked).send("HTTP/1.1 403 Forbidden\r\ndate: d\r\ncontent-length: 2\r\n\r\nno"),
    ]);
    let leat = Leat::gateway(&config(url(&peer), BARE, "", "match: { method: CONNECT }", ""), 1);
    let mut client = leat.connect();
    client.send(asked);
    assert_eq!(client.until("hello"), b"HTTP/1.1 200 OK\r\ndate: d\r\n\r\nhello");
    client.send("ping").until("pong");
    let mut client = leat.connect();
    client.send(asked);
    let response = client.response_to("CONNECT");
    assert_eq!((response.status, response.text()), (403, "no"));
    client.expect_end();
}
