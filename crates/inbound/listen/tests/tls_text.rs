//! TLS from text that a program holds, and what is known of a connection and its client.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::net::SocketAddr;
use std::sync::Arc;

use leat_listen::{
    Accepted, CertificateText, ClientAuth, Gate, ListenerSet, PemError, ServeOptions, TlsSettings, TlsTextError,
    TlsTextOptions, TlsVersions,
};
use leat_message::{Reason, TlsInfo};
use rcgen::{BasicConstraints, Certificate, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, HandshakeKind};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use support::{ClientStream, believe, bind, client, connect_tls, gate, on_core, read, serve, soon, until_refused};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc::UnboundedReceiver;

const EC: &[u8] = include_bytes!("keys/ec.pem");
const EC_KEY: &[u8] = include_bytes!("keys/ec-pkcs8.key");
const RSA: &[u8] = include_bytes!("keys/rsa.pem");
const RSA_KEY: &[u8] = include_bytes!("keys/rsa-pkcs1.key");

struct Server {
    _set: ListenerSet,
    address: SocketAddr,
    gate: Arc<Gate>,
    settings: TlsSettings,
    connections: UnboundedReceiver<Accepted>,
}

impl Server {
    fn new(options: &TlsTextOptions) -> Self {
        let settings = TlsSettings::from_text(options).unwrap();
        let set = bind(&["127.0.0.1:0"], 1);
        let address = set.endpoints()[0].local_addr().unwrap();
        let gate = gate(|_| {});
        let options = ServeOptions { tls: Some(settings.clone()), ..ServeOptions::default() };
        let connections = serve(set.endpoints()[0].listener(0).unwrap(), &gate, options);
        Self { _set: set, address, gate, settings, connections }
    }

    async fn connect(&self, config: &ClientConfig, name: &str) -> std::io::Result<ClientStream<TcpStream>> {
        connect_tls(config, name, TcpStream::connect(self.address).await.unwrap()).await
    }

    /// Connects, sends a byte and reads one, so that tickets have come.
    async fn exchange(&mut self, config: &ClientConfig) -> (ClientStream<TcpStream>, TlsInfo) {
        let mut stream = self.connect(config, "a.test").await.unwrap();
        stream.write_all(b"?").await.unwrap();
        let mut accepted = soon(self.connections.recv()).await.unwrap();
        assert_eq!(read(&mut accepted.socket, 1).await, b"?");
        accepted.socket.write_all(b"!").await.unwrap();
        accepted.socket.flush().await.unwrap();
        soon(stream.read_exact(&mut [0])).await.unwrap();
        (stream, accepted.peer.tls.clone().unwrap())
    }

    /// The client is refused, at the latest when it reads.
    async fn refuses(&self, config: &ClientConfig, times: u64) {
        if let Ok(mut stream) = self.connect(config, "a.test").await {
            assert!(soon(stream.read_exact(&mut [0])).await.is_err());
        }
        until_refused(&self.gate, Reason::TlsHandshake, times).await;
    }
}

fn text(chain: &[u8], key: &[u8]) -> CertificateText {
    CertificateText { chain: chain.to_vec(), key: key.to_vec() }
}

fn ec() -> TlsTextOptions {
    TlsTextOptions::new(vec![text(EC, EC_KEY)])
}

fn shown(stream: &ClientStream<TcpStream>) -> CertificateDer<'static> {
    stream.get_ref().1.peer_certificates().unwrap()[0].clone().into_owned()
}

