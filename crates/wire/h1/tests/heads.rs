//! Rules of heads that the corpus cannot show: spans, progress, limits at their edges, what a caller keeps.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use leat_h1::{
    Head, Length, Limits, Method, Name, Profile, Progress, Reason, RequestLines, ResponseLimits, ResponseLines, Span,
    parse_request, parse_response,
};

fn parse(bytes: &[u8], limits: &Limits) -> Result<Option<usize>, Reason> {
    let mut lines = RequestLines::default();
    parse_request(bytes, &mut Progress::default(), Profile::Compatible, limits, &mut lines)
}

/// The answer to each prefix of `bytes`, through one progress and lines that somebody else uses in between.
fn trickle(bytes: &[u8], limits: &Limits) -> Vec<Result<Option<usize>, Reason>> {
    let mut progress = Progress::default();
    let mut lines = RequestLines::default();
    let mut answers = Vec::new();
    for len in 1..=bytes.len() {
        let answer = parse_request(&bytes[..len], &mut progress, Profile::Compatible, limits, &mut lines);
        answers.push(answer);
        if answer != Ok(None) {
            break;
        }
        lines.fields.clear();
        lines.fields.resize(3, leat_h1::Field::default());
    }
    answers
}

#[test]
fn spans_are_relative_to_the_start_of_the_bytes_even_behind_empty_lines() {
    let bytes = b"\r\n\r\nPOST /a/b?c=d HTTP/1.1\r\nHost:  h:1 \r\nX:\r\n\r\nrest";
    let mut lines = RequestLines::default();
    let len = parse_request(bytes, &mut Progress::default(), Profile::Compatible, &Limits::default(), &mut lines);
    assert_eq!(len, Ok(Some(bytes.len() - 4)));
    let head = Head::new(bytes, &lines);
    assert_eq!((head.method(), head.method_bytes()), (Method::Post, &b"POST"[..]));
    assert_eq!((head.target(), head.path(), head.query()), (&b"/a/b?c=d"[..], &b"/a/b"[..], Some(&b"c=d"[..])));
    assert_eq!((head.authority(), head.host()), (&b"h:1"[..], &b"h"[..]));
    let fields: Vec<_> = head.fields().iter().collect();
    assert_eq!(fields, [(Name::Host, &b"Host"[..], &b"h:1"[..]), (Name::Other, b"X", b"")]);
    assert_eq!(lines.method_span, Span::new(4, 8));
}

#[test]
fn an_upgrade_that_the_engine_would_ignore_or_refuse_may_be_left_to_the_handler() {
    let post = |more: &str| format!("POST / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\n{more}\r\n");
    for (bytes, usually, left) in [
        (post("Upgrade: x\r\n"), Ok(true), true),
        (post("Upgrade: x\r\nContent-Length: 1\r\n"), Ok(false), true),
        (post("Upgrade: h2c\r\n"), Ok(false), true),
        (post("Upgrade: (x\r\n"), Err(Reason::UpgradeInvalid), true),
        (post(""), Ok(false), false),
        (post("Upgrade: x\r\n").replace("1.1", "1.0"), Ok(false), true),
        (post("Upgrade: x\r\n").replace(": upgrade", ": close"), Ok(false), false),
    ] {
        let upgrade = |limits: &Limits| {
            let mut lines = RequestLines::default();
            let parsed =
                parse_request(bytes.as_bytes(), &mut Progress::default(), Profile::Compatible, limits, &mut lines);
            parsed.map(|_| lines.upgrade)
        };
        assert_eq!(upgrade(&Limits::default()), usually, "{bytes}");
        let mut limits = Limits::default();
        limits.left_to_handler.upgrade = true;
        assert_eq!(upgrade(&limits), Ok(left), "{bytes}");
    }
}

