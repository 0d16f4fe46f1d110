//! API keys and passwords.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use leat_testkit::{Folder, Leat};

use crate::support::{gateway, get, htpasswd, lines_of, outcome, proxy, sha256, upstream};

fn basic(pair: &str) -> String {
    format!("authorization: Basic {}\r\n", STANDARD.encode(pair))
}

#[test]
fn an_api_key_opens_and_nothing_else_does() {
    let folder = Folder::new();
    folder.write("keys.txt", format!("# programs\n\nbilling:{}\n", sha256("key-from-file")));
    let auth =
        format!("  programs: {{ api_keys: {{ file: keys.txt, keys: {{ shop: [{}] }} }} }}", sha256("key-of-the-shop"));
    let leat = gateway(folder, &auth, "programs");
    let mut client = leat.connect();
    for (fields, wanted, code) in [
        ("x-api-key: key-of-the-shop\r\n", 200, ""),
        ("X-API-Key:  key-from-file \r\n", 200, ""),
        ("x-api-key: key-of-the-shop\r\n", 200, ""),
        ("", 401, "auth.missing"),
        ("x-api-key:\r\n", 401, "auth.credentials"),
        ("x-api-key: key-of-the-sho\r\n", 401, "auth.credentials"),
        ("x-api-key: key-of-the-shop\r\nx-api-key: key-of-the-shop\r\n", 401, "auth.malformed"),
        (&format!("x-api-key: {}\r\n", sha256("key-of-the-shop")), 401, "auth.credentials"),
        (&format!("x-api-key: {}\r\n", "k".repeat(2_000)), 401, "auth.credentials"),
        ("authorization: Bearer key-of-the-shop\r\n", 401, "auth.missing"),
    ] {
        let response = get(&mut client, fields);
        assert_eq!(outcome(&response), (wanted, code.to_owned()), "{fields}");
        let challenge = (wanted == 401).then_some("ApiKey realm=\"programs\", header=\"x-api-key\"");
        assert_eq!(response.field("www-authenticate"), challenge, "{fields}");
    }
}

#[test]
fn the_upstream_hears_whose_key_it_is_from_the_gateway_alone() {
    let peer = upstream(4);
    let auth = format!(
        "  programs: {{ hide_credentials: true, api_keys: {{ owner_header: X-Client, keys: {{ shop: {} }} }} }}",
        sha256("k1")
    );
    let leat = proxy(Folder::new(), &auth, "programs", &peer);
    let mut client = leat.connect();
    for forged in ["", "x-client: root\r\n", "X-CLIENT: root\r\nx-client: admin\r\n", "x_client: root\r\n"] {
        assert_eq!(get(&mut client, &format!("{forged}x-api-key: k1\r\nx-other: 1\r\n")).status, 200);
    }
    drop(client);
    let received = peer.finish().concat();
    assert_eq!(lines_of(&received, "x-client"), ["x-client: shop"; 4]);
    assert_eq!(lines_of(&received, "x_client"), [""; 0]);
    assert_eq!(lines_of(&received, "x-api-key"), [""; 0], "hidden");
    assert_eq!(lines_of(&received, "x-other").len(), 4);
}

#[test]
fn a_password_opens_and_nothing_else_does() {
    let folder = Folder::new();
    folder.write("htpasswd", htpasswd());
    let leat = gateway(folder, "  staff: { basic: { file: htpasswd, realm: The Staff } }", "staff");
    let mut client = leat.connect();
    for (fields, wanted, code) in [
        (basic("ann:open sesame"), 200, ""),
        (basic("ann:open sesame").replace("Basic", "bAsIc"), 200, ""),
        (basic("ann:open sesam"), 401, "auth.credentials"),
        (basic("ann:open sesam"), 401, "auth.credentials"),
        (basic("bob:open sesame"), 401, "auth.credentials"),
        (basic(&format!("ann:{}", "p".repeat(73))), 401, "auth.credentials"),
        (basic(&format!("ann:{}", "p".repeat(600))), 401, "auth.credentials"),
        (basic("ann"), 401, "auth.malformed"),
        ("authorization: Basic !!\r\n".to_owned(), 401, "auth.malformed"),
        ("authorization: Basic\r\n".to_owned(), 401, "auth.malformed"),
        ("authorization: Basically x\r\n".to_owned(), 401, "auth.missing"),
        (basic("ann:open sesame").repeat(2), 401, "auth.malformed"),
        (String::new(), 401, "auth.missing"),
        (basic("ann:open sesame"), 200, ""),
    ] {
        let response = get(&mut client, &fields);
        assert_eq!(outcome(&response), (wanted, code.to_owned()), "{fields}");
        let challenge = (wanted == 401).then_some("Basic realm=\"The Staff\", charset=\"UTF-8\"");
        assert_eq!(response.field("www-authenticate"), challenge, "{fields}");
    }
}

