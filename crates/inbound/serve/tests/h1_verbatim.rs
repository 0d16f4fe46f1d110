//! Replies of HTTP/1 whose heads the handler formatted.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::io::{Read, Write};
use std::net::TcpStream;

use leat_message::Reason;
use leat_serve::OnError;
use support::{Event, Options, Server, pattern};

const OK: &str = "HTTP/1.1 200 Fine|X-Case: Kept|Content-Length: 4||";
const CHUNKED: &str = "HTTP/1.1 200 OK|Transfer-Encoding: chunked||";

/// A request to the handler that does what the script says.
fn script(line: &str, fields: &str, script: &str) -> String {
    format!("{line} HTTP/1.1\r\nhost: leat.test\r\n{fields}x-script: {script}\r\n\r\n")
}

fn get(steps: &str) -> String {
    script("GET /script", "", steps)
}

fn text(head: &str) -> String {
    head.replace('|', "\r\n")
}

/// The status and reason with which the exchange ended.
fn ended(server: &Server) -> (u16, Option<Reason>) {
    server.ended(Some("/script"))
}

#[test]
fn heads_and_bodies_leave_as_they_are_and_the_connection_goes_on() {
    let not_modified = "HTTP/1.1 304 Not Modified|ETag: x|Content-Length: 17||";
    // Method, script, what the client gets.
    let cases = [
        ("GET", format!("head {OK};send four;end"), format!("{OK}four")),
        ("GET", format!("head {OK};send fo;send ur;end"), format!("{OK}four")),
        ("GET", format!("head {OK};flush;send four;flush;end"), format!("{OK}four")),
        ("GET", format!("head {CHUNKED};send 4|four|0||;end"), format!("{CHUNKED}4|four|0||")),
        ("GET", format!("head {CHUNKED};send 4|four|0|x-sum: 4||;end"), format!("{CHUNKED}4|four|0|x-sum: 4||")),
        ("HEAD", format!("head {OK};end"), OK.to_owned()),
        ("GET", format!("head {not_modified};end"), not_modified.to_owned()),
        ("GET", "head HTTP/1.1 204 Empty||;end".to_owned(), "HTTP/1.1 204 Empty||".to_owned()),
        // The framing is the handler's: it may be wrong.
        ("HEAD", format!("head {OK};send four;end"), format!("{OK}four")),
        ("GET", "head HTTP/1.1 204 Empty||;send x;end".to_owned(), "HTTP/1.1 204 Empty||x".to_owned()),
        ("GET", format!("head {OK};send too much;end"), format!("{OK}too much")),
        ("GET", format!("head {OK};keep true;send four;end"), format!("{OK}four")),
        // A second final head, a late interim one and an engine's are out of place.
        ("GET", format!("head {OK};interim HTTP/1.1 103 Early Hints||;send four;end"), format!("{OK}four")),
    ];
    for (method, steps, reply) in cases {
        let server = Server::start();
        let mut client = server.client();
        // Both in one write: what is pipelined comes behind, byte for byte.
        let next = "GET /raw?3 HTTP/1.1\r\nhost: leat.test\r\nconnection: close\r\n\r\n";
        client.send(script(&format!("{method} /script"), "", &steps) + next);
        let all = String::from_utf8(client.rest()).unwrap();
        let rest = all.strip_prefix(&text(&reply)).unwrap_or_else(|| panic!("{steps}: {all}"));
        assert!(rest.starts_with("HTTP/1.1 200 OK\r\ndate:") && rest.ends_with("\r\n\r\nrrr"), "{steps}: {all}");
        let body = text(&reply).split_once("\r\n\r\n").map_or(0, |(_, body)| body.len() as u64);
        let status = text(&reply)[9..12].parse().unwrap();
        assert_eq!(ended(&server), (status, None), "{steps}");
        let counted = server.events().into_iter().find_map(|event| match event {
            Event::Ended { path: Some(path), bytes_out, .. } if path == "/script" => Some(bytes_out),
            _ => None,
        });
        assert_eq!(counted, Some(body), "{steps}");
    }
}

#[test]
fn a_head_of_any_size_arrives_whole() {
    let server = Server::start();
    for bytes in [0, 1, 8 * 1024 - 1, 8 * 1024, 8 * 1024 + 1, 100_000, 3_000_000_u64] {
        for step in ["bytes", "pieces"] {
            let head = format!("HTTP/1.1 200 OK|Content-Length: {bytes}||");
            let mut client = server.client();
            for _ in 0..2 {
                let response = client.send(get(&format!("head {head};{step} {bytes};end"))).response();
                assert_eq!(response.head, text(&head).as_bytes(), "{step} {bytes}");
                assert!(response.body.iter().copied().eq((0..bytes).map(pattern)), "{step} {bytes}");
            }
        }
    }
}

