//! HTTP/2 clients that mean harm, or are broken: frames written by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use leat_message::Reason;
use leat_stream::memory;
use leat_testkit::eventually;
use support::{Event, Options, Server};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const ENHANCE_YOUR_CALM: u32 = 0xb;
const REFUSED_STREAM: u32 = 0x7;
/// One at a time: some look at the memory of the process.
static ALONE: Mutex<()> = Mutex::new(());

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend_from_slice(&[kind, flags]);
    frame.extend_from_slice(&stream.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}

/// A GET for `path` without indexing (RFC 7541 section 6.2.2).
fn head(path: &str) -> Vec<u8> {
    let mut block = vec![0x82, 0x86, 0x04, u8::try_from(path.len()).unwrap()];
    block.extend_from_slice(path.as_bytes());
    block.extend_from_slice(b"\x01\x09leat.test");
    block
}

fn get(stream: u32, path: &str) -> Vec<u8> {
    frame(HEADERS, END_STREAM | END_HEADERS, stream, &head(path))
}

/// The odd stream ids, in order.
fn ids(count: u32) -> impl Iterator<Item = u32> {
    (0..count).map(|number| 2 * number + 1)
}

#[derive(Debug)]
struct Frame {
    kind: u8,
    /// Whether it ends its stream.
    ends: bool,
    stream: u32,
    payload: Vec<u8>,
}

impl Frame {
    /// The error code of a RST_STREAM or GOAWAY.
    fn code(&self) -> u32 {
        let at = if self.kind == GOAWAY { 4 } else { 0 };
        u32::from_be_bytes(self.payload[at..at + 4].try_into().unwrap())
    }
}

struct Raw {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Raw {
    fn connect(server: &Server, settings: &[u8]) -> Self {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.write_all(&[PREFACE, &frame(SETTINGS, 0, 0, settings)].concat()).unwrap();
        Self { stream, received: Vec::new() }
    }

    /// Sends, as far as the server lets it.
    fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// The next frame; `None` at the end of the connection.
    fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some(&[l0, l1, l2, kind, flags, s0, s1, s2, s3]) = self.received.first_chunk() {
                let end = 9 + u32::from_be_bytes([0, l0, l1, l2]) as usize;
                if self.received.len() >= end {
                    let payload = self.received[9..end].to_vec();
                    self.received.drain(..end);
                    let ends = flags & END_STREAM != 0 && matches!(kind, DATA | HEADERS);
                    return Some(Frame { kind, ends, stream: u32::from_be_bytes([s0, s1, s2, s3]), payload });
                }
            }
            let mut block = [0; 16_384];
            match self.stream.read(&mut block) {
                Ok(0) => return None,
                Ok(count) => self.received.extend_from_slice(&block[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => panic!("no end of the connection"),
                Err(_) => return None,
            }
        }
    }

    /// Everything up to the end of the connection.
    fn rest(&mut self) -> Vec<Frame> {
        std::iter::from_fn(|| self.next()).collect()
    }

