//! Flow control in both directions (RFC 9113 section 5.2).

use leat_h2::{Body, Code, FieldList, Key};

use crate::peer::*;

/// Streams whose replies have begun.
fn replying(peer: &mut Peer, count: u32) -> Vec<Key> {
    (0..count)
        .map(|number| {
            peer.give(&get(2 * number + 1)).unwrap();
            let key = peer.request();
            assert!(peer.h2.head(key, 200, &FieldList::default(), false, &mut peer.out));
            key
        })
        .collect()
}

/// Stream, length and whether it is the end, of DATA frames.
fn shape(frames: &[Frame]) -> Vec<(u32, usize, bool)> {
    let data = frames.iter().filter(|frame| frame.kind == DATA);
    data.map(|frame| (frame.stream, frame.payload.len(), frame.flags & END_STREAM != 0)).collect()
}

#[test]
fn bodies_that_are_not_read_fill_their_windows_and_no_more() {
    let mut peer = Peer::begun();
    peer.give(&[post(1), data(1, &[7; 1_000], false)].concat()).unwrap();
    let key = peer.request();
    peer.give(&data(1, &[7; 1], false)).unwrap();
    let sent = peer.frames();
    assert_eq!((sent[0].kind, sent[0].number(0)), (RST_STREAM, Code::FLOW_CONTROL_ERROR.0));
    assert!(peer.h2.is_reset(key) && peer.h2.waiting_bytes() == 0);
    // The connection's own window: 70,000 bytes, in streams that nobody reads.
    let mut peer = Peer::begun();
    peer.give(&post(1)).unwrap();
    peer.request();
    let mut sent = 0;
    let result = (0..80).try_for_each(|_| {
        sent += 1_000;
        // Above the stream's window, the bytes count for the connection before the stream is reset.
        peer.give(&data(1, &[0; 1_000], false))
    });
    assert_eq!((result, sent), (Ok(()), 80_000), "what is thrown away is given back");
}

#[test]
fn consumed_bytes_open_the_windows_again() {
    let mut peer = Peer::begun();
    peer.give(&[post(1), data(1, &[7; 499], false)].concat()).unwrap();
    let key = peer.request();
    assert_eq!(peer.body(key), (Body::Data, vec![7; 499]));
    assert_eq!(peer.h2.waiting_bytes(), 0);
    peer.h2.consumed(key, 499, &mut peer.out);
    assert!(peer.frames().is_empty(), "less than half of a window");
    peer.give(&data(1, &[7; 1], false)).unwrap();
    peer.body(key);
    // More than was received is not consumed.
    peer.h2.consumed(key, 1_000_000, &mut peer.out);
    let sent = peer.frames();
    assert_eq!((sent.len(), sent[0].stream, sent[0].number(0)), (1, 1, 500));
    // Over and over, with the connection's window following.
    let mut updates = [0, 0];
    for _ in 0..1_000 {
        peer.give(&data(1, &[7; 500], false)).unwrap();
        assert_eq!(peer.body(key).1.len(), 500);
        peer.h2.consumed(key, 500, &mut peer.out);
        for frame in peer.frames() {
            updates[frame.stream as usize] += frame.number(0);
        }
    }
    assert_eq!(updates[1], 500_000);
    assert!(updates[0] >= 500_500 - 35_000, "{updates:?}");
}

#[test]
fn padding_counts_and_is_given_back_at_once() {
    let mut peer = Peer::begun();
    peer.give(&post(1)).unwrap();
    let key = peer.request();
    for _ in 0..100 {
        // 1 + 2 + 97 bytes.
        peer.give(&frame(DATA, PADDED, 1, &[&[97, 7, 7][..], &[0; 97]].concat())).unwrap();
        assert_eq!(peer.body(key), (Body::Data, vec![7, 7]));
        peer.h2.consumed(key, 2, &mut peer.out);
    }
    assert!(!peer.h2.is_reset(key));
}

#[test]
fn a_body_comes_in_pieces_of_any_size() {
    for piece in [1, 5, 13, 1_000] {
        let mut peer = Peer::begun();
        let padded = frame(DATA, PADDED | END_STREAM, 1, b"\x03padded\0\0\0");
        let bytes = [post(1), data(1, b"plain ", false), padded, get(3)].concat();
        bytes.chunks(piece).for_each(|piece| peer.give(piece).unwrap());
        let key = peer.request();
        assert_eq!(peer.h2.whole_body(key), Some(12));
        assert_eq!(peer.body(key), (Body::Data, b"plain padded".to_vec()), "{piece}");
        assert!(peer.h2.has_ended(key) && peer.has_request());
    }
}

