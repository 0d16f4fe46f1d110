//! Clients that look for what an implementation forgets.

use leat_h2::{Body, Code, Connection, FieldList, PREFACE, Settings};

use crate::peer::*;

/// A connection behind its beginning, with its output.
fn begun(settings: Settings) -> (Connection, Vec<u8>) {
    let mut out = Vec::new();
    let mut h2 = Connection::new(settings, &mut out);
    h2.receive(&[PREFACE, &frame(SETTINGS, 0, 0, &[])].concat(), 0, &mut out).unwrap();
    out.clear();
    (h2, out)
}

const WIDE: Settings = Settings {
    streams_max: 1_000,
    stream_window_bytes: 256 * 1024,
    connection_window_bytes: 1024 * 1024,
    head_bytes_max: 64 * 1024,
    output_bytes_max: 64 * 1024,
};

#[test]
fn values_with_white_space_around_them_are_malformed() {
    for (name, value) in
        [("content-length", " 5"), ("content-length", "5\t"), ("x-a", " a"), ("x-a", "a "), ("cookie", " a")]
    {
        let mut peer = Peer::begun();
        let head = frame(HEADERS, END_HEADERS, 1, &head("POST", &[(name, value)]));
        peer.give(&[head, data(1, b"0123456789", true)].concat()).unwrap();
        let sent = peer.frames();
        assert_eq!((sent[0].kind, sent[0].number(0)), (RST_STREAM, Code::PROTOCOL_ERROR.0), "{name}: {value:?}");
        assert!(!peer.has_request());
    }
}

#[test]
fn a_stream_that_is_read_goes_on_beside_others_that_are_not() {
    let (mut h2, mut out) = begun(WIDE);
    let mut bytes = Vec::new();
    for (stream, count) in [(1, 256), (3, 256), (5, 16), (7, 0)] {
        h2.receive(&post(stream), 0, &mut out).unwrap();
        (0..count / 16).for_each(|_| {
            h2.receive(&data(stream, &[0; 16 * 1024], false), 0, &mut out).unwrap();
        });
    }
    let key = std::iter::from_fn(|| h2.next_request(&mut out)).last().unwrap().0;
    let (mut connection, mut stream) = ((1024 - 528) * 1024_i64, 256 * 1024_i64);
    for _ in 0..1_000 {
        assert!(
            connection >= 16 * 1024 && stream >= 16 * 1024,
            "{connection} and {stream} bytes are left of the windows"
        );
        h2.receive(&data(7, &[0; 16 * 1024], false), 0, &mut out).unwrap();
        (connection, stream) = (connection - 16 * 1024, stream - 16 * 1024);
        assert_eq!(h2.take_body(key, &mut bytes), Body::Data);
        h2.consumed(key, bytes.len(), &mut out);
        let mut rest = &out[..];
        while let Some((header, after)) = rest.split_first_chunk::<13>() {
            let number = |at: usize| u32::from_be_bytes(header[at..at + 4].try_into().unwrap());
            assert_eq!((header[3], number(5) % 7), (WINDOW_UPDATE, 0));
            *(if number(5) == 0 { &mut connection } else { &mut stream }) += i64::from(number(9));
            rest = after;
        }
        out.clear();
    }
}

#[test]
fn bodies_of_requests_that_were_answered_early_are_late_however_many_they_are() {
    let (mut h2, mut out) = begun(WIDE);
    (0..900).for_each(|number| {
        h2.receive(&post(2 * number + 1), 0, &mut out).unwrap();
    });
    while let Some((key, _)) = h2.next_request(&mut out) {
        h2.head(key, 401, &FieldList::default(), true, &mut out);
        h2.release(key, &mut out);
    }
    for number in 0..900 {
        assert_eq!(h2.receive(&data(2 * number + 1, b"x", false), 0, &mut out), Ok(10), "stream {}", 2 * number + 1);
    }
}

#[test]
fn trailers_are_no_leave_to_reset() {
    let (mut h2, mut out) = begun(WIDE);
    let trailers = block(&[("x-a", "b")]);
    let died = (0..2_000).find(|number| {
        let id = 2 * number + 1;
        let request = [post(id), frame(HEADERS, END_STREAM | END_HEADERS, id, &trailers)].concat();
        h2.receive(&request, 0, &mut out).unwrap();
        let (key, _) = h2.next_request(&mut out).unwrap();
        let result = h2.receive(&reset(id, Code::CANCEL), 0, &mut out);
        h2.release(key, &mut out);
        result.is_err()
    });
    assert!(died.is_some_and(|number| number < 500), "{died:?}");
}

