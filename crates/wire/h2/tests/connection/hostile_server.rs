//! Servers that look for what a client forgets: each flood ends the connection with a code, and takes bounded memory.

use leat_h2::{Body, Cause, Code, Connection, FieldList, PREFACE, Settings};
use leat_message::Method;

use crate::peer::*;

const WIDE: Settings = Settings {
    streams_max: 256,
    stream_window_bytes: 1024 * 1024,
    connection_window_bytes: 4 * 1024 * 1024,
    head_bytes_max: 64 * 1024,
    output_bytes_max: 64 * 1024,
};

/// A client behind the beginning of a connection.
fn client() -> (Connection, Vec<u8>) {
    let mut out = Vec::new();
    let mut h2 = Connection::client(WIDE, 16, &mut out);
    assert!(out.starts_with(PREFACE));
    h2.receive(&frame(SETTINGS, 0, 0, &[]), 0, &mut out).unwrap();
    out.clear();
    (h2, out)
}

#[test]
fn floods_end_the_connection_with_a_code() {
    let head = answer(1, "200", &[], false);
    // A server that knows nothing of the streams that it speaks of, which are over.
    let late = reset(1, Code::CANCEL);
    let cases: [(&str, Vec<u8>, Vec<u8>); 10] = [
        ("PING", vec![], frame(PING, 0, 0, &[0; 8])),
        ("answers to no PING", vec![], frame(PING, 1, 0, &[0; 8])),
        ("SETTINGS", vec![], setting(4, 100)),
        ("unknown frames", vec![], frame(0xee, 0, 1, b"x")),
        ("PRIORITY", vec![], frame(PRIORITY, 0, 1, &[0, 0, 0, 3, 7])),
        ("empty DATA", head.clone(), data(1, b"", false)),
        ("WINDOW_UPDATE", head, window_update(0, 1)),
        ("RST_STREAM of what is over", late.clone(), late.clone()),
        ("DATA of what is over", late.clone(), data(1, b"x", false)),
        ("heads of what is over", late, answer(1, "200", &[], false)),
    ];
    for (name, before, frame) in cases {
        let (mut h2, mut out) = client();
        let key = h2.open(Method::Get, &FieldList::default(), true, &mut out).unwrap();
        h2.receive(&before, 0, &mut out).unwrap();
        let limit = if name == "WINDOW_UPDATE" || name.ends_with("over") { 23_000 } else { 250 };
        let died = (0..limit).find(|_| h2.receive(&frame, 0, &mut out) == Err(Code::ENHANCE_YOUR_CALM));
        assert!(died.is_some_and(|number| number > 50), "{name}: {died:?}");
        assert!(h2.is_lost() && out.ends_with(&go_away(0, Code::ENHANCE_YOUR_CALM)), "{name}");
        assert!(matches!(h2.cause(key), Some(Cause::Faulty | Cause::ResetByPeer(_))), "{name}");
        assert!(out.len() < 30_000, "{name}: {} bytes of output", out.len());
    }
}

#[test]
fn endless_heads_end_the_connection() {
    for (piece, count) in [(0, 17), (1, 17), (16_000, 6)] {
        let (mut h2, mut out) = client();
        h2.open(Method::Get, &FieldList::default(), true, &mut out).unwrap();
        h2.receive(&frame(HEADERS, 0, 1, &[]), 0, &mut out).unwrap();
        let piece = frame(CONTINUATION, 0, 1, &vec![0; piece]);
        let died = (0..count).find(|_| h2.receive(&piece, 0, &mut out).is_err());
        assert!(died.is_some() && out.ends_with(&go_away(0, Code::ENHANCE_YOUR_CALM)));
    }
}

#[test]
fn a_bomb_of_hpack_is_one_list_that_is_too_long() {
    let (mut h2, mut out) = client();
    let key = h2.open(Method::Get, &FieldList::default(), true, &mut out).unwrap();
    let other = h2.open(Method::Get, &FieldList::default(), true, &mut out).unwrap();
    out.clear();
    // An entry of nearly all of the table, and then its index over and over: 60 MB of fields.
    let mut bomb = block(&[(":status", "200")]);
    bomb.extend_from_slice(&[0x40, 1, b'x', 0x7f, 0xa1, 0x1e]);
    bomb.extend_from_slice(&[b'y'; 4_000]);
    bomb.resize(16_000, 0x80 | 62);
    h2.receive(&frame(HEADERS, END_HEADERS, 1, &bomb), 0, &mut out).unwrap();
    assert_eq!((h2.cause(key), h2.waiting_bytes()), (Some(Cause::Faulty), 0));
    assert_eq!(out, reset(1, Code::PROTOCOL_ERROR));
    // The table is in step.
    h2.receive(
        &frame(HEADERS, END_HEADERS, 3, &[&block(&[(":status", "200")])[..], &[0x80 | 62]].concat()),
        0,
        &mut out,
    )
    .unwrap();
    assert_eq!((h2.cause(other), h2.waiting_bytes()), (None, 4_001));
}

