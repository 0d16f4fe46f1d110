//! Servers that are killed, slow, or not who they should be: no idempotent request fails where retries can help, and the exact
//! codes elsewhere. The servers are processes of their own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use leat_testkit::{Client, Folder, Leat, Peer, Response, Script, eventually};
use rcgen::{CertificateParams, KeyPair};
use rustix::process::Signal;
use support::{Load, Manner};

/// A server that answers at once, as a process.
fn server(name: &str) -> Leat {
    Leat::gateway(
        &format!("listeners: 127.0.0.1:0\nworkers: 1\naccess_log: off\nroutes: [{{ respond: {{ body: {name} }} }}]\n"),
        1,
    )
}

/// A gateway in front of these.
fn front(servers: &[String], keys: &str) -> Leat {
    before(servers, keys, "off")
}

fn before(servers: &[String], keys: &str, log: &str) -> Leat {
    let urls: Vec<String> = servers.iter().map(|server| format!("'{server}'")).collect();
    let config = format!(
        "listeners: 127.0.0.1:0
admin: 127.0.0.1:0
workers: 2
access_log: {log}
routes: [{{ proxy: {{ upstream: up, response_time: 400ms }} }}]
upstreams: {{ up: {{ endpoints: [{}]{keys} }} }}
",
        urls.join(", ")
    );
    Leat::gateway(&config, 1)
}

fn url(server: &Leat) -> String {
    format!("http://{}", server.address(0))
}

