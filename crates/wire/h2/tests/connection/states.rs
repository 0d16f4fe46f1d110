//! What a frame does in each state (RFC 9113 sections 5.1 and 6).

use leat_h2::{Body, Code, FieldList, PREFACE};
use leat_message::Reason;

use crate::peer::*;

/// What comes of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing is wrong.
    Fine,
    /// This stream is reset, with this code.
    Stream(u32, Code),
    /// The connection ends.
    Connection(Code),
}

use Outcome::{Connection, Fine, Stream};

pub(crate) fn outcome(peer: &mut Peer, frames: &[u8]) -> Outcome {
    let result = peer.give(frames);
    let sent = peer.frames();
    let last = sent.iter().rev().find(|frame| matches!(frame.kind, RST_STREAM | GOAWAY));
    match (result, last) {
        (Ok(()), None) => Fine,
        (Ok(()), Some(frame)) => Stream(frame.stream, Code(frame.number(0))),
        (Err(code), Some(frame)) => {
            assert_eq!((frame.kind, frame.number(4)), (GOAWAY, code.0));
            Connection(code)
        }
        (Err(code), None) => panic!("no GOAWAY for {code:?}"),
    }
}

/// Brings stream 1 into a state.
fn state(name: &str) -> Peer {
    let mut peer = Peer::begun();
    let fields = FieldList::default();
    match name {
        "idle" => {}
        "open" => peer.give(&post(1)).unwrap(),
        "half-closed (remote)" => peer.give(&get(1)).unwrap(),
        "half-closed (local)" => {
            peer.give(&post(1)).unwrap();
            let key = peer.request();
            assert!(peer.h2.head(key, 200, &fields, true, &mut peer.out));
        }
        "ended" => {
            peer.give(&get(1)).unwrap();
            let key = peer.request();
            assert!(peer.h2.head(key, 200, &fields, true, &mut peer.out));
            peer.h2.release(key, &mut peer.out);
        }
        "reset by the client" => peer.give(&[post(1), reset(1, Code::CANCEL)].concat()).unwrap(),
        "reset by us" => {
            peer.give(&post(1)).unwrap();
            let key = peer.request();
            peer.h2.reset(key, Code::CANCEL, &mut peer.out);
        }
        _ => panic!("{name}"),
    }
    peer.frames();
    peer
}

#[test]
fn each_frame_in_each_state() {
    use Code as C;
    let trailers = frame(HEADERS, END_STREAM | END_HEADERS, 1, &block(&[("x", "y")]));
    let frames: [(&str, Vec<u8>); 7] = [
        ("DATA", data(1, b"x", false)),
        ("the end", data(1, b"", true)),
        ("HEADERS", frame(HEADERS, END_HEADERS, 1, &block(&[("x", "y")]))),
        ("trailers", trailers),
        ("PRIORITY", frame(PRIORITY, 0, 1, &[0, 0, 0, 3, 7])),
        ("RST_STREAM", reset(1, Code::CANCEL)),
        ("WINDOW_UPDATE", window_update(1, 1)),
    ];
    let (closed, protocol) = (Stream(1, C::STREAM_CLOSED), Stream(1, C::PROTOCOL_ERROR));
    let (all_closed, all_protocol) = (Connection(C::STREAM_CLOSED), Connection(C::PROTOCOL_ERROR));
    let table: [(&str, [Outcome; 7]); 7] = [
        // As a request, these heads have no pseudo-header fields.
        ("idle", [all_protocol, all_protocol, protocol, protocol, Fine, all_protocol, all_protocol]),
        ("open", [Fine, Fine, protocol, Fine, Fine, Fine, Fine]),
        ("half-closed (remote)", [closed, closed, closed, closed, Fine, Fine, Fine]),
        ("half-closed (local)", [Fine, Fine, protocol, Fine, Fine, Fine, Fine]),
        ("ended", [all_closed, all_closed, all_closed, all_closed, Fine, Fine, Fine]),
        ("reset by the client", [closed, closed, closed, closed, Fine, Fine, Fine]),
        ("reset by us", [Fine, Fine, Fine, Fine, Fine, Fine, Fine]),
    ];
    for (name, outcomes) in table {
        for ((kind, bytes), expected) in frames.iter().zip(outcomes) {
            assert_eq!(outcome(&mut state(name), bytes), expected, "{kind} in {name}");
            // The same, byte by byte.
            let mut peer = state(name);
            let (last, others) = bytes.split_last().unwrap();
            let early = others.iter().find_map(|&byte| peer.give(&[byte]).err());
            let outcome = early.map_or_else(|| outcome(&mut peer, &[*last]), Connection);
            // A fault is told as soon as it is known.
            assert!(outcome == expected || matches!((outcome, expected), (Fine, Stream(..))), "{kind} in {name}");
        }
    }
}

