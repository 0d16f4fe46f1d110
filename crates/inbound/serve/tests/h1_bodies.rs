//! Request bodies of HTTP/1: framing, limits, 100 (Continue), bodies that nobody reads, tunnels.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use leat_message::{Reason, WHOLE_BODY_BYTES_MAX};
use leat_serve::{OnError, Protocol};
use leat_testkit::Client;
use support::{Event, Options, Server};

const HEAD: &str = "HTTP/1.1\r\nhost: leat.test\r\n";

fn known(path: &str, body: &str) -> String {
    format!("POST {path} {HEAD}content-length: {}\r\n\r\n{body}", body.len())
}

fn chunked(path: &str, chunks: &[&str], trailers: &str) -> String {
    let chunks: String = chunks.iter().map(|chunk| format!("{:x}\r\n{chunk}\r\n", chunk.len())).collect();
    format!("POST {path} {HEAD}transfer-encoding: chunked\r\n\r\n{chunks}0\r\n{trailers}\r\n")
}

fn problem(client: &mut Client, reason: Reason) {
    let response = client.response();
    assert_eq!(response.status, reason.status(), "{}", response.text());
    assert_eq!(response.field("content-type"), Some("application/problem+json"));
    assert!(response.text().contains(&format!("\"code\":\"{reason}\"")), "{} for {reason}", response.text());
}

#[test]
fn bodies_arrive_whole_however_they_are_framed_and_cut() {
    let long = "0123456789".repeat(1_000);
    let cases = [
        (known("/echo", ""), ""),
        (known("/echo", "body"), "body"),
        (known("/echo", &long), long.as_str()),
        (chunked("/echo", &[], ""), ""),
        (chunked("/echo", &["a", "bc", "def"], ""), "abcdef"),
        (chunked("/echo", &[&long, "x"], "x-sum: 1\r\n"), &format!("{long}x")),
        (known("/pipe", &long), long.as_str()),
        (chunked("/pipe", &[&long], ""), long.as_str()),
        (known("/pipe/both", &long), long.as_str()),
    ];
    let server = Server::start();
    for (request, body) in &cases {
        for piece in [usize::MAX, 1_000, 11] {
            let mut client = server.client();
            client.send_pieces(request.as_bytes().chunks(piece.min(request.len())));
            assert_eq!(client.response().text(), *body, "{piece} {}", &request[..60]);
            assert_eq!(client.get("/fixed").response().text(), "hello", "{piece} {}", &request[..60]);
        }
    }
    for at in 1..cases[4].0.len() {
        let mut client = server.client();
        let (first, second) = cases[4].0.split_at(at);
        client.send(first).send(second);
        assert_eq!(client.response().text(), "abcdef", "split at {at}");
    }
}

#[test]
fn a_body_that_came_with_its_head_is_given_to_the_raw_step() {
    let (most, longer) = ("x".repeat(WHOLE_BODY_BYTES_MAX), "x".repeat(WHOLE_BODY_BYTES_MAX + 1));
    let expecting = format!("POST /raw/echo {HEAD}expect: 100-continue\r\ncontent-length: 4\r\n\r\nbody");
    let upgrading =
        format!("POST /raw/echo {HEAD}connection: upgrade\r\nupgrade: other\r\ncontent-length: 4\r\n\r\nbody");
    let cases = [
        (known("/raw/echo", "body"), "body", true),
        (expecting, "body", true),
        // The server takes no upgrades, so it is a body like others.
        (upgrading, "body", true),
        (chunked("/raw/echo", &["body"], ""), "body", false),
        (known("/raw/echo", &longer), longer.as_str(), false),
    ];
    for (request, body, raw) in &cases {
        let server = Server::start();
        let mut client = server.client();
        // Twice, and another behind them: nothing of a body is taken for a request.
        client.send(format!("{request}{request}GET /fixed {HEAD}\r\n"));
        for text in [body, body, &"hello"] {
            assert_eq!(client.response().text(), *text, "{}", &request[..60]);
        }
        let begun = server.events().iter().any(|event| matches!(event, Event::Begun(_)));
        assert_eq!(begun, !raw, "{}", &request[..60]);
        let taken = server.events().iter().find_map(|event| match event {
            Event::Ended { bytes_in, .. } => Some(*bytes_in),
            Event::Begun(_) | Event::Gone(_) => None,
        });
        assert_eq!(taken, Some(body.len() as u64), "{}", &request[..60]);
    }
    // As much as is given at once may come in several reads: both ways are right.
    let server = Server::start();
    let mut client = server.client();
    assert_eq!(client.send(known("/raw/echo", &most)).response().text(), most);
}

