//! SIGTERM: what was sent is answered, what idles is let go, and the end comes in time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::net::TcpStream;
use std::time::{Duration, Instant};

use bytes::Bytes;
use leat_testkit::{Client, DEADLINE, Folder, Gate, Leat, Peer, Script, eventually};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use support::{Load, Manner, Upstream, events, metric};

const HELD: &str = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nwhole";

/// A gateway in front of `upstream`, with `more` lines at the top of its configuration.
fn gateway(upstream: std::net::SocketAddr, more: &str) -> Leat {
    let config = format!(
        "listeners: 127.0.0.1:0
admin: 127.0.0.1:0
access_log: access.log
{more}
routes:
  - match: {{ path: /here }}
    respond: {{ body: here }}
  - match: {{ prefix: /there }}
    proxy: http://{upstream}
"
    );
    Leat::gateway(&config, 1)
}

/// Waits until the process has begun to drain.
fn wait_draining(leat: &mut Leat) {
    leat.wait_log("the drain", |line| line.contains("\"event\":\"draining\""));
}

#[test]
fn no_request_is_lost_when_a_drain_begins_under_load() {
    let upstream = Upstream::start("upstream");
    let mut leat = gateway(upstream.address(), "workers: 2\ndrain: { grace: 500ms, deadline: 8s }");
    let manners = [Manner::KeepAlive, Manner::KeepAlive, Manner::KeepAlive, Manner::Fresh];
    let load = Load::start(leat.address(0), &manners, &["/here", "/there", "/there/slow"]);
    load.wait_answered(200);
    leat.terminate();
    let outcome = load.join();
    assert_eq!(outcome.failures, [""; 0], "after {} replies", outcome.answered);
    assert_eq!(outcome.refused, 4, "every thread ended since the port was closed");
    assert_eq!(leat.wait().code(), Some(0));
    assert_eq!(events(&leat.log(), "drain_cut"), 0);
}

#[test]
fn no_http2_request_is_lost_when_a_drain_begins_under_load() {
    let upstream = Upstream::start("upstream");
    let mut leat = gateway(upstream.address(), "workers: 2\ndrain: { grace: 2s, deadline: 8s }");
    let address = leat.address(0);
    let (begun, wait_begun) = std::sync::mpsc::channel();
    let load = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let connections = (0..3).map(|_| http2_load(address, begun.clone()));
        let connections: Vec<_> = connections.collect();
        let local = tokio::task::LocalSet::new();
        local.block_on(&runtime, async {
            let running: Vec<_> = connections.into_iter().map(tokio::task::spawn_local).collect();
            let mut answered = 0;
            for one in running {
                answered += one.await.unwrap();
            }
            answered
        })
    });
    for _ in 0..3 {
        wait_begun.recv_timeout(DEADLINE).unwrap();
    }
    leat.terminate();
    let answered: u64 = load.join().expect("no request of any connection failed");
    assert!(answered > 3 * 50, "{answered}");
    assert_eq!(leat.wait().code(), Some(0));
    assert_eq!(events(&leat.log(), "drain_cut"), 0);
}

/// Requests on one HTTP/2 connection, four at a time, until the server says GOAWAY; says how many were answered.
async fn http2_load(address: std::net::SocketAddr, begun: std::sync::mpsc::Sender<()>) -> u64 {
    let socket = tokio::net::TcpStream::connect(address).await.unwrap();
    let (client, connection) = h2::client::handshake(socket).await.unwrap();
    let driver = tokio::task::spawn_local(connection);
    let mut answered = 0;
    'load: for round in 0..20_000 {
        let mut replies = Vec::new();
        for path in ["/here", "/there", "/here", "/there/slow"] {
            // Not ready any more: the server said that it takes no more streams.
            let Ok(mut ready) = client.clone().ready().await else { break };
            let request = http::Request::get(format!("http://leat.test{path}")).body(()).unwrap();
            match ready.send_request(request, true) {
                Ok((reply, _)) => replies.push(reply),
                Err(_) => break,
            }
        }
        let all_sent = replies.len() == 4;
        for reply in replies {
            match reply.await {
                Ok(reply) => {
                    assert_eq!(reply.status(), 200);
                    let mut body = reply.into_body();
                    let mut bytes = Bytes::new();
                    while let Some(data) = body.data().await {
                        bytes = data.expect("the body arrives whole");
                    }
                    assert!(!bytes.is_empty());
                    answered += 1;
                }
                // Promised not to have been processed (RFC 9113 section 6.8): a client sends it again elsewhere.
                Err(error) if error.is_go_away() && error.is_remote() => {
                    assert_eq!(error.reason(), Some(h2::Reason::NO_ERROR));
                }
                Err(error) => panic!("a request was lost: {error}"),
            }
        }
        if round == 20 {
            begun.send(()).unwrap();
        }
        if !all_sent {
            break 'load;
        }
    }
    drop(client);
    driver.await.unwrap().expect("the connection ends in the ordinary way");
    answered
}

#[test]
fn idle_connections_get_a_grace_in_which_a_request_is_still_answered() {
    let upstream = Upstream::start("upstream");
    let mut leat = gateway(upstream.address(), "drain: { grace: 1500ms, deadline: 20s }");
    let mut late = leat.connect();
    let mut idle = leat.connect();
    for client in [&mut late, &mut idle] {
        assert_eq!(client.get("/here").response().field("connection"), None);
    }
    let start = Instant::now();
    leat.terminate();
    wait_draining(&mut leat);
    let reply = late.get("/there").response();
    assert_eq!((reply.status, reply.field("connection")), (200, Some("close")));
    late.expect_end();
    idle.expect_end();
    let took = start.elapsed();
    assert!(took >= Duration::from_millis(1_400), "closed after {took:?}");
    assert_eq!(leat.wait().code(), Some(0));
}

