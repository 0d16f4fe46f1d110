//! What encryption changes for a connection of HTTP/1: bytes that the session holds, and ends that can be told apart.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, StreamOwned};
use support::{Options, Server, pattern};

type Client = StreamOwned<ClientConnection, TcpStream>;

fn start() -> (Server, Arc<ClientConfig>) {
    let made = rcgen::generate_simple_self_signed(["leat.test".to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config =
        ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate.clone()], key).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    let client = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let options = Options { tls: Some(Arc::new(config)), send_buffer_bytes: Some(64 * 1024), ..Options::default() };
    (Server::with(options), Arc::new(client))
}

fn connect(server: &Server, config: &Arc<ClientConfig>) -> Client {
    let stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let name = ServerName::try_from("leat.test").unwrap();
    StreamOwned::new(ClientConnection::new(Arc::clone(config), name).unwrap(), stream)
}

fn ask(client: &mut Client, path: &str, fields: &str) {
    client.write_all(format!("GET {path} HTTP/1.1\r\nhost: leat.test\r\n{fields}\r\n").as_bytes()).unwrap();
}

fn read_head(client: &mut Client) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        client.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

#[test]
fn a_flush_leaves_nothing_in_the_session() {
    let (server, config) = start();
    for size in [10_u64, 9_000, 20_000, 400_000] {
        let mut client = connect(&server, &config);
        ask(&mut client, &format!("/bursts?3,{size}"), "");
        assert!(read_head(&mut client).starts_with("HTTP/1.1 200 "));
        for _ in 0..3 {
            // The socket is full meanwhile.
            std::thread::sleep(Duration::from_millis(30));
            let mut burst = vec![0; size as usize];
            client.read_exact(&mut burst).unwrap();
            assert!(burst.iter().zip(0..).all(|(&byte, at)| byte == pattern(at)), "{size}");
            server.release();
        }
        ask(&mut client, "/fixed", "");
        assert!(read_head(&mut client).contains("content-length: 5"), "{size}");
    }
}

#[test]
fn large_replies_arrive_byte_for_byte() {
    let (server, config) = start();
    for path in ["/stream?2000000,500", "/stream?2000000,300000", "/known?2000000,70000"] {
        let mut client = connect(&server, &config);
        ask(&mut client, path, "connection: close\r\n");
        read_head(&mut client);
        let mut body = Vec::new();
        // Without an announced end this would be an error.
        client.read_to_end(&mut body).unwrap();
        assert!(body.len() >= 2_000_000, "{path}");
        if path.starts_with("/known") {
            assert!(body.iter().zip(0..).all(|(&byte, at)| byte == pattern(at)), "{path}");
        }
    }
}

#[test]
fn the_end_is_announced_unless_the_reply_is_incomplete() {
    let (server, config) = start();
    for (path, fields, complete) in [
        ("/fixed", "connection: close\r\n", true),
        ("/until-close?10", "", true),
        ("/raw/panic", "", true),
        ("/nowhere", "connection: close\r\n", true),
        ("/fail-late", "", false),
        ("/fail-late/until-close", "", false),
        ("/panic-late", "", false),
    ] {
        let mut client = connect(&server, &config);
        ask(&mut client, path, fields);
        read_head(&mut client);
        let end = client.read_to_end(&mut Vec::new());
        match complete {
            true => assert!(end.is_ok(), "{path} {end:?}"),
            false => assert_eq!(end.unwrap_err().kind(), ErrorKind::UnexpectedEof, "{path}"),
        }
    }
}

#[test]
fn a_tunnel_ends_one_direction_after_the_other() {
    let (server, config) = start();
    let mut client = connect(&server, &config);
    ask(&mut client, "/tunnel", "connection: upgrade\r\nupgrade: shout\r\n");
    assert!(read_head(&mut client).starts_with("HTTP/1.1 101 "));
    client.write_all(b"some words").unwrap();
    let mut words = [0; 10];
    client.read_exact(&mut words).unwrap();
    assert_eq!(&words, b"SOME WORDS");
    client.conn.send_close_notify();
    client.flush().unwrap();
    let mut rest = String::new();
    client.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "GOODBYE");
}