    fn until(&mut self, kind: u8, stream: u32) -> Frame {
        loop {
            let frame = self.next().expect("the connection goes on");
            if frame.kind == kind && frame.stream == stream {
                return frame;
            }
        }
    }
}

fn begun(server: &Server) -> usize {
    server.events().iter().filter(|event| matches!(event, Event::Begun(_))).count()
}

#[test]
fn a_preface_is_known_however_it_is_cut() {
    let server = Server::start();
    let bytes = [PREFACE, &frame(SETTINGS, 0, 0, &[]), &get(1, "/fixed")].concat();
    for at in 1..bytes.len() {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.write_all(&bytes[..at]).unwrap();
        std::thread::sleep(Duration::from_millis(1));
        stream.write_all(&bytes[at..]).unwrap();
        let mut raw = Raw { stream, received: Vec::new() };
        assert_eq!(raw.until(DATA, 1).payload, b"hello", "cut at {at}");
    }
    let mut raw = Raw { stream: TcpStream::connect(server.address).unwrap(), received: Vec::new() };
    raw.stream.set_nodelay(true).unwrap();
    for byte in bytes {
        raw.send(&[byte]);
    }
    assert_eq!(raw.until(DATA, 1).payload, b"hello");
}

#[test]
fn what_is_no_preface_is_http_1_or_nothing() {
    let server = Server::start();
    for (bytes, answered) in [
        (&b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n"[..], true),
        (b"PRI /fixed HTTP/1.1\r\nhost: a\r\n\r\n", true),
        (b"PATCH /fixed HTTP/1.1\r\nhost: a\r\n\r\n", true),
        (b"nonsense\r\n\r\n", false),
        (b"\0\0\0\n", false),
    ] {
        let mut client = server.client();
        client.send(bytes).close_write();
        let rest = client.rest();
        assert_eq!(rest.starts_with(b"HTTP/1.1 "), answered, "{}: {}", bytes.escape_ascii(), rest.escape_ascii());
        assert!(answered || rest.is_empty());
    }
    // What follows the preface is no frame.
    let mut raw = Raw { stream: TcpStream::connect(server.address).unwrap(), received: Vec::new() };
    raw.send(&[PREFACE, b"GET / HTTP/1.1\r\n\r\n"].concat());
    assert_eq!(raw.rest().last().map(|frame| frame.kind), Some(GOAWAY));
    eventually("its record", || {
        let refused = |event: &Event| matches!(event, Event::Ended { reason: Some(Reason::H2Protocol), .. });
        server.events().iter().any(refused).then_some(())
    });
}

#[test]
fn floods_end_the_connection_and_nothing_else() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let server = Server::start();
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("rapid reset of exchanges", ids(2_000).flat_map(|id| [get(id, "/gone"), reset(id)].concat()).collect()),
        ("rapid reset of raw replies", ids(2_000).flat_map(|id| [get(id, "/fixed"), reset(id)].concat()).collect()),
        (
            "continuations",
            [frame(HEADERS, END_STREAM, 1, &head("/fixed")), frame(CONTINUATION, 0, 1, b"").repeat(1_000)].concat(),
        ),
        (
            "a head without an end",
            [frame(HEADERS, END_STREAM, 1, &head("/fixed")), frame(CONTINUATION, 0, 1, &[0; 16_384]).repeat(100)]
                .concat(),
        ),
        (
            "made to reset by a window",
            ids(1_000)
                .flat_map(|id| {
                    let grow = frame(WINDOW_UPDATE, 0, id, &0x7fff_ffff_u32.to_be_bytes());
                    [get(id, "/gone"), grow.clone(), grow].concat()
                })
                .collect(),
        ),
        (
            "made to reset by an empty window",
            ids(1_000).flat_map(|id| [get(id, "/gone"), frame(WINDOW_UPDATE, 0, id, &[0; 4])].concat()).collect(),
        ),
        (
            "made to reset by data behind the end",
            ids(1_000).flat_map(|id| [get(id, "/gone"), frame(DATA, 0, id, b"more")].concat()).collect(),
        ),
        (
            "made to reset by a second head",
            ids(1_000).flat_map(|id| [get(id, "/gone"), get(id, "/gone")].concat()).collect(),
        ),
        ("pings", frame(PING, 0, 0, &[0; 8]).repeat(5_000)),
        ("settings", frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 255, 255]).repeat(5_000)),
        (
            "empty data",
            [frame(HEADERS, END_HEADERS, 1, &head("/count")), frame(DATA, 0, 1, b"").repeat(5_000)].concat(),
        ),
        ("priorities", frame(2, 0, 1, &[0; 5]).repeat(5_000)),
        ("unknown frames", frame(0xfe, 0, 1, &[0; 5]).repeat(5_000)),
        ("tiny windows", frame(WINDOW_UPDATE, 0, 0, &1_u32.to_be_bytes()).repeat(60_000)),
    ];
    for (name, frames) in cases {
        let before = (begun(&server), memory::in_use());
        let mut raw = Raw::connect(&server, &[]);
        for piece in frames.chunks(10_000) {
            if !raw.send(piece) {
                break;
            }
        }
        let rest = raw.rest();
        // A client that keeps sending may be reset before it can read why.
        if let Some(last) = rest.iter().find(|frame| frame.kind == GOAWAY) {
            assert_ne!(last.code(), 0, "{name}");
        }
        assert!(begun(&server) - before.0 <= 1_000, "{name}: {} exchanges", begun(&server) - before.0);
        eventually("the memory to be given back", || (memory::in_use() <= before.1 + 600_000).then_some(()));
        server.answers();
    }
    let refused = server.events().into_iter().filter(|event| {
        matches!(event, Event::Ended { path: None, reason: Some(Reason::H2Flood | Reason::H2Protocol), .. })
    });
    assert_eq!(refused.count(), 14);
}

