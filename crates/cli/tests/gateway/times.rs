//! What ends a wait: every one has a limit.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use leat_testkit::{Gate, Leat, Peer, Script};

use crate::support::{BARE, OK, answers, bare_with, config, is_problem, url};

#[test]
fn every_wait_for_the_upstream_ends() {
    let full = TcpListener::bind("127.0.0.1:0").unwrap();
    for (proxy, code) in [
        ("response_time: 100ms", "upstream.response_time"),
        ("response_time: off, idle_time: 100ms", "upstream.idle_time"),
        ("total_time: 100ms", "upstream.total_time"),
    ] {
        let endpoint = format!("http://{}", full.local_addr().unwrap());
        let leat = Leat::gateway(&config(endpoint, BARE, proxy, "", ""), 1);
        let started = Instant::now();
        is_problem(&leat.connect().get("/").response(), 504, code);
        assert!(started.elapsed() < Duration::from_secs(3), "{proxy}");
    }
}

#[test]
fn the_total_time_covers_the_wait_for_a_connection() {
    let gate = Gate::new();
    let peer = Peer::listen([Script::new().expect_head().wait(&gate).send(OK)]);
    let leat = Leat::gateway(
        &config(url(&peer), BARE, "total_time: 300ms, response_time: off", "", "connections_max: 1, queue_time: 10s"),
        1,
    );
    let mut first = leat.connect();
    first.get("/");
    peer.wait_connections(1);
    let mut second = leat.connect();
    is_problem(&second.get("/").response(), 504, "upstream.total_time");
    gate.open();
}

#[test]
fn a_full_pool_is_a_503() {
    let gate = Gate::new();
    let peer = Peer::listen([Script::new().expect_head().wait(&gate).send(OK).expect_head().send(OK)]);
    for upstream in ["connections_max: 1, queue_max: 0", "connections_max: 1, queue_time: 100ms"] {
        let leat = Leat::gateway(&config(url(&peer), BARE, "", "", upstream), 1);
        let before = peer.connections();
        let mut first = leat.connect();
        first.get("/");
        peer.wait_connections(before + 1);
        is_problem(&leat.connect().get("/").response(), 503, "upstream.pool");
    }
    gate.open();
}

#[test]
fn a_request_that_waits_gets_the_connection_that_becomes_free() {
    let gate = Gate::new();
    let peer = Peer::listen([Script::new().expect_head().wait(&gate).send(OK).expect_head().send(OK)]);
    let leat = Leat::gateway(&config(url(&peer), BARE, "", "", "connections_max: 1"), 1);
    let (mut first, mut second) = (leat.connect(), leat.connect());
    first.get("/one");
    peer.wait_connections(1);
    second.get("/two");
    gate.open();
    assert_eq!((first.response().status, second.response().status), (200, 200));
    drop((first, second));
    assert_eq!(peer.finish().len(), 1);
}

#[test]
fn an_unused_connection_is_closed_after_the_idle_time() {
    let peer = Peer::listen([answers(OK, 1).expect_end()]);
    let leat = Leat::gateway(&config(url(&peer), BARE, "", "", "idle_time: 200ms"), 1);
    let mut client = leat.connect();
    assert_eq!(client.get("/").response().status, 200);
    peer.finish();
}

#[test]
fn an_answer_that_stops_is_cut_off_after_the_idle_time() {
    let peer = Peer::listen([Script::new()
        .expect_head()
        .send("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello")
        .expect_end()]);
    let leat = bare_with(&peer, "idle_time: 200ms");
    let mut client = leat.connect();
    client.get("/").until("hello");
    client.rest();
    peer.finish();
}

#[test]
fn an_upstream_that_takes_nothing_is_given_up_after_the_idle_time() {
    let gate = Gate::new();
    let stuck = Peer::listen([Script::new().expect_head().wait(&gate)]);
    let leat = Leat::gateway(&config(url(&stuck), BARE, "idle_time: 300ms", "limits: { body_bytes_max: 1GB }", ""), 1);
    let address = leat.address(0);
    let sending = std::thread::spawn(move || {
        let mut client = leat_testkit::Client::connect(address);
        client.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 50000000\r\n\r\n");
        // As much as all buffers take, and then some.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            client.send_bytes(50_000_000);
        }));
    });
    let mut leat = leat;
    leat.wait_log("the upstream's idle time", |line| line.contains("upstream.idle_time"));
    gate.open();
    drop(leat);
    let _ = sending.join();
}

#[test]
fn a_client_that_stops_sending_is_the_one_to_blame() {
    let peer = Peer::listen([Script::new().expect_head()]);
    let limits = "limits: { body_time: off }";
    let leat = Leat::gateway(&config(url(&peer), BARE, "idle_time: 200ms", limits, ""), 1);
    let mut client = leat.connect();
    client.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\n\r\nhe");
    is_problem(&client.response(), 408, "slow.sender");
}

#[test]
fn a_client_that_stops_reading_is_the_one_to_blame() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 50000000\r\n\r\n";
    let root = format!("{BARE}\nlimits: {{ throughput_bytes_min: 0 }}");
    let stuck = Peer::listen([Script::new().expect_head().send(head).send_bytes(50_000_000)]);
    let mut leat = Leat::gateway(&config(url(&stuck), &root, "idle_time: 300ms", "", ""), 1);
    let mut client = leat.connect();
    client.get("/");
    leat.wait_log("the slow reader", |line| line.contains("\"reason\":\"slow.reader\""));
}
