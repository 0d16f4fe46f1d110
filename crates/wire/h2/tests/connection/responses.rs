//! What a frame of a server does in each state of a client's stream (RFC 9113 sections 5.1 and 8.1).

use leat_h2::{Body, Cause, Code, Section};
use leat_message::Method;

use crate::peer::*;
use crate::states::{
    Outcome::{self, Connection, Fine, Stream},
    outcome,
};

/// Brings stream 1 into a state.
fn state(name: &str) -> Peer {
    let mut peer = Peer::called();
    if name == "idle" {
        return peer;
    }
    let key = peer.open(Method::Post, name == "half-closed (local)");
    let head = answer(1, "200", &[], false);
    match name {
        "open" | "half-closed (local)" => {}
        "responding" => peer.give(&head).unwrap(),
        "answered" => peer.give(&answer(1, "200", &[], true)).unwrap(),
        "ended" => {
            peer.h2.end(key, None, &mut peer.out);
            peer.give(&answer(1, "200", &[], true)).unwrap();
        }
        "reset by the server" => peer.give(&reset(1, Code::CANCEL)).unwrap(),
        "cancelled" => peer.h2.release(key, &mut peer.out),
        _ => panic!("{name}"),
    }
    peer.frames();
    peer
}

#[test]
fn each_frame_in_each_state() {
    use Code as C;
    let frames: [(&str, Vec<u8>); 10] = [
        ("DATA", data(1, b"x", false)),
        ("the end", data(1, b"", true)),
        ("an interim head", answer(1, "103", &[], false)),
        ("a head", answer(1, "200", &[], false)),
        ("a head that is all", answer(1, "200", &[], true)),
        ("fields", frame(HEADERS, END_HEADERS, 1, &block(&[("x", "y")]))),
        ("trailers", frame(HEADERS, END_STREAM | END_HEADERS, 1, &block(&[("x", "y")]))),
        ("PRIORITY", frame(PRIORITY, 0, 1, &[0, 0, 0, 3, 7])),
        ("RST_STREAM", reset(1, Code::CANCEL)),
        ("WINDOW_UPDATE", window_update(1, 1)),
    ];
    let (closed, protocol) = (Stream(1, C::STREAM_CLOSED), Stream(1, C::PROTOCOL_ERROR));
    let (all_closed, all_protocol) = (Connection(C::STREAM_CLOSED), Connection(C::PROTOCOL_ERROR));
    let waits = [protocol, protocol, Fine, Fine, Fine, protocol, protocol, Fine, Fine, Fine];
    let table: [(&str, [Outcome; 10]); 8] = [
        (
            "idle",
            [
                all_protocol,
                all_protocol,
                all_protocol,
                all_protocol,
                all_protocol,
                all_protocol,
                all_protocol,
                Fine,
                all_protocol,
                all_protocol,
            ],
        ),
        ("open", waits),
        ("half-closed (local)", waits),
        ("responding", [Fine, Fine, protocol, protocol, protocol, protocol, Fine, Fine, Fine, Fine]),
        ("answered", [closed, closed, closed, closed, closed, closed, closed, Fine, Fine, Fine]),
        (
            "ended",
            [all_closed, all_closed, all_closed, all_closed, all_closed, all_closed, all_closed, Fine, Fine, Fine],
        ),
        ("reset by the server", [closed, closed, closed, closed, closed, closed, closed, Fine, Fine, Fine]),
        ("cancelled", [Fine; 10]),
    ];
    for (name, outcomes) in table {
        for ((kind, bytes), expected) in frames.iter().zip(outcomes) {
            assert_eq!(outcome(&mut state(name), bytes), expected, "{kind} in {name}");
            // The same, byte by byte. A fault is told as soon as it is known.
            let mut peer = state(name);
            let (last, others) = bytes.split_last().unwrap();
            let early = others.iter().find_map(|&byte| peer.give(&[byte]).err());
            let outcome = early.map_or_else(|| outcome(&mut peer, &[*last]), Connection);
            assert!(outcome == expected || matches!((outcome, expected), (Fine, Stream(..))), "{kind} in {name}");
        }
    }
}

