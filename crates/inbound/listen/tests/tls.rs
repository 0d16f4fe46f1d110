//! TLS over real sockets: names, protocols, reload, resumption, caps.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::net::SocketAddr;
use std::sync::Arc;

use leat_listen::{
    Accepted, CertificateFiles, Gate, ListenError, ListenerSet, Protocol, ServeOptions, TicketKeys, TlsOptions,
    TlsSettings, TlsVersions,
};
use leat_message::{Limits, Reason};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, HandshakeKind, ProtocolVersion, SignatureScheme};
use rustls_pki_types::CertificateDer;
use support::{ClientStream, Folder, bind, certificate, certificate_with, client, client_with_schemes, connect_tls};
use support::{gate, on_core, read, read_to_close, serve, soon, until, until_refused, write};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc::UnboundedReceiver;

struct Server {
    _set: ListenerSet,
    address: SocketAddr,
    gate: Arc<Gate>,
    settings: TlsSettings,
    connections: UnboundedReceiver<Accepted>,
}

impl Server {
    fn new(options: &TlsOptions) -> Self {
        Self::with(options, 10_000, |_| {})
    }

    fn with(options: &TlsOptions, handshake_time_ms: u64, change: impl FnOnce(&mut Limits)) -> Self {
        let settings = TlsSettings::load(options, &TicketKeys::new().unwrap()).unwrap();
        Self::serving(settings, handshake_time_ms, change)
    }

    fn serving(settings: TlsSettings, handshake_time_ms: u64, change: impl FnOnce(&mut Limits)) -> Self {
        let set = bind(&["127.0.0.1:0"], 1);
        let address = set.endpoints()[0].local_addr().unwrap();
        let gate = gate(change);
        let options = ServeOptions { tls: Some(settings.clone()), handshake_time_ms, ..ServeOptions::default() };
        let connections = serve(set.endpoints()[0].listener(0).unwrap(), &gate, options);
        Self { _set: set, address, gate, settings, connections }
    }

    async fn connect(&self, config: &ClientConfig, name: &str) -> std::io::Result<ClientStream<TcpStream>> {
        connect_tls(config, name, TcpStream::connect(self.address).await.unwrap()).await
    }

    /// Connects, sends a byte and reads one, so that tickets have come.
    async fn exchange(&mut self, config: &ClientConfig, name: &str) -> (ClientStream<TcpStream>, Accepted) {
        let mut stream = self.connect(config, name).await.unwrap();
        stream.write_all(b"?").await.unwrap();
        let mut accepted = soon(self.connections.recv()).await.unwrap();
        assert_eq!(read(&mut accepted.socket, 1).await, b"?");
        accepted.socket.write_all(b"!").await.unwrap();
        accepted.socket.flush().await.unwrap();
        let mut byte = [0];
        soon(stream.read_exact(&mut byte)).await.unwrap();
        (stream, accepted)
    }
}

fn shown(stream: &ClientStream<TcpStream>) -> CertificateDer<'static> {
    stream.get_ref().1.peer_certificates().unwrap()[0].clone().into_owned()
}

#[test]
fn the_certificate_is_the_one_for_the_name() {
    on_core(|| async {
        let folder = Folder::new();
        let (first, default) = certificate(&folder, "default", &["default.test"]);
        let (second, exact) = certificate(&folder, "exact", &["www.a.test", "A.test"]);
        let (third, wildcard) = certificate(&folder, "wildcard", &["*.a.test"]);
        let mut server = Server::new(&TlsOptions::new(vec![first, second, third]));
        for (name, wanted, server_name) in [
            ("", &default, None),
            ("default.test", &default, Some("default.test")),
            ("unknown.test", &default, Some("unknown.test")),
            ("a.test", &exact, Some("a.test")),
            ("WWW.A.test", &exact, Some("www.a.test")),
            ("api.a.test", &wildcard, Some("api.a.test")),
            ("b.api.a.test", &default, Some("b.api.a.test")),
        ] {
            let (stream, accepted) = server.exchange(&client(&[]), name).await;
            assert_eq!(&shown(&stream), wanted, "{name}");
            let tls = accepted.peer.tls.as_ref().unwrap();
            assert_eq!(tls.server_name.as_deref(), server_name);
        }
        until(|| server.gate.connections() == 0).await;
        assert_eq!(server.gate.handshakes(), 0);
    });
}

