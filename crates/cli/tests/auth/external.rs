//! A service that decides.

use leat_testkit::{Folder, Gate, Leat, Peer, Script};

use crate::support::{gateway, get, lines_of, outcome, proxy, upstream};

fn service(reply: &str) -> Peer {
    Peer::listen([Script::new().expect_head().send(reply.to_owned())])
}

fn scheme(peer: &Peer, more: &str) -> String {
    format!("  judge: {{ external: {{ url: \"http://{}/check?by=leat\"{more} }} }}", peer.address())
}

fn reply(status: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n")
}

fn one(reply_of_service: &str, more: &str) -> (u16, String) {
    let judge = service(reply_of_service);
    let leat = gateway(Folder::new(), &scheme(&judge, more), "judge");
    outcome(&get(&mut leat.connect(), ""))
}

#[test]
fn what_the_service_says_is_done() {
    for (said, more, wanted, code) in [
        (reply("200 OK"), "", 200, ""),
        (reply("204 No Content"), "", 200, ""),
        (reply("401 Unauthorized"), "", 401, "auth.credentials"),
        (reply("403 Forbidden"), "", 403, "auth.denied"),
        (reply("404 Not Found"), "", 403, "auth.denied"),
        (reply("302 Found"), "", 503, "auth.service_failed"),
        (reply("500 Oh"), "", 503, "auth.service_failed"),
        (reply("500 Oh"), ", on_failure: admit", 200, ""),
        (reply("403 Forbidden"), ", on_failure: admit", 403, "auth.denied"),
        ("HTTP/1.1 20".to_owned(), "", 503, "auth.service_failed"),
        ("garbage\r\n\r\n".to_owned(), "", 503, "auth.service_failed"),
        // Only the head says something.
        (format!("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n{}", "x".repeat(100_000)), "", 200, ""),
        (format!("HTTP/1.1 403 No\r\ncontent-length: 100000\r\n\r\n{}", "x".repeat(100_000)), "", 403, "auth.denied"),
    ] {
        let more = format!("{more}, time: 500ms");
        assert_eq!(one(&said, &more), (wanted, code.to_owned()), "{:.40} {more}", said);
    }
}

#[test]
fn the_services_own_challenge_is_passed_on() {
    for (said, wanted) in [
        ("WWW-Authenticate: Bearer realm=\"a\"\r\n", "Bearer realm=\"a\""),
        ("WWW-Authenticate: Bearer\r\nx: y\r\nwww-authenticate: Basic realm=b\r\n", "Bearer, Basic realm=b"),
        // Every 401 has one (RFC 9110 section 15.5.2).
        ("", "External realm=\"judge\""),
    ] {
        let judge = service(&format!("HTTP/1.1 401 No\r\n{said}content-length: 0\r\n\r\n"));
        let leat = gateway(Folder::new(), &scheme(&judge, ""), "judge");
        let response = get(&mut leat.connect(), "");
        assert_eq!(outcome(&response), (401, "auth.credentials".to_owned()));
        assert_eq!(response.fields_named("www-authenticate"), [wanted], "{said}");
    }
}

#[test]
fn a_service_that_hangs_or_is_gone_is_a_failure() {
    let gate = Gate::new();
    let hanging = Peer::listen([Script::new().expect_head().wait(&gate)]);
    for (more, wanted, code) in
        [(", time: 50ms", 503, "auth.service_failed"), (", time: 50ms, on_failure: admit", 200, "")]
    {
        let leat = gateway(Folder::new(), &scheme(&hanging, more), "judge");
        assert_eq!(outcome(&get(&mut leat.connect(), "")), (wanted, code.to_owned()));
    }
    gate.open();
    // A port where nobody listens.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let auth = format!("  judge: {{ external: \"http://{free}/\" }}");
    let leat = gateway(Folder::new(), &auth, "judge");
    assert_eq!(outcome(&get(&mut leat.connect(), "")), (503, "auth.service_failed".to_owned()));
}

#[test]
fn the_service_sees_the_head_and_the_upstream_its_answer() {
    let answer = "HTTP/1.1 200 OK\r\nX-User: ann\r\nx-secret: no\r\ncontent-length: 0\r\n\r\n";
    let judge = Peer::listen([Script::new().expect_head().send(answer).expect_head().send(reply("403 No"))]);
    let peer = upstream(1);
    let auth = scheme(&judge, ", request_headers: [cookie], response_headers: [x-user]");
    let leat: Leat = proxy(Folder::new(), &auth, "judge", &peer);
    let mut client = leat.connect();
    client.send(
        "POST /orders?id=1 HTTP/1.1\r\nhost: shop.test\r\ncookie: a=b\r\nauthorization: secret\r\nx-user: root\r\n\
         content-length: 4\r\n\r\nbody",
    );
    assert_eq!(client.response().status, 200);
    client.send("POST /orders HTTP/1.1\r\nhost: shop.test\r\ncontent-length: 4\r\n\r\nbody");
    assert_eq!(outcome(&client.response()), (403, "auth.denied".to_owned()));
    // The refused body was read off: the connection goes on.
    drop(client);
    drop(leat);
    let asked = judge.finish();
    assert_eq!(asked.len(), 1, "one connection, used again");
    let asked = asked.concat();
    assert!(asked.starts_with(b"GET /check?by=leat HTTP/1.1\r\n"));
    for (name, wanted) in [
        ("x-forwarded-method", &["x-forwarded-method: POST"; 2][..]),
        ("x-forwarded-uri", &["x-forwarded-uri: /orders?id=1", "x-forwarded-uri: /orders"]),
        ("x-forwarded-host", &["x-forwarded-host: shop.test"; 2]),
        ("x-forwarded-for", &["x-forwarded-for: 127.0.0.1"; 2]),
        ("cookie", &["cookie: a=b"]),
        ("authorization", &[]),
        ("content-length", &[]),
    ] {
        assert_eq!(lines_of(&asked, name), wanted, "{name}");
    }
    let received = peer.finish().concat();
    assert_eq!(lines_of(&received, "x-user"), ["x-user: ann"]);
    assert_eq!(lines_of(&received, "x-secret").len(), 0);
    assert!(received.ends_with(b"body"));
}

#[test]
fn the_service_hears_of_the_client_in_front_of_trusted_proxies() {
    for (hops, wanted) in [(0, "127.0.0.1"), (1, "3.3.3.3"), (2, "unknown"), (3, "1.1.1.1")] {
        let judge = service(&reply("200 OK"));
        let config = format!(
            "listeners: 127.0.0.1:0\nworkers: 1\nforwarded: {{ trusted_hops: {hops} }}\nauth:\n{}\nroutes:\n  - {{ auth: judge, respond: {{ body: in }} }}\n",
            scheme(&judge, "")
        );
        let leat = Leat::gateway(&config, 1);
        assert_eq!(get(&mut leat.connect(), "x-forwarded-for: 1.1.1.1, nobody, 3.3.3.3\r\n").status, 200);
        let asked = judge.finish().concat();
        assert_eq!(lines_of(&asked, "x-forwarded-for"), [format!("x-forwarded-for: {wanted}")], "{hops} hops");
    }
}