#[test]
fn interim_heads_that_nobody_takes_are_bounded_and_counted() {
    let (mut h2, mut out) = client();
    let key = h2.open(Method::Get, &FieldList::default(), true, &mut out).unwrap();
    let long = "x".repeat(100);
    let fields: Vec<(&str, &str)> = (0..100).map(|_| ("y", &long[..])).collect();
    let interim = answer(1, "103", &fields, false);
    h2.receive(&interim.repeat(16), 0, &mut out).unwrap();
    assert_eq!((h2.cause(key), h2.waiting_bytes()), (None, 16 * 101 * 100));
    h2.receive(&interim, 0, &mut out).unwrap();
    assert_eq!(h2.cause(key), Some(Cause::Faulty));
    h2.release(key, &mut out);
    assert_eq!(h2.waiting_bytes(), 0);
}

#[test]
fn a_server_that_refuses_or_breaks_every_stream_keeps_its_connection() {
    for answer in [reset, |id, _| answer(id, "abc", &[], true)] {
        let (mut h2, mut out) = client();
        for number in 0..2_000 {
            let key = h2.open(Method::Get, &FieldList::default(), true, &mut out).unwrap();
            assert!(h2.receive(&answer(2 * number + 1, Code::REFUSED_STREAM), 0, &mut out).is_ok(), "{number}");
            assert!(h2.cause(key).is_some());
            h2.release(key, &mut out);
        }
    }
}

#[test]
fn servers_that_give_windows_back_in_small_steps_do_not_flood() {
    let (mut h2, mut out) = client();
    let key = h2.open(Method::Post, &FieldList::default(), false, &mut out).unwrap();
    // A gigabyte in ten seconds to one that gives back 2 KiB at a time, to the stream and to the connection.
    for _ in 0..60_000 {
        out.clear();
        h2.flushing();
        assert!(h2.send(key, &[0; 16 * 1024], &mut out));
        let updates = [window_update(0, 2048), window_update(1, 2048)].concat().repeat(8);
        assert!(h2.receive(&updates, 0, &mut out).is_ok());
    }
    assert_eq!(h2.held_bytes(key), 0);
}

#[test]
fn a_stream_that_is_read_goes_on_beside_others_that_are_not() {
    let (mut h2, mut out) = client();
    let keys: Vec<_> = (0..5).map(|_| h2.open(Method::Get, &FieldList::default(), true, &mut out).unwrap()).collect();
    let block = [0; 16 * 1024];
    for id in [1, 3, 5] {
        h2.receive(&answer(id, "200", &[], false), 0, &mut out).unwrap();
        (0..64).for_each(|_| assert!(h2.receive(&data(id, &block, false), 0, &mut out).is_ok()));
    }
    assert_eq!(h2.waiting_bytes(), 3 * 1024 * 1024);
    h2.receive(&answer(7, "200", &[], false), 0, &mut out).unwrap();
    let (mut connection, mut stream, mut bytes) = (1024 * 1024_i64, 1024 * 1024_i64, Vec::new());
    for _ in 0..1_000 {
        assert!(connection >= 16 * 1024 && stream >= 16 * 1024, "{connection} and {stream} bytes are left");
        out.clear();
        h2.receive(&data(7, &block, false), 0, &mut out).unwrap();
        (connection, stream) = (connection - 16 * 1024, stream - 16 * 1024);
        assert_eq!(h2.take_body(keys[3], &mut bytes), Body::Data);
        h2.consumed(keys[3], bytes.len(), &mut out);
        let mut rest = &out[..];
        while let Some((header, after)) = rest.split_first_chunk::<13>() {
            let number = |at: usize| u32::from_be_bytes(header[at..at + 4].try_into().unwrap());
            *(if number(5) == 0 { &mut connection } else { &mut stream }) += i64::from(number(9));
            rest = after;
        }
    }
    assert!(h2.waiting_bytes() == 3 * 1024 * 1024 && !h2.is_lost());
}
