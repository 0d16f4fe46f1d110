//! Accepting: caps, what a refused client sees, drain.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::net::SocketAddr;
use std::time::Duration;

use leat_listen::{Accepted, ListenerSet, Protocol, ServeOptions, Stop};
use leat_message::{Address, Reason, Scheme};
use support::{bind, gate, on_core, read, read_to_close, serve, soon, until, until_refused};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn listening() -> (ListenerSet, SocketAddr) {
    let set = bind(&["127.0.0.1:0"], 1);
    let address = set.endpoints()[0].local_addr().unwrap();
    (set, address)
}

#[test]
fn a_plain_connection_says_who_it_is_and_what_it_may_speak() {
    on_core(|| async {
        for (http2_plain, protocol) in [(false, Protocol::Http1), (true, Protocol::Sniff)] {
            let (set, address) = listening();
            let gate = gate(|_| {});
            let options = ServeOptions { http2_plain, ..ServeOptions::default() };
            let mut connections = serve(set.endpoints()[0].listener(0).unwrap(), &gate, options);
            let mut client = TcpStream::connect(address).await.unwrap();
            client.write_all(b"hello").await.unwrap();
            let mut accepted = soon(connections.recv()).await.unwrap();
            assert_eq!(accepted.protocol, protocol);
            assert_eq!(accepted.peer.remote, Address::Ip(client.local_addr().unwrap()));
            assert_eq!(accepted.peer.local, Address::Ip(address));
            assert_eq!(accepted.peer.scheme, Scheme::Http);
            assert!(accepted.peer.tls.is_none());
            assert_eq!(read(&mut accepted.socket, 5).await, b"hello");
            assert_eq!((gate.connections(), gate.accepted(), gate.handshakes()), (1, 1, 0));
            drop(accepted);
            assert_eq!(gate.connections(), 0);
        }
    });
}

#[test]
fn over_a_cap_a_plain_client_is_told_503_and_places_come_back() {
    on_core(|| async {
        for (reason, total, per_client) in [(Reason::LimitConnections, 2, 9), (Reason::LimitConnectionsPerClient, 9, 2)]
        {
            let (set, address) = listening();
            let gate = gate(|limits| {
                limits.connections_max = total;
                limits.connections_per_client_max = per_client;
            });
            let mut connections = serve(set.endpoints()[0].listener(0).unwrap(), &gate, ServeOptions::default());
            let _clients = [TcpStream::connect(address).await.unwrap(), TcpStream::connect(address).await.unwrap()];
            let mut inside: Vec<Accepted> = Vec::new();
            for _ in 0..2 {
                inside.push(soon(connections.recv()).await.unwrap());
            }

            let mut refused = TcpStream::connect(address).await.unwrap();
            refused.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
            let mut reply = String::new();
            soon(refused.read_to_string(&mut reply)).await.expect("a clean end, not a reset");
            assert!(reply.starts_with("HTTP/1.1 503 "), "{reply}");
            assert!(reply.contains("connection: close\r\n") && reply.contains("retry-after: 1\r\n"), "{reply}");
            assert!(reply.contains(reason.code()), "{reply}");
            let (head, body) = reply.split_once("\r\n\r\n").unwrap();
            assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{reply}");
            until_refused(&gate, reason, 1).await;
            assert_eq!(gate.connections(), 2);

            inside.pop();
            let _client = TcpStream::connect(address).await.unwrap();
            soon(connections.recv()).await.unwrap();
        }
    });
}

#[test]
fn a_refused_client_that_never_closes_is_closed() {
    on_core(|| async {
        let (set, address) = listening();
        let gate = gate(|limits| limits.connections_max = 0);
        let _connections = serve(set.endpoints()[0].listener(0).unwrap(), &gate, ServeOptions::default());
        let mut client = TcpStream::connect(address).await.unwrap();
        assert!(!read_to_close(&mut client).await.is_empty());
        soon(async {
            while client.write_all(b"more").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        })
        .await;
    });
}

#[test]
fn two_addresses_of_one_machine_are_two_clients() {
    on_core(|| async {
        let (set, address) = listening();
        let gate = gate(|limits| limits.connections_per_client_max = 1);
        let mut connections = serve(set.endpoints()[0].listener(0).unwrap(), &gate, ServeOptions::default());
        let mut kept = Vec::new();
        for host in [1, 2, 3] {
            let socket = tokio::net::TcpSocket::new_v4().unwrap();
            socket.bind(SocketAddr::from(([127, 0, 0, host], 0))).unwrap();
            let client = socket.connect(address).await.unwrap();
            kept.push((client, soon(connections.recv()).await.unwrap()));
        }
        assert_eq!(gate.connections(), 3);
    });
}

