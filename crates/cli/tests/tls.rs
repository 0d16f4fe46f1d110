//! TLS from end to end: which certificate, which protocol, which version, and what changes while it runs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use leat_testkit::{Client, DEADLINE, Folder, Leat, eventually};
use rcgen::{CertificateParams, KeyPair};
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, HandshakeKind, ProtocolVersion, RootCertStore, StreamOwned};
use support::{events, metric};

/// A certificate that signs itself, and its key.
struct Made {
    certificate: CertificateDer<'static>,
    chain_pem: String,
    key_pem: String,
}

impl Made {
    fn of(names: &[&str]) -> Self {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
        Self { chain_pem: certificate.pem(), key_pem: key.serialize_pem(), certificate: certificate.into() }
    }

    fn write(&self, folder: &Folder, name: &str) {
        folder.write(&format!("{name}.key"), &self.key_pem);
        folder.write(&format!("{name}.pem"), &self.chain_pem);
    }
}

/// A client that trusts `certificates`; its sessions resume.
fn client(
    certificates: &[&Made],
    alpn: &[&str],
    versions: &[&'static rustls::SupportedProtocolVersion],
) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    for made in certificates {
        roots.add(made.certificate.clone()).unwrap();
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()));
    let mut config =
        builder.with_protocol_versions(versions).unwrap().with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    Arc::new(config)
}

type Stream = StreamOwned<ClientConnection, TcpStream>;

/// Connects and shakes hands.
fn connect(address: SocketAddr, name: &str, config: &Arc<ClientConfig>) -> std::io::Result<Stream> {
    let socket = TcpStream::connect_timeout(&address, DEADLINE)?;
    shake(socket, name, config)
}

fn shake(mut socket: TcpStream, name: &str, config: &Arc<ClientConfig>) -> std::io::Result<Stream> {
    socket.set_read_timeout(Some(DEADLINE))?;
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let mut connection = ClientConnection::new(Arc::clone(config), name).unwrap();
    while connection.is_handshaking() {
        connection.complete_io(&mut socket)?;
    }
    Ok(StreamOwned::new(connection, socket))
}

/// What comes back for a request to `host`, the connection being closed after it.
fn ask(stream: &mut Stream, host: &str) -> String {
    write!(stream, "GET / HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).expect("the end is announced");
    String::from_utf8(reply).unwrap()
}

fn certificate_of(stream: &Stream) -> CertificateDer<'static> {
    stream.conn.peer_certificates().unwrap()[0].clone().into_owned()
}

const BOTH: &[&rustls::SupportedProtocolVersion] = &[&rustls::version::TLS12, &rustls::version::TLS13];

/// A gateway with the certificates `one` (its default) and `two`, and `more` in its configuration.
fn gateway(one: &Made, two: &Made, listener: &str, more: &str) -> Leat {
    let folder = Folder::new();
    one.write(&folder, "one");
    two.write(&folder, "two");
    let config = format!(
        "listeners:
  address: 127.0.0.1:0
  tls:
    certificates: [{{ cert: one.pem, key: one.key }}, {{ cert: two.pem, key: two.key }}]
{listener}
admin: 127.0.0.1:0
{more}
routes: [{{ respond: {{ body: secret }} }}]
"
    );
    Leat::gateway_in(folder, &config, 1)
}

fn pair() -> (Made, Made) {
    (Made::of(&["one.test", "also-one.test"]), Made::of(&["two.test", "*.two.test"]))
}

#[test]
fn the_server_name_picks_the_certificate() {
    let (one, two) = pair();
    let leat = gateway(&one, &two, "", "");
    let trusting = client(&[&one, &two], &[], BOTH);
    for (name, expected) in
        [("one.test", &one), ("also-one.test", &one), ("two.test", &two), ("deep.two.test", &two), ("TWO.test", &two)]
    {
        let mut stream = connect(leat.address(0), name, &trusting).unwrap();
        assert_eq!(certificate_of(&stream), expected.certificate, "{name}");
        assert!(ask(&mut stream, name).ends_with("secret"), "{name}");
    }
    let error = connect(leat.address(0), "unknown.test", &trusting).unwrap_err();
    assert!(error.to_string().contains("certificate"), "the default certificate, which is not for it: {error}");
}

#[test]
fn alpn_settles_the_protocol() {
    let (one, two) = pair();
    for (listener, offered, expected) in [
        ("", &["h2", "http/1.1"][..], Some(&b"h2"[..])),
        ("", &["http/1.1"], Some(b"http/1.1")),
        ("", &[], None),
        ("  http2: false", &["h2", "http/1.1"], Some(b"http/1.1")),
    ] {
        let leat = gateway(&one, &two, listener, "");
        let stream = connect(leat.address(0), "one.test", &client(&[&one], offered, BOTH)).unwrap();
        assert_eq!(stream.conn.alpn_protocol(), expected, "{listener} {offered:?}");
    }
    let leat = gateway(&one, &two, "", "");
    let refused = connect(leat.address(0), "one.test", &client(&[&one], &["spdy/3"], BOTH));
    assert!(refused.is_err(), "no protocol in common (RFC 7301 section 3.2)");
}

