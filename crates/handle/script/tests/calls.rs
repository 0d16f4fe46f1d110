//! Calls out: what a host asks for, and what a peer on a socket makes of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use leat_dial::{Endpoint, EndpointLimits, Protocol, Target};
use leat_message::Reason;
use leat_script::Given;
use leat_testkit::{Counting, DEADLINE, eventually};
use support::{ACK, END, Engine, Host, Record, Replies};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What a call over a kept connection allocates on the engine's thread: its batch, and its task.
const ALLOCATIONS: u64 = 2;
const STREAM: u32 = 1;
const REFUSED: u32 = 1;
const NOT_SENT: u32 = 2;
const BROKEN: u32 = 4;
const PROTOCOL: u32 = 5;

/// A lane whose host may call a peer, which is a socket in the test's hands.
struct Scene {
    host: Host,
    peer: TcpListener,
    to: u32,
    // Dropped last: the host waits for it to let go of its memory.
    engine: Engine,
}

impl Scene {
    fn new() -> Self {
        Self::with(EndpointLimits::default())
    }

    fn with(limits: EndpointLimits) -> Self {
        let (seed, mut host) = Host::lane();
        let engine = Engine::start([seed]);
        let peer = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = host.port.name_destination(given(peer.local_addr().unwrap(), limits));
        Self { host, peer, to, engine }
    }

    fn accept(&self) -> TcpStream {
        let (stream, _) = self.peer.accept().unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream
    }

    fn get(&mut self, id: u32) {
        let to = self.to;
        self.host.send(Replies::new().call(id, 0, to, "GET\n/\nhost\na", &[]));
    }
}

fn given(address: SocketAddr, limits: EndpointLimits) -> Given {
    let target = Target::parse(&address.to_string()).unwrap();
    let endpoint = Endpoint::new(target, Protocol::H1, None, None, limits).unwrap();
    Given { client: 0, endpoint, authority: address.to_string() }
}

/// Reads until `end` has come.
fn until(stream: &mut TcpStream, end: &str) -> String {
    let mut got = Vec::new();
    let mut piece = [0; 4096];
    while !got.ends_with(end.as_bytes()) {
        let count = stream.read(&mut piece).unwrap();
        assert!(count > 0, "the end came after {:?}", String::from_utf8_lossy(&got));
        got.extend_from_slice(&piece[..count]);
    }
    String::from_utf8(got).unwrap()
}

/// Whether the other side is closed.
fn is_closed(stream: &mut TcpStream) -> bool {
    matches!(stream.read(&mut [0; 1]), Ok(0) | Err(_))
}

fn response(record: Record) -> (bool, u32, Vec<u8>) {
    match record {
        Record::Response { whole, status, body, .. } => (whole, status, body),
        other => panic!("a response was expected, not {other:?}"),
    }
}

fn failure(record: Record) -> (u32, u32) {
    match record {
        Record::CallFailed { failure, reason, .. } => (failure, reason - 1),
        other => panic!("a failure was expected, not {other:?}"),
    }
}

#[test]
fn a_small_response_is_one_record_and_its_connection_is_used_again() {
    let mut scene = Scene::new();
    scene.get(5);
    let mut peer = scene.accept();
    for id in [5, 1 << 20 | 5] {
        if id != 5 {
            scene.get(id);
        }
        assert_eq!(until(&mut peer, "\r\n\r\n"), "GET / HTTP/1.1\r\nhost: a\r\n\r\n");
        peer.write_all(b"HTTP/1.1 103 Early\r\nx: y\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: abc\r\n\r\nhi")
            .unwrap();
        let Record::Response { call, whole, status, fields, body } = scene.host.next() else { panic!() };
        assert_eq!((call, whole, status, body.as_slice()), (id, true, 200, &b"hi"[..]));
        let names: Vec<_> = fields.iter().map(|(_, name, value)| (name.as_str(), value.len())).collect();
        assert_eq!(names, [("Content-Length", 1), ("X-A", 3)]);
        assert!(fields[0].0 > 0, "a known name has its number");
    }
}

#[test]
fn a_small_call_allocates_its_batch_and_its_task() {
    let mut scene = Scene::new();
    scene.get(0);
    let mut peer = scene.accept();
    let mut before = scene.engine.allocations();
    for round in 0..60u32 {
        if round > 0 {
            scene.get(round << 20);
        }
        if round == 10 {
            before = scene.engine.allocations();
        }
        until(&mut peer, "\r\n\r\n");
        peer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi").unwrap();
        assert_eq!(response(scene.host.next()).2, b"hi");
    }
    let each = scene.engine.allocations().since(before).count / 50;
    assert_eq!(each, ALLOCATIONS);
}

