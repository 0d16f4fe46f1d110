//! Exchanges of HTTP/1 that are nothing but bytes: taken over by the handler, or refused by the engine.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::time::Duration;

use leat_message::{Limits, Reason};
use leat_serve::{OnError, Protocol};
use support::{Event, Options, Server};

fn request(fields: &str, steps: &str) -> String {
    format!("GET /script HTTP/1.1\r\nhost: leat.test\r\n{fields}x-script: {steps}\r\n\r\n")
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn an_exchange_that_is_taken_over_carries_bytes_both_ways_to_a_half_close() {
    let switch = "HTTP/1.1 101 Switching Protocols||";
    // Fields, script, what is sent behind the head, what comes back once the client has ended its direction.
    let cases = [
        // All that follows is lent, those bytes first that came with the head.
        ("", "take;read;sent-back;end".to_owned(), "early and late", "early and late"),
        ("connection: upgrade\r\nupgrade: x\r\n", format!("take;send {switch};read;sent-back;end"), "hi", switch),
        // A head of the handler's may have gone before.
        ("", format!("head {switch};flush;take;read;sent-back;end"), "hi", switch),
        ("", format!("head {switch};take;read;sent-back;end"), "hi", switch),
        // What looks like a body, or like a next request, is only bytes.
        ("content-length: 2\r\n", "take;read;sent-back;end".to_owned(), "more than two", "more than two"),
        ("transfer-encoding: chunked\r\n", "take;read;sent-back;end".to_owned(), "no chunk", "no chunk"),
        ("", "take;read;sent-back;end".to_owned(), "GET /fixed HTTP/1.1\r\n\r\n", "GET /fixed HTTP/1.1\r\n\r\n"),
        // Behind what was consumed of a body.
        ("content-length: 6\r\n", "part 2;take;read;sent-back;end".to_owned(), "foobar", "obar"),
        // A client that waits to be asked is not.
        ("expect: 100-continue\r\ncontent-length: 6\r\n", "take;read;sent-back;end".to_owned(), "foobar", "foobar"),
        // After an error of the body.
        ("transfer-encoding: chunked\r\n", "body-error;take;sent-back;end".to_owned(), "x\r\n", "chunk.size_invalid"),
    ];
    for (fields, steps, sent, back) in cases {
        for in_one_write in [true, false] {
            let server = Server::start();
            let mut client = server.client();
            match in_one_write {
                true => client.send(request(fields, &steps) + sent),
                false => {
                    client.send(request(fields, &steps));
                    server.begun(&format!("script:{steps}"));
                    client.send(sent)
                }
            };
            client.close_write();
            let wanted = if back == switch { format!("{switch}{sent}").replace('|', "\r\n") } else { back.to_owned() };
            assert_eq!(text(client.rest()), wanted, "{steps}");
            assert_eq!(server.ended(Some("/script")).1, None, "{steps}");
        }
    }
}

#[test]
fn our_direction_may_end_before_the_peers() {
    let server = Server::start();
    let mut client = server.client();
    client.send(request("", "take;send bye;end;flush;read"));
    assert_eq!(client.rest(), b"bye");
    client.send("still heard").close_write();
    assert_eq!(server.ended(Some("/script")), (299, None));
}

#[test]
fn an_exchange_whose_head_is_the_engines_is_not_taken_over() {
    let server = Server::start();
    let mut client = server.client();
    let response = client.send(request("", "engine 4;take;send four;end")).response();
    assert_eq!((response.text(), server.ended(Some("/script")).0), ("four", 298));
    assert_eq!(client.get("/fixed").response().text(), "hello");
}

#[test]
fn a_handler_that_fails_after_it_has_taken_over_gets_no_words_put_into_its_mouth() {
    for (steps, sent) in [
        ("take;panic", ""),
        ("take;send unsent;fail route.not_found", ""),
        ("take;send sent;flush", "sent"),
        ("take;fail peer.reset", ""),
    ] {
        let server = Server::start();
        let mut client = server.client();
        // An earlier reply of the batch leaves all the same.
        client.send(format!("GET /raw?3 HTTP/1.1\r\nhost: leat.test\r\n\r\n{}", request("", steps)));
        assert_eq!(client.response().text(), "rrr", "{steps}");
        assert_eq!(text(client.rest()), sent, "{steps}");
        assert!(server.ended(Some("/script")).1.is_some(), "{steps}");
    }
}

fn impatient(limits: &mut Limits) {
    limits.head_time_ms = 100;
    limits.body_time_ms = Some(100);
    limits.throughput_bytes_min = 1_000_000;
    limits.throughput_grace_ms = 100;
    limits.drain_time_ms = 100;
}

#[test]
fn nobody_is_slow_who_owes_nothing() {
    let mut options = Options { refused: Some("read;sent-back;end"), protocol: Protocol::Http1, ..Options::default() };
    impatient(&mut options.limits);
    let server = Server::with(options);
    // As well where the body's deadline ran already, as where a refusal's bytes are.
    let body = "POST /count HTTP/1.1\r\nhost: leat.test\r\ncontent-length: 1\r\n\r\nx";
    for start in [
        request("content-length: 9\r\n", "take;read;sent-back;end"),
        "GARBAGE\r\n".to_owned(),
        format!("{body}GARBAGE\r\n"),
    ] {
        let mut client = server.client();
        client.send(&start);
        std::thread::sleep(Duration::from_millis(400));
        client.send("late").close_write();
        assert!(text(client.rest()).ends_with("late"), "{start}");
    }
}

/// What a client may send that is no request, and why it is not.
const GARBAGE: [(&str, Reason); 6] = [
    ("GARBAGE\r\n", Reason::LineSpacing),
    ("GET / HTTP/1.1\r\nhost: a\r\nx y: 1\r\n\r\nrest", Reason::HeadNameInvalid),
    ("GET / HTTP/1.1\r\n\r\n", Reason::HostMissing),
    ("\r\nGET / HTTP/3.0\r\n\r\n", Reason::LineVersionUnsupported),
    ("\x16\x03\x01\x00\x01", Reason::LineTlsBytes),
    ("GET / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\n", Reason::BodyLengthRepeated),
];

fn refusing(script: &'static str) -> Server {
    let mut options = Options { refused: Some(script), protocol: Protocol::Http1, ..Options::default() };
    options.limits.head_time_ms = 300;
    Server::with(options)
}

#[test]
fn a_handler_that_wants_them_gets_the_bytes_that_are_no_request() {
    for (sent, reason) in GARBAGE {
        let server = refusing("request;send REASON:;read;sent-back;end");
        let mut client = server.client();
        client.send(sent).close_write();
        assert_eq!(text(client.rest()), format!("[Get 0 ]{reason}:{sent}"), "{sent:?}");
        assert_eq!(server.ended(None), (0, Some(reason)), "{sent:?}");
        let bytes = server.events().into_iter().find_map(|event| match event {
            Event::Ended { path: None, bytes_in, bytes_out, .. } => Some((bytes_in, bytes_out)),
            _ => None,
        });
        let expected = (sent.len() as u64, ("[Get 0 ]:".len() + reason.code().len() + sent.len()) as u64);
        assert_eq!(bytes, Some(expected), "{sent:?}");
    }
}

#[test]
fn a_refusal_that_the_handler_answers_ends_the_connection() {
    for (sent, reason) in GARBAGE {
        // It does not read what was sent, and the client is still sending.
        let server = refusing("send HTTP/1.1 400 Bad Request|Connection: close||;end");
        let mut client = server.client();
        client.send(sent).send_bytes(3_000_000);
        assert_eq!(client.response().head, b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", "{sent:?}");
        client.expect_end();
        assert_eq!(server.ended(None), (0, Some(reason)), "{sent:?}");
    }
}

#[test]
fn a_head_that_is_late_cut_off_or_too_long_is_refused_likewise() {
    let long = format!("GET /{} HTTP/1.1\r\n", "x".repeat(9_000));
    let start = "GET /fixed HTTP/1.1\r\nhost:";
    // What is sent, whether that is all, the reason.
    for (sent, ends, reason) in [
        (start, false, Reason::TimeHead),
        (start, true, Reason::HeadCutOff),
        (long.as_str(), false, Reason::LimitTargetBytes),
    ] {
        let server = refusing("part 1000000;send REASON:;sent-back;end");
        let mut client = server.client();
        client.send(sent);
        if ends {
            client.close_write();
        }
        assert_eq!(text(client.rest()), format!("{reason}:{sent}"), "{reason}");
        assert_eq!(server.ended(None), (0, Some(reason)));
    }
}

#[test]
fn replies_to_earlier_requests_do_not_wait_for_the_answer_to_a_refusal() {
    let server = refusing("release;send REASON;end");
    let mut client = server.client();
    client.send("GET /fixed HTTP/1.1\r\nhost: leat.test\r\n\r\nGARBAGE\r\n\r\n");
    assert_eq!(client.response().text(), "hello");
    server.release();
    assert_eq!(text(client.rest()), Reason::LineSpacing.code());
}

#[test]
fn a_handler_that_fails_to_answer_leaves_it_to_the_engine() {
    // Script, what the client gets: the problem reply, or these bytes.
    for (script, sent) in [
        ("panic!", None),
        ("panic", None),
        ("", None),
        ("send unsent;fail route.not_found", None),
        ("send sent;flush;fail route.not_found", Some("sent")),
        ("send sent;flush", Some("sent")),
        // A reason without a status: the end is all that is wanted.
        ("fail peer.reset", Some("")),
        ("end", Some("")),
    ] {
        for on_error in [OnError::Close, OnError::Continue] {
            let refused = Some(script);
            let server = Server::with(Options { refused, on_error, protocol: Protocol::Http1, ..Options::default() });
            let mut client = server.client();
            client.send("GARBAGE\r\n\r\n");
            match sent {
                None => {
                    let response = client.response();
                    assert_eq!((response.status, response.field("connection")), (400, Some("close")), "{script}");
                    assert!(response.text().contains(Reason::LineSpacing.code()), "{script}");
                    client.expect_end();
                }
                Some(sent) => assert_eq!(text(client.rest()), sent, "{script}"),
            }
            let status = if sent.is_none() { 400 } else { 0 };
            assert_eq!(server.ended(None), (status, Some(Reason::LineSpacing)), "{script}");
        }
    }
}
