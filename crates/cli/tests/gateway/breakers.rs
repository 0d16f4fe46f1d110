//! Endpoints that fail: put aside, cut off, and tried again.

use std::time::Duration;

use leat_testkit::{Leat, Peer, Script, eventually};

use crate::backend::{Backend, ILL, Manner, WELL, config, upstream};
use crate::support::is_problem;

/// What the admin address says, as text.
fn told(leat: &mut Leat, path: &str) -> String {
    let admin = leat.admin();
    let asked = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    leat_testkit::Client::connect(admin).send(asked).response().text().to_owned()
}

#[test]
fn an_endpoint_that_fails_is_put_aside_and_comes_back() {
    for manner in [Manner::Answer(500, ""), ILL, Manner::Close] {
        let [a, b] = [Backend::start("a", manner.clone()), Backend::start("b", WELL)];
        let keys = "outliers: { failures: 3, ejection: 500ms }";
        let mut leat = Leat::gateway(&config(&[&a, &b], "", keys), 1);
        let mut client = leat.connect();
        let failed = (0..20).filter(|_| client.get("/").response().status != 200).count();
        assert_eq!((failed, a.requests()), (3, 3), "{manner:?}");
        let metrics = told(&mut leat, "/metrics");
        let labels = format!("{{upstream=\"up\",endpoint=\"{}\"}}", a.url());
        assert!(metrics.contains(&format!("leat_upstream_ejections_total{labels} 1")), "{metrics}");
        assert!(told(&mut leat, "/upstreams").contains("\"ejections\": 1"));
        a.behave(WELL);
        eventually("the endpoint's return", || {
            assert_eq!(client.get("/").response().status, 200);
            (a.requests() > 3).then_some(())
        });
    }
}

#[test]
fn statuses_count_as_failures_only_where_the_configuration_says_so() {
    for (statuses, status, aside) in [
        ("", 404, false),
        ("", 501, false),
        ("failure_statuses: 404,", 404, true),
        ("failure_statuses: [],", 500, false),
    ] {
        let [a, b] = [Backend::start("a", Manner::Answer(status, "")), Backend::start("b", WELL)];
        let leat = Leat::gateway(&config(&[&a, &b], "", &format!("{statuses} outliers: {{ failures: 2 }}")), 1);
        let mut client = leat.connect();
        (0..20).for_each(|_| drop(client.get("/").response()));
        assert_eq!(a.requests(), if aside { 2 } else { 10 }, "{statuses} {status}");
    }
}

#[test]
fn never_are_so_many_aside_that_the_rest_would_drown_and_the_last_ones_are_used_all_the_same() {
    for (percent, requests) in [(50, [2, 18]), (0, [10, 10]), (100, [10, 10])] {
        let [a, b] = [Backend::start("a", ILL), Backend::start("b", ILL)];
        let keys = format!("outliers: {{ failures: 2, ejected_max_percent: {percent} }}");
        let leat = Leat::gateway(&config(&[&a, &b], "", &keys), 1);
        let mut client = leat.connect();
        (0..20).for_each(|_| assert_eq!(client.get("/").response().text().len(), 1, "an answer of the endpoint's own"));
        let found = [a.requests(), b.requests()];
        if percent == 100 {
            assert!(found.iter().all(|count| *count >= 5), "{found:?}");
        } else {
            assert_eq!(found, requests, "{percent}");
        }
    }
}

#[test]
fn a_server_that_is_killed_and_comes_back_is_left_and_found_again() {
    let [a, b] = [Backend::start("a", WELL), Backend::start("b", WELL)];
    let leat = Leat::gateway(&config(&[&a, &b], "", "outliers: { failures: 1, ejection: 300ms }"), 1);
    let mut client = leat.connect();
    (0..4).for_each(|_| assert_eq!(client.get("/").response().status, 200));
    a.kill();
    // Nothing reaches it, so that the other takes over within the request.
    (0..20).for_each(|_| assert_eq!(client.get("/").response().text(), "b"));
    let a = a.restart();
    eventually("the server's return", || {
        assert_eq!(client.get("/").response().status, 200);
        (a.requests() > 0).then_some(())
    });
}