#[test]
fn a_body_goes_whole_or_in_pieces_that_the_peer_has_to_take() {
    let mut scene = Scene::new();
    let to = scene.to;
    scene.host.send(Replies::new().call(0, 0, to, "POST\n/", &[b"ab", b"c"]));
    let mut peer = scene.accept();
    assert_eq!(until(&mut peer, "abc"), "POST / HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc");
    peer.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
    assert_eq!(response(scene.host.next()), (true, 204, vec![]));

    scene.host.send(Replies::new().call(1, STREAM, to, "PUT\n/", &[]));
    assert!(until(&mut peer, "\r\n\r\n").contains("transfer-encoding: chunked"));
    scene.host.send(Replies::new().call_data(1, ACK, &[b"abc"]));
    assert_eq!(until(&mut peer, "3\r\nabc\r\n"), "3\r\nabc\r\n");
    assert_eq!(scene.host.next(), Record::CallWritable { call: 1 });
    scene.host.send(Replies::new().call_data(1, END, &[]));
    until(&mut peer, "0\r\n\r\n");
    peer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
    assert_eq!(response(scene.host.next()), (true, 200, vec![]));

    // A length that is told is kept, and what is missing of it is found.
    scene.host.send(Replies::new().call(2, STREAM, to, "PUT\n/\ncontent-length\n5", &[]).call_data(2, 0, &[b"abc"]));
    assert!(until(&mut peer, "\r\n\r\nabc").contains("content-length: 5"));
    scene.host.send(Replies::new().call_data(2, END, &[b"d"]));
    assert_eq!(failure(scene.host.next()), (REFUSED, Reason::HandlerFailed as u32));
    let mut rest = Vec::new();
    let _ = peer.read_to_end(&mut rest);
    assert!(rest.len() <= 1);
}

