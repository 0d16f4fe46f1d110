//! The PROXY protocol over real sockets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::net::SocketAddr;

use leat_listen::{Accepted, Gate, ListenerSet, ProxyProtocol, ServeOptions, TicketKeys, TlsOptions, TlsSettings};
use leat_message::{Address, Limits, Reason, Scheme};
use std::sync::Arc;
use support::{Folder, bind, certificate, client, connect_tls, gate, on_core, read, read_to_close, serve, soon};
use support::{until, until_refused};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::mpsc::UnboundedReceiver;

const V1: &[u8] = b"PROXY TCP4 192.0.2.1 198.51.100.2 12345 443\r\n";
const V2: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x01\xc6\x33\x64\x02\x30\x39\x01\xbb";

struct Server {
    _set: ListenerSet,
    address: SocketAddr,
    gate: Arc<Gate>,
    connections: UnboundedReceiver<Accepted>,
}

fn server(sources: &[&str], change: impl FnOnce(&mut Limits), options: ServeOptions) -> Server {
    let set = bind(&["127.0.0.1:0"], 1);
    let address = set.endpoints()[0].local_addr().unwrap();
    let gate = gate(change);
    let sources = sources.iter().map(|source| source.parse().unwrap()).collect();
    let options = ServeOptions { proxy_protocol: ProxyProtocol::From(sources), ..options };
    let connections = serve(set.endpoints()[0].listener(0).unwrap(), &gate, options);
    Server { _set: set, address, gate, connections }
}

fn proxied() -> (Address, Address) {
    (Address::Ip("192.0.2.1:12345".parse().unwrap()), Address::Ip("198.51.100.2:443".parse().unwrap()))
}

#[test]
fn a_header_gives_the_clients_address_and_every_later_byte_stays() {
    on_core(|| async {
        let mut server = server(&["127.0.0.0/8"], |_| {}, ServeOptions::default());
        for header in [V1, V2] {
            let whole = [header, b"GET / HTTP/1.1\r\n\r\n"].concat();
            for split in [1, 5, 6, 12, 16, 20, header.len() - 1, header.len(), header.len() + 1, whole.len()] {
                let mut client = TcpStream::connect(server.address).await.unwrap();
                let (first, second) = whole.split_at(split);
                client.set_nodelay(true).unwrap();
                client.write_all(first).await.unwrap();
                if split < header.len() {
                    until(|| server.gate.handshakes() == 1).await;
                    tokio::time::sleep(std::time::Duration::from_millis(2)).await;
                }
                client.write_all(second).await.unwrap();
                let mut accepted = soon(server.connections.recv()).await.unwrap();
                assert_eq!((accepted.peer.remote.clone(), accepted.peer.local.clone()), proxied());
                assert_eq!(read(&mut accepted.socket, 18).await, b"GET / HTTP/1.1\r\n\r\n", "split at {split}");
            }
        }
        assert_eq!((server.gate.connections(), server.gate.handshakes()), (0, 0));
    });
}

#[test]
fn the_proxys_own_connections_keep_their_addresses() {
    on_core(|| async {
        let mut server = server(&["127.0.0.1"], |_| {}, ServeOptions::default());
        for header in [&b"PROXY UNKNOWN\r\n"[..], b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0"] {
            let mut client = TcpStream::connect(server.address).await.unwrap();
            client.write_all(header).await.unwrap();
            let accepted = soon(server.connections.recv()).await.unwrap();
            assert_eq!(accepted.peer.remote, Address::Ip(client.local_addr().unwrap()));
        }
    });
}

#[test]
fn without_a_good_header_a_trusted_source_is_closed() {
    on_core(|| async {
        let mut server = server(&["127.0.0.0/8"], |_| {}, ServeOptions::default());
        for (number, bytes) in [
            &b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"[..],
            b"PROXY TCP4 192.0.2.1 198.51.100.2 12345\r\nGET / HTTP/1.1\r\n\r\n",
            b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x04aaaa",
            b"\x16\x03\x01",
            b"PROXY TCP4 ",
            b"",
        ]
        .into_iter()
        .enumerate()
        {
            let mut client = TcpStream::connect(server.address).await.unwrap();
            client.write_all(bytes).await.unwrap();
            client.shutdown().await.unwrap();
            assert_eq!(read_to_close(&mut client).await, b"");
            until_refused(&server.gate, Reason::ProxyHeaderInvalid, number as u64 + 1).await;
        }
        assert!(server.connections.try_recv().is_err());
        until(|| server.gate.connections() == 0).await;
    });
}