#[test]
fn frames_out_of_form_end_the_connection_or_their_stream() {
    use Code as C;
    let open = "open";
    let cases: Vec<(&str, &str, Vec<u8>, Outcome)> = vec![
        ("a frame that is too long", "idle", frame(0xee, 0, 0, &[0; 16_385]), Connection(C::FRAME_SIZE_ERROR)),
        ("an unknown frame", "idle", frame(0xee, 0xff, 1, &[0; 100]), Fine),
        ("DATA for the connection", open, data(0, b"x", false), Connection(C::PROTOCOL_ERROR)),
        ("padding without its length", open, frame(DATA, PADDED, 1, b""), Connection(C::FRAME_SIZE_ERROR)),
        ("padding longer than DATA", open, frame(DATA, PADDED, 1, &[5, 0, 0]), Connection(C::PROTOCOL_ERROR)),
        ("only padding", open, frame(DATA, PADDED, 1, &[3, 0, 0, 0]), Fine),
        ("a head for the connection", "idle", get(0), Connection(C::PROTOCOL_ERROR)),
        ("a head of an even stream", "idle", get(2), Connection(C::PROTOCOL_ERROR)),
        ("a smaller stream", "idle", [get(5), get(3)].concat(), Connection(C::PROTOCOL_ERROR)),
        (
            "a head that is padding",
            "idle",
            frame(HEADERS, END_HEADERS | PADDED, 1, &[2, 0]),
            Connection(C::PROTOCOL_ERROR),
        ),
        (
            "a head shorter than its priority",
            "idle",
            frame(HEADERS, END_HEADERS | PRIORITIZED, 1, &[0; 4]),
            Connection(C::FRAME_SIZE_ERROR),
        ),
        (
            "a head that depends on itself",
            "idle",
            frame(HEADERS, END_HEADERS | PRIORITIZED, 1, &[&[0, 0, 0, 1, 0][..], &head("GET", &[])].concat()),
            Stream(1, C::PROTOCOL_ERROR),
        ),
        ("no block", "idle", frame(HEADERS, END_HEADERS, 1, &[0xff]), Connection(C::COMPRESSION_ERROR)),
        (
            "a late block that can't be decoded",
            "reset by us",
            frame(HEADERS, END_HEADERS, 1, &[0xff]),
            Connection(C::COMPRESSION_ERROR),
        ),
        ("CONTINUATION of nothing", open, frame(CONTINUATION, END_HEADERS, 1, b""), Connection(C::PROTOCOL_ERROR)),
        (
            "PING in a head",
            "idle",
            [frame(HEADERS, 0, 1, &head("GET", &[])), frame(PING, 0, 0, &[0; 8])].concat(),
            Connection(C::PROTOCOL_ERROR),
        ),
        (
            "another stream in a head",
            "idle",
            [frame(HEADERS, 0, 1, &head("GET", &[])), frame(CONTINUATION, END_HEADERS, 3, b"")].concat(),
            Connection(C::PROTOCOL_ERROR),
        ),
        ("PRIORITY of nothing", "idle", frame(PRIORITY, 0, 0, &[0; 5]), Connection(C::PROTOCOL_ERROR)),
        ("a short PRIORITY", open, frame(PRIORITY, 0, 1, &[0; 4]), Stream(1, C::FRAME_SIZE_ERROR)),
        ("a short PRIORITY before", "idle", frame(PRIORITY, 0, 1, &[0; 4]), Connection(C::FRAME_SIZE_ERROR)),
        ("PRIORITY of itself", open, frame(PRIORITY, 0, 1, &[0, 0, 0, 1, 0]), Stream(1, C::PROTOCOL_ERROR)),
        ("a short RST_STREAM", open, frame(RST_STREAM, 0, 1, &[0; 3]), Connection(C::FRAME_SIZE_ERROR)),
        ("RST_STREAM of the connection", open, reset(0, C::CANCEL), Connection(C::PROTOCOL_ERROR)),
        ("SETTINGS of a stream", open, frame(SETTINGS, 0, 1, &[]), Connection(C::PROTOCOL_ERROR)),
        ("half a setting", open, frame(SETTINGS, 0, 0, &[0; 7]), Connection(C::FRAME_SIZE_ERROR)),
        ("SETTINGS that say thanks", open, frame(SETTINGS, 1, 0, &[0; 6]), Connection(C::FRAME_SIZE_ERROR)),
        ("thanks", open, frame(SETTINGS, 1, 0, &[]), Fine),
        ("a push", open, frame(PUSH_PROMISE, END_HEADERS, 1, &[0; 8]), Connection(C::PROTOCOL_ERROR)),
        ("a short PING", open, frame(PING, 0, 0, &[0; 7]), Connection(C::FRAME_SIZE_ERROR)),
        ("PING of a stream", open, frame(PING, 0, 1, &[0; 8]), Connection(C::PROTOCOL_ERROR)),
        ("GOAWAY of a stream", open, frame(GOAWAY, 0, 1, &[0; 8]), Connection(C::PROTOCOL_ERROR)),
        ("a short GOAWAY", open, frame(GOAWAY, 0, 0, &[0; 7]), Connection(C::FRAME_SIZE_ERROR)),
        ("a short WINDOW_UPDATE", open, frame(WINDOW_UPDATE, 0, 1, &[0; 3]), Connection(C::FRAME_SIZE_ERROR)),
        ("no more window", open, window_update(1, 0), Stream(1, C::PROTOCOL_ERROR)),
        ("no more window for all", open, window_update(0, 0), Connection(C::PROTOCOL_ERROR)),
        ("too wide a window", open, window_update(1, 0x7fff_ffff), Stream(1, C::FLOW_CONTROL_ERROR)),
        ("too wide a window for all", open, window_update(0, 0x7fff_ffff), Connection(C::FLOW_CONTROL_ERROR)),
        (
            "a window that a setting makes too wide",
            open,
            [window_update(1, 0x7fff_0000), setting(4, 0x0010_0000)].concat(),
            Connection(C::FLOW_CONTROL_ERROR),
        ),
        (
            "too long a body",
            "idle",
            [frame(HEADERS, END_HEADERS, 1, &head("POST", &[("content-length", "2")])), data(1, b"abc", false)]
                .concat(),
            Stream(1, C::PROTOCOL_ERROR),
        ),
        (
            "too short a body",
            "idle",
            [frame(HEADERS, END_HEADERS, 1, &head("POST", &[("content-length", "2")])), data(1, b"a", true)].concat(),
            Stream(1, C::PROTOCOL_ERROR),
        ),
        (
            "a body of no bytes that has some",
            "idle",
            frame(HEADERS, END_STREAM | END_HEADERS, 1, &head("POST", &[("content-length", "2")])),
            Stream(1, C::PROTOCOL_ERROR),
        ),
        (
            "trailers with a path",
            open,
            frame(HEADERS, END_STREAM | END_HEADERS, 1, &block(&[(":path", "/")])),
            Stream(1, C::PROTOCOL_ERROR),
        ),
        (
            "more streams than may be",
            "idle",
            (0..9).flat_map(|n| get(2 * n + 1)).collect(),
            Stream(17, C::REFUSED_STREAM),
        ),
    ];
    for (name, before, bytes, expected) in cases {
        assert_eq!(outcome(&mut state(before), &bytes), expected, "{name}");
    }
}