#[test]
fn a_long_body_comes_as_fast_as_it_is_asked_for() {
    let mut scene = Scene::new();
    scene.get(0);
    let mut peer = scene.accept();
    let writer = std::thread::spawn(move || {
        until(&mut peer, "\r\n\r\n");
        peer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n").unwrap();
        peer.write_all(&vec![b'a'; 1_000_000]).unwrap();
        peer
    });
    assert_eq!(response(scene.host.next()), (false, 200, vec![]));
    let mut count = 0;
    while count < leat_script::CREDIT_BYTES {
        let Record::CallData { call: 0, bytes } = scene.host.next() else { panic!() };
        count += bytes.len();
    }
    assert_eq!(count, leat_script::CREDIT_BYTES, "no more than there was credit for");
    scene.host.send(Replies::new().call_read(0, 1_000_000));
    loop {
        match scene.host.next() {
            Record::CallData { call: 0, bytes } => count += bytes.len(),
            Record::CallEnd { call: 0 } => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(count, 1_000_000);
    drop(writer.join().unwrap());
}

#[test]
fn what_goes_wrong_is_told_by_what_the_peer_can_have_seen() {
    let cases: &[(&[u8], u32, Reason)] = &[
        (b"", BROKEN, Reason::UpstreamReset),
        (b"HTTP/1.1 200", BROKEN, Reason::UpstreamReset),
        (b"220 mail\r\n", PROTOCOL, Reason::UpstreamInvalid),
        (
            b"HTTP/1.1 101 Switching Protocols\r\nupgrade: a\r\nconnection: upgrade\r\n\r\n",
            PROTOCOL,
            Reason::UpstreamUpgrade,
        ),
    ];
    for (bytes, class, reason) in cases {
        let mut scene = Scene::new();
        scene.get(0);
        let mut peer = scene.accept();
        until(&mut peer, "\r\n\r\n");
        peer.write_all(bytes).unwrap();
        drop(peer);
        assert_eq!(failure(scene.host.next()), (*class, *reason as u32), "{}", String::from_utf8_lossy(bytes));
    }
    let mut scene = Scene::new();
    scene.get(0);
    let mut peer = scene.accept();
    until(&mut peer, "\r\n\r\n");
    peer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc").unwrap();
    drop(peer);
    assert_eq!(response(scene.host.next()), (false, 200, vec![]));
    assert_eq!(scene.host.next(), Record::CallData { call: 0, bytes: b"abc".to_vec() });
    assert_eq!(failure(scene.host.next()), (BROKEN, Reason::UpstreamReset as u32));
}

#[test]
fn what_is_no_request_opens_no_connection() {
    let mut scene = Scene::new();
    let to = scene.to;
    let heads = ["GET\n/\nx\na\r\nb", "GET\n/\nconnection\nclose", "GET\n/ a", "GET", "POST\n/\ncontent-length\n2"];
    for (id, head) in heads.iter().enumerate() {
        scene.host.send(Replies::new().call(id as u32, 0, to, head, &[b"abc"]));
        assert_eq!(failure(scene.host.next()), (REFUSED, Reason::HandlerFailed as u32), "{head:?}");
    }
    // More lines than were counted: somebody has put a line end into a value.
    scene.host.send(Replies::new().words([9 | 4 << 16, 9, 0, 0, to, 0]));
    assert_eq!(failure(scene.host.next()).0, REFUSED);
    scene.host.send(Replies::new().call(9, 0, to + 1, "GET\n/", &[]));
    assert_eq!(failure(scene.host.next()).0, REFUSED, "nobody has named this destination");
    scene.peer.set_nonblocking(true).unwrap();
    assert!(scene.peer.accept().is_err());
}

#[test]
fn a_peer_that_is_not_there_and_a_queue_that_is_full_get_nothing_sent() {
    let mut scene = Scene::with(EndpointLimits { connections_max: 1, queue_max: 1, ..EndpointLimits::default() });
    let to = scene.to;
    for id in 0..3 {
        scene.get(id);
    }
    assert_eq!(failure(scene.host.next()), (NOT_SENT, Reason::UpstreamPool as u32));
    // The one that waits is given up: its place is free, and nothing of it is sent. The last one tells that this was read.
    let given_up = Replies::new().call_abort(1).call(2, 0, to, "GET\n/second", &[]);
    scene.host.send(given_up.call(3, 0, to + 9, "GET\n/", &[]));
    assert_eq!(failure(scene.host.next()).0, REFUSED);
    let mut peer = scene.accept();
    until(&mut peer, "\r\n\r\n");
    peer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
    response(scene.host.next());
    let sent = until(&mut peer, "\r\n\r\n");
    assert!(sent.starts_with("GET /second "), "{sent}");

    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nowhere = scene.host.port.name_destination(given(gone, EndpointLimits::default()));
    scene.host.send(Replies::new().call(4, 0, nowhere, "GET\n/", &[]));
    assert_eq!(failure(scene.host.next()), (NOT_SENT, Reason::UpstreamConnect as u32));
}

#[test]
fn a_call_that_is_given_up_has_its_connection_closed_wherever_it_is() {
    let mut scene = Scene::new();
    for (id, answer) in [(0, ""), (1, "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n"), (2, "HTTP/1.1 20")] {
        scene.get(id);
        let mut peer = scene.accept();
        until(&mut peer, "\r\n\r\n");
        peer.write_all(answer.as_bytes()).unwrap();
        if id == 1 {
            response(scene.host.next());
        }
        scene.host.send(Replies::new().call_abort(id).call_read(id, 1).call_data(id, END, &[b"late"]).call_abort(id));
        assert!(is_closed(&mut peer), "{id}");
    }
    // The same number with another generation is another call.
    let to = scene.to;
    scene.host.send(Replies::new().call(3, 0, to, "GET\n/a", &[]).call_abort(3).call(
        1 << 20 | 3,
        0,
        to,
        "GET\n/b",
        &[],
    ));
    let mut peer = scene.accept();
    assert!(until(&mut peer, "\r\n\r\n").starts_with("GET /b "));
}

#[test]
fn hanging_up_closes_what_is_idle_and_forgets_where_it_went() {
    let mut scene = Scene::new();
    scene.get(0);
    let mut peer = scene.accept();
    until(&mut peer, "\r\n\r\n");
    peer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
    response(scene.host.next());
    scene.host.send(Replies::new().hang_up(0));
    assert!(is_closed(&mut peer));
    scene.get(1);
    assert_eq!(failure(scene.host.next()).0, REFUSED);
}

#[test]
fn a_host_that_ends_leaves_no_connection() {
    let mut scene = Scene::new();
    let (to, mut peers) = (scene.to, Vec::new());
    for id in 0..3 {
        let flags = if id == 1 { STREAM } else { 0 };
        scene.host.send(Replies::new().call(id, flags, to, "POST\n/", &[]));
        let mut peer = scene.accept();
        until(&mut peer, "\r\n\r\n");
        peers.push(peer);
    }
    peers[2].write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n").unwrap();
    response(scene.host.next());
    let Scene { host, engine, .. } = scene;
    drop(host);
    eventually("the end of all connections", || peers.iter_mut().all(is_closed).then_some(()));
    drop(engine);
}
