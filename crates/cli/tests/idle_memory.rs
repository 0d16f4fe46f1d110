//! What ten thousand idle connections hold, in the real process.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{Read, Write};
use std::net::TcpStream;

use leat_testkit::{DEADLINE, Leat, eventually, skip};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const CONNECTIONS: usize = 10_000;
/// Resident memory of the whole process with all of them open.
const RESIDENT_BYTES_MAX: u64 = 60 * 1024 * 1024;
/// Descriptors that a process needs besides its connections.
const DESCRIPTORS_REST: u64 = 200;

const CONFIG: &str = "listeners: [127.0.0.1:0]\nworkers: 1\naccess_log: off\n\
                      routes:\n  - respond: { body: \"Hello world!\\n\" }\n";

#[test]
fn ten_thousand_idle_connections_hold_less_than_sixty_megabytes() {
    let needed = CONNECTIONS as u64 + DESCRIPTORS_REST;
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    if maximum.is_some_and(|maximum| maximum < needed) {
        skip("idle_memory", &format!("a process may have {} descriptors, {needed} are needed", maximum.unwrap()));
        return;
    }
    // The gateway inherits it.
    setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum }).unwrap();
    let leat = Leat::gateway(CONFIG, 1);
    let empty = resident_bytes(leat.pid());

    let mut silent = open(&leat);
    let fresh = resident_bytes(leat.pid());
    for stream in &mut silent {
        ask(stream);
    }
    let served = settled_bytes(leat.pid());
    let each = |now: u64| now.saturating_sub(empty) / CONNECTIONS as u64;
    println!(
        "{} kB when started; {} kB with {CONNECTIONS} connections that never asked ({} bytes each); \
         {} kB once each has been served ({} bytes each)",
        empty / 1024,
        fresh / 1024,
        each(fresh),
        served / 1024,
        each(served)
    );
    assert!(fresh.max(served) < RESIDENT_BYTES_MAX, "{fresh} bytes before, {served} after a request each");
    drop(silent);
}

/// Connections that the gateway has accepted.
fn open(leat: &Leat) -> Vec<TcpStream> {
    let mut streams: Vec<TcpStream> = Vec::with_capacity(CONNECTIONS);
    for _ in 0..CONNECTIONS {
        let stream = TcpStream::connect_timeout(&leat.address(0), DEADLINE).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        streams.push(stream);
    }
    // Accepted in order: the last one's reply says that all are.
    let mut last = TcpStream::connect_timeout(&leat.address(0), DEADLINE).unwrap();
    last.set_read_timeout(Some(DEADLINE)).unwrap();
    ask(&mut last);
    streams
}

fn ask(stream: &mut TcpStream) {
    stream.write_all(b"GET / HTTP/1.1\r\nhost: leat.test\r\n\r\n").unwrap();
    let (mut held, mut part) = (Vec::new(), [0; 1024]);
    while !held.ends_with(b"Hello world!\n") {
        let count = stream.read(&mut part).unwrap();
        assert!(count > 0, "the connection ended: {}", String::from_utf8_lossy(&held));
        held.extend(&part[..count]);
    }
}

/// Resident memory once it no longer changes: connections give their buffers back a moment after they have answered.
fn settled_bytes(pid: u32) -> u64 {
    let mut before = 0;
    eventually("memory that stays as it is", || {
        let now = resident_bytes(pid);
        std::thread::sleep(std::time::Duration::from_millis(20));
        (std::mem::replace(&mut before, now) == now).then_some(now)
    })
}

fn resident_bytes(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
}