#[test]
fn a_connection_begins_with_the_preface_and_settings() {
    let settings = frame(SETTINGS, 0, 0, &[]);
    for (bytes, fault) in [
        ([PREFACE, &settings].concat(), None),
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), Some(Code::PROTOCOL_ERROR)),
        ([PREFACE, &frame(PING, 0, 0, &[0; 8])].concat(), Some(Code::PROTOCOL_ERROR)),
        ([PREFACE, &frame(SETTINGS, 1, 0, &[])].concat(), Some(Code::PROTOCOL_ERROR)),
    ] {
        assert_eq!(Peer::silent().give(&bytes).err(), fault);
        let mut peer = Peer::silent();
        assert_eq!(bytes.iter().find_map(|&byte| peer.give(&[byte]).err()), fault);
        assert!(peer.h2.is_lost() || peer.h2.has_begun());
    }
    let mut peer = Peer::silent();
    let own = peer.frames();
    let kinds: Vec<u8> = own.iter().map(|frame| frame.kind).collect();
    assert_eq!((kinds, own[1].number(0)), (vec![SETTINGS, WINDOW_UPDATE], 70_000 - 65_535));
    peer.give(&[PREFACE, &settings].concat()).unwrap();
    assert_eq!(peer.frames(), [Frame { kind: SETTINGS, flags: 1, stream: 0, payload: vec![] }]);
}

