//! What upstreams are told about the client and the way a request took.

use leat_testkit::{Leat, Peer, Response};

use crate::support::{OK, answers, config, lines, url};

/// The lines that an upstream gets behind `Host`, and the client's response.
fn passed(forwarded: &str, sent: &str) -> (Vec<String>, Response, u16) {
    let peer = Peer::listen([answers(OK, 1)]);
    let leat = Leat::gateway(&config(url(&peer), &format!("forwarded: {{ {forwarded} }}"), "", "", ""), 1);
    let mut client = leat.connect();
    client.send(format!("GET / HTTP/1.1\r\nhost: leat.test\r\n{sent}\r\n"));
    let response = client.response();
    drop(client);
    let port = leat.address(0).port();
    (lines(&peer.finish()[0]).split_off(1), response, port)
}

#[test]
fn fields_about_the_client_follow_style_and_trust() {
    const ALL: &str = "x-forwarded-for: 1.1.1.1, 2.2.2.2\r\nx-forwarded-for: 3.3.3.3\r\nx-forwarded-proto: https\r\n\
                       x-forwarded-host: old.test\r\nforwarded: for=4.4.4.4, for=\"[::5]\";proto=https\r\n";
    for (config, wanted) in [
        (
            "style: x_forwarded",
            vec![
                "x-forwarded-for: 127.0.0.1",
                "x-forwarded-proto: http",
                "x-forwarded-host: leat.test",
                "x-forwarded-port: PORT",
            ],
        ),
        (
            "style: x_forwarded, trusted_hops: 1",
            vec![
                "x-forwarded-proto: https",
                "x-forwarded-host: old.test",
                "x-forwarded-for: 3.3.3.3, 127.0.0.1",
                "x-forwarded-port: PORT",
            ],
        ),
        (
            "style: x_forwarded, trusted_hops: 2",
            vec![
                "x-forwarded-proto: https",
                "x-forwarded-host: old.test",
                "x-forwarded-for: 2.2.2.2, 3.3.3.3, 127.0.0.1",
                "x-forwarded-port: PORT",
            ],
        ),
        ("style: forwarded", vec!["forwarded: for=127.0.0.1;host=\"leat.test\";proto=http"]),
        (
            "style: forwarded, trusted_hops: 1",
            vec!["forwarded: for=\"[::5]\";proto=https, for=127.0.0.1;host=\"leat.test\";proto=http"],
        ),
        (
            "style: forwarded, trusted_hops: 2",
            vec!["forwarded: for=4.4.4.4, for=\"[::5]\";proto=https, for=127.0.0.1;host=\"leat.test\";proto=http"],
        ),
        (
            "style: both",
            vec![
                "x-forwarded-for: 127.0.0.1",
                "x-forwarded-proto: http",
                "x-forwarded-host: leat.test",
                "x-forwarded-port: PORT",
                "forwarded: for=127.0.0.1;host=\"leat.test\";proto=http",
            ],
        ),
        (
            "style: both, trusted_hops: 1",
            vec![
                "x-forwarded-proto: https",
                "x-forwarded-host: old.test",
                "x-forwarded-for: 3.3.3.3, 127.0.0.1",
                "x-forwarded-port: PORT",
                "forwarded: for=\"[::5]\";proto=https, for=127.0.0.1;host=\"leat.test\";proto=http",
            ],
        ),
        ("style: off", vec![]),
        ("style: off, trusted_hops: 2", vec![]),
    ] {
        let (lines, _, port) = passed(&format!("{config}, via: off, request_id: off"), ALL);
        let wanted: Vec<_> = wanted.iter().map(|line| line.replace("PORT", &port.to_string())).collect();
        assert_eq!(lines, wanted, "{config}");
    }
}

#[test]
fn via_names_the_protocol_that_was_received() {
    let (lines, response, _) = passed("style: off, request_id: off", "via: 1.0 first\r\n");
    assert_eq!(lines, ["via: 1.0 first", "via: 1.1 leat"]);
    // RFC 9110 section 7.6.3 leaves it to a gateway whether responses get one.
    assert_eq!(response.field("via"), None);
    let (lines, ..) = passed("style: off, request_id: off, via: edge-1", "");
    assert_eq!(lines, ["via: 1.1 edge-1"]);
}