#[test]
fn a_breaker_opens_probes_and_closes() {
    for scope in ["endpoint", "upstream"] {
        let a = Backend::start("a", ILL);
        let keys = format!("breaker: {{ scope: {scope}, failures: 3, probes: 2, open: 400ms }}");
        let mut leat = Leat::gateway(&config(&[&a], "", &keys), 1);
        let mut client = leat.connect();
        (0..3).for_each(|_| assert_eq!(client.get("/").response().text(), "a"));
        for _ in 0..10 {
            is_problem(&client.get("/").response(), 503, "upstream.breaker");
        }
        assert_eq!(a.requests(), 3, "nothing gets through: {scope}");
        let endpoint = if scope == "endpoint" { a.url() } else { String::new() };
        let labels = format!("{{upstream=\"up\",endpoint=\"{endpoint}\"}}");
        let metrics = told(&mut leat, "/metrics");
        assert!(metrics.contains(&format!("leat_upstream_breaker_trips_total{labels} 1")), "{metrics}");
        assert!(metrics.contains(&format!("leat_upstream_breaker_open{labels} 2")), "{metrics}");
        assert!(
            metrics.contains("leat_refusals_total{reason=\"upstream.breaker\",blame=\"upstream\"} 10"),
            "{metrics}"
        );
        assert!(told(&mut leat, "/upstreams").contains("\"breaker\": \"refuse\""));
        // A probe that fails closes it for twice as long.
        eventually("a probe", || {
            client.get("/").response();
            (a.requests() == 4).then_some(())
        });
        is_problem(&client.get("/").response(), 503, "upstream.breaker");
        a.behave(WELL);
        eventually("the end of it", || (client.get("/").response().status == 200).then_some(()));
        (0..10).for_each(|_| assert_eq!(client.get("/").response().status, 200));
        assert!(told(&mut leat, "/metrics").contains(&format!("leat_upstream_breaker_open{labels} 0")));
    }
}

/// The time until the next probe, in seconds and rounded up: of the endpoint that is asked first, where each has a breaker.
#[test]
fn who_is_turned_away_by_a_breaker_is_told_when_to_come_again() {
    for (scope, open, wanted) in [
        ("endpoint", "90s", "90"),
        ("upstream", "90s", "90"),
        ("endpoint", "1500ms", "2"),
        // Shorter than a second, which clients can't be told.
        ("upstream", "60ms", "1"),
    ] {
        let [a, b] = [Backend::start("a", ILL), Backend::start("b", ILL)];
        let keys = format!("breaker: {{ scope: {scope}, failures: 1, open: {open}, open_max: 90s }}");
        for (route, checks) in [("", ""), ("cors: { origins: \"*\" }, ", "access-control-allow-origin")] {
            let config = config(&[&a, &b], "", &keys).replace("proxy: up", &format!("{route}proxy: up"));
            let leat = Leat::gateway(&config, 1);
            let mut client = leat.connect();
            let refused = eventually("the refusal", || {
                let asked = "GET / HTTP/1.1\r\nhost: h\r\norigin: http://o\r\n\r\n";
                Some(client.send(asked).response()).filter(|response| response.text().contains("upstream.breaker"))
            });
            is_problem(&refused, 503, "upstream.breaker");
            assert_eq!(refused.fields_named("retry-after"), [wanted], "{scope} {open} {route}");
            assert_eq!(refused.field(checks).is_some(), !checks.is_empty());
        }
    }
}

#[test]
fn slowness_and_parts_of_failures_open_a_breaker() {
    let off = "failures: off, calls_min: 8";
    for (keys, manner) in [
        (
            format!("{off}, failure_percent: off, slow_percent: 50, slow_time: 20ms"),
            Manner::Slow(Duration::from_millis(30)),
        ),
        (format!("{off}, failure_percent: 40"), ILL),
    ] {
        let a = Backend::start("a", WELL);
        let leat = Leat::gateway(&config(&[&a], "", &format!("breaker: {{ {keys}, open: 60s }}")), 1);
        let mut client = leat.connect();
        (0..4).for_each(|_| assert_eq!(client.get("/").response().status, 200));
        a.behave(manner);
        let mut admitted = 4;
        while !client.get("/").response().text().contains("upstream.breaker") {
            admitted += 1;
            assert!(admitted < 50, "{keys}");
        }
        assert_eq!(admitted, 8, "{keys}");
    }
}

#[test]
fn an_endpoint_that_was_waited_for_in_vain_was_slow() {
    let a = Backend::start("a", Manner::Slow(Duration::from_secs(2)));
    let keys =
        "breaker: { failures: off, failure_percent: off, calls_min: 2, slow_percent: 50, slow_time: 20ms, open: 60s }";
    let config = config(&[&a], "", keys).replace("proxy: up", "proxy: { upstream: up, response_time: 60ms }");
    let leat = Leat::gateway(&config, 1);
    (0..2).for_each(|_| is_problem(&leat.connect().get("/").response(), 504, "upstream.response_time"));
    is_problem(&leat.connect().get("/").response(), 503, "upstream.breaker");
}

