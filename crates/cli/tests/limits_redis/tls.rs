//! Servers over TLS, and users and passwords.

use std::net::SocketAddr;

use leat_testkit::{Folder, Leat};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

use crate::server::{Redis, gateway, own_address, statuses};

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    // Not the name of what it signs: that would look signed by itself.
    params.distinguished_name.push(DnType::CommonName, "authority");
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Writes a certificate of `name` and its key: `file.pem` and `file.key`.
fn certificate(by: &Authority, folder: &Folder, file: &str, name: &str) {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, by).unwrap();
    folder.write(&format!("{file}.pem"), certificate.pem());
    folder.write(&format!("{file}.key"), key.serialize_pem());
}

/// A server for TLS with a certificate of `redis.test`, and where it listens.
fn secure(clients: &str) -> Option<(Redis, String)> {
    let (address, folder) = (own_address(), Folder::new());
    let (ours, strangers) = (authority(), authority());
    folder.write("ca.pem", ours.pem());
    folder.write("stranger.pem", strangers.pem());
    certificate(&ours, &folder, "server", "redis.test");
    certificate(&ours, &folder, "client", "gateway.test");
    certificate(&strangers, &folder, "wrong", "gateway.test");
    listening(address, folder, "server", "ca.pem", clients)
}

/// A server that shows a certificate of the folder, and where it listens.
fn listening(address: SocketAddr, folder: Folder, own: &str, ca: &str, clients: &str) -> Option<(Redis, String)> {
    let port = (address.port() + 1_000).to_string();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (cert, key, ca) = (path(&format!("{own}.pem")), path(&format!("{own}.key")), path(ca));
    let arguments = ["--tls-port", &port, "--tls-cert-file", &cert, "--tls-key-file", &key];
    let more = ["--tls-ca-cert-file", &ca, "--tls-auth-clients", clients];
    let redis = Redis::launch(address, folder, &[&arguments[..], &more].concat())?;
    redis.wait_ready();
    Some((redis, format!("{}:{port}", address.ip())))
}

fn with_tls(redis: &Redis, at: &str, keys: &[(&str, &str)]) -> Leat {
    let folder = redis.folder().path().display();
    let value = |key: &str, value: &str| match key {
        "server_name" => format!("{key}: {value}"),
        _ => format!("{key}: '{folder}/{value}'"),
    };
    let tls: Vec<String> = keys.iter().map(|(key, file)| value(key, file)).collect();
    let server = format!("{{ url: 'rediss://{at}', deadline: 2s, tls: {{ {} }} }}", tls.join(", "));
    gateway(&server, "x: { rate: 2/h, key: all, redis: shared, on_error: closed }", "x")
}

#[test]
fn a_server_over_tls_is_asked_once_it_is_known_for_who_it_is() {
    let Some((redis, at)) = secure("no") else { return };
    let (ours, name) = (("ca", "ca.pem"), ("server_name", "redis.test"));
    let leat = with_tls(&redis, &at, &[ours, name]);
    assert_eq!(statuses(&mut leat.connect(), "", 3), [200, 200, 429]);
    for (keys, why) in [
        (vec![("ca", "stranger.pem"), name], "invalid peer certificate"),
        (vec![ours], "not valid for"),
        (vec![ours, ("server_name", "other.test")], "not valid for"),
        (vec![name], "invalid peer certificate"),
    ] {
        let mut leat = with_tls(&redis, &at, &keys);
        assert_eq!(statuses(&mut leat.connect(), "", 1), [503], "{keys:?}");
        let line = leat.wait_log("the reason", |line| line.contains("\"event\":\"redis_down\""));
        assert!(line.contains(why) && line.contains(&at), "{keys:?}: {line}");
    }
}

/// As `openssl req -x509` makes them.
#[test]
fn a_server_may_show_the_very_certificate_that_is_trusted_though_it_may_sign_others() {
    let (address, folder) = (own_address(), Folder::new());
    let mut params = CertificateParams::new(["redis.test".to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    folder.write("own.pem", params.self_signed(&key).unwrap().pem());
    folder.write("own.key", key.serialize_pem());
    folder.write("stranger.pem", authority().pem());
    let (redis, at) = match listening(address, folder, "own", "own.pem", "no") {
        Some(started) => started,
        None => return,
    };
    for (ca, name, wanted) in [
        ("own.pem", "redis.test", [200, 200, 429]),
        ("own.pem", "other.test", [503; 3]),
        ("stranger.pem", "redis.test", [503; 3]),
    ] {
        let leat = with_tls(&redis, &at, &[("ca", ca), ("server_name", name)]);
        assert_eq!(statuses(&mut leat.connect(), "", 3), wanted, "{ca}, {name}");
    }
}

#[test]
fn a_server_that_asks_for_a_certificate_gets_ours() {
    let Some((redis, at)) = secure("yes") else { return };
    let (ours, name) = (("ca", "ca.pem"), ("server_name", "redis.test"));
    let client = |file: &'static str, key: &'static str| vec![ours, name, ("certificate", file), ("key", key)];
    let leat = with_tls(&redis, &at, &client("client.pem", "client.key"));
    assert_eq!(statuses(&mut leat.connect(), "", 3), [200, 200, 429]);
    for keys in [vec![ours, name], client("wrong.pem", "wrong.key")] {
        let mut leat = with_tls(&redis, &at, &keys);
        assert_eq!(statuses(&mut leat.connect(), "", 1), [503], "{keys:?}");
        leat.wait_log("the reason", |line| line.contains("\"event\":\"redis_down\""));
    }
}

#[test]
fn a_user_logs_in_with_a_password_of_a_file_and_a_wrong_one_is_told_of_without_being_shown() {
    let acl = ["--user", "leat", "on", ">hunter2", "~leat:*", "+@all", "--user", "default", "off"];
    let Some(redis) = Redis::start(&acl) else { return };
    for (user, password, wanted) in [("leat", "hunter2\n", 200), ("leat", "wrong2", 503), ("other", "hunter2", 503)] {
        let folder = Folder::new();
        let file = folder.write("password", password);
        let login = format!(", username: {user}, password_file: '{}', deadline: 2s", file.display());
        let mut leat = redis.gateway(&login, "x: { rate: 100/h, key: all, redis: shared, on_error: closed }", "x");
        assert_eq!(statuses(&mut leat.connect(), "", 1), [wanted], "{user} {password}");
        if wanted == 503 {
            let line = leat.wait_log("the reason", |line| line.contains("\"event\":\"redis_down\""));
            assert!(line.contains("WRONGPASS"), "{line}");
        }
        assert!(!leat.log().join("\n").contains(password.trim()));
    }
}