#[test]
fn a_host_is_allowed_where_its_certificate_is_the_connections() {
    on_core(|| async {
        let folder = Folder::new();
        let (first, _) = certificate(&folder, "default", &["default.test"]);
        let (second, _) = certificate(&folder, "a", &["a.test", "*.a.test"]);
        let alone = TlsOptions::new(vec![second.clone()]);
        let both = TlsOptions::new(vec![first, second]);
        for (options, name, host, allowed) in [
            (&both, "a.test", "a.test", true),
            (&both, "a.test", "A.Test", true),
            (&both, "a.test", "a.test.", true),
            (&both, "a.test", "www.a.test", true),
            (&both, "www.a.test", "a.test", true),
            (&both, "a.test", "default.test", false),
            (&both, "a.test", "unknown.test", false),
            (&both, "a.test", "b.www.a.test", false),
            (&both, "a.test", "127.0.0.1", false),
            (&both, "a.test", "", false),
            (&both, "default.test", "a.test", false),
            (&both, "default.test", "unknown.test", true),
            (&both, "unknown.test", "other.test", true),
            (&both, "unknown.test", "a.test", false),
            (&both, "", "127.0.0.1", true),
            (&both, "", "default.test", true),
            (&both, "", "a.test", false),
            (&alone, "a.test", "unknown.test", true),
            (&alone, "", "a.test", true),
        ] {
            let mut server = Server::new(options);
            let (_stream, accepted) = server.exchange(&client(&[]), name).await;
            let tls = accepted.peer.tls.as_ref().unwrap();
            assert_eq!(tls.hosts.allows(tls.server_name.as_deref(), host.as_bytes()), allowed, "{name} {host}");
            let long = "x".repeat(5_000);
            tls.hosts.allows(tls.server_name.as_deref(), long.as_bytes());
        }
    });
}

#[test]
fn a_client_gets_a_certificate_that_it_can_verify() {
    on_core(|| async {
        let folder = Folder::new();
        let (ecdsa_files, ecdsa) = certificate(&folder, "ecdsa", &["a.test"]);
        let (ed25519_files, ed25519) = certificate_with(&folder, "ed25519", &["a.test"], &rcgen::PKCS_ED25519);
        let mut server = Server::new(&TlsOptions::new(vec![ecdsa_files, ed25519_files]));
        for name in ["a.test", ""] {
            for (scheme, wanted) in
                [(SignatureScheme::ECDSA_NISTP256_SHA256, &ecdsa), (SignatureScheme::ED25519, &ed25519)]
            {
                let (stream, _) = server.exchange(&client_with_schemes(&[scheme]), name).await;
                assert_eq!(&shown(&stream), wanted, "{scheme:?}");
            }
        }
    });
}

#[test]
fn alpn_settles_the_protocol() {
    on_core(|| async {
        let folder = Folder::new();
        let (files, _) = certificate(&folder, "a", &["a.test"]);
        let both = TlsOptions::new(vec![files]);
        let only_http1 = TlsOptions { http2: false, ..both.clone() };
        let only_http2 = TlsOptions { http1: false, ..both.clone() };
        for (options, offered, settled) in [
            (&both, &[&b"http/1.1"[..], b"h2"][..], Some(Protocol::Http2)),
            (&both, &[b"http/1.1"], Some(Protocol::Http1)),
            (&both, &[], Some(Protocol::Http1)),
            (&both, &[b"smtp"], None),
            (&only_http1, &[b"h2", b"http/1.1"], Some(Protocol::Http1)),
            (&only_http1, &[b"h2"], None),
            (&only_http2, &[b"http/1.1", b"h2"], Some(Protocol::Http2)),
            (&only_http2, &[b"http/1.1"], None),
        ] {
            let mut server = Server::new(options);
            let Some(settled) = settled else {
                assert!(server.connect(&client(offered), "a.test").await.is_err());
                until_refused(&server.gate, Reason::TlsHandshake, 1).await;
                continue;
            };
            let (_stream, accepted) = server.exchange(&client(offered), "a.test").await;
            assert_eq!(accepted.protocol, settled, "{offered:?}");
        }
    });
}