#[test]
fn an_open_breaker_sends_requests_to_the_other_endpoints() {
    let [a, b] = [Backend::start("a", ILL), Backend::start("b", WELL)];
    for balance in ["round_robin", "least_request", "peak_ewma", "{ hash: path }"] {
        let keys = format!("balance: {balance}, breaker: {{ failures: 1, open: 60s }}");
        let leat = Leat::gateway(&config(&[&a, &b], "", &keys), 1);
        let mut client = leat.connect();
        let before = a.requests();
        let failed = (0..40).filter(|number| client.get(&format!("/{number}")).response().status != 200).count();
        assert_eq!((failed, a.requests() - before), (1, 1), "{balance}");
    }
}

#[test]
fn what_is_known_of_endpoints_outlives_a_reload() {
    let [a, b, c] = ["a", "b", "c"].map(|name| Backend::start(name, WELL));
    a.behave(ILL);
    let keys = "outliers: { failures: 3, ejection: 60s }, breaker: { failures: 4, open: 60s }";
    let mut leat = Leat::gateway(&config(&[&a, &b], "workers: 2", keys), 1);
    let ask =
        |leat: &Leat, times: usize| (0..times).filter(|_| leat.connect().get("/").response().status != 200).count();
    // Whatever core a connection comes to, all of them count together.
    assert_eq!(ask(&leat, 30), 3);
    b.behave(ILL);
    // `a` is aside, and `b` may not be as well: its breaker opens.
    eventually("the breaker of the other", || {
        leat.connect().get("/").response();
        (b.requests() > 0 && told(&mut leat, "/upstreams").contains("\"refuse\"")).then_some(())
    });
    for (number, backends) in [[&b, &a], [&a, &b]].into_iter().enumerate() {
        leat.rewrite(&config(&backends, "workers: 2", &format!("{keys}, queue_max: {}", 100 + number)));
        leat.reload();
        eventually("the reload", || {
            let done = leat.log().iter().filter(|line| line.contains("\"event\":\"reloaded\"")).count();
            (done > number).then_some(())
        });
        let before = b.requests();
        (0..10).for_each(|_| drop(leat.connect().get("/").response()));
        assert_eq!(b.requests(), before, "the breaker is open still");
    }
    leat.rewrite(&config(&[&a, &b, &c], "workers: 2", keys));
    leat.reload();
    eventually("the new endpoint", || (leat.connect().get("/").response().text() == "c").then_some(()));
    let before = [a.requests(), b.requests()];
    assert_eq!(ask(&leat, 20), 0, "all go to the endpoint that came");
    assert_eq!([a.requests(), b.requests()], before);
}

/// A server that accepts and says nothing: a TLS handshake with it never ends.
fn mute() -> Peer {
    Peer::listen([Script::new()])
}

/// Endpoints that kept a request waiting for all of its time have failed it, whichever time that was, and slowly.
#[test]
fn whoever_is_waited_for_until_the_time_is_over_has_failed() {
    let long = "total_time: 30s";
    let tries = |time: &str| format!("retry: {{ retries_max: 1, statuses: [], backoff: 1ms{time} }}, hedge: 40ms");
    let try_time = "retry: { retries_max: 0, try_time: 100ms }".to_owned();
    for (proxy, keys, hedged) in [
        ("total_time: 200ms", String::new(), false),
        ("response_time: 200ms", String::new(), false),
        (long, try_time, false),
        ("total_time: 200ms", tries(""), true),
        ("response_time: 200ms", tries(""), true),
        (long, tries(", try_time: 100ms"), true),
    ] {
        for counted in
            ["failures: 1", "failures: off, failure_percent: off, calls_min: 1, slow_percent: 1, slow_time: 50ms"]
        {
            let backends = ["a", "b"].map(|name| Backend::start(name, Manner::Slow(Duration::from_secs(30))));
            let backends: Vec<&Backend> = backends.iter().take(if hedged { 2 } else { 1 }).collect();
            let config = config(
                &backends,
                "",
                &format!("{keys}{} breaker: {{ {counted}, open: 60s }}", if keys.is_empty() { "" } else { "," }),
            );
            let leat = Leat::gateway(&config.replace("proxy: up", &format!("proxy: {{ upstream: up, {proxy} }}")), 1);
            assert_eq!(leat.connect().get("/").response().status, 504, "{proxy} {keys}");
            is_problem(&leat.connect().get("/").response(), 503, "upstream.breaker");
        }
    }
}

