//! Making connections: what is refused, what hangs, Unix sockets and TLS.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod scripted;

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use leat_dial::{Endpoint, EndpointLimits, Protocol, Target, Trust};
use leat_message::Reason;
use scripted::*;
use tokio::net::{TcpListener, UnixListener};

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

fn short() -> EndpointLimits {
    EndpointLimits { connect_time_ms: 150, ..EndpointLimits::default() }
}

#[test]
fn a_closed_port_is_refused_at_once() {
    on_core(async {
        let address = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let (pools, endpoint) = (pools(), h1(address));
        for _ in 0..2 {
            assert_eq!(fetch(&pools, &endpoint, &get("/")).await.unwrap_err(), Reason::UpstreamConnect);
        }
        assert_eq!(pools.stats_of(&endpoint).open, 0);
    });
}

#[test]
fn an_address_that_does_not_answer_is_given_up_in_time() {
    on_core(async {
        let hole = black_hole("127.0.0.1:0");
        let (pools, endpoint) = (pools(), endpoint(hole.address, Protocol::H1, short()));
        let start = Instant::now();
        assert_eq!(fetch(&pools, &endpoint, &get("/")).await.unwrap_err(), Reason::UpstreamConnectTime);
        assert!(start.elapsed() >= Duration::from_millis(130) && start.elapsed() < Duration::from_millis(900));
        assert_eq!(pools.stats_of(&endpoint).open, 0);
    });
}

#[test]
fn unix_sockets_are_spoken_to_like_others() {
    on_core(async {
        let directory = std::env::temp_dir().join(format!("leat-dial-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("up.sock");
        let _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(&path).unwrap();
        tokio::task::spawn_local(async move {
            let mut conn = Conn(listener.accept().await.unwrap().0);
            while !conn.head().await.is_empty() {
                conn.send(OK).await;
            }
        });
        let (pools, up) = (pools(), h1(format!("unix:{}", path.display())));
        for _ in 0..3 {
            assert_eq!(fetch(&pools, &up, &get("/")).await.unwrap().text(), "ok");
        }
        assert_eq!((pools.stats_of(&up).connects, pools.stats_of(&up).reuses), (1, 2));
        let missing = h1(format!("unix:{}/none.sock", directory.display()));
        assert_eq!(fetch(&pools, &missing, &get("/")).await.unwrap_err(), Reason::UpstreamConnect);
        std::fs::remove_dir_all(&directory).unwrap();
    });
}

struct Authority {
    pem: String,
    server: Arc<rustls::ServerConfig>,
}

/// A certificate for `name` that is its own authority.
fn authority(name: &str, alpn: &[&str]) -> Authority {
    let key = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    serving(&key.cert, &key.signing_key, alpn)
}

/// One that may sign others too, as `openssl req -x509` makes them, from this year on.
fn signing_authority(name: &str, from_year: i32, to_year: i32) -> Authority {
    let mut params = rcgen::CertificateParams::new([name.to_owned()]).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    params.not_before = rcgen::date_time_ymd(from_year, 1, 1);
    params.not_after = rcgen::date_time_ymd(to_year, 1, 1);
    let key = rcgen::KeyPair::generate().unwrap();
    serving(&params.self_signed(&key).unwrap(), &key, &["http/1.1", "h2"])
}

fn serving(cert: &rcgen::Certificate, key: &rcgen::KeyPair, alpn: &[&str]) -> Authority {
    let mut server =
        rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![cert.der().clone()],
                rustls_pki_types::PrivateKeyDer::Pkcs8(key.serialize_der().into()),
            )
            .unwrap();
    server.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    Authority { pem: cert.pem(), server: Arc::new(server) }
}

async fn tls_peer(authority: &Authority) -> std::net::SocketAddr {
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::clone(&authority.server));
    peer(move |_, conn| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(stream) = acceptor.accept(conn.0).await else { return };
            let mut conn = Conn(stream);
            loop {
                let head = conn.head().await;
                if head.is_empty() {
                    return;
                }
                if head.starts_with("GET /cut ") {
                    conn.send("HTTP/1.1 200 OK\r\n\r\nhalf of it").await;
                    return;
                }
                conn.send(OK).await;
            }
        }
    })
    .await
}

fn secure(address: impl ToString, pem: &str, name: &str, protocol: Protocol) -> Rc<Endpoint> {
    let (target, trust) = (Target::parse(&address.to_string()).unwrap(), Trust::pem(pem.as_bytes()).unwrap());
    Rc::new(Endpoint::new(target, protocol, Some(trust), Some(name), EndpointLimits::default()).unwrap())
}