#[test]
fn versions_are_those_of_the_configuration() {
    let (one, two) = pair();
    let only12 = client(&[&one], &[], &[&rustls::version::TLS12]);
    let only13 = client(&[&one], &[], &[&rustls::version::TLS13]);
    let leat = gateway(&one, &two, "", "");
    for (config, version) in [(&only12, ProtocolVersion::TLSv1_2), (&only13, ProtocolVersion::TLSv1_3)] {
        let mut stream = connect(leat.address(0), "one.test", config).unwrap();
        assert_eq!(stream.conn.protocol_version(), Some(version));
        assert!(ask(&mut stream, "one.test").ends_with("secret"));
    }
    let leat = gateway(&one, &two, "    min_version: 1.3", "");
    assert!(connect(leat.address(0), "one.test", &only12).is_err());
    assert!(connect(leat.address(0), "one.test", &only13).is_ok());
}

#[test]
fn sessions_resume_on_whichever_core_the_client_comes_back_to() {
    let (one, two) = pair();
    let leat = gateway(&one, &two, "", "workers: 2");
    for version in BOTH {
        let config = client(&[&one], &[], &[version]);
        let mut first = connect(leat.address(0), "one.test", &config).unwrap();
        assert_eq!(first.conn.handshake_kind(), Some(HandshakeKind::Full));
        ask(&mut first, "one.test");
        // Each comes from another port, so that both cores get some of them.
        for number in 0..16 {
            let mut again = connect(leat.address(0), "one.test", &config).unwrap();
            assert_eq!(again.conn.handshake_kind(), Some(HandshakeKind::Resumed), "{version:?}, connection {number}");
            // TLS 1.3 tickets are for one use; the reply brings new ones.
            assert!(ask(&mut again, "one.test").ends_with("secret"));
        }
    }
}

#[test]
fn a_changed_certificate_is_used_within_seconds_and_connections_are_not_touched() {
    let (one, two) = pair();
    let leat = gateway(&one, &two, "", "");
    let address = leat.address(0);
    let mut open = connect(address, "one.test", &client(&[&one], &[], BOTH)).unwrap();
    let renewed = Made::of(&["one.test"]);
    let trusting = client(&[&renewed], &[], BOTH);
    assert!(connect(address, "one.test", &trusting).is_err());
    // As renewal tools do it: one file after the other, so that for a moment they do not fit.
    leat.folder().write("one.pem", &renewed.chain_pem);
    eventually("the complaint about a certificate whose key is another's", || {
        (events(&leat.log(), "certificate_refused") > 0).then_some(())
    });
    assert!(connect(address, "one.test", &client(&[&one], &[], BOTH)).is_ok(), "the old one stays in use");
    leat.folder().write("one.key", &renewed.key_pem);
    let mut stream = eventually("the new certificate", || connect(address, "one.test", &trusting).ok());
    assert!(ask(&mut stream, "one.test").ends_with("secret"));
    assert!(ask(&mut open, "one.test").ends_with("secret"));
    assert_eq!(events(&leat.log(), "certificate_refused"), 1, "said once");
    assert_eq!(events(&leat.log(), "certificate_reloaded"), 1);
}

#[test]
fn a_reload_takes_changed_certificates_over_at_once_and_tickets_stay_valid() {
    let (one, two) = pair();
    let leat = gateway(&one, &two, "", "workers: 2");
    let address = leat.address(0);
    let resuming = client(&[&two], &[], BOTH);
    ask(&mut connect(address, "two.test", &resuming).unwrap(), "two.test");
    let renewed = Made::of(&["one.test"]);
    renewed.write(leat.folder(), "one");
    leat.reload();
    eventually("the reload", || (events(&leat.log(), "certificate_reloaded") > 0).then_some(()));
    assert!(connect(address, "one.test", &client(&[&renewed], &[], BOTH)).is_ok());
    let again = connect(address, "two.test", &resuming).unwrap();
    assert_eq!(again.conn.handshake_kind(), Some(HandshakeKind::Resumed));
}

#[test]
fn a_host_that_the_connection_was_not_opened_for_is_misdirected() {
    let (one, two) = pair();
    let leat = gateway(&one, &two, "", "");
    let trusting = client(&[&one, &two], &[], BOTH);
    for (name, host, status) in [
        ("one.test", "one.test", " 200 "),
        ("one.test", "also-one.test", " 200 "),
        ("one.test", "two.test", " 421 "),
        ("deep.two.test", "two.test:443", " 200 "),
        ("two.test", "one.test", " 421 "),
    ] {
        let mut stream = connect(leat.address(0), name, &trusting).unwrap();
        let reply = ask(&mut stream, host);
        assert!(reply.lines().next().unwrap().contains(status), "{name}, {host}: {reply}");
    }
    let http2 = connect(leat.address(0), "one.test", &client(&[&one], &["h2"], BOTH)).unwrap();
    let replies = http2_statuses(http2, &["https://one.test/", "https://two.test/", "https://also-one.test/"]);
    assert_eq!(replies, [200, 421, 200]);
}