#[test]
fn a_target_that_names_another_host_may_be_left_to_the_handler() {
    for (line, host, left) in [
        ("CONNECT b:443", "a:80", Ok(())),
        ("CONNECT b:443", "a b", Err(Reason::HostInvalid)),
        ("CONNECT b:443", "b", Ok(())),
        ("GET http://b/", "a:80", Ok(())),
    ] {
        let bytes = format!("{line} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let parse = |limits: &Limits| {
            let mut lines = RequestLines::default();
            let parsed =
                parse_request(bytes.as_bytes(), &mut Progress::default(), Profile::Compatible, limits, &mut lines);
            parsed.map(|_| assert!(Head::new(bytes.as_bytes(), &lines).authority().starts_with(b"b")))
        };
        let usually = if host == "a:80" { Err(Reason::HostConflict) } else { left };
        assert_eq!(parse(&Limits::default()), usually, "{bytes}");
        let mut limits = Limits::default();
        limits.left_to_handler.host = true;
        assert_eq!(parse(&limits), left, "{bytes}");
    }
}

#[test]
fn an_absolute_target_without_path_has_the_path_slash() {
    for (target, path, query) in [
        ("http://h", "/", None),
        ("http://h?q", "/", Some("q")),
        ("HTTPS://h:443/p?q", "/p", Some("q")),
        ("http://h/", "/", None),
    ] {
        let bytes = format!("GET {target} HTTP/1.1\r\nHost: h\r\n\r\n");
        let mut lines = RequestLines::default();
        parse_request(bytes.as_bytes(), &mut Progress::default(), Profile::Strict, &Limits::default(), &mut lines)
            .unwrap()
            .unwrap();
        let head = Head::new(bytes.as_bytes(), &lines);
        assert_eq!(head.path(), path.as_bytes(), "{target}");
        assert_eq!(head.query(), query.map(str::as_bytes), "{target}");
        assert_eq!(head.host(), b"h", "{target}");
    }
}

#[test]
fn lines_carry_nothing_over_from_one_head_to_the_next() {
    let rich = b"POST http://other/p?q HTTP/1.0\r\nHost: other\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\n";
    let upgrade = b"GET /?q HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
    let expect = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n";
    let plain = b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
    let bare = b"GET / HTTP/1.0\r\n\r\n";
    let fresh = |bytes: &[u8], lines: &mut RequestLines| {
        parse_request(bytes, &mut Progress::default(), Profile::Compatible, &Limits::default(), lines).unwrap();
        format!("{lines:?}")
    };
    for first in [&rich[..], upgrade, expect, plain, bare] {
        for second in [&rich[..], upgrade, expect, plain, bare] {
            let mut used = RequestLines::default();
            fresh(first, &mut used);
            assert_eq!(fresh(second, &mut used), fresh(second, &mut RequestLines::default()));
        }
    }
}

#[test]
fn a_limit_is_passed_by_the_first_byte_that_does_not_fit_and_not_before() {
    let limits =
        Limits { head_bytes_max: 100, field_bytes_max: 40, target_bytes_max: 20, fields_max: 3, ..Limits::default() };
    let line = "GET / HTTP/1.1\r\nHost: a\r\n";
    let cases: [(String, usize, Reason); 6] = [
        // What arrives, the length from which on it is refused, and why.
        (format!("GET /{}", "a".repeat(50)), 4 + 21, Reason::LimitTargetBytes),
        (format!("GET /?{}", "a".repeat(50)), 4 + 21, Reason::LimitTargetBytes),
        (format!("{line}X: {}", "a".repeat(60)), line.len() + 41, Reason::LimitFieldBytes),
        (format!("{line}{}", "a".repeat(60)), line.len() + 41, Reason::LimitFieldBytes),
        (format!("{line}X: y\r\nX: y\r\nX: y\r\n"), line.len() + 13, Reason::LimitFields),
        ("A".repeat(200), 100, Reason::LimitHeadBytes),
    ];
    for (text, refused_at, reason) in cases {
        let bytes = text.as_bytes();
        for len in 1..=bytes.len() {
            let expected = if len < refused_at { Ok(None) } else { Err(reason) };
            assert_eq!(parse(&bytes[..len], &limits), expected, "{len} of {text:?}");
        }
        let answers = trickle(bytes, &limits);
        assert_eq!(answers.len(), refused_at, "{text:?}");
        assert_eq!(answers.last(), Some(&Err(reason)), "{text:?}");
    }
}

