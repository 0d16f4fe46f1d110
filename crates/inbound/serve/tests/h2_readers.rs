//! HTTP/2 clients that read slowly, steadily, late or not at all.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use bytes::Bytes;
use h2::Reason as Code;
use http::Request;
use leat_message::Reason;
use leat_stream::memory;
use support::{Options, Server, pattern};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const END_STREAM: u8 = 1;

/// One at a time: they look at the memory of the process, or at the clock.
static ALONE: Mutex<()> = Mutex::new(());

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend_from_slice(&[kind, flags]);
    frame.extend_from_slice(&stream.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}

/// An integer of HPACK with a prefix of seven bits (RFC 7541 section 5.1).
fn integer(number: usize) -> Vec<u8> {
    match number {
        0..127 => vec![number as u8],
        127..255 => vec![127, (number - 127) as u8],
        _ => vec![127, ((number - 127) % 128) as u8 | 128, ((number - 127) / 128) as u8],
    }
}

/// A GET for `path` without indexing, with a script where there is one.
fn get(stream: u32, path: &str, script: &str) -> Vec<u8> {
    let mut block = vec![0x82, 0x86, 0x04];
    block.extend(integer(path.len()));
    block.extend_from_slice(path.as_bytes());
    block.extend_from_slice(b"\x01\x09leat.test");
    if !script.is_empty() {
        block.extend_from_slice(b"\0\x08x-script");
        block.extend(integer(script.len()));
        block.extend_from_slice(script.as_bytes());
    }
    // END_STREAM and END_HEADERS.
    frame(HEADERS, 5, stream, &block)
}

/// A client that has little room for what it did not read.
fn connect(server: &Server) -> TcpStream {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(8 * 1024).unwrap();
    socket.connect(&server.address.into()).unwrap();
    let mut stream = TcpStream::from(socket);
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream.write_all(&[&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &frame(4, 0, 0, &[])].concat()).unwrap();
    stream
}

/// Takes the whole frames from what was received: kind, flags, length.
fn frames(received: &mut Vec<u8>) -> Vec<(u8, u8, usize)> {
    let mut frames = Vec::new();
    while let Some(&[l0, l1, l2, kind, flags, ..]) = received.first_chunk::<9>() {
        let len = u32::from_be_bytes([0, l0, l1, l2]) as usize;
        if received.len() < 9 + len {
            break;
        }
        received.drain(..9 + len);
        frames.push((kind, flags, len));
    }
    frames
}

/// Reads 16 KiB, or none, of a download every 50 ms; says how many bytes came and how it ended.
async fn download(server: &Server, count: usize, reads: bool) -> (usize, Option<Code>) {
    let stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
    let (client, connection) =
        h2::client::Builder::new().initial_window_size(64 * 1024).handshake::<_, Bytes>(stream).await.unwrap();
    let connection = tokio::spawn(connection);
    let mut client = client.ready().await.unwrap();
    let request = Request::builder().uri(format!("http://leat.test/known?{count},9000")).body(()).unwrap();
    let mut body = client.send_request(request, true).unwrap().0.await.unwrap().into_body();
    let (mut received, mut kept) = (0, 0);
    let outcome = loop {
        match body.data().await {
            None => break None,
            Some(Err(error)) => break error.reason(),
            Some(Ok(bytes)) => {
                let wrong = bytes.iter().zip(received as u64..).find(|&(&byte, at)| byte != pattern(at));
                assert_eq!(wrong, None);
                (received, kept) = (received + bytes.len(), kept + bytes.len());
            }
        }
        while reads && kept >= 16 * 1024 {
            tokio::time::sleep(Duration::from_millis(50)).await;
            body.flow_control().release_capacity(16 * 1024).unwrap();
            kept -= 16 * 1024;
        }
    };
    connection.abort();
    (received, outcome)
}

