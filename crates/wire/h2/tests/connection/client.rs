//! What a client sends, and how its streams and its connection end.

use leat_h2::hpack::Decoder;
use leat_h2::{Body, Cause, Code, FieldList, Key};
use leat_message::Method;

use crate::peer::*;

#[test]
fn a_client_begins_with_preface_and_settings_and_waits_for_those_of_the_server() {
    let mut peer = Peer::called_silent();
    let own = peer.frames();
    let kinds: Vec<u8> = own.iter().map(|frame| frame.kind).collect();
    assert_eq!((kinds, own[1].number(0)), (vec![SETTINGS, WINDOW_UPDATE], 70_000 - 65_535));
    // ENABLE_PUSH is 0.
    assert_eq!(own[0].payload[..6], [0, 2, 0, 0, 0, 0]);
    assert!(!peer.h2.has_begun());
    peer.give(&setting(3, 7)).unwrap();
    assert!(peer.h2.has_begun() && peer.h2.streams_max() == 7);
    assert_eq!(peer.frames(), [Frame { kind: SETTINGS, flags: 1, stream: 0, payload: vec![] }]);
    let others: [(&[u8], Code); 4] = [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", Code::FRAME_SIZE_ERROR),
        (&frame(PING, 0, 0, &[0; 8]), Code::PROTOCOL_ERROR),
        (&frame(SETTINGS, 1, 0, &[]), Code::PROTOCOL_ERROR),
        (&setting(2, 1), Code::PROTOCOL_ERROR),
    ];
    for (bytes, code) in others {
        let mut peer = Peer::called_silent();
        peer.frames();
        assert_eq!(peer.give(bytes), Err(code));
        let sent = peer.frames();
        assert_eq!((sent[0].kind, sent[0].number(0), sent[0].number(4)), (GOAWAY, 0, code.0));
    }
}

#[test]
fn requests_are_streams_with_rising_odd_ids() {
    let mut peer = Peer::called();
    let mut decoder = Decoder::new(4_096);
    for number in 0..4 {
        let ends = number % 2 == 0;
        let mut fields = FieldList::default();
        for (name, value) in [(&b":method"[..], &b"GET"[..]), (b":authority", b"leat.test"), (b"X-Upper", b"1")] {
            fields.push(name, value);
        }
        fields.push_secret(b":path", b"/secret");
        fields.push(b"authorization", b"none");
        let key = peer.h2.open(Method::Get, &fields, ends, &mut peer.out).unwrap();
        let sent = peer.frames();
        let flags = END_HEADERS | if ends { END_STREAM } else { 0 };
        assert_eq!((sent.len(), sent[0].kind, sent[0].flags, sent[0].stream), (1, HEADERS, flags, 2 * number + 1));
        let mut got = Vec::new();
        let decoded = decoder.decode(&sent[0].payload, 4_096, &mut |name, value, sensitivity| {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            let is_secret = sensitivity == leat_h2::hpack::Sensitivity::NeverIndexed;
            got.push(format!("{}={}{}", text(name), text(value), if is_secret { "!" } else { "" }));
        });
        assert_eq!(decoded, Ok(()));
        let expected = [":method=GET", ":authority=leat.test", "x-upper=1", ":path=/secret!", "authorization=none!"];
        assert_eq!(got, expected);
        assert_eq!((peer.h2.cause(key), peer.h2.live_streams()), (None, number as usize + 1));
    }
}

#[test]
fn bodies_and_trailers_of_requests_are_framed_as_those_of_replies() {
    let mut peer = Peer::called();
    let key = peer.open(Method::Post, false);
    assert!(peer.h2.send(key, b"one ", &mut peer.out) && peer.h2.send(key, b"two", &mut peer.out));
    let mut trailers = FieldList::default();
    trailers.push(b"x-sum", b"1");
    assert!(peer.h2.end(key, Some(&trailers), &mut peer.out));
    assert!(!peer.h2.send(key, b"more", &mut peer.out) && !peer.h2.end(key, None, &mut peer.out));
    let sent = peer.frames();
    let shape: Vec<(u8, u8, usize)> =
        sent.iter().map(|frame| (frame.kind, frame.flags & END_STREAM, frame.payload.len())).collect();
    assert_eq!((shape[0].0, shape[1], shape[2].0, shape[2].1), (HEADERS, (DATA, 0, 7), HEADERS, END_STREAM));
    // The end is in the last frame of the body.
    let key = peer.open(Method::Post, false);
    peer.h2.send(key, b"all", &mut peer.out);
    peer.h2.end(key, None, &mut peer.out);
    let sent = peer.frames();
    assert_eq!((sent[1].kind, sent[1].flags, &sent[1].payload[..]), (DATA, END_STREAM, &b"all"[..]));
}

