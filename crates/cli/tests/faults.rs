//! What goes wrong on either side of the gateway, over real sockets: the other side always learns of it, and soon.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use leat_testkit::{Client, Folder, Gate, Leat, Peer, Script, eventually};
use support::Upstream;

/// A gateway in front of `upstream` that gives up soon.
fn gateway(upstream: SocketAddr) -> Leat {
    gateway_with(upstream, "")
}

fn gateway_with(upstream: SocketAddr, more: &str) -> Leat {
    let config = format!(
        "listeners: 127.0.0.1:0
admin: 127.0.0.1:0
workers: 1
access_log: access.log
{more}
routes:
  - match: {{ path: /here }}
    respond: {{ body: here }}
  - proxy: {{ upstream: up, response_time: 500ms, idle_time: 600ms }}
upstreams:
  up: {{ endpoints: 'http://{upstream}', connect_time: 400ms }}
"
    );
    Leat::gateway(&config, 1)
}

/// Waits until the access log has a line with `reason`.
fn wait_reason(leat: &Leat, reason: &str) {
    let path = leat.folder().path().join("access.log");
    let wanted = format!("\"reason\":\"{reason}\"");
    eventually(&format!("{wanted} in the access log"), || {
        let log = std::fs::read_to_string(&path).unwrap_or_default();
        log.contains(&wanted).then_some(())
    });
}

#[test]
fn an_upstream_that_fails_before_its_response_is_told_of_with_a_reason() {
    let head = Script::new().expect_head();
    for (what, script, status, reason) in [
        ("it closes at once", Script::new().close(), 502, "upstream.reset"),
        ("it resets inside the request", Script::new().expect("POST").reset(), 502, "upstream.reset"),
        ("it closes after the request", head.clone().close(), 502, "upstream.reset"),
        ("it resets after the request", head.clone().reset(), 502, "upstream.reset"),
        ("it closes inside the head", head.clone().send("HTTP/1.1 200 OK\r\nx: ").close(), 502, "upstream.reset"),
        ("it sends garbage", head.clone().send("\x16\x03\x01 what is this?\r\n\r\n"), 502, "upstream.invalid"),
        ("it speaks HTTP/0.9", head.clone().send("hello\r\n\r\n").close(), 502, "upstream.invalid"),
        (
            "its length is doubtful",
            head.clone().send("HTTP/1.1 200 OK\r\ncontent-length: 5, 6\r\n\r\nhello"),
            502,
            "upstream.invalid",
        ),
        ("it never answers", head.clone(), 504, "upstream.response_time"),
        ("it answers half a head", head.clone().send("HTTP/1.1 200 OK\r\n"), 504, "upstream.response_time"),
    ] {
        let upstream = Peer::listen([script]);
        let leat = gateway(upstream.address());
        let mut client = leat.connect();
        let start = Instant::now();
        // Never sent twice: not a method that may be repeated.
        client.send("POST / HTTP/1.1\r\nhost: leat.test\r\ncontent-length: 0\r\n\r\n");
        let reply = client.response();
        assert_eq!(reply.status, status, "{what}: {}", reply.text());
        assert_eq!(reply.field("content-type"), Some("application/problem+json"), "{what}");
        assert!(reply.text().contains(&format!("\"code\":\"{reason}\"")), "{what}: {}", reply.text());
        assert!(start.elapsed() < Duration::from_secs(5), "{what}: {:?}", start.elapsed());
        assert_eq!(client.get("/here").response().text(), "here", "{what}: the client's connection goes on");
        wait_reason(&leat, reason);
    }
}

#[test]
fn an_upstream_that_is_not_there_is_a_502_and_one_that_comes_back_is_used() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let leat = gateway(address);
    let mut client = leat.connect();
    let reply = client.get("/").response();
    assert_eq!(reply.status, 502);
    assert!(reply.text().contains("upstream.connect"), "{}", reply.text());
    let _back = std::thread::spawn(move || {
        let listener = std::net::TcpListener::bind(address).unwrap();
        let (mut connection, _) = listener.accept().unwrap();
        std::io::Write::write_all(&mut connection, b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nback").unwrap();
        // Held until the test ends.
        let _ = std::io::Read::read_to_end(&mut connection, &mut Vec::new());
    });
    let reply = eventually("the upstream that came back", || {
        let reply = client.get("/").response();
        (reply.status == 200).then_some(reply)
    });
    assert_eq!(reply.text(), "back");
}