#[test]
fn a_header_must_come_in_time() {
    on_core(|| async {
        let options = ServeOptions { handshake_time_ms: 60, ..ServeOptions::default() };
        let server = server(&["127.0.0.0/8"], |_| {}, options);
        for (count, bytes) in [&b""[..], b"PROXY TCP4"].into_iter().enumerate() {
            let mut client = TcpStream::connect(server.address).await.unwrap();
            client.write_all(bytes).await.unwrap();
            assert_eq!(read_to_close(&mut client).await, b"");
            until_refused(&server.gate, Reason::TimeHandshake, count as u64 + 1).await;
        }
    });
}

#[test]
fn nobody_else_is_believed() {
    on_core(|| async {
        let mut server = server(&["192.0.2.0/24", "::1"], |_| {}, ServeOptions::default());
        let mut client = TcpStream::connect(server.address).await.unwrap();
        client.write_all(V1).await.unwrap();
        let mut accepted = soon(server.connections.recv()).await.unwrap();
        assert_eq!(accepted.peer.remote, Address::Ip(client.local_addr().unwrap()));
        assert_eq!(read(&mut accepted.socket, V1.len()).await, V1, "it is the client's request, and a bad one");
    });
}

#[test]
fn the_cap_per_client_counts_clients_and_not_the_proxy() {
    on_core(|| async {
        let mut server =
            server(&["127.0.0.0/8"], |limits| limits.connections_per_client_max = 1, ServeOptions::default());
        let mut kept = Vec::new();
        for host in [1, 2, 3] {
            let mut client = TcpStream::connect(server.address).await.unwrap();
            client.write_all(format!("PROXY TCP4 192.0.2.{host} 198.51.100.2 1 443\r\n").as_bytes()).await.unwrap();
            kept.push((soon(server.connections.recv()).await.unwrap(), client));
        }
        let mut client = TcpStream::connect(server.address).await.unwrap();
        client.write_all(b"PROXY TCP4 192.0.2.2 198.51.100.2 1 443\r\n").await.unwrap();
        let reply = read_to_close(&mut client).await;
        assert!(reply.starts_with(b"HTTP/1.1 503 "), "{}", reply.escape_ascii());
        until_refused(&server.gate, Reason::LimitConnectionsPerClient, 1).await;
        assert_eq!(server.gate.connections(), 3);
    });
}

#[test]
fn a_header_stands_before_tls() {
    on_core(|| async {
        let folder = Folder::new();
        let (files, _) = certificate(&folder, "a", &["a.test"]);
        let tls = TlsSettings::load(&TlsOptions::new(vec![files]), &TicketKeys::new().unwrap()).unwrap();
        let options = ServeOptions { tls: Some(tls), ..ServeOptions::default() };
        let mut server = server(&["127.0.0.0/8"], |_| {}, options);
        for header in [V1, V2] {
            let mut stream = TcpStream::connect(server.address).await.unwrap();
            stream.write_all(header).await.unwrap();
            let mut stream = connect_tls(&client(&[]), "a.test", stream).await.unwrap();
            stream.write_all(b"hello").await.unwrap();
            let mut accepted = soon(server.connections.recv()).await.unwrap();
            assert_eq!((accepted.peer.remote.clone(), accepted.peer.local.clone()), proxied());
            assert_eq!(accepted.peer.scheme, Scheme::Https);
            assert_eq!(read(&mut accepted.socket, 5).await, b"hello");
        }
        // TLS without the header it was promised behind.
        let stream = TcpStream::connect(server.address).await.unwrap();
        assert!(connect_tls(&client(&[]), "a.test", stream).await.is_err());
        until_refused(&server.gate, Reason::ProxyHeaderInvalid, 1).await;
    });
}

#[test]
fn peers_of_a_unix_socket_are_trusted() {
    on_core(|| async {
        let folder = Folder::new();
        let path = folder.path("leat.sock");
        let set = bind(&[&format!("unix:{}", path.display())], 1);
        let gate = gate(|_| {});
        let options = ServeOptions { proxy_protocol: ProxyProtocol::From(Vec::new()), ..ServeOptions::default() };
        let mut connections = serve(set.endpoints()[0].listener(0).unwrap(), &gate, options);
        let mut client = tokio::net::UnixStream::connect(&path).await.unwrap();
        client.write_all(&[V2, b"rest"].concat()).await.unwrap();
        let mut accepted = soon(connections.recv()).await.unwrap();
        assert_eq!((accepted.peer.remote.clone(), accepted.peer.local.clone()), proxied());
        assert_eq!(read(&mut accepted.socket, 4).await, b"rest");
    });
}
