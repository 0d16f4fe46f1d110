//! Replies as frames (RFC 9113 section 8.1).

use leat_h2::hpack::Decoder;
use leat_h2::{Code, FieldList, Key};

use crate::peer::*;

fn list(fields: &[(&str, &str)]) -> FieldList {
    let mut list = FieldList::default();
    fields.iter().for_each(|(name, value)| list.push(name.as_bytes(), value.as_bytes()));
    list
}

fn decoded(decoder: &mut Decoder, block: &[u8]) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let mut fields = Vec::new();
    decoder.decode(block, 1 << 20, &mut |name, value, _| fields.push((text(name), text(value)))).unwrap();
    fields
}

fn begun(request: Vec<u8>) -> (Peer, Key) {
    let mut peer = Peer::begun();
    peer.give(&request).unwrap();
    let key = peer.request();
    (peer, key)
}

#[test]
fn a_reply_is_a_head_a_body_and_trailers() {
    let mut decoder = Decoder::new(4_096);
    let mut peer = Peer::begun();
    for number in 0..5 {
        let id = 2 * number + 1;
        peer.give(&get(id)).unwrap();
        let key = peer.request();
        peer.h2.interim(key, 103, &list(&[("link", "x")]), &mut peer.out);
        assert!(peer.h2.head(key, 200, &list(&[("content-type", "application/grpc")]), false, &mut peer.out));
        assert!(peer.h2.send(key, b"body", &mut peer.out));
        assert!(peer.h2.end(key, Some(&list(&[("grpc-status", "0")])), &mut peer.out));
        peer.h2.release(key, &mut peer.out);
        let sent = peer.frames();
        let shape: Vec<(u8, u8, u32)> = sent.iter().map(|frame| (frame.kind, frame.flags, frame.stream)).collect();
        let (open, ended) = ((HEADERS, END_HEADERS, id), (HEADERS, END_HEADERS | END_STREAM, id));
        assert_eq!(shape, [open, open, (DATA, 0, id), ended]);
        let mut fields = |at: usize| decoded(&mut decoder, &sent[at].payload);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(fields(0), [pair(":status", "103"), pair("link", "x")]);
        assert_eq!(fields(1), [pair(":status", "200"), pair("content-type", "application/grpc")]);
        assert_eq!(fields(3), [pair("grpc-status", "0")]);
        assert_eq!(peer.h2.live_streams(), 0);
    }
}

#[test]
fn pieces_of_one_body_that_leave_together_are_one_frame() {
    let (mut peer, key) = begun(get(1));
    assert!(peer.h2.head(key, 200, &list(&[]), false, &mut peer.out));
    for piece in [&b"one "[..], b"two ", b"three"] {
        assert!(peer.h2.send(key, piece, &mut peer.out));
    }
    assert!(peer.h2.end(key, None, &mut peer.out));
    let sent = peer.frames();
    assert_eq!((sent.len(), &sent[1].payload[..], sent[1].flags), (2, &b"one two three"[..], END_STREAM));
    // What was given to the socket is not touched any more.
    let (mut peer, key) = begun(get(1));
    assert!(peer.h2.head(key, 200, &list(&[]), false, &mut peer.out));
    assert!(peer.h2.send(key, b"one", &mut peer.out));
    peer.h2.flushing();
    let before = peer.out.clone();
    assert!(peer.h2.send(key, b"two", &mut peer.out) && peer.h2.end(key, None, &mut peer.out));
    assert!(peer.out.starts_with(&before));
    assert_eq!(peer.frames().len(), 3);
    // Another stream's frame, or one that is full, takes nothing.
    let (mut peer, key) = begun([get(1), get(3), window_update(1, 100_000), window_update(0, 100_000)].concat());
    let other = peer.request();
    for key in [key, other] {
        assert!(peer.h2.head(key, 200, &list(&[]), false, &mut peer.out));
    }
    peer.frames();
    assert!(peer.h2.send(key, b"a", &mut peer.out) && peer.h2.send(other, b"b", &mut peer.out));
    assert!(peer.h2.send(other, &[0; 9_000], &mut peer.out));
    assert!(peer.h2.send(key, b"c", &mut peer.out));
    let lengths: Vec<(u32, usize)> = peer.frames().iter().map(|frame| (frame.stream, frame.payload.len())).collect();
    assert_eq!(lengths, [(1, 1), (3, 9_001), (1, 1)]);
}

#[test]
fn long_heads_and_bodies_keep_to_the_clients_frames() {
    let mut decoder = Decoder::new(4_096);
    let (mut peer, key) = begun(get(1));
    let long = "v".repeat(9_000);
    let fields: Vec<(&str, &str)> = ["a", "b", "c", "d"].map(|name| (name, &long[..])).to_vec();
    assert!(peer.h2.head(key, 200, &list(&fields), false, &mut peer.out));
    let sent = peer.frames();
    let shape: Vec<(u8, u8)> = sent.iter().map(|frame| (frame.kind, frame.flags)).collect();
    assert_eq!((shape[0], *shape.last().unwrap()), ((HEADERS, 0), (CONTINUATION, END_HEADERS)));
    assert!(sent.iter().all(|frame| frame.payload.len() <= 16_384) && sent.len() > 1);
    let block: Vec<u8> = sent.iter().flat_map(|frame| frame.payload.clone()).collect();
    assert_eq!(decoded(&mut decoder, &block).len(), 5);
    assert_eq!(block.len(), 1 + Peer::block_len(&fields));
}