#[test]
fn a_request_id_goes_upstream_and_back() {
    let (lines, response, _) = passed("style: off, via: off", "x-request-id: stranger\r\n");
    let id = response.field("x-request-id").expect("the client is told the id").to_owned();
    assert_eq!((id.len(), &lines), (32, &vec![format!("x-request-id: {id}")]), "a stranger's id is replaced");

    let (lines, response, _) = passed("style: off, via: off, trusted_hops: 1", "X-Request-ID: known\r\n");
    assert_eq!((lines, response.field("x-request-id")), (vec!["X-Request-ID: known".into()], Some("known")));

    let (lines, response, _) = passed("style: off, via: off, request_id: x-trace", "x-request-id: kept\r\n");
    let id = response.field("x-trace").expect("the client is told the id").to_owned();
    assert_eq!(lines, ["x-request-id: kept".to_owned(), format!("x-trace: {id}")]);

    let (lines, response, _) = passed("style: off, via: off, request_id: off", "x-request-id: kept\r\n");
    assert_eq!((lines, response.field("x-request-id")), (vec!["x-request-id: kept".into()], None));
}

#[test]
fn an_id_that_the_upstream_chose_is_not_doubled() {
    let peer = Peer::listen([answers("HTTP/1.1 200 OK\r\nX-Request-Id: own\r\ncontent-length: 0\r\n\r\n", 1)]);
    let leat = Leat::gateway(&config(url(&peer), "", "", "", ""), 1);
    assert_eq!(leat.connect().get("/").response().fields_named("x-request-id"), ["own"]);
}

#[test]
fn a_clients_connection_field_takes_nothing_away_that_upstreams_rely_on() {
    let sent = "connection: x-forwarded-for, x-forwarded-proto, x-request-id, x-hop\r\nx-forwarded-for: 9.9.9.9\r\n\
                x-forwarded-proto: https\r\nx-request-id: known\r\nx-hop: 1\r\n";
    let (lines, _, port) = passed("style: x_forwarded, via: off, trusted_hops: 1", sent);
    let wanted = [
        "x-forwarded-proto: https",
        "x-request-id: known",
        "x-forwarded-for: 9.9.9.9, 127.0.0.1",
        "x-forwarded-host: leat.test",
        &format!("x-forwarded-port: {port}"),
    ];
    assert_eq!(lines, wanted);
}

#[test]
fn a_host_that_a_proxy_has_quoted_is_no_word_of_the_proxys_own() {
    // Such a host is a legal one (RFC 3986 section 3.2.2), and a proxy may well write it down.
    let by_proxy = "for=2.2.2.2;host=\"a,for=9.9.9.9;b=\"";
    let (lines, ..) = passed(
        "style: forwarded, trusted_hops: 1, via: off, request_id: off",
        &format!("forwarded: for=\"x, {by_proxy}\r\n"),
    );
    assert_eq!(lines, [format!("forwarded: {by_proxy}, for=127.0.0.1;host=\"leat.test\";proto=http")]);

    let route = "access: { allow: 2.2.2.2 }";
    let root = "forwarded: { style: forwarded, trusted_hops: 1 }";
    let peer = Peer::listen([answers(OK, 2)]);
    let leat = Leat::gateway(&config(url(&peer), root, "", route, ""), 1);
    let mut client = leat.connect();
    for (value, status) in [
        (by_proxy, 200),
        ("host=\";for=2.2.2.2;\";for=9.9.9.9", 403),
        ("for=9.9.9.9;host=\"a,for=2.2.2.2;b=\"", 403),
        ("for=9.9.9.9, for=\"2.2.2.2:80\"", 200),
    ] {
        client.send(format!("GET / HTTP/1.1\r\nhost: h\r\nforwarded: {value}\r\n\r\n"));
        assert_eq!(client.response().status, status, "{value}");
    }
}

#[test]
fn no_other_spelling_passes_for_what_the_gateway_tells() {
    let sent = "X_Forwarded_For: 6.6.6.6\r\nx-forwarded_for: 6.6.6.6\r\nx_forwarded_proto: https\r\nx_forwarded-host: a\r\n\
                x_forwarded_port: 1\r\nx_forwarded_by: kept\r\n";
    for trusted in ["", ", trusted_hops: 1"] {
        let (lines, ..) = passed(&format!("style: off, via: off, request_id: off{trusted}"), sent);
        assert_eq!(lines, ["x_forwarded_by: kept"]);
    }
}
