//! Bodies under way: what arrives goes on at once, and nothing gathers.

use leat_testkit::{Gate, Leat, Peer, Script};

use crate::support::bare;

#[test]
fn the_first_byte_of_a_response_goes_on_at_once() {
    for head in ["content-length: 3\r\n", "transfer-encoding: chunked\r\n"] {
        let chunked = head.starts_with('t');
        let piece = |text: &str| if chunked { format!("1\r\n{text}\r\n") } else { text.to_owned() };
        let (first, second) = (Gate::new(), Gate::new());
        let peer = Peer::listen([Script::new()
            .expect_head()
            .send(format!("HTTP/1.1 200 OK\r\n{head}\r\n"))
            .wait(&first)
            .send(piece("a"))
            .wait(&second)
            .send(piece("b") + &piece("c") + if chunked { "0\r\n\r\n" } else { "" })]);
        let leat = bare(&peer);
        let mut client = leat.connect();
        client.get("/").until("\r\n\r\n");
        first.open();
        client.until("a");
        second.open();
        client.until("b");
        client.until("c");
    }
}

#[test]
fn the_first_byte_of_a_request_goes_on_at_once() {
    for head in ["content-length: 2\r\n", "transfer-encoding: chunked\r\n"] {
        let chunked = head.starts_with('t');
        let piece = |text: &str| if chunked { format!("1\r\n{text}\r\n") } else { text.to_owned() };
        let peer = Peer::listen([Script::new()
            .expect_head()
            .expect(piece("a"))
            .send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no")
            .expect(piece("b") + if chunked { "0\r\n\r\n" } else { "" })
            .send("k")]);
        let leat = bare(&peer);
        let mut client = leat.connect();
        client.send(format!("POST / HTTP/1.1\r\nhost: h\r\n{head}\r\n")).send(piece("a"));
        client.until("\r\n\r\no");
        client.send(piece("b")).send(if chunked { "0\r\n\r\n" } else { "" });
        client.until("k");
        peer.finish();
    }
}

#[test]
fn events_come_one_by_one() {
    let gates: Vec<Gate> = (0..3).map(|_| Gate::new()).collect();
    let mut script = Script::new().expect_head().send("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n");
    for (number, gate) in gates.iter().enumerate() {
        script = script.send(format!("data: {number}\n\n")).wait(gate);
    }
    let peer = Peer::listen([script.close()]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    client.get("/events").until("\r\n\r\n");
    for (number, gate) in gates.iter().enumerate() {
        client.until(format!("data: {number}\n\n"));
        gate.open();
    }
    client.until("0\r\n\r\n");
}

#[test]
fn large_bodies_take_no_memory() {
    const BYTES: u64 = 200_000_000;
    let peer = Peer::listen([Script::new()
        .expect_head()
        .send(format!("HTTP/1.1 200 OK\r\ncontent-length: {BYTES}\r\n\r\n"))
        .send_bytes(BYTES)
        .expect_head()
        .expect_bytes(BYTES)
        .send("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")]);
    let config = crate::support::config(
        crate::support::url(&peer),
        crate::support::BARE,
        "",
        "limits: { body_bytes_max: 1GB }",
        "",
    );
    let leat = Leat::gateway(&config, 1);
    let mut client = leat.connect();
    client.get("/").until("\r\n\r\n");
    // A client that lets it wait for a while: what the gateway would gather, it would gather now.
    std::thread::sleep(std::time::Duration::from_millis(300));
    client.discard(BYTES);
    let mut client = leat.connect();
    client.send(format!("POST / HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-length: {BYTES}\r\n\r\n"));
    client.send_bytes(BYTES);
    assert_eq!(client.response().status, 200);
    let peak_kb = peak_memory_kb(&leat);
    assert!(peak_kb < 40_000, "the gateway held up to {peak_kb} kB");
    drop(client);
    drop(peer);
}

/// The most memory that the process has held, in kilobytes.
fn peak_memory_kb(leat: &Leat) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", leat.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn an_answer_that_comes_early_reaches_a_client_that_is_still_sending() {
    let gate = Gate::new();
    let peer = Peer::listen([Script::new()
        .expect_head()
        .expect_bytes(1_000)
        .send("HTTP/1.1 413 Content Too Large\r\ncontent-length: 4\r\n\r\nmuch")
        .wait(&gate)]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    client.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 10000000\r\n\r\n").send_bytes(1_000);
    let response = client.response();
    assert_eq!((response.status, response.text(), response.field("connection")), (413, "much", Some("close")));
    // Still sending; the connection ends without destroying the answer.
    client.send_bytes(100_000);
    client.close_write();
    assert!(!client.was_reset());
    gate.open();
}

#[test]
fn a_small_rest_of_a_body_is_read_off_and_the_connection_goes_on() {
    let peer = Peer::listen([
        Script::new().expect_head().send("HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno"),
        Script::new().expect_head().send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"),
    ]);
    let leat = bare(&peer);
    let mut client = leat.connect();
    client.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 10\r\n\r\n");
    assert_eq!(client.response().status, 403);
    client.send("0123456789").get("/");
    assert_eq!(client.response().text(), "ok");
}