fn outcome(response: &Response) -> (u16, &str) {
    let code = response.text().split("\"code\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
    (response.status, code)
}

#[test]
fn no_idempotent_request_fails_when_a_server_is_killed() {
    for keys in [
        ", retry: { backoff: 1ms, backoff_max: 5ms }, outliers: { failures: 2, ejection: 1s }",
        ", retry: { backoff: 1ms, backoff_max: 5ms }, breaker: { failures: 2, open: 1s }, balance: least_request",
    ] {
        let [a, b] = ["a", "b"].map(server);
        let leat = front(&[url(&a), url(&b)], keys);
        let manners = [Manner::KeepAlive, Manner::KeepAlive, Manner::KeepAlive, Manner::Fresh];
        let load = Load::start(leat.address(0), &manners, &["/"]);
        load.wait_answered(200);
        a.signal(Signal::KILL);
        load.wait_answered(1_000);
        let outcome = load.finish();
        assert_eq!(outcome.failures, [""; 0], "{keys}: after {} replies", outcome.answered);
        assert_eq!(outcome.refused, 0);
        assert_eq!(leat.connect().get("/").response().text(), "b");
    }
}

#[test]
fn a_request_that_may_not_be_repeated_has_the_exact_code_when_its_server_is_killed() {
    let silent = Peer::listen([Script::new().expect_head()]);
    let middle = Leat::gateway(
        &format!("listeners: 127.0.0.1:0\naccess_log: off\nroutes: [{{ proxy: 'http://{}' }}]\n", silent.address()),
        1,
    );
    let config = format!(
        "listeners: 127.0.0.1:0\nadmin: 127.0.0.1:0\naccess_log: off\nroutes: [{{ proxy: up }}]\nupstreams: {{ up: {{ endpoints: '{}', retry: {{ backoff: 1ms }} }} }}\n",
        url(&middle)
    );
    let leat = Leat::gateway(&config, 1);
    let mut clients: Vec<Client> = (0..4).map(|_| leat.connect()).collect();
    for client in &mut clients {
        client.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n");
    }
    silent.wait_connections(4);
    middle.signal(Signal::KILL);
    for client in &mut clients {
        assert_eq!(outcome(&client.response()), (502, "upstream.reset"));
        // The client's connection goes on, and nobody listens there any more.
        assert_eq!(outcome(&client.get("/").response()), (502, "upstream.connect"));
    }
}

#[test]
fn a_server_that_is_slow_is_a_504_and_costs_nobody_else() {
    let slow = Peer::listen([Script::new().expect_head()]);
    let quick = server("quick");
    let leat = Leat::gateway(
        &format!(
            "listeners: 127.0.0.1:0
workers: 1
access_log: off
routes:
  - {{ match: {{ path: /slow }}, proxy: {{ upstream: slow, response_time: 300ms }} }}
  - {{ match: {{ path: /total }}, proxy: {{ upstream: slow, total_time: 300ms }} }}
  - {{ proxy: quick }}
upstreams: {{ slow: 'http://{}', quick: '{}' }}
",
            slow.address(),
            url(&quick)
        ),
        1,
    );
    let load = Load::start(leat.address(0), &[Manner::KeepAlive, Manner::Fresh], &["/"]);
    for (path, code) in [("/slow", "upstream.response_time"), ("/total", "upstream.total_time")] {
        let mut clients: Vec<Client> = (0..8).map(|_| leat.connect()).collect();
        clients.iter_mut().for_each(|client| {
            client.get(path);
        });
        for client in &mut clients {
            assert_eq!(outcome(&client.response()), (504, code));
        }
    }
    load.wait_answered(20);
    assert_eq!(load.finish().failures, [""; 0]);
}

#[test]
fn a_certificate_that_cannot_be_trusted_is_a_502_with_its_reason() {
    let folder = Folder::new();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["app.test".to_owned()]).unwrap().self_signed(&key).unwrap();
    let mut late = CertificateParams::new(vec!["app.test".to_owned()]).unwrap();
    late.not_after = rcgen::date_time_ymd(2020, 1, 1);
    let expired = late.self_signed(&key).unwrap();
    for (name, text) in
        [("good.pem", certificate.pem()), ("expired.pem", expired.pem()), ("key.pem", key.serialize_pem())]
    {
        folder.write(name, text);
    }
    let path = |name: &str| folder.path().join(name).display().to_string();
    let tls = |chain: &str| {
        let tls = format!("tls: {{ certificates: {{ cert: {}, key: {} }} }}", path(chain), path("key.pem"));
        Leat::gateway(
            &format!(
                "listeners: {{ address: 127.0.0.1:0, {tls} }}\naccess_log: off\nroutes: [{{ respond: {{ body: in }} }}]\n"
            ),
            1,
        )
    };
    let [good, expired] = ["good.pem", "expired.pem"].map(tls);
    let trusted = |name: &str, chain: &str| format!(", tls: {{ ca: {}, server_name: {name} }}", path(chain));
    let refused = (502, "upstream.tls");
    let retried = trusted("app.test", "good.pem") + ", retry: { backoff: 1ms }";
    for (what, servers, keys, wanted, why) in [
        ("nobody's", &[&good][..], String::new(), refused, Some("certificate.issuer")),
        ("another name's", &[&good], trusted("other.test", "good.pem"), refused, Some("certificate.name")),
        ("an expired one", &[&expired], trusted("app.test", "expired.pem"), refused, Some("certificate.expired")),
        ("a good one", &[&good], trusted("app.test", "good.pem"), (200, ""), None),
        // One of the two requests comes to the expired one first.
        ("an expired one, then a good one", &[&expired, &good], retried, (200, ""), None),
    ] {
        let servers: Vec<String> = servers.iter().map(|server| url(server).replace("http://", "https://")).collect();
        let leat = before(&servers, &keys, "{ path: access.log, format: json }");
        let mut client = leat.connect();
        for _ in 0..2 {
            assert_eq!(outcome(&client.get("/").response()), wanted, "{what}");
        }
        let log = leat.folder().path().join("access.log");
        let lines = eventually("the requests in the log", || {
            let text = std::fs::read_to_string(&log).unwrap_or_default();
            (text.ends_with('\n') && text.lines().count() == 2).then_some(text)
        });
        for line in lines.lines() {
            let told: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(told["detail"].as_str(), why, "{what}: {line}");
        }
    }
}

#[test]
fn every_request_is_answered_when_all_servers_are_killed_and_requests_pass_again_when_they_come_back() {
    let [mut a, mut b] = ["a", "b"].map(server);
    let addresses = [a.address(0), b.address(0)];
    let leat = front(&[url(&a), url(&b)], ", retry: { backoff: 1ms, backoff_max: 2ms }");
    assert_eq!(leat.connect().get("/").response().status, 200);
    for server in [&mut a, &mut b] {
        server.signal(Signal::KILL);
        // Until it is gone its sockets are, one after the other: the listener may be while a connection is not.
        server.wait();
    }
    let mut client = leat.connect();
    eventually("both to be gone", || (outcome(&client.get("/").response()) == (502, "upstream.connect")).then_some(()));
    for _ in 0..20 {
        assert_eq!(outcome(&client.get("/").response()), (502, "upstream.connect"));
    }
    let again = format!("listeners: '{}'\nroutes: [{{ respond: {{ body: again }} }}]\n", addresses[0]);
    let _again = Leat::gateway(&again, 1);
    eventually("the one that came back", || (client.get("/").response().text() == "again").then_some(()));
}