#[test]
fn keys_serve_in_every_form_that_is_not_encrypted() {
    let both = [EC, EC_KEY].concat();
    let crlf = String::from_utf8(EC_KEY.to_vec()).unwrap().replace('\n', "\r\n");
    let ed25519 = KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
    let ed25519_chain = CertificateParams::new(["a.test".to_owned()]).unwrap().self_signed(&ed25519).unwrap().pem();
    on_core(|| async {
        for (form, chain, key) in [
            ("PKCS#8", EC, EC_KEY),
            ("SEC1 behind its parameters", EC, include_bytes!("keys/ec-sec1.key").as_slice()),
            ("PKCS#1", RSA, RSA_KEY),
            ("one text with both", &both, &both),
            ("other ends of lines", EC, crlf.as_bytes()),
            ("Ed25519", ed25519_chain.as_bytes(), ed25519.serialize_pem().as_bytes()),
            ("a certificate of version 1", include_bytes!("keys/ec-v1.pem"), EC_KEY),
        ] {
            let mut server = Server::new(&TlsTextOptions::new(vec![text(chain, key)]));
            let (stream, _) = server.exchange(&client(&[])).await;
            let lines = |text: &str| text.lines().collect::<String>();
            let pem = lines(&in_pem(&shown(&stream)));
            assert!(lines(&String::from_utf8_lossy(chain)).contains(&pem), "{form}");
        }
    });
}

fn in_pem(der: &CertificateDer<'_>) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let block = |block: &[u8]| {
        let bits = block.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - block.len()));
        let digit = |at: usize| char::from(DIGITS[(bits >> (18 - 6 * at)) as usize & 63]);
        (0..4).map(|at| if at <= block.len() { digit(at) } else { '=' }).collect::<String>()
    };
    let text: String = der.chunks(3).map(block).collect();
    format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n")
}

