//! Replies and connections of HTTP/1: keep-alive, versions, bodiless replies, pipelining, the last request.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use leat_serve::Protocol;
use leat_testkit::eventually;
use support::{Event, Options, Server, pattern};

fn request(line: &str, fields: &str) -> String {
    format!("{line}\r\nhost: leat.test\r\n{fields}\r\n")
}

#[test]
fn a_connection_is_kept_as_version_and_fields_say() {
    // Request line, fields, `connection` in the reply, whether the connection goes on.
    let cases = [
        ("GET /fixed HTTP/1.1", "", None, true),
        ("GET /fixed HTTP/1.1", "connection: keep-alive\r\n", None, true),
        ("GET /fixed HTTP/1.1", "connection: close\r\n", Some("close"), false),
        ("GET /fixed HTTP/1.0", "", Some("close"), false),
        ("GET /fixed HTTP/1.0", "connection: keep-alive\r\n", Some("keep-alive"), true),
        ("GET /stream?10 HTTP/1.1", "", None, true),
        ("GET /stream?10 HTTP/1.0", "connection: keep-alive\r\n", Some("close"), false),
        ("GET /known?10 HTTP/1.0", "connection: keep-alive\r\n", Some("keep-alive"), true),
        ("GET /until-close?10 HTTP/1.1", "", Some("close"), false),
        ("GET /raw/until-close HTTP/1.1", "", Some("close"), false),
        ("GET /raw/stream HTTP/1.1", "", None, true),
        ("GET /raw/stream HTTP/1.0", "connection: keep-alive\r\n", Some("close"), false),
        ("HEAD /stream?10 HTTP/1.0", "connection: keep-alive\r\n", Some("keep-alive"), true),
        ("GET /nowhere HTTP/1.1", "", None, true),
    ];
    let server = Server::start();
    for (line, fields, connection, goes_on) in cases {
        let method = line.split(' ').next().unwrap();
        let mut client = server.client();
        let response = client.send(request(line, fields)).response_to(method);
        assert_eq!(response.field("connection"), connection, "{line} {fields}");
        if goes_on {
            assert_eq!(client.get("/fixed").response().text(), "hello", "{line} {fields}");
        } else {
            client.expect_end();
        }
    }
}

#[test]
fn each_length_has_its_framing() {
    // Path, content-length, transfer-encoding, body.
    let cases = [
        ("/fixed", Some("5"), None, "hello"),
        ("/raw?3", Some("3"), None, "rrr"),
        ("/raw?0", Some("0"), None, ""),
        ("/raw/none", Some("0"), None, ""),
        ("/raw/stream", None, Some("chunked"), "streamed"),
        ("/raw/until-close", None, None, "until close"),
        ("/stream?0", None, Some("chunked"), ""),
        ("/known?0", Some("0"), None, ""),
        ("/trailers", None, Some("chunked"), "body"),
        ("/no-end/known", Some("4"), None, "four"),
    ];
    let server = Server::start();
    for (path, length, coding, body) in cases {
        let mut client = server.client();
        let response = client.get(path).response();
        assert_eq!((response.status, response.text()), (200, body), "{path}");
        assert_eq!((response.field("content-length"), response.field("transfer-encoding")), (length, coding), "{path}");
        assert_eq!(response.field("date").map(str::len), Some(29), "{path}");
    }
    let trailers = server.client().get("/trailers").response().trailers;
    assert_eq!(trailers, [("x-sum".to_owned(), b"42".to_vec())]);
}

#[test]
fn replies_without_a_body_send_none_and_say_what_it_would_have_been() {
    // Method, path, status, content-length, transfer-encoding.
    let cases = [
        ("HEAD", "/fixed", 200, Some("5"), None),
        ("HEAD", "/raw?1000", 200, Some("1000"), None),
        ("HEAD", "/raw/stream", 200, None, Some("chunked")),
        ("HEAD", "/known?100000", 200, Some("100000"), None),
        ("HEAD", "/stream?100000", 200, None, Some("chunked")),
        ("HEAD", "/nowhere", 404, Some("0"), None),
        ("GET", "/raw/204", 204, None, None),
        ("GET", "/raw/304", 304, Some("17"), None),
        ("HEAD", "/raw/204", 204, None, None),
    ];
    let server = Server::start();
    for (method, path, status, length, coding) in cases {
        let mut client = server.client();
        let response = client.send(request(&format!("{method} {path} HTTP/1.1"), "")).response_to(method);
        assert_eq!(response.status, status, "{method} {path}");
        if status != 404 {
            assert_eq!(response.field("content-length"), length, "{method} {path}");
        }
        assert_eq!(response.field("transfer-encoding"), coding, "{method} {path}");
        // The next reply would begin in the middle of a body that was sent.
        assert_eq!(client.get("/fixed").response().text(), "hello", "{method} {path}");
    }
    for event in server.events() {
        if let Event::Ended { path: Some(path), bytes_out, .. } = event
            && path != "/fixed"
        {
            assert_eq!(bytes_out, 0, "{path}");
        }
    }
}