fn client_of(version: &'static rustls::SupportedProtocolVersion) -> ClientConfig {
    let template = client(&[]);
    let mut config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .with_protocol_versions(&[version])
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    config.dangerous().set_certificate_verifier(support::believe());
    config.alpn_protocols = template.alpn_protocols;
    config
}

#[test]
fn versions_are_those_that_were_asked_for() {
    on_core(|| async {
        let folder = Folder::new();
        let (files, _) = certificate(&folder, "a", &["a.test"]);
        let from12 = TlsOptions::new(vec![files]);
        let only13 = TlsOptions { versions: TlsVersions::Only13, ..from12.clone() };
        for (options, version, wanted) in [
            (&from12, &TLS12, Some(ProtocolVersion::TLSv1_2)),
            (&from12, &TLS13, Some(ProtocolVersion::TLSv1_3)),
            (&only13, &TLS12, None),
            (&only13, &TLS13, Some(ProtocolVersion::TLSv1_3)),
        ] {
            let server = Server::new(options);
            let stream = server.connect(&client_of(version), "a.test").await;
            assert_eq!(stream.ok().and_then(|stream| stream.get_ref().1.protocol_version()), wanted);
        }
    });
}

#[test]
fn a_changed_certificate_is_used_by_new_connections_only() {
    on_core(|| async {
        let folder = Folder::new();
        let (files, old) = certificate(&folder, "a", &["a.test"]);
        let (other, other_shown) = certificate(&folder, "b", &["b.test"]);
        let mut server = Server::new(&TlsOptions::new(vec![files.clone(), other]));
        let (mut before, mut accepted) = server.exchange(&client(&[]), "a.test").await;
        assert!(server.settings.reload().replaced.is_empty(), "nothing changed");

        let (_, new) = certificate(&folder, "a", &["a.test", "new.test"]);
        assert_ne!(old, new);
        let reloaded = server.settings.reload();
        assert_eq!(reloaded.replaced, [files.chain]);
        assert!(reloaded.refused.is_empty());
        assert_eq!(shown(&server.exchange(&client(&[]), "a.test").await.0), new);
        assert_eq!(shown(&server.exchange(&client(&[]), "new.test").await.0), new);
        assert_eq!(shown(&server.exchange(&client(&[]), "b.test").await.0), other_shown);

        before.write_all(b"still here").await.unwrap();
        assert_eq!(read(&mut accepted.socket, 10).await, b"still here");
        let tls = accepted.peer.tls.as_ref().unwrap();
        assert!(tls.hosts.allows(tls.server_name.as_deref(), b"a.test"));
    });
}