#[test]
fn a_released_stream_gives_everything_back() {
    let mut peer = Peer::begun();
    for number in 0..200 {
        let id = 2 * number + 1;
        peer.give(&[post(id), data(id, &[7; 1_000], false)].concat()).unwrap();
        let key = peer.request();
        assert!(peer.h2.head(key, 200, &FieldList::default(), true, &mut peer.out));
        peer.h2.release(key, &mut peer.out);
        let sent = peer.frames();
        let end = sent.iter().find(|frame| frame.kind == RST_STREAM).unwrap();
        assert_eq!((end.stream, end.number(0)), (id, Code::NO_ERROR.0), "the reply is whole without the request");
        // What is still under way is ignored, and given back.
        peer.give(&data(id, &[7; 1_000], true)).unwrap();
        assert_eq!((peer.h2.waiting_bytes(), peer.h2.live_streams()), (0, 0));
    }
}

#[test]
fn replies_wait_for_the_windows() {
    let mut peer = Peer::begun();
    peer.give(&setting(4, 10)).unwrap();
    let keys = replying(&mut peer, 2);
    peer.frames();
    assert!(peer.h2.send(keys[0], &[1; 25], &mut peer.out));
    assert!(peer.h2.end(keys[0], None, &mut peer.out));
    assert_eq!((peer.h2.held_bytes(keys[0]), peer.h2.waiting_bytes()), (15, 15));
    assert_eq!(shape(&peer.frames()), [(1, 10, false)]);
    peer.give(&window_update(1, 4)).unwrap();
    assert_eq!((shape(&peer.frames()), peer.h2.next_told()), (vec![(1, 4, false)], Some(keys[0])));
    // A narrower setting takes away what was given, and a wider one gives it back.
    peer.give(&setting(4, 5)).unwrap();
    peer.give(&window_update(1, 5)).unwrap();
    assert_eq!(shape(&peer.frames()), []);
    peer.give(&setting(4, 12)).unwrap();
    assert_eq!(shape(&peer.frames()), [(1, 7, false)]);
    assert!(peer.h2.live_streams() == 2);
    peer.give(&window_update(1, 100)).unwrap();
    assert_eq!(shape(&peer.frames()), [(1, 4, true)]);
    assert_eq!((peer.h2.waiting_bytes(), peer.h2.live_streams()), (0, 1));
    // An empty end needs no window.
    peer.give(&setting(4, 0)).unwrap();
    assert!(peer.h2.end(keys[1], None, &mut peer.out));
    assert_eq!(shape(&peer.frames()), [(3, 0, true)]);
}

#[test]
fn streams_take_turns_at_the_window_of_the_connection() {
    let mut peer = Peer::begun();
    peer.give(&setting(4, 1_000_000)).unwrap();
    let keys = replying(&mut peer, 3);
    // The connection's window of 65,535 bytes is used up by the first.
    for _ in 0..10 {
        peer.frames();
        peer.h2.send(keys[0], &[0; 10_000], &mut peer.out);
    }
    for &key in &keys[1..] {
        assert!(peer.h2.send(key, &[0; 40_000], &mut peer.out));
    }
    while !shape(&peer.frames()).is_empty() {}
    let mut turns = Vec::new();
    for _ in 0..6 {
        peer.give(&window_update(0, 5_000)).unwrap();
        turns.extend(shape(&peer.frames()).into_iter().map(|(stream, ..)| stream));
    }
    turns.sort_unstable();
    assert_eq!(turns, [1, 1, 3, 3, 5, 5]);
}

#[test]
fn the_output_is_not_filled_beyond_its_room() {
    let mut peer = Peer::begun();
    peer.give(&[setting(4, 1_000_000), window_update(0, 1_000_000)].concat()).unwrap();
    let keys = replying(&mut peer, 2);
    let mut sent = [0, 0];
    for (key, count) in keys.iter().zip([100_000, 60_000]) {
        assert!(peer.h2.send(*key, &vec![0; count], &mut peer.out));
        assert!(peer.h2.end(*key, None, &mut peer.out));
    }
    for _ in 0..100 {
        assert!(peer.out.len() <= 10_000 + 16_384 + 1_000, "{}", peer.out.len());
        for (stream, len, _) in shape(&peer.frames()) {
            sent[stream as usize / 2] += len;
        }
    }
    assert_eq!((sent, peer.h2.live_streams()), ([100_000, 60_000], 0));
}