#[test]
fn a_burst_of_connections_leaves_other_tasks_their_turn() {
    const CLIENTS: usize = 300;
    on_core(|| async {
        let (set, address) = listening();
        let gate = gate(|_| {});
        let clients: Vec<_> = (0..CLIENTS).map(|_| std::net::TcpStream::connect(address).unwrap()).collect();
        let mut connections = serve(set.endpoints()[0].listener(0).unwrap(), &gate, ServeOptions::default());
        let mut most_between_turns = 0;
        let mut seen = 0;
        while seen < CLIENTS {
            tokio::task::yield_now().await;
            let mut batch = 0;
            while connections.try_recv().is_ok() {
                batch += 1;
            }
            seen += batch;
            most_between_turns = most_between_turns.max(batch);
        }
        assert!(most_between_turns <= 64, "{most_between_turns}");
        drop(clients);
    });
}

#[test]
fn draining_takes_what_waits_then_closes_the_port() {
    on_core(|| async {
        let (set, address) = listening();
        let gate = gate(|_| {});
        let (accepted, mut connections) = tokio::sync::mpsc::unbounded_channel();
        let listener = set.endpoints()[0].listener(0).unwrap();
        drop(set);
        let serving =
            tokio::task::spawn_local(leat_listen::serve(listener, gate, ServeOptions::default(), move |connection| {
                accepted.send(connection).unwrap()
            }));
        let _first = TcpStream::connect(address).await.unwrap();
        soon(connections.recv()).await.unwrap();
        // They wait in the queue: this task does not yield between.
        let waiting: Vec<_> = (0..5).map(|_| std::net::TcpStream::connect(address).unwrap()).collect();
        leat_stream::begin_drain();
        soon(serving).await.unwrap().unwrap();
        for _ in &waiting {
            assert!(connections.try_recv().is_ok());
        }
        assert!(std::net::TcpStream::connect(address).is_err(), "the port is closed");
    });
}

#[test]
fn a_core_that_drains_already_accepts_no_more_than_what_waits() {
    on_core(|| async {
        let (set, address) = listening();
        leat_stream::begin_drain();
        let client = std::net::TcpStream::connect(address).unwrap();
        let gate = gate(|_| {});
        let listener = set.endpoints()[0].listener(0).unwrap();
        let (accepted, mut connections) = tokio::sync::mpsc::unbounded_channel();
        soon(leat_listen::serve(listener, gate, ServeOptions::default(), move |connection| {
            accepted.send(connection).unwrap();
        }))
        .await
        .unwrap();
        let first: Accepted = connections.try_recv().unwrap();
        assert_eq!(first.peer.remote, Address::Ip(client.local_addr().unwrap()));
        until(|| connections.is_empty()).await;
    });
}

/// Which of two accept loops on one socket takes a client that comes between the word to the first and its next turn.
async fn taken(stop: Stop) -> &'static str {
    let (set, address) = listening();
    let gate = gate(|_| {});
    let (taken, mut by) = tokio::sync::mpsc::unbounded_channel();
    let (say, said) = tokio::sync::oneshot::channel();
    let accept = |name: &'static str, stop: Option<tokio::sync::oneshot::Receiver<Stop>>| {
        let (listener, gate, taken) = (set.endpoints()[0].listener(0).unwrap(), gate.clone(), taken.clone());
        let stop = async move {
            match stop {
                Some(stop) => stop.await.unwrap(),
                None => std::future::pending().await,
            }
        };
        tokio::task::spawn_local(async move {
            let on_connection = move |_| taken.send(name).unwrap();
            leat_listen::serve_until(listener, gate, ServeOptions::default(), stop, on_connection).await.unwrap();
        })
    };
    let first = accept("the first", Some(said));
    let _before = TcpStream::connect(address).await.unwrap();
    assert_eq!(soon(by.recv()).await, Some("the first"));
    // Nothing of this core runs between these: the client is in the queue when the first loop hears that it ends.
    say.send(stop).unwrap();
    let _client = std::net::TcpStream::connect(address).unwrap();
    soon(first).await.unwrap();
    let _second = accept("the second", None);
    soon(by.recv()).await.unwrap()
}

#[test]
fn who_waits_when_a_loop_ends_is_taken_by_it_or_by_the_one_that_follows() {
    on_core(|| async {
        assert_eq!(taken(Stop::Ended).await, "the first");
        assert_eq!(taken(Stop::HandedOver).await, "the second");
    });
}