#[test]
fn what_cannot_be_used_is_refused_with_advice() {
    let asked = |authorities: &[u8]| TlsTextOptions {
        client_auth: ClientAuth::Required { authorities: authorities.to_vec() },
        ..ec()
    };
    let one = |chain: &[u8], key: &[u8]| TlsTextOptions::new(vec![text(chain, key)]);
    let short = (include_bytes!("keys/rsa-1024.pem"), include_bytes!("keys/rsa-1024-pkcs1.key"));
    let cut = b"-----BEGIN CERTIFICATE-----\nAAAA\n";
    let empty = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for (options, advice) in [
        (TlsTextOptions::new(vec![]), "at least one certificate"),
        (TlsTextOptions { http1: false, ..ec() }, "http/1.1 and h2"),
        (one(b"", EC_KEY), "there is no certificate"),
        (one(b"nothing", EC_KEY), "there is no certificate"),
        (one(cut, EC_KEY), "the certificate chain is not valid PEM"),
        (one(empty, EC_KEY), "the first certificate is malformed"),
        (one(EC, b""), "there is no private key"),
        (one(EC, EC), "there is no private key"),
        (one(EC, b"-----BEGIN PRIVATE KEY-----\nAAAA\n"), "the private key is not valid PEM"),
        (one(EC, b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"), "is malformed"),
        (one(EC, include_bytes!("keys/ec-encrypted.key")), "encrypted; decrypt it first"),
        (one(EC, include_bytes!("keys/ec-encrypted-sec1.key")), "encrypted; decrypt it first"),
        (one(short.0, short.1), "RSA (2048 to 8192 bits)"),
        (one(EC, RSA_KEY), "does not belong"),
        (one(include_bytes!("keys/ec-v1.pem"), RSA_KEY), "does not belong"),
        (TlsTextOptions::new(vec![text(EC, EC_KEY), text(RSA, EC_KEY)]), "certificate 2: the key does not belong"),
        (asked(b""), "pass the certificates of those that may"),
        (asked(cut), "the authorities are not valid PEM"),
        (asked(&[EC, empty].concat()), "authority 2 is not a certificate"),
    ] {
        let error = TlsSettings::from_text(&options).expect_err(advice);
        assert!(error.to_string().contains(advice), "{error}");
        assert!(!error.to_string().contains("AAAA"), "nothing of a key is told");
    }
    assert_eq!(
        TlsSettings::from_text(&one(EC, include_bytes!("keys/ec-encrypted.key"))).unwrap_err(),
        TlsTextError::Certificate { index: 0, error: PemError::KeyEncrypted }
    );
    assert_eq!(format!("{:?}", text(EC, EC_KEY)), "CertificateText { .. }");
}

fn speaking(version: &'static rustls::SupportedProtocolVersion, alpn: &[&[u8]]) -> ClientConfig {
    let mut config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[version])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(believe())
        .with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    config
}

#[test]
fn a_connection_says_what_was_settled() {
    let http2 = TlsTextOptions { http2: true, ..ec() };
    let only = |versions| TlsTextOptions { versions, ..ec() };
    let (only12, only13) = (only(TlsVersions::Only12), only(TlsVersions::Only13));
    let rsa = TlsTextOptions::new(vec![text(RSA, RSA_KEY)]);
    let (both, http1): (&[&[u8]], &[&[u8]]) = (&[b"h2", b"http/1.1"], &[b"http/1.1"]);
    let (aes13, ec12) = ("TLS_AES_256_GCM_SHA384", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384");
    let rsa12 = "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384";
    on_core(|| async {
        // Options, the client's version and ALPN; version, cipher, ALPN. `None`: no handshake.
        for (options, version, alpn, settled) in [
            (&ec(), &TLS13, both, Some(("TLSv1.3", aes13, Some("http/1.1")))),
            (&ec(), &TLS12, http1, Some(("TLSv1.2", ec12, Some("http/1.1")))),
            (&ec(), &TLS13, &[], Some(("TLSv1.3", aes13, None))),
            (&ec(), &TLS13, &[b"h2"], None),
            (&http2, &TLS13, both, Some(("TLSv1.3", aes13, Some("h2")))),
            (&http2, &TLS13, http1, Some(("TLSv1.3", aes13, Some("http/1.1")))),
            (&only12, &TLS12, &[], Some(("TLSv1.2", ec12, None))),
            (&only12, &TLS13, &[], None),
            (&only13, &TLS12, &[], None),
            (&rsa, &TLS12, &[], Some(("TLSv1.2", rsa12, None))),
        ] {
            let mut server = Server::new(options);
            let config = speaking(version, alpn);
            let Some(settled) = settled else {
                server.refuses(&config, 1).await;
                continue;
            };
            let (_, info) = server.exchange(&config).await;
            assert_eq!((info.version, info.cipher, info.alpn), settled);
            assert_eq!((info.server_name.as_deref(), info.client), (Some("a.test"), None));
            // Hosts are the program's matter.
            assert!(info.hosts.allows(Some("a.test"), b"other.test"));
        }
    });
}

#[test]
fn several_certificates_are_chosen_by_name_and_by_what_the_client_can_verify() {
    let (second, key) = own("a.test");
    on_core(|| async {
        let options =
            TlsTextOptions::new(vec![text(EC, EC_KEY), text(second.pem().as_bytes(), key.serialize_pem().as_bytes())]);
        let mut server = Server::new(&options);
        let (stream, info) = server.exchange(&client(&[])).await;
        assert_eq!(&shown(&stream), second.der());
        assert!(info.hosts.allows(Some("a.test"), b"ec.test"), "no request is misdirected");

        let (third, key) = own("a.test");
        let renewed = text(third.pem().as_bytes(), key.serialize_pem().as_bytes());
        assert!(server.settings.replace_certificates(&[text(EC, RSA_KEY)]).is_err());
        assert!(server.settings.replace_certificates(&[]).is_err());
        assert_eq!(&shown(&server.exchange(&client(&[])).await.0), second.der(), "the old ones stay");
        server.settings.replace_certificates(&[renewed]).unwrap();
        assert_eq!(&shown(&server.exchange(&client(&[])).await.0), third.der());
        assert!(server.settings.reload().replaced.is_empty(), "there are no files to read");
    });
}

fn own(name: &str) -> (Certificate, KeyPair) {
    let key = KeyPair::generate().unwrap();
    (CertificateParams::new([name.to_owned()]).unwrap().self_signed(&key).unwrap(), key)
}

/// Somebody who signs.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
    certificate: CertificateDer<'static>,
}

impl Authority {
    fn new(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let params = Self::params(name);
        let certificate = params.self_signed(&key).unwrap();
        Self { pem: certificate.pem(), certificate: certificate.der().clone(), issuer: Issuer::new(params, key) }
    }

    fn below(&self, name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let params = Self::params(name);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Self { pem: certificate.pem(), certificate: certificate.der().clone(), issuer: Issuer::new(params, key) }
    }

    fn params(name: &str) -> CertificateParams {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params
    }

    fn sign(&self, change: impl FnOnce(&mut CertificateParams)) -> Identity {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(["client.test".to_owned()]).unwrap();
        params.distinguished_name.push(rcgen::DnType::CommonName, "client");
        change(&mut params);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Identity { chain: vec![certificate.der().clone()], key }
    }
}

struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: KeyPair,
}