fn reset(id: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, id, &8_u32.to_be_bytes())
}

#[test]
fn a_flood_is_told_to_calm_down() {
    let server = Server::start();
    let mut raw = Raw::connect(&server, &[]);
    raw.send(&frame(PING, 0, 0, &[0; 8]).repeat(300));
    let rest = raw.rest();
    let last = rest.iter().find(|frame| frame.kind == GOAWAY).expect("a GOAWAY");
    assert_eq!(last.code(), ENHANCE_YOUR_CALM);
    assert_eq!(server.ended(None), (0, Some(Reason::H2Flood)));
}

#[test]
fn a_head_without_an_end_ends_the_connection_in_time() {
    let server = Server::limited(|limits| limits.head_time_ms = 150);
    let mut raw = Raw::connect(&server, &[]);
    raw.send(&get(1, "/wait"));
    raw.send(&frame(HEADERS, END_STREAM, 3, &head("/fixed")));
    // What was under way beside it learns why, and that it was taken.
    let last = raw.rest().pop().expect("a GOAWAY");
    assert_eq!((last.kind, last.code(), last.payload[..4].to_vec()), (GOAWAY, ENHANCE_YOUR_CALM, vec![0, 0, 0, 1]));
    assert_eq!(server.ended(None).1, Some(Reason::TimeHead));
    // Heads that do end, one after the other over a longer time.
    let mut raw = Raw::connect(&server, &[]);
    let begun = Instant::now();
    for id in ids(1_000).take_while(|_| begun.elapsed() < Duration::from_millis(400)) {
        raw.send(&frame(HEADERS, END_STREAM, id, &head("/fixed")));
        std::thread::sleep(Duration::from_millis(10));
        raw.send(&frame(CONTINUATION, END_HEADERS, id, &[]));
        assert_eq!(raw.until(DATA, id).payload, b"hello");
    }
}

#[test]
fn a_client_that_says_nothing_is_idle() {
    let server = Server::limited(|limits| {
        limits.idle_time_ms = 100;
        limits.drain_time_ms = 50;
    });
    // After its SETTINGS, and not even those; PINGs are no requests.
    let mut raw = Raw::connect(&server, &[]);
    assert_eq!(raw.rest().last().map(|frame| frame.kind), Some(PING));
    let mut raw = Raw { stream: TcpStream::connect(server.address).unwrap(), received: Vec::new() };
    raw.send(PREFACE);
    raw.rest();
    let mut raw = Raw::connect(&server, &[]);
    let begun = Instant::now();
    while raw.send(&frame(PING, 0, 0, &[0; 8])) {
        std::thread::sleep(Duration::from_millis(20));
        assert!(begun.elapsed() < Duration::from_secs(3), "pings keep an idle connection open");
    }
}

