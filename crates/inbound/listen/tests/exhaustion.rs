//! A process without a free descriptor. Alone in its file, since the limit is the process's.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::net::TcpStream;
use std::time::Duration;

use leat_listen::ServeOptions;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use support::{bind, gate, on_core, serve, soon, until};

#[test]
fn without_descriptors_accepting_pauses_and_recovers() {
    on_core(|| async {
        let set = bind(&["127.0.0.1:0"], 1);
        let address = set.endpoints()[0].local_addr().unwrap();
        let gate = gate(|_| {});
        let mut connections = serve(set.endpoints()[0].listener(0).unwrap(), &gate, ServeOptions::default());
        let first = TcpStream::connect(address).unwrap();
        soon(connections.recv()).await.unwrap();

        // Clients are open already; from here on no descriptor is free.
        let waiting: Vec<TcpStream> = (0..5).map(|_| TcpStream::connect(address).unwrap()).collect();
        let before = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: Some(3), maximum: before.maximum }).unwrap();
        until(|| gate.accept_pauses() >= 2).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(gate.accept_pauses() < 20, "it pauses instead of spinning: {}", gate.accept_pauses());
        assert!(connections.try_recv().is_err());
        assert_eq!(gate.connections(), 0, "the first one was dropped");

        setrlimit(Resource::Nofile, before).unwrap();
        for _ in &waiting {
            soon(connections.recv()).await.unwrap();
        }
        drop(first);

        // A drain does not wait for the end of a pause, and takes those that could not get in before.
        let waiting: Vec<TcpStream> = (0..5).map(|_| TcpStream::connect(address).unwrap()).collect();
        setrlimit(Resource::Nofile, Rlimit { current: Some(3), maximum: before.maximum }).unwrap();
        let pauses = gate.accept_pauses();
        until(|| gate.accept_pauses() >= pauses + 5).await;
        let pauses = gate.accept_pauses();
        setrlimit(Resource::Nofile, before).unwrap();
        drop(set);
        leat_stream::begin_drain();
        for _ in &waiting {
            soon(connections.recv()).await.unwrap();
        }
        assert_eq!(gate.accept_pauses(), pauses);
        assert!(TcpStream::connect(address).is_err(), "the port is closed");
    });
}