#[test]
fn an_upstream_that_takes_no_connection_is_a_504() {
    // A full accept queue: nobody accepts, and what is there fills it.
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    socket.bind(&any.into()).unwrap();
    socket.listen(0).unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    let mut filling = Vec::new();
    for _ in 0..4 {
        match std::net::TcpStream::connect_timeout(&address, Duration::from_millis(200)) {
            Ok(stream) => filling.push(stream),
            Err(_) => break,
        }
    }
    let leat = gateway(address);
    let start = Instant::now();
    let reply = leat.connect().get("/").response();
    assert_eq!(reply.status, 504, "{}", reply.text());
    assert!(reply.text().contains("upstream.connect_time"), "{}", reply.text());
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_client_sees_that_a_body_is_incomplete_when_its_upstream_dies() {
    let length = "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf.";
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhalf.\r\n";
    let cut_chunk = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\na\r\nhalf.";
    let close = "HTTP/1.1 200 OK\r\n\r\nhalf.";
    for (what, part, then, reset, reason) in [
        ("length, close", length, "", false, "upstream.reset"),
        ("length, reset", length, "", true, "upstream.reset"),
        ("chunked, close", chunked, "", false, "upstream.reset"),
        ("chunked, reset", chunked, "", true, "upstream.reset"),
        ("in a chunk", cut_chunk, "", false, "upstream.reset"),
        ("a chunk size that is none", chunked, "xyz\r\n", false, "upstream.invalid"),
        ("until close, reset", close, "", true, "upstream.reset"),
    ] {
        let gate = Gate::new();
        let script = Script::new().expect_head().send(part).wait(&gate).send(then);
        let upstream = Peer::listen([if reset { script.reset() } else { script.close() }]);
        let leat = gateway(upstream.address());
        // An HTTP/1.0 client knows no chunks: what has no length ends with the connection, and only a reset tells.
        let mut clients = [leat.connect(), leat.connect()];
        clients[0].send("GET / HTTP/1.1\r\nhost: leat.test\r\n\r\n");
        clients[1].send("GET / HTTP/1.0\r\n\r\n");
        for client in &mut clients {
            client.until("half.");
        }
        gate.open();
        let [chunks, old] = &mut clients;
        let (was_reset, rest) = (chunks.was_reset(), chunks.rest());
        let looks_whole = rest.windows(5).any(|window| window == b"0\r\n\r\n") || rest.len() >= 5;
        assert!(!looks_whole, "{what}: {} {was_reset}", rest.escape_ascii());
        let (was_reset, rest) = (old.was_reset(), old.rest());
        let looks_whole = if part == length { rest.len() >= 5 } else { !was_reset };
        assert!(!looks_whole, "{what}, HTTP/1.0: {} {was_reset}", rest.escape_ascii());
        wait_reason(&leat, reason);
    }
}

#[test]
fn a_body_that_ends_with_its_upstreams_connection_is_whole() {
    let script = Script::new().expect_head().send("HTTP/1.1 200 OK\r\n\r\nall of it").close();
    let upstream = Peer::listen([script]);
    let leat = gateway(upstream.address());
    assert_eq!(leat.connect().get("/").response().text(), "all of it");
}

#[test]
fn an_upstream_that_stops_inside_its_body_is_given_up() {
    let upstream = Peer::listen([Script::new()
        .expect_head()
        .send("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf.")
        .expect_end()]);
    let leat = gateway(upstream.address());
    let mut client = leat.connect();
    client.get("/").until("half.");
    assert!(client.rest().is_empty());
    wait_reason(&leat, "upstream.idle_time");
    upstream.finish();
}

#[test]
fn an_upstream_is_let_go_soon_after_its_client_has_disappeared() {
    let part = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart";
    let config = "limits: { throughput_bytes_min: 0B }";
    for (what, script, request, seen, resets) in [
        (
            "before the response",
            Script::new().expect_head().expect_end(),
            "GET / HTTP/1.1\r\nhost: x\r\n\r\n",
            "",
            true,
        ),
        (
            "inside the response",
            Script::new().expect_head().send(part).expect_end(),
            "GET / HTTP/1.1\r\nhost: x\r\n\r\n",
            "part",
            true,
        ),
        (
            "inside the request's body",
            Script::new().expect_until("half.").expect_end(),
            "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nhalf.",
            "",
            false,
        ),
    ] {
        let upstream = Peer::listen([script]);
        // No time limit of the exchange may be what ends it.
        let leat = {
            let config = format!(
                "listeners: 127.0.0.1:0\naccess_log: access.log\n{config}\nroutes:\n  - proxy: http://{}\n",
                upstream.address()
            );
            Leat::gateway(&config, 1)
        };
        let mut client = leat.connect();
        client.send(request);
        upstream.wait_connections(1);
        if !seen.is_empty() {
            client.until(seen);
        }
        let start = Instant::now();
        if resets {
            client.reset();
        } else {
            drop(client);
        }
        // Its last step waits for the end of the connection.
        upstream.finish();
        assert!(start.elapsed() < Duration::from_secs(5), "{what}: {:?}", start.elapsed());
        wait_reason(&leat, if resets { "peer.reset" } else { "body.cut_off" });
    }
}

#[test]
fn clients_that_send_too_slowly_lose_their_connection() {
    let limits = "limits: { head_time: 300ms, idle_time: 400ms, throughput_bytes_min: 1KiB, throughput_grace: 300ms, \
                  drain_time: 100ms }";
    let upstream = Peer::listen([Script::new().expect_until("the body's end")]);
    let leat = gateway_with(upstream.address(), limits);

    let mut head = leat.connect();
    head.send("GET /here HTTP/1.1\r\nhost:");
    assert_eq!(head.response().status, 408, "a head that never ends");
    wait_reason(&leat, "time.head");

    let mut idle = leat.connect();
    idle.get("/here").response();
    idle.expect_end();

    let mut body = leat.connect();
    body.send("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n");
    let start = Instant::now();
    body.send("drip");
    let reply = body.response_to("POST");
    assert_eq!(reply.status, 408, "a body that trickles");
    assert!(start.elapsed() < Duration::from_secs(5));
    wait_reason(&leat, "slow.sender");
}

#[test]
fn a_reader_that_takes_nothing_loses_its_connection_and_its_upstream() {
    let limits = "limits: { throughput_bytes_min: 100KiB, throughput_grace: 300ms, memory_bytes_max: 1GiB }";
    let flood = Upstream::flood();
    let leat = gateway_with(flood.address(), limits);
    let mut client = leat.connect();
    client.get("/").until("content-length");
    wait_reason(&leat, "slow.reader");
    eventually("the upstream to be let go", || (flood.ended() == 1).then_some(()));
    assert!(client.rest().len() < 1_000_000_000);
}

#[test]
fn a_client_that_reads_slowly_but_steadily_gets_everything() {
    let upstream = Peer::listen([Script::new()
        .expect_head()
        .send("HTTP/1.1 200 OK\r\ncontent-length: 3000000\r\n\r\n")
        .send_bytes(3_000_000)]);
    let limits = "limits: { throughput_bytes_min: 1KiB, throughput_grace: 5s }";
    let leat = gateway_with(upstream.address(), limits);
    let mut client = leat.connect();
    client.get("/").until("\r\n\r\n");
    for _ in 0..30 {
        client.discard(100_000);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(client.get("/here").response().text(), "here");
    upstream.finish();
}

#[test]
fn requests_of_other_clients_are_answered_while_many_are_stuck() {
    let upstream = Peer::listen([Script::new().expect_head()]);
    let leat = gateway_with(upstream.address(), "limits: { head_time: 5s }");
    let mut stuck: Vec<Client> = (0..100).map(|_| leat.connect()).collect();
    for (number, client) in stuck.iter_mut().enumerate() {
        if number % 2 == 0 {
            client.get("/");
        } else {
            client.send("GET / HTTP/1.1\r\nhost: le");
        }
    }
    let start = Instant::now();
    let mut client = leat.connect();
    for _ in 0..20 {
        assert_eq!(client.get("/here").response().status, 200);
    }
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

#[test]
fn the_first_request_is_answered_soon_after_the_start() {
    let folder = Folder::new();
    // A free port, so that nothing has to be read before the first connect.
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let config = format!("listeners: '{address}'\nroutes: [{{ respond: {{ body: x }} }}]\n");
    let path = folder.write("leat.yaml", config);
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        let mut leat = Leat::spawn(Folder::new(), &["gateway", path.to_str().unwrap()]);
        let stream = loop {
            match std::net::TcpStream::connect(address) {
                Ok(stream) => break stream,
                Err(_) => assert!(start.elapsed() < leat_testkit::DEADLINE, "never listened"),
            }
            std::thread::sleep(Duration::from_micros(200));
        };
        drop(stream);
        assert_eq!(Client::connect(address).get("/").response().status, 200);
        best = best.min(start.elapsed());
        leat.terminate();
        leat.wait();
    }
    println!("first request answered {best:?} after the start, the best of five");
    let most = if cfg!(debug_assertions) { 500 } else { 15 };
    assert!(best < Duration::from_millis(most), "{best:?}");
}