#[test]
fn a_drain_does_not_wait_for_a_client_that_ignores_it() {
    let server = Server::with(Options { drain_grace_ms: 100, ..Options::default() });
    let mut raw = Raw::connect(&server, &[]);
    raw.send(&get(1, "/fixed"));
    assert_eq!(raw.until(DATA, 1).payload, b"hello");
    // Nothing sent, and half a preface.
    let silent = TcpStream::connect(server.address).unwrap();
    let mut silent = Raw { stream: silent, received: Vec::new() };
    server.answers();
    server.drain();
    raw.until(GOAWAY, 0);
    raw.rest();
    assert!(silent.rest().is_empty());
}

#[test]
fn a_client_that_goes_on_behind_a_goaway_is_not_served_for_ever() {
    let server = Server::limited(|limits| {
        limits.requests_per_connection_max = 3;
        limits.drain_time_ms = 100;
    });
    let mut raw = Raw::connect(&server, &[]);
    // Each within the time that a connection at rest has, and never an answer to the PING behind the GOAWAY.
    let asked = ids(200).take_while(|id| {
        std::thread::sleep(Duration::from_millis(20));
        raw.send(&get(*id, "/fixed"))
    });
    let asked = asked.count();
    assert!(asked < 100, "{asked} requests were taken on a connection of 3");
    let said: Vec<Frame> = raw.rest().into_iter().filter(|frame| frame.kind == GOAWAY).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    let last = u32::from_be_bytes(*said[1].payload.first_chunk().unwrap());
    assert!((5..100).contains(&last), "the last stream that was taken: {last}");
}

#[test]
fn a_request_in_the_grace_of_a_drain_is_answered_though_nothing_came_before() {
    let server = Server::with(Options { drain_grace_ms: 1_000, ..Options::default() });
    let stream = TcpStream::connect(server.address).unwrap();
    let mut raw = Raw { stream, received: Vec::new() };
    server.answers();
    server.drain();
    std::thread::sleep(Duration::from_millis(60));
    raw.send(&[PREFACE, &frame(SETTINGS, 0, 0, &[]), &get(1, "/fixed")].concat());
    assert_eq!(raw.until(DATA, 1).payload, b"hello");
}

#[test]
fn a_client_that_reads_nothing_loses_its_connection_in_bounded_time_and_memory() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let server = Server::with({
        let mut options = Options { send_buffer_bytes: Some(64 * 1024), ..Options::default() };
        options.limits.throughput_grace_ms = 300;
        options
    });
    // Windows as large as they can be: nothing but the socket holds the server up. One exchange runs on all the while.
    let settings = [&[0, 4][..], &0x7fff_ffff_u32.to_be_bytes()].concat();
    for path in ["/stream?100000000,9000", "/raw?100000", "/raw?1000"] {
        let before = memory::in_use();
        let mut raw = Raw::connect(&server, &settings);
        raw.send(&frame(WINDOW_UPDATE, 0, 0, &0x7fff_0000_u32.to_be_bytes()));
        raw.send(&get(1, "/gone"));
        // Small replies take many requests to fill the socket.
        let count = if path.ends_with("?1000") { 20_000 } else { 100 };
        for id in ids(count).skip(1) {
            if !raw.send(&get(id, path)) {
                break;
            }
        }
        let held = memory::in_use().saturating_sub(before);
        assert!(held < 100 * 200_000, "{path} {held}");
        let lost = eventually("the end of the connection", || {
            server.events().into_iter().find(|event| matches!(event, Event::Gone(_)))
        });
        assert_eq!(lost, Event::Gone(Reason::PeerReset), "{path}");
        assert_eq!(server.ended(None).1, Some(Reason::SlowReader), "{path}");
        drop(raw);
        eventually("the memory to be given back", || (memory::in_use() <= before + 600_000).then_some(()));
        server.answers();
    }
}