#[test]
fn heads_in_several_frames_are_one() {
    let block = head("GET", &[("x", "y")]);
    for at in 0..=block.len() {
        let mut peer = Peer::begun();
        let (first, second) = block.split_at(at);
        peer.now_ms = 7;
        peer.give(&frame(HEADERS, END_STREAM, 1, first)).unwrap();
        assert_eq!(peer.h2.in_head_since_ms(), Some(7));
        peer.give(&frame(CONTINUATION, END_HEADERS, 1, second)).unwrap();
        assert_eq!(peer.h2.in_head_since_ms(), None);
        let key = peer.request();
        let mut text = Vec::new();
        peer.h2.swap_head(key, &mut text);
        assert_eq!(text, b"GET /a HTTP/1.1\r\nhost: leat.test\r\nx: y\r\n\r\n", "{at}");
    }
    // Half of a frame is a head that has begun, too.
    let mut peer = Peer::begun();
    peer.give(&get(1)[..20]).unwrap();
    assert_eq!(peer.h2.in_head_since_ms(), Some(0));
    peer.give(&get(1)[20..]).unwrap();
    assert_eq!(peer.h2.in_head_since_ms(), None);
}

#[test]
fn heads_that_are_too_long_are_the_callers_to_refuse() {
    let long = "x".repeat(100);
    let fields: Vec<(&str, &str)> = (0..40).map(|_| ("y", &long[..])).collect();
    let mut peer = Peer::begun();
    peer.give(&frame(HEADERS, END_STREAM | END_HEADERS, 1, &head("GET", &fields))).unwrap();
    let (_, problem) = peer.h2.next_request(&mut peer.out).unwrap();
    assert_eq!(problem, Err(Reason::LimitHeadBytes));
    // And without an end the connection is not.
    let mut peer = Peer::begun();
    let endless = [frame(HEADERS, 0, 3, &[]), frame(CONTINUATION, 0, 3, &[0; 16_000]).repeat(2)].concat();
    assert_eq!(peer.give(&endless), Err(Code::ENHANCE_YOUR_CALM));
}

#[test]
fn what_was_reset_before_anybody_looked_is_no_request() {
    let mut peer = Peer::begun();
    peer.give(&[post(1), data(1, b"some", false), reset(1, Code::CANCEL), get(3)].concat()).unwrap();
    let key = peer.request();
    let mut text = Vec::new();
    peer.h2.swap_head(key, &mut text);
    assert!(text.starts_with(b"GET ") && !peer.has_request());
    assert_eq!(peer.h2.waiting_bytes(), 0);
}

#[test]
fn who_waits_is_told_once() {
    let mut peer = Peer::begun();
    peer.give(&post(1)).unwrap();
    let key = peer.request();
    assert_eq!(peer.h2.next_told(), None);
    peer.give(&[data(1, b"a", false), data(1, b"b", true)].concat()).unwrap();
    assert_eq!((peer.h2.next_told(), peer.h2.next_told()), (Some(key), None));
    assert_eq!(peer.body(key), (Body::Data, b"ab".to_vec()));
    assert_eq!(peer.body(key), (Body::End, vec![]));
    peer.give(&reset(1, Code::CANCEL)).unwrap();
    assert_eq!(peer.h2.next_told(), Some(key));
    assert!(peer.h2.is_reset(key) && peer.body(key).0 == Body::Gone);
    peer.h2.release(key, &mut peer.out);
    assert!(peer.h2.is_reset(key), "a key of nothing");
}