fn client_with(identity: Option<&Identity>, version: &'static rustls::SupportedProtocolVersion) -> ClientConfig {
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[version])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(believe());
    match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let key = PrivateKeyDer::try_from(identity.key.serialize_der()).unwrap();
            // Sends it to whomever.
            let signing = rustls::crypto::aws_lc_rs::sign::any_supported_type(&key).unwrap();
            let certified = rustls::sign::CertifiedKey::new(identity.chain.clone(), signing);
            builder.with_client_cert_resolver(Arc::new(rustls::sign::SingleCertAndKey::from(certified)))
        }
    }
}

#[test]
fn clients_are_judged_as_the_server_asks() {
    let (authority, stranger) = (Authority::new("authority"), Authority::new("stranger"));
    let below = authority.below("below");
    let year = |year| rcgen::date_time_ymd(year, 1, 1);
    let behind = |mut identity: Identity, authority: &Authority| {
        identity.chain.push(authority.certificate.clone());
        identity
    };
    let alone = {
        let (certificate, key) = own("client.test");
        Identity { chain: vec![certificate.der().clone()], key }
    };
    // Certificates that may sign others, as `openssl req -x509` makes them.
    let itself = |change: fn(&mut CertificateParams)| {
        let key = KeyPair::generate().unwrap();
        let mut params = Authority::params("client");
        change(&mut params);
        Identity { chain: vec![params.self_signed(&key).unwrap().der().clone()], key }
    };
    let (known, expired) = (itself(|_| {}), itself(|params| params.not_after = rcgen::date_time_ymd(2000, 1, 1)));
    let strange_chain = {
        let below = stranger.below("below a stranger");
        behind(below.sign(|_| {}), &below)
    };
    let known_pem: String = [&known, &expired].iter().map(|identity| in_pem(&identity.chain[0])).collect();
    // The client's certificate; the problem with it.
    let clients = [
        ("none", None, None),
        ("good", Some(authority.sign(|_| {})), None),
        ("good, by an intermediate", Some(behind(below.sign(|_| {}), &below)), None),
        ("intermediate missing", Some(below.sign(|_| {})), Some("UNABLE_TO_VERIFY_LEAF_SIGNATURE")),
        ("a stranger's", Some(stranger.sign(|_| {})), Some("UNABLE_TO_VERIFY_LEAF_SIGNATURE")),
        ("a stranger's chain without its root", Some(strange_chain), Some("UNABLE_TO_GET_ISSUER_CERT_LOCALLY")),
        ("its own authority, known", Some(known), None),
        ("its own authority, known and expired", Some(expired), Some("CERT_HAS_EXPIRED")),
        ("its own authority, unknown", Some(itself(|_| {})), Some("DEPTH_ZERO_SELF_SIGNED_CERT")),
        ("a stranger's chain", Some(behind(stranger.sign(|_| {}), &stranger)), Some("SELF_SIGNED_CERT_IN_CHAIN")),
        ("its own", Some(alone), Some("DEPTH_ZERO_SELF_SIGNED_CERT")),
        ("expired", Some(authority.sign(|params| params.not_after = year(2000))), Some("CERT_HAS_EXPIRED")),
        ("of the future", Some(authority.sign(|params| params.not_before = year(3000))), Some("CERT_NOT_YET_VALID")),
        (
            "a server's",
            Some(authority.sign(|params| params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth])),
            Some("INVALID_PURPOSE"),
        ),
    ];
    let authorities = [authority.pem.as_bytes(), EC, known_pem.as_bytes()].concat();
    on_core(|| async {
        for version in [&TLS12, &TLS13] {
            for (what, identity, problem) in &clients {
                let config = client_with(identity.as_ref(), version);
                let with = |client_auth| TlsTextOptions { client_auth, ..ec() };

                let (_, info) = Server::new(&with(ClientAuth::Off)).exchange(&config).await;
                assert_eq!(info.client, None, "{what}, not asked");

                let authorities = authorities.clone();
                let requested = with(ClientAuth::Requested { authorities: authorities.clone() });
                let (_, info) = Server::new(&requested).exchange(&config).await;
                let chain = identity.as_ref().map(|identity| &identity.chain);
                let seen = info.client.as_ref().map(|client| (client.chain.len(), client.chain[0].to_vec()));
                assert_eq!(seen, chain.map(|chain| (chain.len(), chain[0].to_vec())), "{what}, requested");
                assert_eq!(info.client.and_then(|client| client.problem), *problem, "{what}, requested");

                let mut server = Server::new(&with(ClientAuth::Required { authorities }));
                if problem.is_some() || identity.is_none() {
                    server.refuses(&config, 1).await;
                    continue;
                }
                let (_, info) = server.exchange(&config).await;
                let client = info.client.unwrap();
                assert_eq!((&client.chain[0][..], client.problem), (&chain.unwrap()[0][..], None), "{what}, required");
            }
        }
    });
}