#[test]
fn trailers_are_known_once_the_body_has_ended() {
    let server = Server::start();
    let mut client = server.client();
    client.send(chunked("/count", &["body"], "x-sum: 42\r\nx-more: yes\r\n"));
    assert_eq!(client.response().text(), "4 x-sum: 42, x-more: yes");
}

#[test]
fn a_body_above_its_limit_is_refused_and_the_connection_ends() {
    let server = Server::limited(|limits| limits.body_bytes_max = 10);
    // Request, and what is answered: the reason, or the text.
    let cases: [(String, Result<&str, Reason>); 8] = [
        (known("/count", "0123456789"), Ok("10 ")),
        (known("/count", "0123456789a"), Err(Reason::LimitBodyBytes)),
        (chunked("/count", &["01234", "56789"], ""), Ok("10 ")),
        (chunked("/count", &["01234", "56789a"], ""), Err(Reason::LimitBodyBytes)),
        (known("/limited?20", "0123456789a"), Ok("11 ")),
        (chunked("/limited?5", &["01", "2345"], ""), Err(Reason::LimitBodyBytes)),
        (known("/limited?5", "012345"), Err(Reason::LimitBodyBytes)),
        (chunked("/count", &["0"], "bad name: 1\r\n"), Err(Reason::TrailerInvalid)),
    ];
    for (request, expected) in cases {
        let mut client = server.client();
        client.send(&request);
        match expected {
            Ok(text) => assert_eq!(client.response().text(), text, "{request}"),
            Err(Reason::TrailerInvalid) => {
                assert_eq!(client.response().status, 400);
                client.expect_end();
            }
            Err(reason) => {
                problem(&mut client, reason);
                client.expect_end();
            }
        }
    }
}

#[test]
fn a_refused_upload_gets_to_read_why_though_it_is_still_sending() {
    let server = Server::limited(|limits| limits.body_bytes_max = 1_000);
    for head in [
        format!("POST /count {HEAD}content-length: 8000000\r\n\r\n"),
        format!("POST /nowhere {HEAD}content-length: 8000000\r\n\r\n"),
        format!("POST /fixed {HEAD}content-length: 8000000\r\n\r\n"),
        format!("POST /ignore {HEAD}content-length: 8000000\r\n\r\n"),
        format!("POST /count {HEAD}transfer-encoding: chunked\r\n\r\n7A1200\r\n"),
    ] {
        let mut client = server.client();
        // Writes all of it before it reads a byte.
        client.send(&head).send_bytes(8_000_000);
        let response = client.response();
        assert!(matches!(response.status, 200 | 404 | 413), "{head}");
        assert_eq!(response.field("connection"), Some("close"), "{head}");
        client.expect_end();
    }
}

#[test]
fn a_client_that_waits_for_100_gets_it_when_the_body_is_wanted() {
    let server = Server::start();
    let head =
        |path: &str, length| format!("POST {path} {HEAD}expect: 100-continue\r\ncontent-length: {length}\r\n\r\n");
    let mut client = server.client();
    client.send(head("/echo", 4)).until("HTTP/1.1 100 Continue\r\n\r\n");
    assert_eq!(client.send("body").response().text(), "body");
    // Not twice, and not for a body that is there.
    let response = client.send(head("/echo", 4) + "body").response();
    assert_eq!((response.interim.as_slice(), response.text()), (&[][..], "body"));
    // A final reply comes first: no 100, and what was held back can never be told from a next request.
    for (path, status) in [("/ignore", 200), ("/fixed", 200), ("/nowhere", 404)] {
        let mut client = server.client();
        let response = client.send(head(path, 4)).response();
        assert_eq!((response.interim.as_slice(), response.status), (&[][..], status), "{path}");
        assert_eq!(response.field("connection"), Some("close"), "{path}");
        client.expect_end();
    }
    // Too long: refused without a 100.
    let server = Server::limited(|limits| limits.body_bytes_max = 3);
    let mut client = server.client();
    client.send(head("/echo", 4));
    let response = client.response();
    assert_eq!((response.interim.as_slice(), response.status), (&[][..], 413));
    client.expect_end();
}