#[test]
fn trailers_come_behind_the_body() {
    let mut peer = Peer::begun();
    let trailers = frame(HEADERS, END_STREAM | END_HEADERS, 1, &block(&[("x-sum", "1")]));
    peer.give(&[post(1), data(1, b"body", false), trailers].concat()).unwrap();
    let key = peer.request();
    assert!(!peer.h2.has_ended(key) && peer.h2.whole_body(key).is_none());
    assert_eq!(peer.body(key).0, Body::Data);
    assert_eq!(peer.body(key).0, Body::End);
    let mut text = Vec::new();
    assert!(peer.h2.take_trailers(key, &mut text) && peer.h2.has_ended(key));
    assert_eq!(text, b"0\r\nx-sum: 1\r\n\r\n");
    assert!(!peer.h2.take_trailers(key, &mut text));
}

#[test]
fn a_graceful_end_takes_what_the_client_had_opened() {
    let mut peer = Peer::begun();
    peer.give(&get(1)).unwrap();
    peer.request();
    peer.h2.close(&mut peer.out);
    let sent = peer.frames();
    assert_eq!((sent[0].kind, sent[0].number(0), sent[1].kind), (GOAWAY, 0x7fff_ffff, PING));
    peer.give(&get(3)).unwrap();
    peer.request();
    peer.give(&frame(PING, 1, 0, b"anything")).unwrap();
    assert!(peer.frames().is_empty());
    peer.give(&frame(PING, 1, 0, &sent[1].payload)).unwrap();
    assert_eq!(peer.frames()[0].number(0), 3);
    // Behind the last word nothing is taken, and nothing answered.
    peer.give(&[get(5), data(5, b"", true)].concat()).unwrap();
    assert!(!peer.has_request() && peer.frames().is_empty());
    assert_eq!(peer.give(&data(0, b"", false)), Err(Code::PROTOCOL_ERROR));
    assert_eq!(peer.frames()[0].number(0), 3, "never a later stream than before");
}

#[test]
fn a_graceful_end_need_not_wait_for_a_client_that_never_says_that_it_knows() {
    let mut peer = Peer::begun();
    peer.give(&get(1)).unwrap();
    let key = peer.request();
    peer.h2.close(&mut peer.out);
    peer.frames();
    peer.h2.close(&mut peer.out);
    let sent = peer.frames();
    assert_eq!((sent.len(), sent[0].kind, sent[0].number(0)), (1, GOAWAY, 1));
    peer.give(&get(3)).unwrap();
    assert!(!peer.has_request() && !peer.h2.is_over());
    peer.h2.close(&mut peer.out);
    assert!(peer.frames().is_empty(), "the last word is said once");
    assert!(peer.h2.head(key, 200, &FieldList::default(), true, &mut peer.out));
    assert!(peer.h2.is_over());
}

#[test]
fn a_graceful_end_waits_for_the_replies() {
    let mut peer = Peer::begun();
    peer.give(&[get(1), get(3)].concat()).unwrap();
    let keys = [peer.request(), peer.request()];
    peer.h2.close(&mut peer.out);
    let ping = peer.frames().pop().unwrap();
    peer.give(&frame(PING, 1, 0, &ping.payload)).unwrap();
    for key in keys {
        assert!(!peer.h2.is_over());
        assert!(peer.h2.head(key, 200, &FieldList::default(), true, &mut peer.out));
    }
    assert!(peer.h2.is_over());
}

#[test]
fn a_client_that_leaves_is_done_when_its_streams_are() {
    let mut peer = Peer::begun();
    peer.give(&[get(1), frame(GOAWAY, 0, 0, &[0; 8])].concat()).unwrap();
    let key = peer.request();
    assert!(!peer.h2.is_over());
    peer.h2.reset(key, Code::CANCEL, &mut peer.out);
    assert!(peer.h2.is_over());
}

#[test]
fn streams_that_we_reset_are_bounded_and_a_flood_ends_the_connection() {
    let mut peer = Peer::begun();
    let made: Vec<u8> = (0..100).flat_map(|n| [get(2 * n + 1), data(2 * n + 1, b"x", false)].concat()).collect();
    assert_eq!(peer.give(&made), Err(Code::ENHANCE_YOUR_CALM));
    assert!(peer.h2.is_lost() && !peer.has_request());
    // Over a long time it is none.
    let mut peer = Peer::begun();
    for number in 0..100 {
        peer.now_ms += 1_000;
        let id = 2 * number + 1;
        peer.give(&[get(id), data(id, b"x", false)].concat()).unwrap();
        assert!(!peer.has_request());
    }
}