#[test]
fn a_small_reply_leaves_in_one_write() {
    let server = Server::start();
    let mut stream = TcpStream::connect(server.address).unwrap();
    let mut block = vec![0; 128 * 1024];
    for (bytes, step) in [(4, "bytes"), (8 * 1024, "bytes"), (20_000, "pieces"), (30_000, "bytes")] {
        let head = format!("HTTP/1.1 200 OK|Content-Length: {bytes}||");
        let wanted = text(&head).len() + bytes;
        // What two writes send is mostly read in two.
        for _ in 0..50 {
            stream.write_all(get(&format!("head {head};{step} {bytes};end")).as_bytes()).unwrap();
            assert_eq!(stream.read(&mut block).unwrap(), wanted, "{step} {bytes}");
        }
    }
}

#[test]
fn a_connection_ends_where_the_handler_or_the_request_says_so() {
    let close = "connection: close\r\n";
    // Fields of the request, script, whether the connection goes on.
    let cases = [
        ("", format!("head {OK};send four;keep true;end"), true),
        ("", format!("head {OK};send four;keep false;end"), false),
        ("", format!("keep false;head {OK};send four;end"), false),
        ("", format!("keep false;keep true;head {OK};send four;end"), false),
        ("", format!("head {OK};send four;flush;keep false;end"), false),
        (close, format!("head {OK};send four;keep true;end"), false),
        (close, format!("head {OK};send four;end"), false),
        ("", "keep false;head HTTP/1.1 200 OK||;send four;end".to_owned(), false),
        // Of a reply whose head is the engine's too.
        ("", "keep false;engine 4;send four;end".to_owned(), false),
        ("", "keep true;engine 4;send four;end".to_owned(), true),
    ];
    for (fields, steps, goes_on) in cases {
        let server = Server::start();
        let mut client = server.client();
        let response = client.send(script("GET /script", fields, &steps)).response();
        assert_eq!((response.status, response.text()), (200, "four"), "{steps}");
        if goes_on {
            assert_eq!(client.get("/fixed").response().text(), "hello", "{steps}");
        } else {
            client.expect_end();
        }
        assert_eq!(ended(&server), (200, None), "{steps}");
    }
}

#[test]
fn a_drain_ends_a_connection_that_the_head_said_goes_on() {
    let server = Server::with(Options { drain_grace_ms: 60_000, ..Options::default() });
    let mut client = server.client();
    let steps = format!("release;head {OK};send four;end");
    client.send(get(&steps));
    server.begun(&format!("script:{steps}"));
    server.drain();
    server.release();
    assert_eq!(client.response().text(), "four");
    client.expect_end();
}

#[test]
fn a_reply_that_was_not_ended_is_an_error_or_visibly_incomplete() {
    let unframed = "HTTP/1.1 200 OK||";
    // Script, what the client gets (`None`: the problem reply), whether a reset follows.
    let cases = [
        // Nothing has left: another reply takes its place.
        (format!("head {OK};send four"), None, false),
        (format!("head {OK}"), None, false),
        (format!("keep false;head {unframed};send four"), None, false),
        (format!("head {OK};send four;panic"), None, false),
        // What was framed can be told from a whole one.
        (format!("head {OK};send fo;flush"), Some(format!("{OK}fo")), false),
        (format!("keep false;head {OK};send fo;flush"), Some(format!("{OK}fo")), false),
        (format!("head {CHUNKED};send 4|four|;flush;fail upstream.reset"), Some(format!("{CHUNKED}4|four|")), false),
        (format!("keep false;head {CHUNKED};send 4|;flush;panic"), Some(format!("{CHUNKED}4|")), false),
        // What only the end of the connection ends can't, but by a reset.
        (format!("keep false;head {unframed};send four;flush"), Some(format!("{unframed}four")), true),
        (format!("head {unframed};keep false;send four;flush;panic"), Some(format!("{unframed}four")), true),
    ];
    for (steps, sent, reset) in cases {
        let server = Server::start();
        let mut client = server.client();
        client.send(get(&steps));
        let Some(sent) = sent else {
            let response = client.response();
            assert_eq!((response.status, response.field("connection")), (500, Some("close")), "{steps}");
            client.expect_end();
            assert_eq!(ended(&server).0, 500, "{steps}");
            continue;
        };
        assert_eq!(client.until(text(&sent)), text(&sent).as_bytes(), "{steps}");
        assert_eq!(client.was_reset(), reset, "{steps}");
        let (status, reason) = ended(&server);
        assert!(status == 200 && reason.is_some(), "{steps}: {reason:?}");
    }
}