/// The statuses of GET requests, one after the other on one HTTP/2 connection.
fn http2_statuses(stream: Stream, urls: &[&str]) -> Vec<u16> {
    // The h2 crate wants an asynchronous stream: a pair of sockets, and two threads that copy.
    let (near, far) = std::os::unix::net::UnixStream::pair().unwrap();
    let copying = std::thread::spawn(move || copy_both_ways(stream, far));
    near.set_nonblocking(true).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let local = tokio::task::LocalSet::new();
    let statuses = local.block_on(&runtime, async move {
        let near = tokio::net::UnixStream::from_std(near).unwrap();
        let (mut client, connection) = h2::client::handshake(near).await.unwrap();
        tokio::task::spawn_local(connection);
        let mut statuses = Vec::new();
        for url in urls {
            let request = http::Request::get(*url).body(()).unwrap();
            client = client.ready().await.unwrap();
            let (reply, _) = client.send_request(request, true).unwrap();
            let reply = tokio::time::timeout(DEADLINE, reply).await.unwrap().unwrap();
            statuses.push(reply.status().as_u16());
        }
        statuses
    });
    drop(local);
    drop(runtime);
    copying.join().unwrap();
    statuses
}

/// Copies between a TLS stream and a socket until the socket ends. One thread: it looks at both in turn.
fn copy_both_ways(mut stream: Stream, mut far: std::os::unix::net::UnixStream) {
    let tick = Some(Duration::from_millis(2));
    stream.sock.set_read_timeout(tick).unwrap();
    far.set_read_timeout(tick).unwrap();
    let mut block = [0; 4096];
    let end = Instant::now() + DEADLINE;
    while Instant::now() < end {
        match far.read(&mut block) {
            Ok(0) => return,
            Ok(count) => stream.write_all(&block[..count]).unwrap(),
            Err(_) => {}
        }
        if let Ok(count) = stream.read(&mut block) {
            far.write_all(&block[..count]).unwrap();
        }
    }
}

#[test]
fn plain_http_on_a_tls_port_is_told_so() {
    let (one, two) = pair();
    let leat = gateway(&one, &two, "", "");
    let reply = leat.connect().get("/").response();
    assert_eq!(reply.status, 400);
    assert!(reply.text().starts_with("{\"type\":\"about:blank\","), "{}", reply.text());
    assert!(reply.text().contains("\"code\":\"tls.plain_text\""), "{}", reply.text());
    let mut garbage = leat.connect();
    garbage.send([0x16, 3, 1, 0, 5, 1, 2, 3, 4, 5]);
    let alert = garbage.rest();
    assert!(!alert.windows(4).any(|window| window == b"HTTP"), "{}", alert.escape_ascii());
}

#[test]
fn handshakes_that_stand_still_are_capped_and_timed() {
    let (one, two) = pair();
    let mut leat = gateway(&one, &two, "", "workers: 1\nlimits: { handshakes_max: 2, handshake_time: 1500ms }");
    let (admin, address) = (leat.admin(), leat.address(0));
    let silent: Vec<Client> = (0..2).map(|_| leat.connect()).collect();
    eventually("two handshakes", || (metric(admin, "leat_tls_handshakes_open") == 2).then_some(()));
    let trusting = client(&[&one], &[], BOTH);
    assert!(connect(address, "one.test", &trusting).is_err(), "a third is refused at once");
    let capped = "leat_refusals_total{reason=\"limit.handshakes\",blame=\"us\"}";
    eventually("it to be counted", || (metric(admin, capped) == 1).then_some(()));
    for mut client in silent {
        client.expect_end();
    }
    eventually("a handshake", || connect(address, "one.test", &trusting).ok());
    let late = "leat_refusals_total{reason=\"time.handshake\",blame=\"peer\"}";
    eventually("both to be counted", || (metric(admin, late) == 2).then_some(()));
    assert_eq!(metric(admin, "leat_tls_handshakes_total{outcome=\"ok\"}"), 1);
    assert_eq!(metric(admin, "leat_tls_handshakes_total{outcome=\"failed\"}"), 2);
}

#[test]
fn a_handshake_that_a_drain_meets_is_finished_and_its_request_answered() {
    let (one, two) = pair();
    let mut leat = gateway(&one, &two, "", "drain: { grace: 3s, deadline: 9s }");
    let admin = leat.admin();
    let socket = TcpStream::connect(leat.address(0)).unwrap();
    let silent = TcpStream::connect(leat.address(0)).unwrap();
    eventually("two handshakes", || (metric(admin, "leat_tls_handshakes_open") == 2).then_some(()));
    leat.terminate();
    leat.wait_log("the drain", |line| line.contains("\"event\":\"draining\""));
    let mut stream = shake(socket, "one.test", &client(&[&one], &[], BOTH)).unwrap();
    assert!(ask(&mut stream, "one.test").ends_with("secret"));
    assert_eq!(leat.wait().code(), Some(0));
    assert_eq!(events(&leat.log(), "drain_cut"), 0, "a handshake that stands still does not hold the drain up");
    drop(silent);
}