#[test]
fn frames_out_of_form_end_the_connection_or_their_stream() {
    use Code as C;
    let open = "open";
    let long = "x".repeat(100);
    let many: Vec<(&str, &str)> = (0..40).map(|_| ("y", &long[..])).collect();
    let self_dependent = [&[0, 0, 0, 1, 0][..], &block(&[(":status", "200")])].concat();
    let cases: Vec<(&str, &str, Vec<u8>, Outcome)> = vec![
        ("a push", open, frame(PUSH_PROMISE, END_HEADERS, 1, &[0; 8]), Connection(C::PROTOCOL_ERROR)),
        ("a stream of the server's", open, answer(2, "200", &[], true), Connection(C::PROTOCOL_ERROR)),
        ("a head for the connection", open, answer(0, "200", &[], true), Connection(C::PROTOCOL_ERROR)),
        ("a stream that will be", open, answer(3, "200", &[], true), Connection(C::PROTOCOL_ERROR)),
        ("DATA of the server's", open, data(2, b"x", false), Connection(C::PROTOCOL_ERROR)),
        ("a window of the server's", open, window_update(2, 1), Connection(C::PROTOCOL_ERROR)),
        ("pushes switched on", open, setting(2, 1), Connection(C::PROTOCOL_ERROR)),
        ("too wide a window", open, window_update(1, 0x7fff_ffff), Stream(1, C::FLOW_CONTROL_ERROR)),
        ("too wide a window for all", open, window_update(0, 0x7fff_ffff), Connection(C::FLOW_CONTROL_ERROR)),
        ("no more window", open, window_update(1, 0), Stream(1, C::PROTOCOL_ERROR)),
        (
            "a window that a setting makes too wide",
            open,
            [window_update(1, 0x7fff_0000), setting(4, 0x0010_0000)].concat(),
            Connection(C::FLOW_CONTROL_ERROR),
        ),
        (
            "a head of itself",
            open,
            frame(HEADERS, END_HEADERS | PRIORITIZED, 1, &self_dependent),
            Stream(1, C::PROTOCOL_ERROR),
        ),
        ("a head that is too long", open, answer(1, "200", &many, false), Stream(1, C::PROTOCOL_ERROR)),
        ("a block that is none", open, frame(HEADERS, END_HEADERS, 1, &[0x80]), Connection(C::COMPRESSION_ERROR)),
        (
            "the same where nobody looks",
            "cancelled",
            frame(HEADERS, END_HEADERS, 1, &[0x80]),
            Connection(C::COMPRESSION_ERROR),
        ),
        (
            "another frame in a block",
            open,
            [frame(HEADERS, 0, 1, &[]), data(1, b"", false)].concat(),
            Connection(C::PROTOCOL_ERROR),
        ),
        (
            "a length that is none",
            open,
            answer(1, "200", &[("content-length", "1x")], false),
            Stream(1, C::PROTOCOL_ERROR),
        ),
        ("an interim end", open, answer(1, "100", &[], true), Stream(1, C::PROTOCOL_ERROR)),
        ("too many interim heads", open, answer(1, "103", &[], false).repeat(3), Stream(1, C::ENHANCE_YOUR_CALM)),
        ("as many as may be", open, answer(1, "103", &[], false).repeat(2), Fine),
        ("trailers with a status", "responding", answer(1, "200", &[], true), Stream(1, C::PROTOCOL_ERROR)),
        ("half a GOAWAY", open, frame(GOAWAY, 0, 0, &[0; 7]), Connection(C::FRAME_SIZE_ERROR)),
    ];
    for (name, before, bytes, expected) in cases {
        assert_eq!(outcome(&mut state(before), &bytes), expected, "{name}");
    }
}