#[test]
fn pipelined_requests_of_both_steps_are_answered_in_order() {
    let server = Server::start();
    let mut client = server.client();
    let batch: String = (0..60)
        .map(|number| match number % 3 {
            0 => request(&format!("GET /raw/target?{number} HTTP/1.1"), ""),
            1 => request(&format!("GET /known?{number} HTTP/1.1"), ""),
            _ => format!("POST /echo HTTP/1.1\r\nhost: leat.test\r\ncontent-length: 2\r\n\r\n{number:02}"),
        })
        .collect();
    client.send(batch);
    for number in 0..60_u64 {
        let expected = match number % 3 {
            0 => number.to_string().into_bytes(),
            1 => (0..number).map(pattern).collect(),
            _ => format!("{number:02}").into_bytes(),
        };
        assert_eq!(client.response().body, expected, "request {number}");
    }
    // The same, a few bytes at a time.
    let bytes = [request("GET /raw/target?a HTTP/1.1", ""), request("GET /known?1 HTTP/1.1", "")].concat();
    client.send_pieces(bytes.as_bytes().chunks(7));
    assert_eq!((client.response().text(), client.response().body.len()), ("a", 1));
}

#[test]
fn a_batch_is_written_in_parts_of_its_cap_and_all_of_it_arrives() {
    let server = Server::limited(|limits| limits.batch_bytes_max = 1_000);
    let mut client = server.client();
    client.send(request("GET /raw?700 HTTP/1.1", "").repeat(200));
    for number in 0..200 {
        assert_eq!(client.response().body.len(), 700, "{number}");
    }
}

#[test]
fn a_batch_is_read_and_written_at_once() {
    let server = Server::start();
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    // The reply of an exchange leaves with those before it, and its head with its body.
    for last in ["/raw?10", "/known?10", "/stream?10", "/trailers"] {
        let batch = request("GET /fixed HTTP/1.1", "").repeat(15) + &request(&format!("GET {last} HTTP/1.1"), "");
        stream.write_all(batch.as_bytes()).unwrap();
        let mut block = [0; 16_384];
        let count = stream.read(&mut block).unwrap();
        let replies = String::from_utf8_lossy(&block[..count]).into_owned();
        assert_eq!(replies.matches("HTTP/1.1 200 OK\r\n").count(), 16, "{last}: {replies}");
        let end = match last {
            "/raw?10" => "rrrrrrrrrr",
            "/trailers" => "0\r\nx-sum: 42\r\n\r\n",
            "/stream?10" => "0\r\n\r\n",
            _ => "\u{9}",
        };
        assert!(replies.ends_with(end), "{last}: {replies}");
    }
}

#[test]
fn requests_behind_an_exchange_wait_for_it() {
    let server = Server::start();
    let mut client = server.client();
    client.send([request("GET /gone HTTP/1.1", ""), request("GET /fixed HTTP/1.1", "")].concat());
    server.begun("/gone");
    // Looked at by the exchange, which watches for the end of the connection; more than it reads ahead.
    client.send(request("GET /raw/target?x HTTP/1.1", "").repeat(2_000));
    server.release();
    assert_eq!((client.response().text(), client.response().text()), ("still there", "hello"));
    for number in 0..2_000 {
        assert_eq!(client.response().text(), "x", "{number}");
    }
}

#[test]
fn empty_lines_between_requests_are_skipped_and_at_the_end_are_no_request() {
    let server = Server::start();
    let mut client = server.client();
    client.send(format!("\r\n{}\r\n", request("GET /fixed HTTP/1.1", "")));
    assert_eq!(client.response().text(), "hello");
    client.close_write().expect_end();
}

#[test]
fn the_last_request_that_a_connection_may_carry_is_told_so() {
    let server = Server::limited(|limits| limits.requests_per_connection_max = 3);
    let mut client = server.client();
    // Two more than it may: they must not destroy the replies.
    client.send(request("GET /fixed HTTP/1.1", "").repeat(5));
    let last: Vec<_> = (0..3).map(|_| client.response().field("connection").map(str::to_owned)).collect();
    assert_eq!(last, [None, None, Some("close".to_owned())]);
    client.expect_end();
}

#[test]
fn large_replies_reach_slow_readers_byte_for_byte() {
    let options = Options { send_buffer_bytes: Some(64 * 1024), ..Options::default() };
    let server = Server::with(options);
    // Bytes, and the size of the pieces that the handler sends: copied, written from where they are, and larger than
    // the largest chunk.
    for (path, size) in [("stream", 100), ("stream", 9_000), ("stream", 300_000), ("known", 5_000), ("known", 70_000)] {
        let mut client = server.client();
        let response = client.get(&format!("/{path}?1500000,{size}")).response();
        assert_eq!(response.body.len(), 1_500_000, "{path} by {size}");
        let wrong = response.body.iter().zip(0..).find(|&(&byte, at)| byte != pattern(at));
        assert_eq!(wrong, None, "{path} by {size}");
        assert_eq!(client.get("/fixed").response().text(), "hello", "{path} by {size}");
    }
}

