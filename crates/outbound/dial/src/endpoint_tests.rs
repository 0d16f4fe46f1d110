#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;

fn endpoint(target: &str, protocol: Protocol, name: Option<&str>) -> Result<Endpoint, EndpointError> {
    let trust = protocol.is_tls().then(Trust::public);
    Endpoint::new(Target::parse(target)?, protocol, trust, name, EndpointLimits::default())
}

#[test]
fn targets_are_read_and_written_alike() {
    for (text, written) in [
        ("127.0.0.1:80", "127.0.0.1:80"),
        ("[::1]:8080", "[::1]:8080"),
        ("Example.ORG.:443", "example.org:443"),
        ("my_service-1:65535", "my_service-1:65535"),
        ("unix:/run/app.sock", "unix:/run/app.sock"),
    ] {
        assert_eq!(Target::parse(text).unwrap().to_string(), written, "{text}");
    }
}

#[test]
fn doubtful_targets_are_refused_with_what_is_wrong() {
    type Check = fn(&EndpointError) -> bool;
    let form: Check = |e| matches!(e, EndpointError::Form(_));
    let port: Check = |e| matches!(e, EndpointError::Port(_));
    let host: Check = |e| matches!(e, EndpointError::Host(_));
    let path: Check = |e| matches!(e, EndpointError::UnixPath(_));
    for (text, check) in [
        ("http://a:80", form),
        ("::1:80", form),
        ("[::1:80", form),
        ("a", port),
        ("a:", port),
        ("a:0", port),
        ("a:+80", port),
        ("a:65536", port),
        ("[::1]", port),
        (":80", host),
        ("a b:80", host),
        ("a..b:80", host),
        ("-a:80", host),
        ("1.2.3:80", host),
        ("256.1.1.1:80", host),
        ("[zz]:80", host),
        ("unix:app.sock", path),
    ] {
        let error = Target::parse(text).unwrap_err();
        assert!(check(&error), "{text}: {error:?}");
    }
}

#[test]
fn the_identity_tells_apart_what_may_not_share_connections() {
    let identity = |target, protocol, name| endpoint(target, protocol, name).unwrap().identity().to_string();
    let plain = identity("a:80", Protocol::H1, None);
    assert_eq!(plain, identity("A:80", Protocol::H1, Some("ignored")));
    assert_ne!(plain, identity("a:80", Protocol::H2c, None));
    assert_ne!(plain, identity("a:80", Protocol::H1Tls, None));
    assert_ne!(identity("a:80", Protocol::H1Tls, Some("b")), identity("a:80", Protocol::H1Tls, Some("c")));
}

#[test]
fn a_tls_endpoint_needs_trust_and_a_name() {
    let target = Target::parse("a:443").unwrap();
    let without = Endpoint::new(target, Protocol::H2Tls, None, None, EndpointLimits::default());
    assert_eq!(without.unwrap_err(), EndpointError::TrustMissing);
    assert!(matches!(endpoint("unix:/s", Protocol::H1Tls, None), Err(EndpointError::ServerName(_))));
    assert!(endpoint("unix:/s", Protocol::H1Tls, Some("a.example")).is_ok());
    assert!(endpoint("[::1]:443", Protocol::H1Tls, None).is_ok());
}