#[test]
fn a_head_of_exactly_head_bytes_max_is_accepted() {
    let head = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    for (max, expected) in [(head.len(), Ok(Some(head.len()))), (head.len() - 1, Err(Reason::LimitHeadBytes))] {
        let limits = Limits { head_bytes_max: max, ..Limits::default() };
        assert_eq!(parse(head, &limits), expected);
        assert_eq!(trickle(head, &limits).last(), Some(&expected));
    }
}

#[test]
fn every_prefix_gets_the_same_answer_whether_it_came_at_once_or_byte_by_byte() {
    let heads: [&[u8]; 14] = [
        b"GET / HTTP/1.1\r\nHost: a\r\nAccept: */*\r\nX-Y:\tz\r\n\r\n",
        b"\r\n\r\nPOST /?a=b HTTP/1.0\r\nContent-Length: 5\r\n\r\n",
        b"GET / HTTP/1.1\nHost: a\n\n",
        b"GET / HTTP/1.1\r\nHost: a\n\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX  y\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",
        b"GET / HTTP/1.1\r\n Host: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n",
        b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01",
        b"GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n",
    ];
    for bytes in heads {
        for (i, answer) in trickle(bytes, &Limits::default()).into_iter().enumerate() {
            assert_eq!(answer, parse(&bytes[..=i], &Limits::default()), "{} of {}", i + 1, bytes.escape_ascii());
        }
    }
}

#[test]
fn only_a_byte_of_the_head_itself_begins_it() {
    let mut lines = RequestLines::default();
    for (bytes, begun) in [("\r", false), ("\r\n", false), ("\r\n\r\n", false), ("\r\nG", true), ("G", true)] {
        let mut progress = Progress::default();
        let limits = Limits::default();
        let answer = parse_request(bytes.as_bytes(), &mut progress, Profile::Compatible, &limits, &mut lines);
        assert_eq!((answer, progress.has_begun()), (Ok(None), begun), "{bytes:?}");
    }
    let endless = "\r\n".repeat(40);
    assert_eq!(parse(endless.as_bytes(), &Limits::default()), Err(Reason::LineMethodInvalid));
}

#[test]
fn a_response_is_framed_by_its_status_and_the_request_method() {
    let known = "Content-Length: 5\r\n";
    let chunked = "Transfer-Encoding: chunked\r\n";
    for (method, status, fields, length, keep_alive) in [
        (Method::Get, 200, known, Length::Known(5), true),
        (Method::Get, 200, chunked, Length::Stream, true),
        (Method::Get, 200, "", Length::Close, false),
        (Method::Head, 200, known, Length::None, true),
        (Method::Head, 200, chunked, Length::None, true),
        (Method::Head, 200, "", Length::None, true),
        (Method::Get, 204, "", Length::None, true),
        (Method::Get, 204, "Content-Length: 0\r\n", Length::None, true),
        (Method::Get, 204, known, Length::None, false),
        (Method::Get, 204, chunked, Length::None, false),
        (Method::Get, 204, "Content-Length: x\r\nTransfer-Encoding: x\r\n", Length::None, false),
        (Method::Get, 304, known, Length::None, true),
        (Method::Get, 304, chunked, Length::None, false),
        (Method::Get, 103, "", Length::None, true),
        (Method::Get, 103, known, Length::None, false),
        (Method::Get, 103, chunked, Length::None, false),
        (Method::Get, 101, "Upgrade: websocket\r\n", Length::Tunnel, false),
        (Method::Connect, 200, known, Length::Tunnel, false),
        (Method::Connect, 407, known, Length::Known(5), true),
        (Method::Get, 200, "Content-Length: 5\r\nConnection: close\r\n", Length::Known(5), false),
    ] {
        let bytes = format!("HTTP/1.1 {status} x\r\n{fields}\r\n");
        let mut lines = ResponseLines::default();
        let limits = ResponseLimits::default();
        parse_response(bytes.as_bytes(), &mut Progress::default(), &limits, method, &mut lines).unwrap().unwrap();
        assert_eq!((lines.length, lines.keep_alive), (length, keep_alive), "{method:?} {bytes:?}");
    }
}