#[test]
fn a_handler_that_forgets_to_end_a_reply_loses_no_connection_where_it_may_go_on() {
    let server = Server::with(Options { on_error: OnError::Continue, ..Options::default() });
    let mut client = server.client();
    assert_eq!(client.send(get(&format!("head {OK};send four"))).response().status, 500);
    assert_eq!(client.get("/fixed").response().text(), "hello");
}

fn post(fields: &str, steps: &str) -> String {
    script("POST /script", fields, steps)
}

#[test]
fn a_body_that_was_not_read_is_drained_or_ends_the_connection() {
    let reply = format!("head {OK};send four;end");
    // Length, bytes that are sent, whether the connection goes on.
    for (length, sent, goes_on) in [(0, 0, true), (9, 9, true), (10_000, 10_000, true), (50_000, 20_000, false)] {
        let server = Server::limited(|limits| {
            limits.drain_bytes_max = 10_000;
            limits.drain_time_ms = 200;
        });
        let mut client = server.client();
        client.send(post(&format!("content-length: {length}\r\n"), &reply)).send_bytes(sent);
        let response = client.response();
        assert_eq!((response.head, response.body), (text(OK).into_bytes(), b"four".to_vec()), "{length}");
        if goes_on {
            assert_eq!(client.get("/fixed").response().text(), "hello", "{length}");
        } else {
            client.expect_end();
        }
    }
}

#[test]
fn interim_heads_leave_as_they_are_ahead_of_the_final_one() {
    let hint = "HTTP/1.1 103 Early Hints|Link: </a.css>||";
    let reply = format!("head {OK};send four;end");
    let server = Server::start();
    let mut client = server.client();
    let all = client.send(get(&format!("interim {hint};flush;release;interim {hint};{reply}"))).until("\r\n\r\n");
    assert_eq!(all, text(hint).as_bytes());
    server.release();
    assert_eq!(client.until("four"), text(&format!("{hint}{OK}four")).as_bytes());
    // What is taken back is the final reply only.
    let response = client.send(get(&format!("interim {hint};head {OK};send four"))).response();
    assert_eq!((response.interim.as_slice(), response.status), (&[103][..], 500));
    // No interim response is known to HTTP/1.0; 101 and final ones are none.
    for (version, head) in [("1.0", hint), ("1.1", "HTTP/1.1 101 Switching Protocols||"), ("1.1", "HTTP/1.1 200 OK||")]
    {
        let mut client = server.client();
        let request = get(&format!("interim {head};{reply}")).replace("HTTP/1.1\r\n", &format!("HTTP/{version}\r\n"));
        assert_eq!(client.send(request).until("four"), text(&format!("{OK}four")).as_bytes(), "{version} {head}");
    }
    // Hints without end are left out, for a client that reads nothing.
    let many = format!("interim {hint};").repeat(200);
    let response = server.client().send(get(&format!("{many}{reply}"))).response();
    assert_eq!((response.interim.len(), response.text()), (200, "four"));
}

#[test]
fn a_handler_that_waives_it_decides_about_100() {
    let fields = "expect: 100-continue\r\ncontent-length: 4\r\n";
    let ask = "interim HTTP/1.1 100 Continue||";
    let reply = format!("head {OK};sent-back;end");

    // It asks itself, and the question leaves with whatever it polls next.
    for steps in
        [format!("waive;{ask};read;{reply}"), format!("{ask};read;{reply}"), format!("waive;{ask};flush;read;{reply}")]
    {
        let server = Server::start();
        let mut client = server.client();
        client.send(post(fields, &steps)).until("HTTP/1.1 100 Continue\r\n\r\n");
        let response = client.send("body").response();
        assert_eq!((response.interim.len(), response.text()), (0, "body"), "{steps}");
        assert_eq!(client.get("/fixed").response().text(), "hello", "{steps}");
    }

    // It never asks; a client that sends its body all the same is heard.
    let server = Server::start();
    let mut client = server.client();
    let steps = format!("waive;read;{reply}");
    client.send(post(fields, &steps));
    server.begun(&format!("script:{steps}"));
    let response = client.send("body").response();
    assert_eq!((response.interim.len(), response.text()), (0, "body"));
    assert_eq!(client.get("/fixed").response().text(), "hello");

    // It answers at once: whether the body follows is not known, so the connection ends.
    let server = Server::start();
    let mut client = server.client();
    let response = client.send(post(fields, "waive;head HTTP/1.1 417 No|Content-Length: 0||;end")).response();
    assert_eq!((response.interim.len(), response.status), (0, 417));
    client.expect_end();
}