#[test]
fn the_replies_to_a_batch_are_written_at_once() {
    let server = Server::start();
    let mut raw = Raw::connect(&server, &[]);
    // What a connection begins with is out of the way.
    raw.send(&get(1, "/raw?10"));
    raw.until(DATA, 1);
    // Above what the crate copies into its own buffer, and below.
    for (first, path) in [(3, "/raw?600"), (43, "/raw?10"), (83, "/known?600")] {
        let batch: Vec<u8> = (0..20).flat_map(|number| get(first + 2 * number, path)).collect();
        raw.send(&batch);
        let mut block = [0; 32 * 1024];
        let count = raw.stream.read(&mut block).unwrap();
        raw.received.extend_from_slice(&block[..count]);
        let mut replies = 0;
        while !raw.received.is_empty() {
            replies += usize::from(raw.next().unwrap().kind == DATA);
        }
        assert_eq!(replies, 20, "{path}");
    }
}

#[test]
fn windows_that_never_open_end_with_the_idle_connection() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let server = Server::limited(|limits| {
        limits.idle_time_ms = 200;
        limits.drain_time_ms = 50;
    });
    let mut raw = Raw::connect(&server, &[0, 4, 0, 0, 0, 0]);
    // So small that they were given to their streams at once.
    for id in ids(100) {
        raw.send(&get(id, "/raw?500"));
    }
    let rest = raw.rest();
    assert_eq!(rest.iter().filter(|frame| frame.kind == HEADERS).count(), 100);
    assert!(rest.iter().all(|frame| frame.kind != DATA));
}

#[test]
fn exchanges_that_outlive_their_streams_are_bounded() {
    let server = Server::limited(|limits| limits.h2_streams_max = 4);
    let mut raw = Raw::connect(&server, &[]);
    // Handlers that do not hear of a reset.
    for (number, id) in ids(8).enumerate() {
        raw.send(&get(id, "/wait"));
        eventually("an exchange", || (begun(&server) > number).then_some(()));
        raw.send(&reset(id));
    }
    raw.send(&get(17, "/wait"));
    assert_eq!(raw.until(RST_STREAM, 17).code(), REFUSED_STREAM);
    assert_eq!(begun(&server), 8);
    for _ in 0..8 {
        server.release();
        std::thread::sleep(Duration::from_millis(2));
    }
    raw.send(&get(19, "/fixed"));
    assert_eq!(raw.until(DATA, 19).payload, b"hello");
}

#[test]
fn a_reply_does_not_wait_for_the_end_of_a_request() {
    // A raw reply, one of an exchange, and the engine's own to a body that is too long.
    for (path, text) in [("/fixed", "hello"), ("/ignore", "ignored"), ("/limited?10", "body_bytes_max")] {
        let server = Server::limited(|limits| {
            limits.drain_time_ms = 60_000;
            limits.drain_bytes_max = 20_000;
        });
        let mut raw = Raw::connect(&server, &[]);
        let too_long = |id| if text == "body_bytes_max" { frame(DATA, 0, id, &[0; 100]) } else { Vec::new() };
        let open = |id| [frame(HEADERS, END_HEADERS, id, &head(path)), too_long(id)].concat();
        raw.send(&open(1));
        let reply = raw.until(DATA, 1);
        assert!(String::from_utf8_lossy(&reply.payload).contains(text) && reply.ends, "{path}");
        // What comes behind it is read off; the stream ends with the request.
        raw.send(&[frame(DATA, 0, 1, &[0; 16_000]), frame(DATA, END_STREAM, 1, b"end"), get(3, "/fixed")].concat());
        let after: Vec<u32> = std::iter::from_fn(|| raw.next()).take(2).map(|frame| frame.stream).collect();
        assert_eq!(after, [3, 3], "no reset: {path}");
        // What is wrong with it is told.
        raw.send(&open(5));
        assert!(raw.until(DATA, 5).ends);
        raw.send(&get(5, "/fixed").repeat(2));
        assert_ne!(raw.until(RST_STREAM, 5).code(), 0, "{path}");
        // Above the limit it is reset, but not for an error.
        raw.send(&open(7));
        assert!(raw.until(DATA, 7).ends);
        raw.send(&frame(DATA, 0, 7, &[0; 16_000]).repeat(2));
        assert_eq!(raw.until(RST_STREAM, 7).code(), 0, "{path}");
    }
}