#[test]
fn whoever_does_not_let_itself_be_connected_to_has_failed() {
    for (proxy, keys, reason) in [
        ("total_time: 100ms", "", "upstream.total_time"),
        ("total_time: 30s", "retry: { retries_max: 0, try_time: 100ms },", "upstream.response_time"),
        ("total_time: 30s", "connect_time: 100ms,", "upstream.connect_time"),
    ] {
        for counted in
            ["failures: 1", "failures: off, failure_percent: off, calls_min: 1, slow_percent: 1, slow_time: 50ms"]
        {
            let peer = mute();
            let endpoint = format!("\"https://{}\"", peer.address());
            let config = upstream(&endpoint, "", &format!("{keys} breaker: {{ {counted}, open: 60s }}"));
            let leat = Leat::gateway(&config.replace("proxy: up", &format!("proxy: {{ upstream: up, {proxy} }}")), 1);
            is_problem(&leat.connect().get("/").response(), 504, reason);
            is_problem(&leat.connect().get("/").response(), 503, "upstream.breaker");
        }
    }
}

#[test]
fn an_endpoint_that_takes_nothing_of_a_body_has_failed() {
    // The system accepts for it, and takes as much as its buffers hold.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("\"http://{}\"", listener.local_addr().unwrap());
    let config = upstream(&endpoint, "", "breaker: { failures: 1, open: 60s }")
        .replace("proxy: up", "proxy: { upstream: up, total_time: 300ms }");
    let mut leat = Leat::gateway(&config, 1);
    let address = leat.address(0);
    std::thread::spawn(move || {
        let mut client = leat_testkit::Client::connect(address);
        client
            .send(format!("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 30000000\r\n\r\n{}", "x".repeat(30_000_000)));
    });
    leat.wait_log("the end of it", |line| line.contains("\"upstream.total_time\""));
    is_problem(&leat.connect().get("/").response(), 503, "upstream.breaker");
}

/// The time that requests spend behind others in the gateway's own queue says nothing of the endpoint.
#[test]
fn waiting_for_a_connection_that_others_use_is_nobodys_failure() {
    for (proxy, keys) in [("total_time: 100ms", ""), ("total_time: 30s", "retry: { retries_max: 0, try_time: 100ms },")]
    {
        let half = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nhe";
        let peer = Peer::listen([Script::new().expect_head().send(half)]);
        let endpoint = format!("\"http://{}\"", peer.address());
        let keys = format!("{keys} connections_max: 1, breaker: {{ failures: 1, open: 60s }}");
        let config = upstream(&endpoint, "", &keys).replace(
            "routes: [{ name: all, proxy: up }]",
            &format!("routes: [{{ match: {{ path: /short }}, proxy: {{ upstream: up, {proxy} }} }}, {{ proxy: up }}]"),
        );
        let mut leat = Leat::gateway(&config, 1);
        let mut first = leat.connect();
        first.get("/").until("\r\n\r\nhe");
        assert_eq!(leat.connect().get("/short").response().status, 504, "{proxy}");
        assert!(told(&mut leat, "/upstreams").contains("\"breaker\": \"admit\""), "{proxy}");
    }
}

#[test]
fn a_client_that_goes_away_from_a_hedged_request_opens_no_breaker() {
    let [a, b] = ["a", "b"].map(|name| Backend::start(name, Manner::Slow(Duration::from_secs(30))));
    let keys = "retry: { retries_max: 1 }, hedge: 20ms, breaker: { failures: 1, open: 60s }";
    let leat = Leat::gateway(&config(&[&a, &b], "", keys), 1);
    let mut gone = leat.connect();
    gone.get("/");
    eventually("both tries", || (a.requests() + b.requests() == 2).then_some(()));
    gone.reset();
    [&a, &b].into_iter().for_each(|backend| backend.behave(WELL));
    (0..4).for_each(|_| assert_eq!(leat.connect().get("/").response().status, 200));
    assert_eq!(a.requests() + b.requests(), 6);
}

#[test]
fn a_client_that_is_slow_or_goes_away_opens_no_breaker() {
    let a = Backend::start("a", WELL);
    let endpoint = format!("\"{}\"", a.url());
    let keys = "breaker: { failures: 1, open: 60s }";
    let config = upstream(&endpoint, "", keys).replace("proxy: up", "proxy: { upstream: up, total_time: 200ms }");
    let leat = Leat::gateway(&config, 1);
    let mut slow = leat.connect();
    slow.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 9\r\n\r\nhe");
    assert_eq!(slow.response().status, 504);
    let mut gone = leat.connect();
    gone.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 9\r\n\r\nhe");
    gone.reset();
    assert_eq!(leat.connect().get("/").response().text(), "a");
    a.behave(Manner::Slow(Duration::from_secs(2)));
    assert_eq!(leat.connect().get("/").response().status, 504);
    is_problem(&leat.connect().get("/").response(), 503, "upstream.breaker");
}
