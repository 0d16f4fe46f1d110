//! Flow control as a client has it.

use leat_h2::{Body, Code};
use leat_message::Method;

use crate::peer::*;

fn sent_bytes(frames: &[Frame], stream: u32) -> usize {
    frames.iter().filter(|frame| frame.kind == DATA && frame.stream == stream).map(|frame| frame.payload.len()).sum()
}

#[test]
fn no_more_of_a_request_is_taken_than_its_window_has_room_for() {
    let mut peer = Peer::called();
    peer.give(&setting(4, 10)).unwrap();
    let key = peer.open(Method::Post, false);
    assert_eq!(peer.h2.room(key), 10);
    assert!(peer.h2.send(key, &[1; 10], &mut peer.out));
    assert_eq!((peer.h2.room(key), sent_bytes(&peer.frames(), 1)), (0, 10));
    while peer.h2.next_told().is_some() {}
    // Whoever waits for room is told of it, whichever way it comes.
    peer.give(&window_update(1, 4)).unwrap();
    assert_eq!((peer.h2.next_told(), peer.h2.room(key)), (Some(key), 4));
    peer.give(&setting(4, 20)).unwrap();
    assert_eq!((peer.h2.next_told(), peer.h2.room(key)), (Some(key), 14));
    // A narrower setting takes away what was given; below zero nothing is taken (RFC 9113 section 6.9.2).
    assert!(peer.h2.send(key, &[1; 14], &mut peer.out));
    peer.give(&setting(4, 0)).unwrap();
    assert_eq!(peer.h2.room(key), 0);
    peer.give(&window_update(1, 20)).unwrap();
    assert_eq!(peer.h2.room(key), 0);
    peer.give(&window_update(1, 3)).unwrap();
    assert_eq!((peer.h2.next_told(), peer.h2.room(key)), (Some(key), 3));
    // An end needs no window.
    peer.give(&setting(4, 0)).unwrap();
    peer.frames();
    assert!(peer.h2.end(key, None, &mut peer.out));
    assert_eq!(peer.frames()[0].flags, END_STREAM);
}

#[test]
fn requests_take_turns_at_the_window_of_the_connection() {
    let mut peer = Peer::called();
    peer.give(&setting(4, 1_000_000)).unwrap();
    let keys = [0, 1, 2].map(|_| peer.open(Method::Post, false));
    let mut given = [0; 3];
    // The window of the connection is 65,535 bytes; beyond it each stream may hold 64 KiB.
    for (key, given) in keys.iter().zip(&mut given) {
        while peer.h2.room(*key) > 0 {
            let count = peer.h2.room(*key).min(10_000);
            assert!(peer.h2.send(*key, &vec![7; count], &mut peer.out));
            *given += count;
            peer.frames();
        }
    }
    assert_eq!(given, [65_535 + 65_536, 65_536, 65_536]);
    assert_eq!(peer.h2.waiting_bytes(), 3 * 65_536);
    while peer.h2.next_told().is_some() {}
    let mut turns = [0; 3];
    for _ in 0..6 {
        peer.give(&window_update(0, 5_000)).unwrap();
        let told = peer.h2.next_told().unwrap();
        assert!(peer.h2.room(told) > 0);
        let frames = peer.frames();
        [1, 3, 5].iter().zip(&mut turns).for_each(|(&id, turns)| *turns += sent_bytes(&frames, id));
    }
    assert_eq!(turns, [10_000; 3]);
}

#[test]
fn a_response_that_is_not_read_fills_its_windows_and_no_more() {
    let mut peer = Peer::called();
    let key = peer.open(Method::Get, true);
    peer.give(&[answer(1, "200", &[], false), data(1, &[7; 1_000], false)].concat()).unwrap();
    assert_eq!(peer.h2.waiting_bytes(), 1_000);
    peer.frames();
    peer.give(&data(1, &[7; 1], false)).unwrap();
    let sent = peer.frames();
    assert_eq!((sent[0].kind, sent[0].number(0)), (RST_STREAM, Code::FLOW_CONTROL_ERROR.0));
    // What came before may still be read.
    assert_eq!((peer.body(key), peer.body(key).0), ((Body::Data, vec![7; 1_000]), Body::Gone));
    assert_eq!(peer.h2.waiting_bytes(), 0);
    // The window of the connection, in streams that nobody reads: 70,000 bytes.
    let mut peer = Peer::called();
    let result = (0..80).try_for_each(|number| {
        peer.open(Method::Get, true);
        let id = 2 * number + 1;
        peer.give(&[answer(id, "200", &[], false), data(id, &[0; 1_000], false)].concat())
    });
    assert_eq!((result, peer.h2.is_lost()), (Err(Code::FLOW_CONTROL_ERROR), true));
}

#[test]
fn consumed_bytes_open_the_windows_again() {
    let mut peer = Peer::called();
    let key = peer.open(Method::Get, true);
    peer.give(&answer(1, "200", &[], false)).unwrap();
    let mut updates = [0, 0];
    for _ in 0..1_000 {
        peer.give(&data(1, &[7; 500], false)).unwrap();
        assert_eq!(peer.body(key).1.len(), 500);
        peer.h2.consumed(key, 500, &mut peer.out);
        for frame in peer.frames().iter().filter(|frame| frame.kind == WINDOW_UPDATE) {
            updates[frame.stream as usize] += frame.number(0);
        }
    }
    assert_eq!(updates[1], 500_000);
    assert!(updates[0] >= 500_000 - 35_000, "{updates:?}");
    // Where the connection is gone, nothing is said.
    peer.give(&data(1, &[7; 500], false)).unwrap();
    peer.h2.lose();
    assert_eq!(peer.body(key).1.len(), 500);
    peer.h2.consumed(key, 500, &mut peer.out);
    assert!(peer.frames().is_empty());
}