#[tokio::test]
#[allow(clippy::await_holding_lock, reason = "nothing else runs on this thread that takes it")]
async fn a_steady_reader_gets_all_and_one_that_stops_is_cut_off() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let server = Server::limited(|limits| limits.throughput_grace_ms = 800);
    let started = Instant::now();
    assert_eq!(download(&server, 700_000, true).await, (700_000, None));
    assert!(started.elapsed() > Duration::from_secs(2), "it was to take longer than the grace");
    assert_eq!(server.ended(Some("/known")), (200, None));
    let server = Server::limited(|limits| limits.throughput_grace_ms = 800);
    assert_eq!(download(&server, 700_000, false).await, (65_535, Some(Code::CANCEL)));
    assert_eq!(server.ended(Some("/known")), (200, Some(Reason::SlowReader)));
}

#[test]
fn a_slow_reader_that_keeps_asking_costs_no_more_than_what_it_did_not_read() {
    const REPLIES: usize = 6_000;
    const UNDER_WAY: usize = 100;
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let server = Server::with(Options { send_buffer_bytes: Some(8 * 1024), ..Options::default() });
    let before = memory::in_use();
    let script = format!("head HTTP/1.1 204 No Content|x-long: {}||;end", "v".repeat(3_000));
    let mut stream = connect(&server);
    let (mut asked, mut answered, mut peak) = (0, 0, 0);
    let (mut received, mut block) = (Vec::new(), [0; 4 * 1024]);
    while answered < REPLIES {
        while asked < REPLIES.min(answered + UNDER_WAY) {
            stream.write_all(&get(2 * asked as u32 + 1, "/script", &script)).unwrap();
            asked += 1;
        }
        let count = stream.read(&mut block).unwrap();
        assert!(count > 0, "the connection ended after {answered} replies");
        received.extend_from_slice(&block[..count]);
        for (kind, flags, _) in frames(&mut received) {
            answered += usize::from(kind == HEADERS && flags & END_STREAM != 0);
        }
        peak = peak.max(memory::in_use().saturating_sub(before));
    }
    // Its exchanges may all hold their 16 KiB at once.
    let allowed = UNDER_WAY * 16 * 1024 + 1_000_000;
    assert!(peak < allowed, "{peak} bytes for a client that has {UNDER_WAY} replies of 3 KB under way");
}

#[test]
fn a_client_that_has_ended_its_direction_still_gets_its_replies() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let server = Server::with(Options { send_buffer_bytes: Some(4 * 1024), ..Options::default() });
    let mut stream = connect(&server);
    let requests: Vec<u8> = (0..5).flat_map(|number| get(2 * number + 1, "/raw?12000", "")).collect();
    stream.write_all(&requests).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let (mut received, mut block) = (Vec::new(), [0; 4 * 1024]);
    loop {
        match stream.read(&mut block) {
            Ok(0) => break,
            Ok(count) => received.extend_from_slice(&block[..count]),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => break,
            Err(error) => panic!("{error}"),
        }
    }
    let body: usize = frames(&mut received).iter().filter(|frame| frame.0 == DATA).map(|frame| frame.2).sum();
    assert_eq!(body, 5 * 12_000);
}

#[test]
fn a_connection_at_rest_holds_no_block_to_read_into() {
    const CONNECTIONS: usize = 128;
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let server = Server::start();
    let before = memory::in_use();
    let clients: Vec<TcpStream> = (0..CONNECTIONS)
        .map(|_| {
            let mut stream = connect(&server);
            stream.write_all(&get(1, "/raw?10", "")).unwrap();
            let (mut received, mut block) = (Vec::new(), [0; 1024]);
            let mut body = 0;
            while body < 10 {
                let count = stream.read(&mut block).unwrap();
                received.extend_from_slice(&block[..count]);
                body +=
                    frames(&mut received).iter().filter(|frame| frame.0 == DATA).map(|frame| frame.2).sum::<usize>();
            }
            stream
        })
        .collect();
    std::thread::sleep(Duration::from_millis(100));
    let held = memory::in_use().saturating_sub(before);
    assert!(held < CONNECTIONS * 16 * 1024 / 2, "{held} bytes for {} connections", clients.len());
}
