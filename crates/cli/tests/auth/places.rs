//! Which upstream and which endpoint a request goes to, and under which limit, where that follows from who the client is.

use leat_testkit::{Folder, Leat, Peer, Script};

use crate::support::{get, lines_of, proxy, sha256, upstream};

/// A server that says its name, as often as it is asked on one connection.
fn named(name: &str) -> Peer {
    let reply = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{name}", name.len());
    Peer::listen([(0..16).fold(Script::new(), |script, _| script.expect_head().send(reply.clone()))])
}

fn gateway(proxy: &str, upstreams: &str) -> Leat {
    let config = format!(
        "listeners: 127.0.0.1:0
workers: 1
auth: {{ programs: {{ api_keys: {{ owner_header: x-client, keys: {{ shop: {}, bank: {} }} }} }} }}
routes: [{{ auth: programs, proxy: {proxy} }}]
upstreams: {upstreams}
",
        sha256("k1"),
        sha256("k2")
    );
    Leat::gateway_in(Folder::new(), &config, 1)
}

#[test]
fn a_split_by_a_field_of_authentication_takes_no_clients_word() {
    let (usual, new) = (named("usual"), named("new"));
    let leat = gateway(
        "{ upstream: usual, split: { upstream: new, header: x-client, value: shop } }",
        &format!("{{ usual: \"http://{}\", new: \"http://{}\" }}", usual.address(), new.address()),
    );
    let mut client = leat.connect();
    for (fields, wanted) in [
        ("x-api-key: k1\r\n", "new"),
        ("x-api-key: k2\r\n", "usual"),
        ("x-client: shop\r\nx-api-key: k2\r\n", "usual"),
        ("x-client: bank\r\nx-api-key: k1\r\n", "new"),
    ] {
        assert_eq!(get(&mut client, fields).text(), wanted, "{fields}");
    }
}

#[test]
fn a_hash_of_a_field_of_authentication_takes_no_clients_word() {
    let (one, two) = (named("one"), named("two"));
    let endpoints = format!("[\"http://{}\", \"http://{}\"]", one.address(), two.address());
    let leat = gateway(
        "up",
        &format!("{{ up: {{ endpoints: {endpoints}, balance: {{ hash: {{ by: header, name: X-Client }} }} }} }}"),
    );
    let mut client = leat.connect();
    let first = get(&mut client, "x-api-key: k1\r\n").text().to_owned();
    for forged in ["", "x-client: a\r\n", "x-client: b\r\n", "x-client: c\r\n", "x-client: d\r\n", "x-client: e\r\n"] {
        assert_eq!(get(&mut client, &format!("{forged}x-api-key: k1\r\n")).text(), first, "{forged}");
    }
}

#[test]
fn of_schemes_that_tell_the_same_field_the_first_does() {
    let one = format!("  one: {{ api_keys: {{ owner_header: X-User, keys: {{ shop: {} }} }} }}", sha256("k1"));
    let keys = format!("{{ bank: {} }}", sha256("k2"));
    let other = |name| format!("  two: {{ api_keys: {{ header: x-other, owner_header: {name}, keys: {keys} }} }}");
    for (all, name, told) in [
        ("[one, two]", "x-user", "x-user: shop"),
        ("[two, one]", "x-user", "x-user: bank"),
        ("[one, two]", "x_user", "x-user: shop"),
    ] {
        let peer = upstream(1);
        let leat = proxy(Folder::new(), &format!("{one}\n{}", other(name)), &format!("{{ all: {all} }}"), &peer);
        assert_eq!(
            get(&mut leat.connect(), "x-api-key: k1\r\nx-other: k2\r\nx-user: eve\r\n").status,
            200,
            "{all} {name}"
        );
        let got = peer.finish().remove(0);
        let lines: Vec<String> = ["x-user", "x_user"].iter().flat_map(|name| lines_of(&got, name)).collect();
        assert_eq!(lines, [told], "{all} {name}");
    }
}

#[test]
fn a_credential_that_goes_no_further_may_still_say_where() {
    let (one, two) = (named("one"), named("two"));
    let config = format!(
        "listeners: 127.0.0.1:0
workers: 1
auth: {{ programs: {{ hide_credentials: true, api_keys: {{ keys: {{ shop: {} }} }} }} }}
routes: [{{ auth: programs, proxy: up }}]
upstreams: {{ up: {{ endpoints: [\"http://{}\", \"http://{}\"], balance: {{ hash: {{ by: header, name: x-api-key }} }} }} }}
",
        sha256("k1"),
        one.address(),
        two.address()
    );
    let leat = Leat::gateway_in(Folder::new(), &config, 1);
    let mut client = leat.connect();
    let first = get(&mut client, "x-api-key: k1\r\n").text().to_owned();
    for _ in 0..4 {
        assert_eq!(get(&mut client, "x-api-key: k1\r\n").text(), first);
    }
}

#[test]
fn a_limit_by_a_field_of_authentication_counts_whom_that_has_found() {
    // The service knows the client by its cookie.
    let replies = ["ann", "ann", "bob", "ann"]
        .map(|name| format!("HTTP/1.1 200 OK\r\nx-user: {name}\r\ncontent-length: 0\r\n\r\n"));
    let judge =
        Peer::listen([replies.iter().fold(Script::new(), |script, reply| script.expect_head().send(reply.clone()))]);
    let config = format!(
        "listeners: 127.0.0.1:0
workers: 1
auth: {{ judge: {{ external: {{ url: \"http://{}/\", response_headers: x-user }} }} }}
rate_limits: {{ users: {{ rate: 2/h, key: \"header:X-User\" }} }}
routes: [{{ auth: judge, rate_limits: users, respond: {{ body: in }} }}]
",
        judge.address()
    );
    let leat = Leat::gateway(&config, 1);
    let mut client = leat.connect();
    for (forged, wanted) in [("a", 200), ("b", 200), ("ann", 200), ("c", 429)] {
        assert_eq!(get(&mut client, &format!("x-user: {forged}\r\n")).status, wanted, "{forged}");
    }
}