#[test]
fn streams_that_are_reset_leave_the_line() {
    let (mut h2, mut out) = begun(WIDE);
    let mut reply = |h2: &mut Connection, id, count: usize, now_ms| {
        h2.receive(&get(id), now_ms, &mut out).unwrap();
        let (key, _) = h2.next_request(&mut out).unwrap();
        h2.head(key, 200, &FieldList::default(), count == 0, &mut out);
        if count > 0 {
            h2.send(key, &vec![0; count], &mut out);
            h2.end(key, None, &mut out);
        }
        h2.release(key, &mut out);
        h2.flushing();
        out.clear();
    };
    // The window of the connection is used up, and one stream waits for it.
    reply(&mut h2, 1, 65_535, 0);
    reply(&mut h2, 3, 500, 0);
    for number in 0..5_000 {
        let now_ms = u64::from(number);
        reply(&mut h2, 4 * number + 5, 10, now_ms);
        reply(&mut h2, 4 * number + 7, 0, now_ms);
        h2.receive(&reset(4 * number + 5, Code::CANCEL), now_ms, &mut Vec::new()).unwrap();
    }
    let text = format!("{h2:?}");
    let line = text.split_once("line: [").and_then(|(_, rest)| rest.split_once(']')).unwrap().0;
    assert_eq!((h2.live_streams(), line.matches("Key").count()), (1, 1));
}

#[test]
fn a_stream_at_rest_keeps_little_of_what_a_burst_took() {
    let (mut h2, mut out) = begun(WIDE);
    let mut bytes = Vec::new();
    h2.receive(&post(1), 0, &mut out).unwrap();
    let (key, _) = h2.next_request(&mut out).unwrap();
    for _ in 0..2 {
        for _ in 0..15 {
            h2.receive(&data(1, &[0; 16 * 1024], false), 0, &mut out).unwrap();
        }
        assert_eq!(h2.take_body(key, &mut bytes), Body::Data);
        h2.consumed(key, bytes.len(), &mut out);
    }
    assert!(bytes.capacity() > 100_000);
    assert_eq!(h2.take_body(key, &mut bytes), Body::Wait);
    assert!(bytes.capacity() <= 16 * 1024);
}

#[test]
fn a_client_may_give_windows_back_in_small_steps_however_fast_it_reads() {
    let (mut h2, mut out) = begun(WIDE);
    h2.receive(&get(1), 0, &mut out).unwrap();
    let (key, _) = h2.next_request(&mut out).unwrap();
    h2.head(key, 200, &FieldList::default(), false, &mut out);
    // As Go's clients do: 4 KiB at a time, for the stream and for the connection.
    let updates = [window_update(0, 4096), window_update(1, 4096)].concat().repeat(4);
    let piece = [b'x'; 16 * 1024];
    for number in 0..6_000 {
        assert!(h2.send(key, &piece, &mut out));
        assert_eq!(h2.held_bytes(key), 0);
        h2.flushing();
        out.clear();
        assert_eq!(h2.receive(&updates, 0, &mut out), Ok(updates.len()), "frame {number}");
    }
}

#[test]
fn resets_of_what_was_answered_already_are_no_rapid_ones() {
    // gRPC clients reset a stream whose end comes before they ended their side.
    for released in [true, false] {
        let (mut h2, mut out) = begun(WIDE);
        for number in 0..3_000 {
            let id = 2 * number + 1;
            h2.receive(&post(id), 0, &mut out).unwrap();
            let (key, _) = h2.next_request(&mut out).unwrap();
            h2.head(key, 200, &FieldList::default(), true, &mut out);
            if released {
                h2.release(key, &mut out);
            }
            assert_eq!(h2.receive(&reset(id, Code::NO_ERROR), 0, &mut out), Ok(13), "stream {id}");
            h2.release(key, &mut out);
        }
        assert_eq!(h2.live_streams(), 0);
    }
}

#[test]
fn calls_that_run_out_of_time_do_not_end_the_connection() {
    let rapid = |lasts_ms: u64| {
        let (mut h2, mut out) = begun(WIDE);
        let mut waiting = std::collections::VecDeque::new();
        (0..3_000).find(|&now_ms| {
            let id = 2 * now_ms as u32 + 1;
            h2.receive(&get(id), now_ms, &mut out).unwrap();
            let (key, _) = h2.next_request(&mut out).unwrap();
            waiting.push_back((id, key));
            if waiting.len() as u64 <= lasts_ms {
                return false;
            }
            let (id, key) = waiting.pop_front().unwrap();
            let result = h2.receive(&reset(id, Code::CANCEL), now_ms, &mut out);
            h2.release(key, &mut out);
            result.is_err()
        })
    };
    assert_eq!(rapid(100), None);
    assert!(rapid(10).is_some_and(|count| count < 500));
}

#[test]
fn data_that_is_padding_only_is_a_flood_like_empty_data() {
    let (mut h2, mut out) = begun(WIDE);
    h2.receive(&post(1), 0, &mut out).unwrap();
    let padding = frame(DATA, PADDED, 1, &[1, 0]).repeat(300);
    assert_eq!(h2.receive(&padding, 0, &mut out), Err(Code::ENHANCE_YOUR_CALM));
    // One in each request is somebody's habit.
    let (mut h2, mut out) = begun(WIDE);
    for number in 0..1_000 {
        let id = 2 * number + 1;
        let request = [post(id), data(id, b"", false), data(id, b"x", true)].concat();
        assert_eq!(h2.receive(&request, 0, &mut out), Ok(request.len()), "stream {id}");
        let (key, _) = h2.next_request(&mut out).unwrap();
        h2.head(key, 200, &FieldList::default(), true, &mut out);
        h2.release(key, &mut out);
    }
}