#[test]
fn as_many_streams_are_opened_as_the_server_allows() {
    let mut peer = Peer::called();
    let fields = FieldList::default();
    peer.give(&setting(3, 2)).unwrap();
    let keys = [peer.open(Method::Get, true), peer.open(Method::Get, true)];
    peer.frames();
    let open = |peer: &mut Peer| peer.h2.open(Method::Get, &fields, true, &mut peer.out).is_some();
    assert!(!open(&mut peer) && peer.frames().is_empty() && peer.h2.takes_streams());
    peer.give(&answer(1, "200", &[], true)).unwrap();
    peer.h2.release(keys[0], &mut peer.out);
    assert!(open(&mut peer) && !open(&mut peer));
    // Lowered while they are in use: those that are open go on.
    peer.give(&setting(3, 0)).unwrap();
    assert_eq!((open(&mut peer), peer.h2.streams_max(), peer.h2.live_streams()), (false, 0, 2));
    peer.give(&answer(3, "200", &[], true)).unwrap();
    assert_eq!(peer.head(keys[1]), Some((200, String::new(), true)));
    peer.give(&setting(3, 9)).unwrap();
    assert!(open(&mut peer));
}

/// How the streams end that a client looks at.
fn causes(peer: &Peer, keys: &[Key]) -> Vec<Option<Cause>> {
    keys.iter().map(|&key| peer.h2.cause(key)).collect()
}

#[test]
fn a_goodbye_ends_the_streams_that_it_does_not_name_and_the_others_go_on() {
    let mut peer = Peer::called();
    let keys: Vec<Key> = (0..3).map(|_| peer.open(Method::Get, true)).collect();
    peer.give(&go_away(0x7fff_ffff, Code::NO_ERROR)).unwrap();
    assert_eq!(causes(&peer, &keys), [None, None, None]);
    assert!(!peer.h2.takes_streams() && !peer.h2.is_over());
    assert!(peer.h2.open(Method::Get, &FieldList::default(), true, &mut peer.out).is_none());
    // Whatever its code is: streams that it names may still be answered.
    peer.give(&go_away(1, Code::ENHANCE_YOUR_CALM)).unwrap();
    let unprocessed = Some(Cause::Unprocessed);
    assert_eq!(causes(&peer, &keys), [None, unprocessed, unprocessed]);
    let told = [peer.h2.next_told(), peer.h2.next_told()];
    assert!(told.contains(&Some(keys[1])) && told.contains(&Some(keys[2])));
    assert_eq!(peer.body(keys[2]).0, Body::Gone);
    peer.give(&[answer(1, "200", &[], false), data(1, b"ok", true)].concat()).unwrap();
    assert_eq!(peer.head(keys[0]), Some((200, String::new(), false)));
    assert_eq!((peer.body(keys[0]), peer.body(keys[0]).0), ((Body::Data, b"ok".to_vec()), Body::End));
    assert!(peer.h2.is_over());
    // It never names a later stream than before.
    assert_eq!(peer.give(&go_away(3, Code::NO_ERROR)), Err(Code::PROTOCOL_ERROR));
}

#[test]
fn how_a_stream_ended_is_known() {
    let cases: [(&str, Vec<u8>, Cause); 6] = [
        ("a reset", reset(1, Code::INTERNAL_ERROR), Cause::ResetByPeer(Code::INTERNAL_ERROR)),
        ("a refusal", reset(1, Code::REFUSED_STREAM), Cause::ResetByPeer(Code::REFUSED_STREAM)),
        ("a whole response", answer(1, "204", &[], true), Cause::Ended),
        ("a malformed head", answer(1, "abc", &[], true), Cause::Faulty),
        ("a broken connection", frame(PING, 0, 1, &[0; 8]), Cause::Faulty),
        ("a goodbye", go_away(0, Code::NO_ERROR), Cause::Unprocessed),
    ];
    for (name, bytes, cause) in cases {
        let mut peer = Peer::called();
        let key = peer.open(Method::Get, true);
        let _ = peer.give(&bytes);
        assert_eq!(peer.h2.cause(key), Some(cause), "{name}");
        assert_eq!(peer.h2.next_told(), Some(key), "{name}");
        peer.h2.lose();
        assert_eq!(peer.h2.cause(key), Some(cause), "{name}");
    }
    let mut peer = Peer::called();
    let key = peer.open(Method::Get, true);
    peer.h2.lose();
    assert_eq!((peer.h2.cause(key), peer.body(key).0), (Some(Cause::Lost), Body::Gone));
}