#[test]
fn a_crowd_with_one_password_is_let_in_by_one_check() {
    let folder = Folder::new();
    // Dear enough that one check for each would take longer than all may.
    folder.write("htpasswd", htpasswd());
    let leat = gateway(folder, "  staff: { basic: htpasswd }", "staff");
    let mut clients: Vec<_> = (0..200).map(|_| leat.connect()).collect();
    for client in &mut clients {
        client.send(format!("GET / HTTP/1.1\r\nhost: h\r\n{}\r\n", basic("ann:open sesame")));
    }
    for client in &mut clients {
        assert_eq!(client.response().status, 200, "more than may wait for checks of their own");
    }
}

#[test]
fn any_scheme_or_all_of_them() {
    let auth = format!(
        "  one: {{ api_keys: {{ header: x-one, keys: {{ a: {} }} }} }}\n  two: {{ api_keys: {{ header: x-two, keys: {{ b: {} }} }} }}",
        sha256("k1"),
        sha256("k2")
    );
    let (one, two, wrong) = ("x-one: k1\r\n", "x-two: k2\r\n", "x-one: no\r\n");
    for (route, fields, wanted, code) in [
        ("[one, two]", one.to_owned(), 200, ""),
        ("[one, two]", two.to_owned(), 200, ""),
        ("[one, two]", format!("{wrong}{two}"), 200, ""),
        ("[one, two]", String::new(), 401, "auth.missing"),
        ("[one, two]", wrong.to_owned(), 401, "auth.credentials"),
        ("{ all: [one, two] }", format!("{one}{two}"), 200, ""),
        ("{ all: [one, two] }", one.to_owned(), 401, "auth.missing"),
        ("{ all: [one, two] }", two.to_owned(), 401, "auth.missing"),
        ("{ all: [one, two] }", format!("{wrong}{two}"), 401, "auth.credentials"),
    ] {
        let leat = gateway(Folder::new(), &auth, route);
        let mut client = leat.connect();
        let response = get(&mut client, &fields);
        assert_eq!(outcome(&response), (wanted, code.to_owned()), "{route} {fields}");
        // The connection lives, and the next request is judged alone.
        assert_eq!(get(&mut client, "").status, 401);
    }
}

#[test]
fn what_is_told_of_a_client_is_told_once() {
    for (told, changes) in [
        ("x-client", "set: { X-Client: configured }"),
        ("x-client", "add: { x-client: configured }"),
        ("x-client", "remove: x-client"),
        // Fields that the gateway puts by itself.
        ("x-forwarded-for", "set: { x-other: a }"),
        ("x-request-id", "set: { x-other: a }"),
        ("via", "set: { x-other: a }"),
    ] {
        let peer = upstream(1);
        let config = format!(
            "listeners: 127.0.0.1:0\nworkers: 1\nauth: {{ programs: {{ api_keys: {{ owner_header: {told}, keys: {{ shop: {} }} }} }} }}\n\
             routes: [{{ auth: programs, request_headers: {{ {changes} }}, proxy: \"http://{}\" }}]\n",
            sha256("k1"),
            peer.address()
        );
        let leat = Leat::gateway_in(Folder::new(), &config, 1);
        assert_eq!(get(&mut leat.connect(), &format!("{told}: forged\r\nx-api-key: k1\r\n")).status, 200);
        drop(leat);
        assert_eq!(lines_of(&peer.finish().concat(), told), [format!("{told}: shop")], "{changes}");
    }
}