#[test]
fn what_is_flushed_arrives_though_the_reply_goes_on() {
    let server = Server::start();
    let mut client = server.client();
    client.get("/events?3");
    for number in 0..3 {
        client.until(format!("event {number}\n"));
        server.release();
    }
    client.until("0\r\n\r\n");
}

#[test]
fn an_interim_response_leaves_before_the_final_one_and_not_to_http_1_0() {
    let server = Server::start();
    let mut client = server.client();
    client.get("/interim");
    assert_eq!(client.until("\r\n\r\n"), b"HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\n\r\n");
    server.release();
    assert_eq!(client.response().text(), "after the hint");
    let mut client = server.client();
    client.send("GET /interim HTTP/1.0\r\n\r\n");
    server.release();
    let response = client.response();
    assert_eq!((response.interim.as_slice(), response.text()), (&[][..], "after the hint"));
}

#[test]
fn interim_responses_without_end_are_left_out() {
    let server = Server::start();
    let mut client = server.client();
    let response = client.get("/hints?10000").response();
    assert_eq!(response.text(), "after the hints");
    assert!((100..2_000).contains(&response.interim.len()), "{}", response.interim.len());
}

#[test]
fn a_drain_ends_connections_without_losing_a_request() {
    let begin: [fn(&Server); 2] = [Server::drain, Server::retire];
    for (protocol, begin) in [(Protocol::Http1, begin[0]), (Protocol::Sniff, begin[0]), (Protocol::Sniff, begin[1])] {
        let options = Options { protocol, drain_grace_ms: 400, ..Options::default() };
        let server = Server::with(options);
        let (mut idle, mut fresh, mut late, mut busy, mut streaming) =
            (server.client(), server.client(), server.client(), server.client(), server.client());
        assert_eq!(idle.get("/fixed").response().field("connection"), None);
        assert_eq!(late.get("/fixed").response().field("connection"), None);
        busy.get("/wait");
        streaming.get("/events?1").until("event 0\n");
        server.begun("/wait");
        begin(&server);
        // In time: answered, and told to go. The one under way hears of it as well.
        assert_eq!(late.get("/fixed").response().field("connection"), Some("close"));
        late.expect_end();
        server.release();
        server.release();
        let response = busy.response();
        assert_eq!((response.text(), response.field("connection")), ("waited", Some("close")));
        busy.expect_end();
        streaming.until("0\r\n\r\n");
        streaming.expect_end();
        fresh.expect_end();
        idle.expect_end();
    }
}

#[test]
fn an_idle_connection_is_closed_and_a_used_one_is_not() {
    let server = Server::limited(|limits| limits.idle_time_ms = 150);
    server.client().expect_end();
    let mut used = server.client();
    for _ in 0..3 {
        assert_eq!(used.get("/fixed").response().text(), "hello");
    }
    used.expect_end();
}

#[test]
fn clients_that_end_their_direction_behind_a_batch_still_get_its_replies() {
    let server = Server::start();
    let mut client = server.client();
    client.send([request("GET /fixed HTTP/1.1", ""), request("GET /gone HTTP/1.1", "")].concat()).close_write();
    // The exchange takes the end for the client's going; the reply before it is complete and must arrive.
    assert_eq!(client.response().text(), "hello");
    client.expect_end();
    assert_eq!(server.gone(), leat_message::Reason::PeerEnded);
}

#[test]
fn an_exchange_hears_of_a_client_that_goes() {
    let server = Server::start();
    let mut client = server.client();
    client.get("/gone");
    server.begun("/gone");
    client.reset();
    assert_eq!(server.gone(), leat_message::Reason::PeerReset);
    assert_eq!(server.ended(Some("/gone")), (0, Some(leat_message::Reason::PeerReset)));
    server.answers();
}

#[test]
fn a_record_counts_the_body_bytes_of_both_directions() {
    let server = Server::start();
    let mut client = server.client();
    client.send("POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\n0123456789").response();
    client.get("/fixed").response();
    let ended = eventually("both ends", || {
        let events: Vec<Event> =
            server.events().into_iter().filter(|event| matches!(event, Event::Ended { .. })).collect();
        (events.len() == 2).then_some(events)
    });
    let end = |path: &str, bytes_in, bytes_out| Event::Ended {
        path: Some(path.to_owned()),
        status: 200,
        reason: None,
        bytes_in,
        bytes_out,
    };
    assert_eq!(ended, [end("/echo", 10, 10), end("/fixed", 0, 5)]);
}