#[test]
fn a_stream_that_is_given_up_is_cancelled_and_what_comes_for_it_is_ignored() {
    // With a request that is under way, sent, and held back.
    for (ends, held) in [(false, 0), (true, 0), (false, 20_000)] {
        let mut peer = Peer::called();
        peer.give(&setting(4, 1_000_000)).unwrap();
        let key = peer.open(Method::Post, ends);
        if held > 0 {
            peer.h2.send(key, &[0; 65_535], &mut peer.out);
            peer.h2.end(key, None, &mut peer.out);
            assert!(peer.h2.held_bytes(key) > held);
        }
        peer.give(&[answer(1, "200", &[("a", "b")], false), data(1, &[7; 900], false)].concat()).unwrap();
        assert_eq!(peer.h2.waiting_bytes(), peer.h2.held_bytes(key) + 900 + 2);
        peer.frames();
        peer.h2.release(key, &mut peer.out);
        let sent = peer.frames();
        let last = sent.last().unwrap();
        assert_eq!((last.kind, last.stream, last.number(0)), (RST_STREAM, 1, Code::CANCEL.0), "{ends} {held}");
        assert_eq!((peer.h2.waiting_bytes(), peer.h2.live_streams(), peer.h2.has_held()), (0, 0, false));
        // It counts for the window of the connection, which is given back.
        let mut updates = 900;
        let trailers = frame(HEADERS, END_STREAM | END_HEADERS, 1, &block(&[("x", "y")]));
        peer.give(&[window_update(1, 1), frame(HEADERS, END_HEADERS, 1, &block(&[("x", "y")]))].concat()).unwrap();
        for _ in 0..200 {
            peer.give(&data(1, &[0; 1_000], false)).unwrap();
            for frame in peer.frames() {
                assert_eq!((frame.kind, frame.stream), (WINDOW_UPDATE, 0));
                updates += frame.number(0);
            }
        }
        peer.give(&[trailers, reset(1, Code::CANCEL)].concat()).unwrap();
        assert!(updates > 150_000 && peer.h2.waiting_bytes() == 0, "{updates}");
    }
}

#[test]
fn a_whole_exchange_leaves_without_a_word() {
    let mut peer = Peer::called();
    for number in 0..100 {
        let key = peer.open(Method::Get, true);
        peer.give(&answer(2 * number + 1, "200", &[], true)).unwrap();
        peer.frames();
        assert_eq!((key.index(), peer.h2.live_streams()), (0, 0), "places are used again");
        peer.h2.release(key, &mut peer.out);
        assert!(peer.frames().is_empty() && peer.h2.cause(key) == Some(Cause::Lost), "a key of nothing");
    }
}

#[test]
fn a_client_asks_whether_the_server_is_there() {
    let mut peer = Peer::called();
    assert!(!peer.h2.is_asking());
    peer.h2.ask(&mut peer.out);
    let question = peer.frames().pop().unwrap();
    assert_eq!((question.kind, question.flags), (PING, 0));
    peer.give(&frame(PING, 1, 0, b"anything")).unwrap();
    assert!(peer.h2.is_asking());
    peer.give(&frame(PING, 1, 0, &question.payload)).unwrap();
    assert!(!peer.h2.is_asking() && peer.frames().is_empty());
}

#[test]
fn a_client_says_goodbye_once_and_opens_no_more() {
    let mut peer = Peer::called();
    let key = peer.open(Method::Get, true);
    peer.frames();
    peer.h2.close(&mut peer.out);
    peer.h2.close(&mut peer.out);
    let sent = peer.frames();
    assert_eq!((sent.len(), sent[0].kind, sent[0].number(0), sent[0].number(4)), (1, GOAWAY, 0, 0));
    assert!(!peer.h2.takes_streams() && !peer.h2.is_over());
    peer.give(&answer(1, "200", &[], true)).unwrap();
    assert_eq!(peer.head(key), Some((200, String::new(), true)));
    assert!(peer.h2.is_over());
}