#[test]
fn tls_connections_are_checked_and_pooled() {
    on_core(async {
        let ours = authority("up.example", &["http/1.1"]);
        let other = authority("up.example", &[]);
        let address = tls_peer(&ours).await;
        let pools = pools();
        let good = secure(address, &ours.pem, "up.example", Protocol::H1Tls);
        for _ in 0..3 {
            assert_eq!(fetch(&pools, &good, &get("/")).await.unwrap().text(), "ok");
            settle().await;
        }
        assert_eq!((pools.stats_of(&good).connects, pools.stats_of(&good).reuses), (1, 2));

        let expired = signing_authority("up.example", 2020, 2021);
        let silent = authority("up.example", &[]);
        let (plain, late, silent_address) = (plain_peer().await, tls_peer(&expired).await, tls_peer(&silent).await);
        for (name, endpoint, cause) in [
            (
                "another authority",
                secure(address, &other.pem, "up.example", Protocol::H1Tls),
                Reason::CertificateIssuer,
            ),
            ("another name", secure(address, &ours.pem, "down.example", Protocol::H1Tls), Reason::CertificateName),
            ("one that expired", secure(late, &expired.pem, "up.example", Protocol::H1Tls), Reason::CertificateExpired),
            ("an alert", secure(address, &ours.pem, "up.example", Protocol::H2Tls), Reason::UpstreamTls),
            ("no HTTP/2", secure(silent_address, &silent.pem, "up.example", Protocol::H2Tls), Reason::TlsProtocol),
            ("plain text", secure(plain, &ours.pem, "up.example", Protocol::H1Tls), Reason::UpstreamTls),
        ] {
            let fault = pools.lease(&endpoint).await.unwrap_err();
            assert_eq!((fault.reason, fault.cause()), (Reason::UpstreamTls, cause), "{name}");
            assert_eq!(pools.stats_of(&endpoint).open, 0, "{name}");
        }
    });
}

#[test]
fn a_server_may_show_the_very_certificate_that_is_trusted_though_it_may_sign_others() {
    on_core(async {
        let (ours, other) = (signing_authority("up.example", 2020, 4000), signing_authority("up.example", 2020, 4000));
        let later = signing_authority("up.example", 3000, 4000);
        let (address, later_address) = (tls_peer(&ours).await, tls_peer(&later).await);
        let both = other.pem.clone() + &ours.pem;
        for (name, address, pem, host, expected) in [
            ("it alone", address, &ours.pem, "up.example", Ok(())),
            ("among others", address, &both, "up.example", Ok(())),
            ("another one", address, &other.pem, "up.example", Err(Reason::CertificateIssuer)),
            ("another name", address, &ours.pem, "down.example", Err(Reason::CertificateName)),
            ("not valid yet", later_address, &later.pem, "up.example", Err(Reason::CertificateNotYetValid)),
        ] {
            let endpoint = secure(address, pem, host, Protocol::H1Tls);
            let result = fetch(&pools(), &endpoint, &get("/")).await.map(|response| assert_eq!(response.text(), "ok"));
            assert_eq!(result, expected, "{name}");
        }
    });
}

async fn plain_peer() -> std::net::SocketAddr {
    peer(|_, mut conn| async move {
        conn.bytes(1).await;
        conn.send("HTTP/1.1 400 Bad Request\r\n\r\n").await;
        conn.hold().await;
    })
    .await
}

#[test]
fn a_handshake_that_does_not_end_is_given_up_in_time() {
    on_core(async {
        let address = peer(|_, conn| conn.hold()).await;
        let trust = Trust::pem(authority("up.example", &[]).pem.as_bytes()).unwrap();
        for protocol in [Protocol::H1Tls, Protocol::H2Tls] {
            let target = Target::parse(&address.to_string()).unwrap();
            let endpoint = Endpoint::new(target, protocol, Some(trust.clone()), Some("up.example"), short()).unwrap();
            let (pools, endpoint) = (pools(), Rc::new(endpoint));
            assert_eq!(fetch(&pools, &endpoint, &get("/")).await.unwrap_err(), Reason::UpstreamConnectTime);
            assert_eq!(pools.stats_of(&endpoint).open, 0);
        }
        let silent = endpoint(address, Protocol::H2c, short());
        assert_eq!(fetch(&pools(), &silent, &get("/")).await.unwrap_err(), Reason::UpstreamConnectTime);
    });
}

#[test]
fn a_peer_that_chooses_no_protocol_speaks_http_1() {
    on_core(async {
        let plain = authority("up.example", &[]);
        let endpoint = secure(tls_peer(&plain).await, &plain.pem, "up.example", Protocol::H1Tls);
        assert_eq!(fetch(&pools(), &endpoint, &get("/")).await.unwrap().text(), "ok");
    });
}

#[test]
fn a_body_until_close_that_ends_without_a_tls_goodbye_is_cut_off() {
    on_core(async {
        let ours = authority("up.example", &[]);
        let endpoint = secure(tls_peer(&ours).await, &ours.pem, "up.example", Protocol::H1Tls);
        assert_eq!(fetch(&pools(), &endpoint, &get("/cut")).await.unwrap_err(), Reason::UpstreamReset);
    });
}

#[test]
fn files_of_authorities_are_refused_with_what_is_wrong() {
    let directory = std::env::temp_dir().join(format!("leat-trust-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let write = |name: &str, text: &str| {
        std::fs::write(directory.join(name), text).unwrap();
        directory.join(name)
    };
    let good = authority("up.example", &[]).pem;
    assert!(Trust::file(&write("good.pem", &good)).is_ok());
    for (name, text, part) in [
        ("empty.pem", String::new(), "no certificate"),
        ("text.pem", "hello".to_owned(), "no certificate"),
        ("broken.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_owned(), "malformed"),
        ("cut.pem", good.chars().take(200).collect(), "not PEM"),
    ] {
        let error = Trust::file(&write(name, &text)).unwrap_err().to_string();
        assert!(error.contains(part) && error.contains(name), "{error}");
    }
    assert!(Trust::file(&directory.join("none.pem")).unwrap_err().to_string().contains("cannot be read"));
    std::fs::remove_dir_all(&directory).unwrap();
}