#[test]
fn a_reply_that_can_not_be_is_refused() {
    let (mut peer, key) = begun(get(1));
    let none = list(&[]);
    assert!(!peer.h2.send(key, b"before the head", &mut peer.out) && !peer.h2.end(key, None, &mut peer.out));
    assert!(peer.h2.head(key, 200, &none, false, &mut peer.out));
    assert!(!peer.h2.head(key, 200, &none, false, &mut peer.out));
    peer.h2.interim(key, 103, &none, &mut peer.out);
    assert!(peer.h2.end(key, Some(&none), &mut peer.out));
    assert!(!peer.h2.end(key, None, &mut peer.out) && !peer.h2.send(key, b"x", &mut peer.out));
    let kinds: Vec<(u8, u8)> = peer.frames().iter().map(|frame| (frame.kind, frame.flags)).collect();
    assert_eq!(kinds, [(HEADERS, END_HEADERS), (DATA, END_STREAM)], "empty trailers are none");
    peer.h2.reset(key, Code::CANCEL, &mut peer.out);
    assert!(peer.frames().is_empty(), "it has ended");
}

#[test]
fn an_exchange_that_goes_without_an_end_resets_its_stream() {
    for with_head in [false, true] {
        let (mut peer, key) = begun(get(1));
        if with_head {
            peer.h2.head(key, 200, &list(&[]), false, &mut peer.out);
        }
        peer.h2.release(key, &mut peer.out);
        let sent = peer.frames();
        let last = sent.last().unwrap();
        assert_eq!((last.kind, last.number(0), peer.h2.live_streams()), (RST_STREAM, Code::CANCEL.0, 0));
    }
    // One with an end that waits for its window goes on by itself, and then needs no more of the request.
    let (mut peer, key) = begun([setting(4, 0), post(1)].concat());
    assert!(peer.h2.head(key, 200, &list(&[]), false, &mut peer.out));
    assert!(peer.h2.send(key, b"held", &mut peer.out) && peer.h2.end(key, Some(&list(&[("x", "y")])), &mut peer.out));
    peer.h2.release(key, &mut peer.out);
    assert_eq!(peer.frames().len(), 2, "SETTINGS' answer, and the head");
    peer.give(&data(1, b"a body that nobody reads", false)).unwrap();
    assert_eq!(peer.h2.waiting_bytes(), 4);
    peer.give(&window_update(1, 100)).unwrap();
    let kinds: Vec<u8> = peer.frames().iter().map(|frame| frame.kind).collect();
    assert_eq!((kinds, peer.h2.live_streams()), (vec![DATA, HEADERS, RST_STREAM], 0));
}

#[test]
fn pings_and_settings_are_answered() {
    let mut peer = Peer::begun();
    peer.give(&[frame(PING, 0, 0, b"12345678"), setting(1, 0)].concat()).unwrap();
    let sent = peer.frames();
    assert_eq!((sent[0].flags, &sent[0].payload[..]), (1, &b"12345678"[..]));
    assert_eq!((sent[1].kind, sent[1].flags), (SETTINGS, 1));
    // The encoder's table is gone from the next block on.
    let mut decoder = Decoder::new(4_096);
    decoder.set_table_bytes_max(0);
    for id in [1, 3, 5] {
        peer.give(&get(id)).unwrap();
        let key = peer.request();
        assert!(peer.h2.head(key, 200, &list(&[("server", "leat")]), true, &mut peer.out));
        assert_eq!(decoded(&mut decoder, &peer.frames()[0].payload).len(), 2);
    }
}

#[test]
fn a_connection_that_ends_tells_everybody_and_frees_everything() {
    let (mut peer, key) = begun([get(1), post(3), setting(4, 0)].concat());
    let other = peer.request();
    assert!(peer.h2.head(key, 200, &list(&[]), false, &mut peer.out) && peer.h2.send(key, b"held", &mut peer.out));
    peer.give(&data(3, b"unread", false)).unwrap();
    while peer.h2.next_told().is_some() {}
    peer.h2.abort(Code(7), &mut peer.out);
    let last = peer.frames().pop().unwrap();
    assert_eq!((last.kind, last.number(0), last.number(4)), (GOAWAY, 3, 7));
    let told = [peer.h2.next_told(), peer.h2.next_told()];
    assert!(told.contains(&Some(key)) && told.contains(&Some(other)));
    assert!(peer.h2.is_lost() && peer.h2.is_over() && peer.h2.waiting_bytes() == 0);
    assert!(!peer.h2.head(other, 200, &list(&[]), true, &mut peer.out));
    peer.give(b"whatever else comes").unwrap();
    assert!(peer.frames().is_empty() && !peer.has_request());
}
