//! Clients of HTTP/1 that take their time, and how much of what they do not take is held for them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use leat_message::{Limits, Reason};
use leat_stream::memory;
use leat_testkit::eventually;
use support::{Options, Server};

const HEAD: &str = "HTTP/1.1\r\nhost: leat.test\r\n";
/// One at a time: they look at the memory of the process, or at the clock.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> std::sync::MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Writes until nothing more is taken; says how many bytes were.
fn stuff(stream: &mut TcpStream, block: &[u8]) -> u64 {
    stream.set_nonblocking(true).unwrap();
    let (mut sent, mut moved) = (0, Instant::now());
    while moved.elapsed() < Duration::from_millis(300) {
        match stream.write(block) {
            Ok(count) => (sent, moved) = (sent + count as u64, Instant::now()),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(error) => panic!("after {sent} bytes: {error}"),
        }
    }
    stream.set_nonblocking(false).unwrap();
    sent
}

fn quick(change: impl FnOnce(&mut Limits)) -> Server {
    Server::limited(|limits| {
        limits.head_time_ms = 100;
        limits.body_time_ms = Some(100);
        change(limits);
    })
}

#[test]
fn a_head_that_does_not_end_in_time_is_refused() {
    let _alone = alone();
    let server = quick(|_| {});
    for start in ["G", "P", "GET /fixed HTTP/1.1\r\nhost: leat.test\r\n"] {
        let mut client = server.client();
        client.send(start);
        assert_eq!(client.response().status, 408, "{start}");
        client.expect_end();
    }
    // A byte now and then is no excuse.
    let mut client = server.client();
    let begun = Instant::now();
    client.send("GET /fixed HTTP/1.1\r\n");
    while begun.elapsed() < Duration::from_millis(60) {
        client.send("x: y\r\n");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(client.response().status, 408);
    assert_eq!(server.ended(None), (408, Some(Reason::TimeHead)));
}

#[test]
fn a_body_that_is_not_whole_in_time_is_refused_unless_it_is_a_stream() {
    let _alone = alone();
    let server = quick(|_| {});
    for head in ["content-length: 100\r\n\r\nsome", "transfer-encoding: chunked\r\n\r\n4\r\nsome\r\n"] {
        let mut client = server.client();
        client.send(format!("POST /count {HEAD}{head}"));
        let response = client.response();
        assert_eq!(response.status, 408);
        assert!(response.text().contains("time.body"));
        client.expect_end();
    }
    let mut client = server.client();
    client.send(format!("POST /limited?100 {HEAD}content-length: 8\r\n\r\nsome"));
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(client.send("more").response().text(), "8 ");
}

#[test]
fn a_sender_is_slow_only_while_we_wait_for_it() {
    let _alone = alone();
    let server = Server::limited(|limits| {
        limits.throughput_bytes_min = 1_000;
        limits.throughput_grace_ms = 100;
    });
    let mut client = server.client();
    client.send(format!("POST /count {HEAD}content-length: 1000000\r\n\r\nsome"));
    let response = client.response();
    assert_eq!(response.status, 408);
    assert!(response.text().contains("slow.sender"), "{}", response.text());
    client.expect_end();
    // We let it wait: nothing to blame it for.
    let mut client = server.client();
    client.send(format!("POST /held {HEAD}content-length: 8\r\n\r\nsome"));
    server.begun("/held");
    std::thread::sleep(Duration::from_millis(300));
    server.release();
    assert_eq!(client.send("more").response().text(), "8 ");
}

#[test]
fn a_body_that_the_handler_gave_up_does_not_end_its_reply() {
    let _alone = alone();
    let server = Server::with({
        let mut options = Options { send_buffer_bytes: Some(128 * 1024), ..Options::default() };
        options.limits.body_time_ms = Some(60);
        options.limits.throughput_grace_ms = 2_000;
        options
    });
    // The handler looks at the body once, in vain, and then only sends: the time of the body passes meanwhile.
    let mut client = server.client();
    client.send(format!("POST /part-then-stream?6000000 {HEAD}content-length: 100\r\n\r\n"));
    client.until("\r\n\r\n");
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(client.rest().len() / 1_000_000, 6);
}

#[test]
fn a_reader_that_takes_nothing_loses_its_connection() {
    let _alone = alone();
    let server = Server::with({
        let mut options = Options { send_buffer_bytes: Some(8 * 1024), ..Options::default() };
        options.limits.throughput_grace_ms = 100;
        options
    });
    // An exchange in the middle of its reply, one that waits for its last bytes, and a batch of raw replies.
    for (path, requests) in [("/stream?50000000", 1), ("/raw?100000", 100)] {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(format!("GET {path} {HEAD}\r\n").repeat(requests).as_bytes()).unwrap();
        let path = path.split('?').next().unwrap();
        let wanted = if requests == 1 { Some(path) } else { None };
        assert_eq!(server.ended(wanted).1, Some(Reason::SlowReader), "{path}");
        // The kernels' buffers are all that arrives.
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut taken = Vec::new();
        let _ = stream.read_to_end(&mut taken);
        assert!(taken.len() < 9_900_000, "{path} {}", taken.len());
    }
    server.answers();
}

#[test]
fn a_reader_that_keeps_taking_is_not_slow() {
    let _alone = alone();
    let server = Server::with({
        let mut options = Options { send_buffer_bytes: Some(128 * 1024), ..Options::default() };
        options.limits.throughput_grace_ms = 300;
        options
    });
    let mut client = TcpStream::connect(server.address).unwrap();
    socket2::SockRef::from(&client).set_recv_buffer_size(128 * 1024).unwrap();
    let begun = Instant::now();
    client.write_all(format!("GET /known?4000000 {HEAD}connection: close\r\n\r\n").as_bytes()).unwrap();
    let (mut block, mut total) = ([0; 16 * 1024], 0);
    loop {
        let count = client.read(&mut block).unwrap();
        if count == 0 {
            break;
        }
        total += count;
        std::thread::sleep(Duration::from_millis(3));
    }
    assert!(total > 4_000_000, "{total} {:?}", server.events());
    assert!(begun.elapsed() > Duration::from_millis(600), "the reader was too quick to tell");
}

#[test]
fn a_body_that_is_not_read_stops_its_sender_and_takes_little_memory() {
    let _alone = alone();
    let server = Server::start();
    for head in ["content-length: 50000000\r\n\r\n", "transfer-encoding: chunked\r\n\r\n2FAF080\r\n"] {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(format!("POST /limited-held?50000000 {HEAD}{head}").as_bytes()).unwrap();
        let before = memory::in_use();
        let sent = stuff(&mut stream, &[b'x'; 64 * 1024]);
        assert!(sent < 20_000_000, "{sent} bytes were taken though nobody reads them");
        assert!(memory::in_use() < before + 1_000_000, "{}", memory::in_use());
        server.release();
        let mut left = 50_000_000 - sent;
        while left > 0 {
            let count = left.min(65_536) as usize;
            stream.write_all(&vec![b'x'; count]).unwrap();
            left -= count as u64;
        }
        if head.starts_with('t') {
            stream.write_all(b"\r\n0\r\n\r\n").unwrap();
        }
        let mut client_end = vec![0; 1_000];
        let count = stream.read(&mut client_end).unwrap();
        let reply = String::from_utf8_lossy(&client_end[..count]).into_owned();
        assert!(reply.ends_with("\r\n\r\n50000000 "), "{reply}");
    }
}

#[test]
fn a_reply_that_is_not_read_stops_its_handler_and_takes_little_memory() {
    let _alone = alone();
    let server = Server::start();
    let before = memory::in_use();
    let streams: Vec<TcpStream> = ["/stream?100000000,500", "/stream?100000000,500000", "/known?100000000,70000"]
        .iter()
        .map(|path| {
            let mut stream = TcpStream::connect(server.address).unwrap();
            stream.write_all(format!("GET {path} {HEAD}\r\n").as_bytes()).unwrap();
            stream
        })
        .collect();
    std::thread::sleep(Duration::from_millis(300));
    let held = memory::in_use().saturating_sub(before);
    assert!(held < 2_000_000, "{held}");
    drop(streams);
    for path in ["/stream", "/known"] {
        assert_eq!(server.ended(Some(path)).1, Some(Reason::PeerReset), "{path}");
    }
    eventually("the memory to be given back", || (memory::in_use() <= before + 300_000).then_some(()));
}

#[test]
fn large_bodies_go_both_ways_at_once_without_a_deadlock() {
    let _alone = alone();
    let server = Server::with(Options { send_buffer_bytes: Some(256 * 1024), ..Options::default() });
    for path in ["/pipe", "/pipe/both"] {
        let stream = TcpStream::connect(server.address).unwrap();
        let mut writer = stream.try_clone().unwrap();
        let sender = std::thread::spawn(move || {
            writer.write_all(format!("POST {path} {HEAD}content-length: 20000000\r\n\r\n").as_bytes()).unwrap();
            for _ in 0..200 {
                writer.write_all(&[b'x'; 100_000]).unwrap();
            }
        });
        let mut reader = std::io::BufReader::new(stream);
        reader.get_ref().set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let (mut total, mut tail, mut block) = (0, Vec::new(), vec![0; 65_536]);
        while !tail.ends_with(b"\r\n0\r\n\r\n") {
            let count = reader.read(&mut block).unwrap();
            assert!(count > 0, "the reply ended after {total} bytes");
            total += count;
            tail.extend_from_slice(&block[..count]);
            let surplus = tail.len().saturating_sub(16);
            tail.drain(..surplus);
        }
        assert!(total > 20_000_000, "{total}");
        sender.join().unwrap();
    }
}

#[test]
fn a_100_that_meets_a_full_socket_still_leaves() {
    let _alone = alone();
    let server = Server::with(Options { send_buffer_bytes: Some(64 * 1024), ..Options::default() });
    let mut stream = TcpStream::connect(server.address).unwrap();
    socket2::SockRef::from(&stream).set_recv_buffer_size(64 * 1024).unwrap();
    // Replies that fill the socket, then a request that waits for its 100.
    let raw = format!("GET /raw?100000 {HEAD}\r\n").repeat(10);
    let last = format!("POST /count {HEAD}expect: 100-continue\r\ncontent-length: 4\r\n\r\n");
    stream.write_all(format!("{raw}{last}").as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let (mut seen, mut block) = (Vec::new(), [0; 4_096]);
    while !seen.ends_with(b"HTTP/1.1 100 Continue\r\n\r\n") {
        let count = stream.read(&mut block).unwrap();
        assert!(count > 0);
        seen.extend_from_slice(&block[..count]);
    }
    stream.write_all(b"body").unwrap();
    let count = stream.read(&mut block).unwrap();
    assert!(String::from_utf8_lossy(&block[..count]).ends_with("\r\n\r\n4 "));
}
