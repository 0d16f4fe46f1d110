//! Handshakes that fail: who came, and what was wrong.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use leat_listen::{CertificateText, ServeOptions, TlsProblem, TlsSettings, TlsTextOptions, TlsVersions, Unshaken};
use leat_message::{Address, Reason};
use support::{bind, gate, on_core, soon};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const EC: &[u8] = include_bytes!("keys/ec.pem");
const EC_KEY: &[u8] = include_bytes!("keys/ec-pkcs8.key");

/// What is told of a client that does this, and the reason that is counted.
async fn told(
    change: impl FnOnce(&mut TlsTextOptions, &mut ServeOptions),
    act: impl AsyncFnOnce(TcpStream, SocketAddr),
) -> (TlsProblem, Reason) {
    let mut text = TlsTextOptions::new(vec![CertificateText { chain: EC.to_vec(), key: EC_KEY.to_vec() }]);
    let mut options = ServeOptions::default();
    change(&mut text, &mut options);
    options.tls = Some(TlsSettings::from_text(&text).unwrap());
    let set = bind(&["127.0.0.1:0"], 1);
    let address = set.endpoints()[0].local_addr().unwrap();
    let (listener, counts) = (set.endpoints()[0].listener(0).unwrap(), gate(|_| {}));
    let (tell, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let gate = Arc::clone(&counts);
    tokio::task::spawn_local(async move {
        let on_unshaken = Rc::new(move |unshaken| drop(tell.send(unshaken)));
        let never = std::future::pending();
        leat_listen::serve_telling(listener, gate, options, never, |_| panic!("shaken"), Some(on_unshaken)).await
    });
    let client = TcpStream::connect(address).await.unwrap();
    let from = client.local_addr().unwrap();
    act(client, address).await;
    let Unshaken { remote, local, problem } = soon(heard.recv()).await.unwrap();
    assert_eq!((remote, local), (Address::Ip(from), Address::Ip(address)));
    let counted = [Reason::TlsHandshake, Reason::TlsPlainText, Reason::TimeHandshake];
    let counted = counted.into_iter().find(|&reason| counts.refused(reason) == 1).unwrap();
    (problem, counted)
}

fn unchanged(_: &mut TlsTextOptions, _: &mut ServeOptions) {}

/// The hello of a client that speaks TLS 1.2, with one cipher suite.
fn hello_of_12(suite: u16) -> Vec<u8> {
    let mut body = vec![3, 3];
    body.extend([7; 32]);
    body.extend([0, 0, 2]);
    body.extend(suite.to_be_bytes());
    // One compression method, and the groups and signatures that go with elliptic curves.
    body.extend([1, 0, 0, 22, 0, 10, 0, 4, 0, 2, 0, 23, 0, 13, 0, 4, 0, 2, 4, 3, 0, 11, 0, 2, 1, 0]);
    let mut record = vec![22, 3, 1, 0, body.len() as u8 + 4, 1, 0, 0, body.len() as u8];
    record.extend(body);
    record
}

#[test]
fn what_was_wrong_with_a_handshake_is_told() {
    on_core(|| async {
        let sends = async |bytes: Vec<u8>| {
            told(unchanged, async move |mut client: TcpStream, _| {
                client.write_all(&bytes).await.unwrap();
                tokio::task::spawn_local(async move { support::read_to_close(&mut client).await });
            })
            .await
        };
        let (handshake, plain) = (Reason::TlsHandshake, Reason::TlsPlainText);
        assert_eq!(sends(b"GET / HTTP/1.1\r\n\r\n".to_vec()).await, (TlsProblem::PlainHttp, plain));
        assert_eq!(sends(b"\0\x01\x02\x03 and so on".to_vec()).await, (TlsProblem::NoTls, handshake));
        assert_eq!(sends(vec![21, 3, 1, 0, 2, 2, 48]).await, (TlsProblem::Alert(48), handshake));
        // TLS_RSA_WITH_AES_128_CBC_SHA, which nobody should speak any more.
        assert_eq!(sends(hello_of_12(0x002f)).await, (TlsProblem::Suite, handshake));

        let ends = told(unchanged, async |client, _| drop(client)).await;
        assert_eq!(ends, (TlsProblem::Ended, handshake));
        let resets = told(unchanged, async |mut client: TcpStream, _| {
            client.write_all(&[22, 3, 1, 0, 100]).await.unwrap();
            client.set_zero_linger().unwrap();
        })
        .await;
        assert_eq!(resets, (TlsProblem::Reset, handshake));

        let only_13 = |text: &mut TlsTextOptions, _: &mut ServeOptions| text.versions = TlsVersions::Only13;
        let speaks_12 = told(only_13, async |mut client: TcpStream, _| {
            client.write_all(&hello_of_12(0xc02b)).await.unwrap();
            tokio::task::spawn_local(async move { support::read_to_close(&mut client).await });
        })
        .await;
        assert_eq!(speaks_12, (TlsProblem::Version, handshake));

        let hasty = |_: &mut TlsTextOptions, options: &mut ServeOptions| options.handshake_time_ms = 50;
        let waits = told(hasty, async |client: TcpStream, _| {
            tokio::task::spawn_local(async move {
                let mut client = client;
                support::read_to_close(&mut client).await
            });
        })
        .await;
        assert_eq!(waits, (TlsProblem::Time, Reason::TimeHandshake));
    });
}

#[test]
fn a_client_reads_why_whatever_it_has_sent() {
    on_core(|| async {
        let (tell, told_alert) = tokio::sync::oneshot::channel();
        let problem = told(unchanged, async move |mut client: TcpStream, _| {
            // More than is read of it: a close with bytes unread is a reset, which takes away what was written.
            let bytes = [&b"\0\x01\x02\x03"[..], &[b'x'; 48 * 1024]].concat();
            client.write_all(&bytes).await.unwrap();
            tokio::task::spawn_local(async move {
                let mut alert = Vec::new();
                let read = client.read_to_end(&mut alert).await;
                tell.send((alert, read.map_err(|error| error.kind()))).unwrap();
            });
        })
        .await;
        assert_eq!(problem, (TlsProblem::NoTls, Reason::TlsHandshake));
        let (alert, read) = soon(told_alert).await.unwrap();
        // RFC 8446 section 5.1: a record of type alert, its two bytes: fatal, and which.
        assert_eq!((alert.first(), alert.get(3..6), read), (Some(&21), Some(&[0, 2, 2][..]), Ok(7)));
    });
}