#[test]
fn a_reply_under_way_ends_whole_and_says_close_if_its_head_was_not_sent_yet() {
    let gate = Gate::new();
    let script = Script::new().expect_head().wait(&gate).send(HELD);
    let upstream = Peer::listen([script]);
    let mut leat = gateway(upstream.address(), "drain: { grace: 0ms, deadline: 20s }");
    let mut client = leat.connect();
    client.get("/there");
    upstream.wait_connections(1);
    leat.terminate();
    wait_draining(&mut leat);
    let refused = eventually("the port to close", || TcpStream::connect(leat.address(0)).err());
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    gate.open();
    let reply = client.response();
    assert_eq!((reply.status, reply.text(), reply.field("connection")), (200, "whole", Some("close")));
    client.expect_end();
    assert_eq!(leat.wait().code(), Some(0));
}

#[test]
fn health_and_metrics_are_answered_while_the_process_drains() {
    let upstream = Peer::listen([Script::new().expect_head()]);
    let mut leat = gateway(upstream.address(), "drain: { grace: 0ms, deadline: 20s }");
    let admin = leat.admin();
    let status = |path: &str| Client::connect(admin).get(path).response().status;
    assert_eq!((status("/healthz"), status("/readyz")), (200, 200));
    let mut client = leat.connect();
    client.get("/there");
    upstream.wait_connections(1);
    leat.terminate();
    wait_draining(&mut leat);
    let not_ready = Client::connect(admin).get("/readyz").response();
    assert_eq!((not_ready.status, not_ready.text()), (503, "draining\n"));
    assert_eq!(status("/healthz"), 200);
    assert_eq!(metric(admin, "leat_connections_open"), 1);
}

#[test]
fn the_deadline_is_kept_with_an_exchange_that_never_ends() {
    let upstream = Peer::listen([Script::new().expect_head().send("HTTP/1.1 200 OK\r\n\r\npart")]);
    let mut leat = gateway(upstream.address(), "drain: { grace: 0ms, deadline: 700ms }");
    let mut answered = leat.connect();
    assert_eq!(answered.get("/here").response().status, 200);
    let mut client = leat.connect();
    client.get("/there").until("part");
    let start = Instant::now();
    leat.terminate();
    let status = leat.wait();
    let took = start.elapsed();
    assert_eq!(status.code(), Some(0));
    assert!(took >= Duration::from_millis(650) && took < Duration::from_secs(6), "{took:?}");
    assert_eq!(events(&leat.log(), "drain_cut"), 1);
    let log = std::fs::read_to_string(leat.folder().path().join("access.log")).unwrap();
    assert!(log.contains("/here"), "what was answered is in the log: {log}");
}

#[test]
fn a_second_signal_ends_the_process_at_once() {
    let upstream = Peer::listen([Script::new().expect_head()]);
    let mut leat = gateway(upstream.address(), "drain: { grace: 0ms, deadline: 1h }");
    let mut client = leat.connect();
    client.get("/there");
    upstream.wait_connections(1);
    leat.terminate();
    wait_draining(&mut leat);
    leat.terminate();
    assert_eq!(leat.wait().code(), Some(0));
}

#[test]
fn a_signal_during_the_start_is_a_clean_end() {
    let folder = Folder::new();
    let config = folder.write("leat.yaml", "listeners: 127.0.0.1:0\nroutes: [{ respond: { body: x } }]\n");
    let mut leat = Leat::spawn(folder, &["gateway", config.to_str().unwrap()]);
    wait_handler(leat.pid());
    leat.terminate();
    assert_eq!(leat.wait().code(), Some(0));
}

/// Waits for the moment from which on signals are heard: SIGUSR2's handler is the last. Within microseconds of the moment
/// in which a signal's own handler is set the library that shares handlers out would swallow it.
fn wait_handler(pid: u32) {
    eventually("the handlers of signals", || {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
        let mask = u64::from_str_radix(mask.trim(), 16).ok()?;
        (mask & (1 << 11) != 0).then_some(())
    });
}

#[test]
fn a_signal_is_heard_while_a_configuration_is_slow_to_read() {
    // A pipe that nobody writes to: reading it never ends.
    let pipe = |path: &std::path::Path| {
        mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    };
    let folder = Folder::new();
    let path = folder.path().join("leat.yaml");
    pipe(&path);
    let mut starting = Leat::spawn(folder, &["gateway", path.to_str().unwrap()]);
    wait_handler(starting.pid());
    starting.terminate();
    assert_eq!(starting.wait().code(), Some(0));

    let upstream = Upstream::start("upstream");
    let mut leat = gateway(upstream.address(), "drain: { grace: 0ms }");
    let admin = leat.admin();
    let path = leat.folder().path().join("leat.yaml");
    std::fs::remove_file(&path).unwrap();
    pipe(&path);
    leat.reload();
    assert_eq!(Client::connect(admin).get("/readyz").response().status, 200);
    assert_eq!(leat.connect().get("/there").response().status, 200);
    leat.terminate();
    assert_eq!(leat.wait().code(), Some(0));
}