#[test]
fn a_bad_new_file_is_refused_and_the_old_certificate_stays() {
    on_core(|| async {
        let folder = Folder::new();
        let (files, old) = certificate(&folder, "a", &["a.test"]);
        let (other, _) = certificate(&folder, "b", &["b.test"]);
        let mut server = Server::new(&TlsOptions::new(vec![files.clone(), other.clone()]));
        let good = (std::fs::read_to_string(&files.chain).unwrap(), std::fs::read_to_string(&files.key).unwrap());
        let (foreign, _) = certificate(&folder, "c", &["a.test"]);
        let foreign_chain = std::fs::read_to_string(&foreign.chain).unwrap();
        for (chain, key, advice) in [
            ("", good.1.as_str(), "no certificate"),
            ("garbage", &good.1, "no certificate"),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", &good.1, "malformed"),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n", &good.1, "not a valid PEM"),
            (&foreign_chain, &good.1, "does not belong"),
            (&good.0, "", "no private key"),
            (&good.0, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "a.key"),
        ] {
            write(&files.chain, chain);
            write(&files.key, key);
            let (_, renewed) = certificate(&folder, "b", &["b.test"]);
            let reloaded = server.settings.reload();
            assert_eq!(reloaded.replaced, std::slice::from_ref(&other.chain), "the other one is replaced all the same");
            let [error] = &reloaded.refused[..] else { panic!("{reloaded:?}") };
            let error = error.to_string();
            assert!(error.contains(advice) && (error.contains("a.pem") || error.contains("a.key")), "{error}");
            assert_eq!(shown(&server.exchange(&client(&[]), "a.test").await.0), old);
            assert_eq!(shown(&server.exchange(&client(&[]), "b.test").await.0), renewed);
        }
        std::fs::remove_file(&files.key).unwrap();
        let reloaded = server.settings.reload();
        assert!(matches!(&reloaded.refused[..], [ListenError::File { path, .. }] if *path == files.key));
        write(&files.chain, &foreign_chain);
        std::fs::copy(&foreign.key, &files.key).unwrap();
        assert_eq!(server.settings.reload().replaced, [files.chain]);
    });
}

#[test]
fn certificates_that_cannot_be_used_are_refused_at_the_start() {
    let folder = Folder::new();
    let (files, _) = certificate(&folder, "a", &["a.test"]);
    let tickets = TicketKeys::new().unwrap();
    let swapped = CertificateFiles { chain: files.key.clone(), key: files.chain.clone() };
    let missing = CertificateFiles { chain: folder.path("none.pem"), key: files.key.clone() };
    let good = TlsOptions::new(vec![files.clone()]);
    for (options, advice) in [
        (TlsOptions::new(vec![]), "at least one certificate"),
        (TlsOptions { http1: false, http2: false, ..good }, "HTTP/1.1"),
        (TlsOptions::new(vec![files.clone(), swapped]), "a.key: there is no certificate"),
        (TlsOptions::new(vec![missing]), "none.pem"),
    ] {
        let error = TlsSettings::load(&options, &tickets).expect_err(advice).to_string();
        assert!(error.contains(advice), "{error}");
    }
}

#[test]
fn a_session_resumes_on_any_core_and_listener() {
    let folder = Folder::new();
    let (files, _) = certificate(&folder, "a", &["a.test"]);
    let options = TlsOptions::new(vec![files]);
    let tickets = TicketKeys::new().unwrap();
    let settings = TlsSettings::load(&options, &tickets).unwrap();
    // As after a reload of the configuration.
    let reloaded = TlsSettings::load(&options, &tickets).unwrap();
    for version in [&TLS13, &TLS12] {
        let config = client_of(version);
        for (settings, kind) in
            [(&settings, HandshakeKind::Full), (&settings, HandshakeKind::Resumed), (&reloaded, HandshakeKind::Resumed)]
        {
            // A core of its own each time.
            let config = config.clone();
            let settings = settings.clone();
            on_core(|| async move {
                let mut server = Server::serving(settings, 10_000, |_| {});
                let (stream, _) = server.exchange(&config, "a.test").await;
                assert_eq!(stream.get_ref().1.handshake_kind(), Some(kind), "{version:?}");
            });
        }
    }
}

#[test]
fn a_session_of_one_name_does_not_resume_for_another() {
    on_core(|| async {
        let folder = Folder::new();
        let (files, _) = certificate(&folder, "a", &["a.test", "b.test"]);
        let mut server = Server::new(&TlsOptions::new(vec![files]));
        let config = client(&[]);
        for (name, kind) in
            [("a.test", HandshakeKind::Full), ("b.test", HandshakeKind::Full), ("a.test", HandshakeKind::Resumed)]
        {
            let (stream, _) = server.exchange(&config, name).await;
            assert_eq!(stream.get_ref().1.handshake_kind(), Some(kind));
        }
    });
}