#[test]
fn a_body_that_nobody_reads_is_drained_within_limits() {
    let server = Server::limited(|limits| {
        limits.drain_bytes_max = 10_000;
        limits.drain_time_ms = 100;
    });
    let (short, limit, long) = ("x".repeat(9_000), "x".repeat(10_000), "x".repeat(11_000));
    // Request, whether the connection goes on.
    let cases = [
        (known("/ignore", &limit), true),
        (known("/fixed", &limit), true),
        (known("/ignore", &short), true),
        (known("/fixed", &short), true),
        (known("/part", &short), true),
        (known("/nowhere", &short), true),
        (chunked("/ignore", &[&short], ""), true),
        (chunked("/fixed", &[&short], "x-sum: 1\r\n"), true),
        (known("/ignore", &long), false),
        (known("/fixed", &long), false),
        (chunked("/ignore", &[&long, &long, &long], ""), false),
        (chunked("/fixed", &[&long, &long, &long], ""), false),
    ];
    for (request, goes_on) in cases {
        for whole in [true, false] {
            let mut client = server.client();
            let start = &request[..120];
            if whole {
                client.send(&request);
            } else {
                client.send(start).send(&request[120..]);
            }
            let response = client.response();
            assert!(matches!(response.status, 200 | 404), "{start}");
            if goes_on {
                assert_eq!(client.get("/fixed").response().text(), "hello", "{start}");
            } else {
                client.expect_end();
            }
        }
    }
    // What never comes is waited for only so long.
    for path in ["/ignore", "/fixed"] {
        let mut client = server.client();
        client.send(format!("POST {path} {HEAD}content-length: 100\r\n\r\nonly this"));
        assert_eq!(client.response().status, 200);
        client.expect_end();
    }
}

#[test]
fn requests_and_bodies_that_are_cut_off_are_answered_as_such() {
    let server = Server::start();
    for (request, reason) in [
        (format!("GET /fixed {HEAD}"), Reason::HeadCutOff),
        ("GET".to_owned(), Reason::HeadCutOff),
        (format!("POST /count {HEAD}content-length: 10\r\n\r\nfour"), Reason::BodyCutOff),
        (format!("POST /count {HEAD}transfer-encoding: chunked\r\n\r\n5\r\nfour"), Reason::BodyCutOff),
        (format!("POST /count {HEAD}transfer-encoding: chunked\r\n\r\n4\r\nfour\r\n0\r\n"), Reason::BodyCutOff),
    ] {
        let mut client = server.client();
        client.send(request).close_write();
        problem(&mut client, reason);
        client.expect_end();
    }
}

#[test]
fn heads_that_are_refused_are_answered_with_their_reason() {
    let server = Server::limited(|limits| {
        limits.head_bytes_max = 1_000;
        limits.fields_max = 5;
    });
    let cases = [
        ("GET /fixed HTTP/1.1\r\n\r\n".to_owned(), Reason::HostMissing),
        ("GET /fixed HTTP/1.1\r\nhost: a\nx: y\r\n\r\n".to_owned(), Reason::HeadBareLf),
        (format!("GET /fixed {HEAD}x: {}\r\n\r\n", "y".repeat(1_000)), Reason::LimitHeadBytes),
        (format!("GET /fixed {HEAD}{}\r\n", "x: y\r\n".repeat(5)), Reason::LimitFields),
        (format!("GET /fixed {HEAD}expect: more\r\n\r\n"), Reason::ExpectUnknown),
    ];
    for (request, reason) in cases {
        let mut client = server.client();
        // Behind a reply that must not be lost.
        client.send(format!("GET /fixed {HEAD}\r\n{request}"));
        assert_eq!(client.response().text(), "hello", "{reason}");
        problem(&mut client, reason);
        client.expect_end();
        assert_eq!(server.ended(None).0, server.ended(None).1.unwrap().status());
    }
}

