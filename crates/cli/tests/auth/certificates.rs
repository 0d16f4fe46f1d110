//! Certificates of clients (mTLS).

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use leat_testkit::{DEADLINE, Folder, Leat};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, SanType};
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::support::{lines_of, upstream};

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

struct Shown {
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
}

/// A client's certificate: its common name, a DNS name and a URI.
fn client(by: &Authority, name: &str, dns: &str, expired: bool) -> Shown {
    let mut params = CertificateParams::new([dns.to_owned()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.distinguished_name.push(DnType::OrganizationName, "Acme, Inc.");
    params.subject_alt_names.push(SanType::URI("spiffe://acme/billing".try_into().unwrap()));
    if expired {
        params.not_after = rcgen::date_time_ymd(2001, 1, 1);
    }
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, by).unwrap();
    Shown { certificate: certificate.into(), key: key.serialize_der() }
}

struct Setting {
    server: CertificateDer<'static>,
    folder: Folder,
}

/// A server's certificate and the file of the authority, in a folder.
fn setting(clients: &Authority) -> Setting {
    let folder = Folder::new();
    let key = KeyPair::generate().unwrap();
    let server = CertificateParams::new(["one.test".to_owned()]).unwrap().self_signed(&key).unwrap();
    folder.write("one.pem", server.pem());
    folder.write("one.key", key.serialize_pem());
    folder.write("clients.pem", clients.pem());
    Setting { server: server.into(), folder }
}

fn config(mode: &str, scheme: &str, action: &str) -> String {
    format!(
        "listeners:
  - address: 127.0.0.1:0
    tls: {{ certificates: {{ cert: one.pem, key: one.key }}, client_ca: clients.pem, client_certificate: {mode} }}
workers: 1
auth:
  devices: {{ client_certificate: {scheme} }}
routes:
  - {{ match: {{ path: /open }}, respond: {{ body: open }} }}
  - {{ match: {{ path: /closed }}, auth: devices, {action} }}
"
    )
}

fn ask(
    address: SocketAddr,
    server: &CertificateDer<'static>,
    shown: Option<&Shown>,
    path: &str,
    fields: &str,
) -> Option<String> {
    let mut roots = RootCertStore::empty();
    roots.add(server.clone()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots);
    let config = match shown {
        None => builder.with_no_client_auth(),
        Some(shown) => {
            let key = PrivateKeyDer::try_from(shown.key.clone()).unwrap();
            builder.with_client_auth_cert(vec![shown.certificate.clone()], key).unwrap()
        }
    };
    let socket = TcpStream::connect_timeout(&address, DEADLINE).unwrap();
    socket.set_read_timeout(Some(DEADLINE)).unwrap();
    let name = ServerName::try_from("one.test").unwrap();
    let mut stream = StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), socket);
    let request = format!("GET {path} HTTP/1.1\r\nhost: one.test\r\nconnection: close\r\n{fields}\r\n");
    let mut reply = Vec::new();
    stream.write_all(request.as_bytes()).ok()?;
    stream.read_to_end(&mut reply).ok()?;
    Some(String::from_utf8(reply).unwrap())
}

#[test]
fn an_optional_certificate_opens_the_routes_that_ask_for_it() {
    let ca = authority();
    let Setting { server, folder } = setting(&ca);
    let config = config("optional", "{ names: [\"*.billing.test\", other.test] }", "respond: { body: in }");
    let leat = Leat::gateway_in(folder, &config, 1);
    let good = client(&ca, "ann", "a.billing.test", false);
    let misnamed = client(&ca, "bob", "a.shipping.test", false);
    let expired = client(&ca, "ann", "a.billing.test", true);
    let stranger = client(&authority(), "ann", "a.billing.test", false);
    for (what, shown, path, wanted) in [
        ("none, open", None, "/open", "200"),
        ("none", None, "/closed", "403 auth.certificate_missing"),
        ("good", Some(&good), "/closed", "200"),
        ("another name", Some(&misnamed), "/closed", "403 auth.certificate_unknown"),
        ("expired", Some(&expired), "/closed", "403 auth.certificate_missing"),
        ("expired, open", Some(&expired), "/open", "200"),
        ("another authority's", Some(&stranger), "/closed", "403 auth.certificate_missing"),
    ] {
        let reply = ask(leat.address(0), &server, shown, path, "").expect(what);
        let (status, code) = wanted.split_once(' ').unwrap_or((wanted, ""));
        assert!(reply.starts_with(&format!("HTTP/1.1 {status} ")) && reply.contains(code), "{what}: {reply}");
        assert!(!reply.contains("www-authenticate"), "{what}: a certificate cannot be asked for in a reply");
    }
}

#[test]
fn a_required_certificate_is_asked_for_in_the_handshake() {
    let ca = authority();
    let Setting { server, folder } = setting(&ca);
    let leat = Leat::gateway_in(folder, &config("required", "{}", "respond: { body: in }"), 1);
    let good = client(&ca, "ann", "a.test", false);
    let stranger = client(&authority(), "ann", "a.test", false);
    assert!(ask(leat.address(0), &server, Some(&good), "/closed", "").unwrap().starts_with("HTTP/1.1 200 "));
    for shown in [None, Some(&stranger)] {
        assert_eq!(ask(leat.address(0), &server, shown, "/open", ""), None, "no handshake");
    }
}

#[test]
fn the_upstream_hears_the_certificates_names_from_the_gateway_alone() {
    let ca = authority();
    let Setting { server, folder } = setting(&ca);
    let peer = upstream(1);
    let scheme = "{ subject_header: x-subject, names_header: x-names }";
    let config = config("optional", scheme, &format!("proxy: \"http://{}\"", peer.address()));
    let leat = Leat::gateway_in(folder, &config, 1);
    let good = client(&ca, "ann", "a.billing.test", false);
    let forged = "x-subject: CN=root\r\nX-Names: root.test\r\nx_subject: CN=root\r\n";
    let reply = ask(leat.address(0), &server, Some(&good), "/closed", forged).unwrap();
    assert!(reply.starts_with("HTTP/1.1 200 "), "{reply}");
    let received = peer.finish().concat();
    assert_eq!(lines_of(&received, "x-names"), ["x-names: a.billing.test,spiffe://acme/billing"]);
    let subject = lines_of(&received, "x-subject");
    assert_eq!(subject.len(), 1);
    assert!(subject[0].contains("CN=ann") && subject[0].contains("O=Acme\\, Inc."), "{subject:?}");
    assert_eq!(lines_of(&received, "x_subject").len(), 0);
}

#[test]
fn other_authorities_count_after_a_reload() {
    let (one, two) = (authority(), authority());
    let Setting { server, folder } = setting(&one);
    let mut leat = Leat::gateway_in(folder, &config("optional", "{}", "respond: { body: in }"), 1);
    let (of_one, of_two) = (client(&one, "a", "a.test", false), client(&two, "b", "b.test", false));
    let status =
        |leat: &Leat, shown| ask(leat.address(0), &server, Some(shown), "/closed", "").unwrap()[9..12].to_owned();
    assert_eq!((status(&leat, &of_one), status(&leat, &of_two)), ("200".to_owned(), "403".to_owned()));
    leat.folder().write("clients.pem", two.pem());
    leat.reload();
    leat.wait_log("reload", |line| line.contains("\"event\":\"reloaded\""));
    assert_eq!((status(&leat, &of_one), status(&leat, &of_two)), ("403".to_owned(), "200".to_owned()));
}