#[test]
fn a_client_must_have_the_key_of_what_it_shows() {
    let authority = Authority::new("authority");
    let mut thief = authority.sign(|_| {});
    thief.key = KeyPair::generate().unwrap();
    on_core(|| async {
        let authorities = authority.pem.clone().into_bytes();
        for client_auth in
            [ClientAuth::Requested { authorities: authorities.clone() }, ClientAuth::Required { authorities }]
        {
            for version in [&TLS12, &TLS13] {
                let server = Server::new(&TlsTextOptions { client_auth: client_auth.clone(), ..ec() });
                server.refuses(&client_with(Some(&thief), version), 1).await;
            }
        }
    });
}

#[test]
fn a_resumed_session_knows_its_client_and_is_no_way_around_another_server() {
    let authority = Authority::new("authority");
    let identity = authority.sign(|_| {});
    on_core(|| async {
        for version in [&TLS12, &TLS13] {
            let authorities = authority.pem.clone().into_bytes();
            let asked = TlsTextOptions { client_auth: ClientAuth::Required { authorities }, ..ec() };
            let mut server = Server::new(&asked);
            let config = client_with(Some(&identity), version);
            server.exchange(&config).await;
            let (stream, info) = server.exchange(&config).await;
            assert_eq!(stream.get_ref().1.handshake_kind(), Some(HandshakeKind::Resumed));
            assert_eq!(info.client.unwrap().chain[0][..], identity.chain[0][..]);

            // A session of a server that does not ask is none here, whatever name both have.
            let mut open = Server::new(&ec());
            let config = client_with(None, version);
            open.exchange(&config).await;
            let (stream, _) = open.exchange(&config).await;
            assert_eq!(stream.get_ref().1.handshake_kind(), Some(HandshakeKind::Resumed));
            server.refuses(&config, 1).await;
        }
    });
}