#[test]
fn handlers_that_break_their_word_are_isolated_and_the_client_can_tell() {
    // Path, status (0: a reply that is visibly incomplete), whether the connection may go on after an error.
    let cases = [
        ("/raw/less", 500),
        ("/raw/more", 500),
        ("/raw/twice", 500),
        ("/raw/nothing", 500),
        ("/raw/panic", 500),
        ("/raw/panic-late", 500),
        ("/panic", 500),
        ("/less", 500),
        ("/more", 500),
        ("/no-end", 500),
        ("/fail", 502),
        ("/fail-head", 502),
        ("/panic-late", 0),
        ("/fail-late", 0),
        ("/fail-late/until-close", 0),
    ];
    for on_error in [OnError::Close, OnError::Continue] {
        let server = Server::with(Options { on_error, ..Options::default() });
        for (path, status) in cases {
            let mut client = server.client();
            client.send(format!("GET /fixed {HEAD}\r\nGET {path} {HEAD}\r\nGET /fixed {HEAD}\r\n"));
            assert_eq!(client.response().text(), "hello", "{path}");
            if status == 0 {
                client.until("\r\n\r\n");
                let reset = client.was_reset();
                let rest = client.rest();
                assert!(!rest.ends_with(b"0\r\n\r\n") && rest.len() < 100, "{path} {rest:?}");
                assert!(reset || !path.ends_with("until-close"), "{path}: an ordinary close would look complete");
            } else {
                let response = client.response();
                assert_eq!(response.status, status, "{path}");
                assert_eq!(response.field("content-type"), Some("application/problem+json"), "{path}");
                assert_eq!(response.field("x-test"), None, "{path}");
                if status == 502 || on_error == OnError::Continue {
                    assert_eq!(client.response().text(), "hello", "{path}");
                } else {
                    client.expect_end();
                }
            }
            let (ended, reason) = server.ended(Some(path));
            assert!(reason.is_some() && (status == 0 || ended == status), "{path} {ended} {reason:?}");
        }
        server.answers();
    }
}

#[test]
fn a_host_that_the_connection_was_not_opened_for_is_misdirected() {
    let server = Server::with(Options { host: Some("leat.test"), ..Options::default() });
    let mut client = server.client();
    assert_eq!(client.get("/fixed").response().text(), "hello");
    client.send("GET /fixed HTTP/1.1\r\nhost: other.test\r\n\r\n");
    problem(&mut client, Reason::HostMisdirected);
}

#[test]
fn a_process_without_memory_sheds_requests() {
    let server = Server::limited(|limits| limits.memory_bytes_max = 0);
    // What the count of one core may lag behind by is held elsewhere for the while.
    leat_stream::memory::add(leat_stream::memory::SETTLE_BYTES);
    for path in ["/fixed", "/wait"] {
        let mut client = server.client();
        client.get(path);
        problem(&mut client, Reason::LimitMemory);
        client.expect_end();
    }
    leat_stream::memory::add(-leat_stream::memory::SETTLE_BYTES);
}

#[test]
fn a_tunnel_carries_bytes_both_ways_from_those_already_sent_to_a_half_close() {
    let server = Server::start();
    for (head, path, status) in [
        (format!("GET /tunnel {HEAD}connection: upgrade\r\nupgrade: shout\r\n\r\n"), "/tunnel", 101),
        ("CONNECT leat.test:443 HTTP/1.1\r\nhost: leat.test:443\r\n\r\n".to_owned(), "", 200),
    ] {
        let mut client = server.client();
        client.send(format!("{head}early "));
        let response = client.response_to(head.split(' ').next().unwrap());
        assert_eq!((response.status, response.field("connection")), (status, (status == 101).then_some("upgrade")));
        assert_eq!((response.field("content-length"), response.field("transfer-encoding")), (None, None));
        client.until("EARLY ");
        client.send("late").until("LATE");
        // GET / HTTP/1.1 is only bytes now.
        client.send(format!("get /fixed {HEAD}\r\n")).until("GET /FIXED HTTP/1.1\r\nHOST: LEAT.TEST\r\n\r\n");
        client.close_write();
        assert_eq!(client.rest(), b"GOODBYE");
        assert_eq!(server.ended(Some(path)), (status, None));
    }
    // Refused: what follows a CONNECT was meant for somebody else.
    let mut client = server.client();
    client.send(format!("CONNECT refused.test:443 HTTP/1.1\r\nhost: refused.test:443\r\n\r\nGET /fixed {HEAD}\r\n"));
    client.response_to("GET");
    client.expect_end();
}

#[test]
fn an_idle_process_does_not_take_time_before_a_connection_for_the_connections() {
    // The clock stands still while nobody waits: a first deadline must not be reckoned from where it stood.
    let server = Server::with({
        let mut options = Options { protocol: Protocol::Http1, ..Options::default() };
        options.limits.body_time_ms = Some(300);
        options.limits.idle_time_ms = 300;
        options
    });
    std::thread::sleep(std::time::Duration::from_millis(500));
    let mut client = server.client();
    client.send(format!("POST /count {HEAD}content-length: 4\r\n\r\n"));
    server.begun("/count");
    std::thread::sleep(std::time::Duration::from_millis(60));
    assert_eq!(client.send("body").response().text(), "4 ");
}
