//! Upstreams that fail, and what the client is told.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use leat_testkit::{Folder, Gate, Leat, Peer, Response, Script};

use crate::support::{BARE, OK, answers, bare, bare_with, config, url};

fn is_problem(response: &Response, status: u16, code: &str) {
    assert_eq!(response.status, status, "{}", response.text());
    assert_eq!(response.field("content-type"), Some("application/problem+json"));
    let wanted = format!("\"status\":{status},\"code\":\"{code}\"");
    assert!(response.text().contains(&wanted), "{wanted} is not in {}", response.text());
}

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