#[test]
fn a_handshake_must_end_in_time() {
    on_core(|| async {
        let folder = Folder::new();
        let (files, _) = certificate(&folder, "a", &["a.test"]);
        let server = Server::with(&TlsOptions::new(vec![files]), 60, |_| {});
        for (count, bytes) in [&b""[..], b"\x16\x03\x01\x02\x00\x01"].into_iter().enumerate() {
            let mut stream = TcpStream::connect(server.address).await.unwrap();
            stream.write_all(bytes).await.unwrap();
            read_to_close(&mut stream).await;
            until_refused(&server.gate, Reason::TimeHandshake, count as u64 + 1).await;
        }
        until(|| server.gate.connections() == 0 && server.gate.handshakes() == 0).await;
    });
}

#[test]
fn handshakes_over_the_cap_are_closed_at_once() {
    on_core(|| async {
        let folder = Folder::new();
        let (files, _) = certificate(&folder, "a", &["a.test"]);
        let mut server = Server::with(&TlsOptions::new(vec![files]), 10_000, |limits| limits.handshakes_max = 2);
        let silent =
            [TcpStream::connect(server.address).await.unwrap(), TcpStream::connect(server.address).await.unwrap()];
        until(|| server.gate.handshakes() == 2).await;
        assert!(server.connect(&client(&[]), "a.test").await.is_err());
        until_refused(&server.gate, Reason::LimitHandshakes, 1).await;
        assert_eq!(server.gate.connections(), 2);
        drop(silent);
        until(|| server.gate.handshakes() == 0).await;
        server.exchange(&client(&[]), "a.test").await;
    });
}

#[test]
fn over_the_memory_budget_no_handshake_begins() {
    on_core(|| async {
        let folder = Folder::new();
        let (files, _) = certificate(&folder, "a", &["a.test"]);
        let mut server = Server::with(&TlsOptions::new(vec![files]), 10_000, |limits| {
            limits.memory_bytes_max = 64 << 20;
        });
        leat_stream::memory::add(128 << 20);
        assert!(server.connect(&client(&[]), "a.test").await.is_err());
        leat_stream::memory::add(-(128 << 20));
        until_refused(&server.gate, Reason::LimitMemory, 1).await;
        server.exchange(&client(&[]), "a.test").await;
    });
}

#[test]
fn what_is_not_tls_is_closed_and_plain_http_is_told_why() {
    on_core(|| async {
        let folder = Folder::new();
        let (files, _) = certificate(&folder, "a", &["a.test"]);
        let mut server = Server::new(&TlsOptions::new(vec![files]));
        for (bytes, reason, told) in [
            (&b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"[..], Reason::TlsPlainText, true),
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Reason::TlsPlainText, true),
            (b"\x80\x2e\x01\x00\x02", Reason::TlsHandshake, false),
            (b"\x16\x03\x01\xff\xff", Reason::TlsHandshake, false),
            (b"", Reason::TlsHandshake, false),
        ] {
            let before = server.gate.refused(reason);
            let mut stream = TcpStream::connect(server.address).await.unwrap();
            stream.write_all(bytes).await.unwrap();
            stream.shutdown().await.unwrap();
            let reply = read_to_close(&mut stream).await;
            assert_eq!(reply.starts_with(b"HTTP/1.1 400 "), told, "{}", reply.escape_ascii());
            until_refused(&server.gate, reason, before + 1).await;
        }
        assert!(server.connections.try_recv().is_err());
        until(|| server.gate.connections() == 0).await;
    });
}

#[test]
fn a_handshake_under_way_survives_the_beginning_of_a_drain() {
    on_core(|| async {
        let folder = Folder::new();
        let (files, _) = certificate(&folder, "a", &["a.test"]);
        let mut server = Server::new(&TlsOptions::new(vec![files]));
        let stream = TcpStream::connect(server.address).await.unwrap();
        until(|| server.gate.handshakes() == 1).await;
        leat_stream::begin_drain();
        let _stream = connect_tls(&client(&[]), "a.test", stream).await.unwrap();
        let accepted = soon(server.connections.recv()).await.unwrap();
        assert_eq!(accepted.protocol, Protocol::Http1);
    });
}