#[test]
fn lengths_are_held_against_what_comes() {
    // Method, status, announced, bytes, whether that is well.
    let cases: [(Method, &str, Option<&str>, usize, bool); 14] = [
        (Method::Get, "200", Some("3"), 3, true),
        (Method::Get, "200", Some("3"), 2, false),
        (Method::Get, "200", Some("3"), 4, false),
        (Method::Get, "200", Some("3"), 0, false),
        (Method::Get, "200", None, 4, true),
        (Method::Head, "200", Some("3"), 0, true),
        (Method::Head, "200", Some("3"), 3, false),
        (Method::Get, "204", None, 0, true),
        (Method::Get, "204", None, 1, false),
        (Method::Get, "304", Some("3"), 0, true),
        (Method::Get, "304", Some("3"), 3, false),
        (Method::Connect, "200", Some("3"), 9, true),
        (Method::Connect, "400", Some("3"), 9, false),
        (Method::Get, "599", Some("1"), 1, true),
    ];
    for (method, status, announced, bytes, is_well) in cases {
        let fields: Vec<(&str, &str)> = announced.map(|length| ("content-length", length)).into_iter().collect();
        for ends_with_head in [false, true] {
            if ends_with_head && bytes > 0 {
                continue;
            }
            let mut peer = Peer::called();
            let key = peer.open(method, true);
            let body = if ends_with_head { Vec::new() } else { data(1, &vec![7; bytes], true) };
            peer.give(&[answer(1, status, &fields, ends_with_head), body].concat()).unwrap();
            let cause = if is_well { Cause::Ended } else { Cause::Faulty };
            assert_eq!(peer.h2.cause(key), Some(cause), "{method:?} {status} {announced:?} {bytes}");
        }
    }
    let mut peer = Peer::called();
    let key = peer.open(Method::Get, true);
    peer.give(&[answer(1, "200", &[("content-length", "3")], false), data(1, b"ab", false)].concat()).unwrap();
    assert!(peer.h2.is_short(key));
    peer.give(&data(1, b"c", false)).unwrap();
    assert!(!peer.h2.is_short(key));
}

#[test]
fn a_response_is_heads_a_body_and_trailers() {
    for piece in [1, 7, 10_000] {
        let mut peer = Peer::called();
        let key = peer.open(Method::Get, true);
        let first = peer.h2.waiting_bytes();
        let bytes = [
            answer(1, "100", &[], false),
            answer(1, "103", &[("link", "</a>")], false),
            answer(1, "200", &[("content-type", "a/b"), ("x", "1"), ("x", "2")], false),
            data(1, b"some ", false),
            frame(DATA, PADDED, 1, b"\x03body\0\0\0"),
            frame(HEADERS, END_STREAM, 1, &block(&[("grpc-status", "0")])[..5]),
            frame(CONTINUATION, END_HEADERS, 1, &block(&[("grpc-status", "0")])[5..]),
        ]
        .concat();
        bytes.chunks(piece).for_each(|piece| peer.give(piece).unwrap());
        assert_eq!(peer.h2.next_told(), Some(key));
        assert_eq!(peer.head(key), Some((100, String::new(), false)));
        assert_eq!(peer.head(key), Some((103, "link=</a>".into(), false)));
        assert_eq!(peer.head(key), Some((200, "content-type=a/b|x=1|x=2".into(), false)));
        assert_eq!((peer.head(key), peer.h2.waiting_bytes() - first), (None, 9 + 12));
        let mut trailers = Section::default();
        assert_eq!((peer.body(key), peer.body(key).0), ((Body::Data, b"some body".to_vec()), Body::End));
        assert!(peer.h2.take_response_trailers(key, &mut trailers));
        assert_eq!((&trailers.bytes[..], trailers.lines.fields.len()), (&b"grpc-status0"[..], 1));
        assert!(!peer.h2.take_response_trailers(key, &mut trailers));
        assert_eq!((peer.h2.cause(key), peer.h2.waiting_bytes()), (Some(Cause::Ended), 0));
    }
}

#[test]
fn what_came_before_a_stream_broke_is_still_read() {
    let response = [answer(1, "200", &[], false), data(1, b"body", false)].concat();
    let whole = [answer(1, "200", &[], false), data(1, b"body", true)].concat();
    let ends: [(&str, Vec<u8>); 4] = [
        ("a reset", reset(1, Code::NO_ERROR)),
        ("a reset with a code", reset(1, Code::INTERNAL_ERROR)),
        ("a broken connection", frame(PING, 0, 0, &[])),
        ("the end of the connection", Vec::new()),
    ];
    for (name, end) in ends {
        for (response, last) in [(&response, Body::Gone), (&whole, Body::End)] {
            let mut peer = Peer::called();
            // The request is still under way.
            let key = peer.open(Method::Post, false);
            let _ = peer.give(&[&response[..], &end].concat());
            if end.is_empty() {
                peer.h2.lose();
            }
            assert!(peer.h2.cause(key).is_some() && !peer.h2.send(key, b"more", &mut peer.out), "{name}");
            assert_eq!(peer.head(key).map(|(status, ..)| status), Some(200), "{name}");
            assert_eq!((peer.body(key), peer.body(key).0), ((Body::Data, b"body".to_vec()), last), "{name}");
            peer.h2.release(key, &mut peer.out);
            assert_eq!(peer.h2.waiting_bytes(), 0);
        }
    }
}
