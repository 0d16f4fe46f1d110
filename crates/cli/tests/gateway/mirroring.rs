//! Copies of requests that go to another upstream too.

use std::time::{Duration, Instant};

use leat_testkit::{Client, Leat, Peer, Script, eventually};

use crate::backend::{Backend, ILL, Manner, WELL};
use crate::support::OK;

const OUTCOMES: [&str; 7] = ["answered", "failed", "late", "cut", "dropped", "large", "incomplete"];

/// A gateway whose only route goes to `real`, with copies to `shadow`.
fn gateway(real: &Backend, shadow: &str, mirror: &str) -> Leat {
    let config = format!(
        "listeners: 127.0.0.1:0
admin: 127.0.0.1:0
workers: 1
routes: [{{ name: all, proxy: {{ upstream: up, mirror: {{ upstream: next{mirror} }} }} }}]
upstreams:
  up: {{ endpoints: \"{}\" }}
  next: {{ endpoints: \"{shadow}\" }}
",
        real.url()
    );
    Leat::gateway(&config, 1)
}

/// What became of the copies, in the order of [`OUTCOMES`].
fn ends(leat: &mut Leat) -> [u64; 7] {
    let admin = leat.admin();
    let metrics = Client::connect(admin).get("/metrics").response().text().to_owned();
    OUTCOMES.map(|outcome| {
        let series = format!("leat_mirrored_total{{upstream=\"next\",outcome=\"{outcome}\"}} ");
        let line = metrics.lines().find_map(|line| line.strip_prefix(&series));
        line.unwrap_or_else(|| panic!("{series} is not in {metrics}")).parse().unwrap()
    })
}

/// Waits until so many copies have come to this end and none to another.
fn ended(leat: &mut Leat, outcome: &str, count: u64) {
    let wanted = OUTCOMES.map(|other| if other == outcome { count } else { 0 });
    eventually(&format!("{count} {outcome}"), || (ends(leat) == wanted).then_some(()));
}

#[test]
fn a_copy_goes_to_the_other_upstream_and_its_answer_to_nobody() {
    let get = "GET /a?b HTTP/1.1\r\nhost: h\r\nx-own: 1\r\nconnection: x-hop\r\nx-hop: 1\r\n\r\n";
    let put = "PUT /a HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\n\r\nhello";
    let expecting = "PUT /a HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\nhello";
    let copy = "GET / HTTP/1.1\r\nhost: h\r\nx-mirrored: 1\r\n\r\n";
    for (request, mirror, copies) in [
        (get, "", 1),
        (get, ", percent: 0", 0),
        (put, "", 0),
        (put, ", unsafe_methods: true", 1),
        (expecting, ", unsafe_methods: true", 1),
        (copy, "", 0),
    ] {
        let [real, shadow] = [Backend::start("real", WELL), Backend::start("shadow", ILL)];
        let mut leat = gateway(&real, &shadow.url(), mirror);
        let mut client = leat.connect();
        client.send(request);
        let mut response = client.response();
        if response.status == 100 {
            response = client.response();
        }
        let body = if request.contains("hello") { "realhello" } else { "real" };
        assert_eq!((response.status, response.text()), (200, body), "{request:?} {mirror}");
        ended(&mut leat, "answered", copies);
        assert_eq!([real.requests(), shadow.requests()], [1, copies as usize], "{request:?} {mirror}");
        for head in shadow.heads() {
            let head = head.to_ascii_lowercase();
            assert!(head.contains("\r\nx-mirrored: 1\r\n") && head.contains("\r\nhost: h\r\n"), "{head}");
            assert!(!head.contains("expect:") && !head.contains("x-hop"), "{head}");
            assert_eq!(head.contains("x-own: 1"), request == get, "{head}");
        }
        assert!(!real.heads()[0].contains("x-mirrored: 1") || request == copy);
    }
}

#[test]
fn a_body_of_unknown_length_is_copied_while_it_fits() {
    let request = "PUT / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n";
    for (bytes_max, outcome) in [("5B", "answered"), ("4B", "large")] {
        let real = Peer::listen([Script::new().expect_until("\r\n0\r\n\r\n").send(OK)]);
        let shadow = Peer::listen([Script::new().expect_until("5\r\nhello\r\n0\r\n\r\n").send(OK)]);
        let config = format!(
            "listeners: 127.0.0.1:0
admin: 127.0.0.1:0
workers: 1
routes: [{{ proxy: {{ upstream: up, mirror: {{ upstream: next, unsafe_methods: true, body_bytes_max: {bytes_max} }} }} }}]
upstreams: {{ up: \"http://{}\", next: \"http://{}\" }}
",
            real.address(),
            shadow.address()
        );
        let mut leat = Leat::gateway(&config, 1);
        assert_eq!(leat.connect().send(request).response().status, 200);
        ended(&mut leat, outcome, 1);
        if outcome == "answered" {
            shadow.finish();
        }
    }
}

#[test]
fn one_that_is_dead_slow_or_endless_is_the_copys_business_alone() {
    let huge =
        Script::new().expect_head().send("HTTP/1.1 200 OK\r\ncontent-length: 9000000\r\n\r\n").send_bytes(200_000);
    let half = Script::new().expect_head().send("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab").close();
    let silent = Script::new().expect_head();
    // Nobody asked for it, and nothing comes behind it.
    let switched = Script::new()
        .expect_head()
        .send("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n");
    for (script, mirror, outcome) in [
        (None, "", "failed"),
        (Some(silent), ", total_time: 300ms", "late"),
        (Some(huge), ", response_bytes_max: 100kB", "cut"),
        (Some(half), "", "failed"),
        (Some(switched), "", "failed"),
    ] {
        let real = Backend::start("real", WELL);
        let shadow = script.map(|script| Peer::listen([script]));
        // Nobody listens where a server was just now.
        let gone = || {
            let backend = Backend::start("gone", WELL);
            backend.kill();
            backend.url()
        };
        let url = shadow.as_ref().map_or_else(gone, |peer| format!("http://{}", peer.address()));
        let mut leat = gateway(&real, &url, mirror);
        let mut client = leat.connect();
        let started = Instant::now();
        for count in 1..=3 {
            let response = client.get("/").response();
            assert_eq!((response.status, response.text()), (200, "real"), "{outcome}");
            if count == 1 && outcome == "late" {
                assert!(started.elapsed() < Duration::from_millis(3_000), "nobody waits for the copy");
            }
        }
        ended(&mut leat, outcome, 3);
    }
}

#[test]
fn no_more_are_under_way_than_the_budget_says() {
    let real = Backend::start("real", WELL);
    let shadow = Backend::start("shadow", Manner::Slow(Duration::from_millis(1_500)));
    let mut leat = gateway(&real, &shadow.url(), ", in_flight_max: 2");
    let mut client = leat.connect();
    for _ in 0..10 {
        assert_eq!(client.get("/").response().text(), "real");
    }
    eventually("the end of the copies", || (ends(&mut leat) == [2, 0, 0, 0, 8, 0, 0]).then_some(()));
    assert_eq!([real.requests(), shadow.requests()], [10, 2]);
}

#[test]
fn a_client_that_leaves_before_its_body_is_there_leaves_no_copy() {
    let [real, shadow] = [Backend::start("real", WELL), Backend::start("shadow", WELL)];
    let mut leat = gateway(&real, &shadow.url(), ", unsafe_methods: true");
    let mut client = leat.connect();
    client.send("PUT / HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\n\r\nhe");
    drop(client);
    ended(&mut leat, "incomplete", 1);
    assert_eq!(shadow.requests(), 0);
}