#[test]
fn data_is_taken_as_it_comes() {
    let server = Server::start();
    let mut raw = Raw::connect(&server, &[]);
    raw.send(&frame(HEADERS, END_HEADERS, 1, &head("/pipe/both")));
    let body = frame(DATA, END_STREAM, 1, b"slow words");
    raw.send(&body[..9 + 4]);
    assert_eq!(raw.until(DATA, 1).payload, b"slow", "half a frame is there to be read");
    raw.send(&body[9 + 4..]);
    let mut rest = Vec::new();
    while rest.len() < 6 {
        rest.extend(raw.until(DATA, 1).payload);
    }
    assert_eq!(rest, b" words");
}

#[test]
fn a_connection_that_begins_otherwise_is_told_so() {
    // By ALPN nobody looks at the first bytes before.
    let cases: [(&[u8], bool); 4] = [
        (b"GET / HTTP/1.1\r\nhost: leat.test\r\n\r\n", false),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\r", false),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x08\x06\0\0\0\0\0\0\0\0\0\0\0\0\0", false),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", true),
    ];
    for (bytes, goes_on) in cases {
        let options = Options { protocol: leat_serve::Protocol::Http2, host: Some("leat.test"), ..Options::default() };
        let server = Server::with(options);
        let mut raw = Raw { stream: TcpStream::connect(server.address).unwrap(), received: Vec::new() };
        raw.stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        raw.send(bytes);
        if goes_on {
            raw.send(&get(1, "/fixed"));
            assert_eq!(raw.until(DATA, 1).payload, b"hello");
            continue;
        }
        let last = raw.rest().pop().expect("a GOAWAY");
        assert_eq!((last.kind, last.code()), (GOAWAY, 1), "{}", bytes.escape_ascii());
        assert_eq!(server.ended(None).1, Some(Reason::H2Protocol));
    }
}

#[test]
fn a_client_that_leaves_gets_its_replies_and_then_the_end() {
    let server = Server::start();
    let mut raw = Raw::connect(&server, &[]);
    raw.send(&[get(1, "/wait"), frame(GOAWAY, 0, 0, &[0; 8])].concat());
    server.begun("/wait");
    server.release();
    assert_eq!(raw.until(DATA, 1).payload, b"waited");
    assert!(raw.rest().iter().all(|frame| frame.stream == 1));
}

#[test]
fn large_replies_of_one_connection_take_turns() {
    let server = Server::start();
    // Wide streams, and the connection's window as it is at first: 65,535 bytes.
    let mut raw = Raw::connect(&server, &[&[0, 4][..], &0x7fff_ffff_u32.to_be_bytes()].concat());
    let paths = ["/stream?1000000,30000", "/raw?1000000", "/known?1000000,1000"];
    raw.send(&ids(3).zip(paths).flat_map(|(id, path)| get(id, path)).collect::<Vec<u8>>());
    let mut received = [0; 3];
    let mut ended = 0;
    while ended < 3 {
        let frame = raw.next().expect("the connection goes on");
        if frame.kind != DATA {
            continue;
        }
        let index = frame.stream as usize / 2;
        received[index] += frame.payload.len();
        ended += usize::from(frame.ends);
        // As little as it can be: none may wait for the end of another.
        raw.send(&self::frame(WINDOW_UPDATE, 0, 0, &(frame.payload.len().max(1) as u32).to_be_bytes()));
        let behind = received.iter().min().unwrap();
        assert!(ended > 0 || received[index] <= behind + 200_000, "{received:?}");
    }
    assert_eq!(received, [1_000_000; 3]);
}
