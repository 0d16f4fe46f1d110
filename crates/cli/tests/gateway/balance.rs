//! Which endpoint gets a request.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use leat_testkit::{Client, Leat};

use crate::backend::{Backend, Manner, WELL, config, upstream};

fn ask(client: &mut Client, target: &str, field: &str) -> String {
    client.send(format!("GET {target} HTTP/1.1\r\nhost: h\r\n{field}\r\n"));
    let response = client.response();
    assert_eq!(response.status, 200, "{}", response.text());
    response.text().to_owned()
}

#[test]
fn turns_are_as_the_weights_say_with_policies_and_without() {
    for keys in ["queue_max: 1", "outliers: {}"] {
        let [a, b] = [Backend::start("a", WELL), Backend::start("b", WELL)];
        let endpoints = format!("{{ url: \"{}\", weight: 3 }}, \"{}\"", a.url(), b.url());
        let leat = Leat::gateway(&upstream(&endpoints, "", keys), 1);
        let mut client = leat.connect();
        let order: String = (0..8).map(|_| ask(&mut client, "/", "")).collect();
        assert_eq!(order, "aabaaaba", "{keys}");
    }
}

#[test]
fn a_key_finds_the_same_endpoint_on_every_core_and_after_a_restart() {
    let backends = ["a", "b", "c"].map(|name| Backend::start(name, WELL));
    let [a, b, c] = &backends;
    let request: fn(usize) -> (String, String) = |key| ("/".into(), format!("x-user: {key}\r\n"));
    for (hash, request) in [
        ("{ by: header, name: X-User }", request),
        ("{ by: header, name: x-user, table: ring }", request),
        ("{ by: cookie, name: sid }", |key| ("/".into(), format!("cookie: a=1; sid={key}; b=2\r\n"))),
        ("path", |key| (format!("/{key}?{key}"), String::new())),
    ] {
        let mut found: HashMap<usize, String> = HashMap::new();
        // Another order in the file, another process: the same endpoint.
        for (backends, root) in [([a, b, c], "workers: 2"), ([c, a, b], "workers: 1")] {
            let leat = Leat::gateway(&config(&backends, root, &format!("balance: {{ hash: {hash} }}")), 1);
            for round in 0..3 {
                let mut client = leat.connect();
                for key in 0..30 {
                    let (target, field) = request(key);
                    let name = ask(&mut client, &target, &field);
                    let before = found.entry(key).or_insert_with(|| name.clone());
                    assert_eq!(*before, name, "{hash}, key {key}, round {round}");
                }
            }
        }
        assert_eq!(found.values().collect::<HashSet<_>>().len(), 3, "{hash}: {found:?}");
    }
}

#[test]
fn one_client_stays_with_its_endpoint_and_requests_without_a_key_take_turns() {
    let backends = ["a", "b", "c"].map(|name| Backend::start(name, WELL));
    let [a, b, c] = &backends;
    for (hash, names) in [("address", 1), ("{ by: cookie, name: sid }", 3)] {
        let leat = Leat::gateway(&config(&[a, b, c], "", &format!("balance: {{ hash: {hash} }}")), 1);
        let found: HashSet<String> = (0..6).map(|_| ask(&mut leat.connect(), "/", "cookie: x=1\r\n")).collect();
        assert_eq!(found.len(), names, "{hash}");
    }
}

#[test]
fn behind_a_trusted_proxy_the_address_is_that_of_the_client() {
    let backends = ["a", "b", "c"].map(|name| Backend::start(name, WELL));
    let [a, b, c] = &backends;
    for (hops, names) in [(0, 1), (1, 3)] {
        let root = format!("forwarded: {{ trusted_hops: {hops} }}");
        let leat = Leat::gateway(&config(&[a, b, c], &root, "balance: { hash: address }"), 1);
        let mut client = leat.connect();
        let mut all = || -> Vec<String> {
            (0..30).map(|last| ask(&mut client, "/", &format!("x-forwarded-for: 10.0.0.{last}\r\n"))).collect()
        };
        let found = all();
        assert_eq!(found.iter().collect::<HashSet<_>>().len(), names, "{hops}");
        assert_eq!(found, all(), "{hops}");
    }
}

#[test]
fn keys_of_an_endpoint_that_is_aside_move_and_no_others() {
    let backends = ["a", "b", "c"].map(|name| Backend::start(name, WELL));
    let [a, b, c] = &backends;
    for table in ["maglev", "ring"] {
        let keys = format!("balance: {{ hash: {{ by: path, table: {table} }} }}, outliers: {{ failures: 1 }}");
        let leat = Leat::gateway(&config(&[a, b, c], "", &keys), 1);
        let mut client = leat.connect();
        let mut all = || -> Vec<String> { (0..30).map(|key| ask(&mut client, &format!("/{key}"), "")).collect() };
        let before = all();
        a.behave(Manner::Answer(503, ""));
        let lost = before.iter().position(|name| name == "a").unwrap();
        assert_eq!(leat.connect().get(&format!("/{lost}")).response().status, 503);
        a.behave(WELL);
        for (key, (before, after)) in before.iter().zip(all()).enumerate() {
            assert_ne!(after, "a", "key {key}");
            assert!(*before == after || before == "a", "key {key} of `{before}` moved to `{after}`");
        }
    }
}

#[test]
fn the_less_busy_of_two_gets_the_request() {
    let [a, b] = [Backend::start("a", WELL), Backend::start("b", WELL)];
    let leat = Leat::gateway(&config(&[&a, &b], "", "balance: least_request"), 1);
    a.behave(Manner::Slow(Duration::from_millis(1_500)));
    // Requests go to either until one hangs at `a`; from then on `b` is the less busy one.
    let mut hanging = Vec::new();
    while a.requests() == 0 {
        let before = b.requests();
        let mut client = leat.connect();
        client.get("/");
        leat_testkit::eventually("the request", || (a.requests() + b.requests() > before).then_some(()));
        hanging.push(client);
        assert!(hanging.len() < 100);
    }
    let mut client = leat.connect();
    for _ in 0..20 {
        assert_eq!(ask(&mut client, "/", ""), "b");
    }
    assert_eq!(a.requests(), 1);
}

#[test]
fn the_one_that_answers_sooner_gets_the_requests() {
    let [slow, fast] = [Backend::start("s", Manner::Slow(Duration::from_millis(60))), Backend::start("f", WELL)];
    let leat = Leat::gateway(&config(&[&slow, &fast], "", "balance: peak_ewma"), 1);
    let mut client = leat.connect();
    for _ in 0..60 {
        ask(&mut client, "/", "");
    }
    assert!((1..=5).contains(&slow.requests()), "{}", slow.requests());
    assert_eq!(slow.requests() + fast.requests(), 60);
}

#[test]
fn a_failure_does_not_look_like_speed() {
    let [broken, well] =
        [Backend::start("b", Manner::Close), Backend::start("w", Manner::Slow(Duration::from_millis(5)))];
    let leat = Leat::gateway(&config(&[&broken, &well], "", "balance: peak_ewma"), 1);
    let mut client = leat.connect();
    for _ in 0..60 {
        client.get("/").response();
    }
    assert!((1..=3).contains(&broken.requests()), "{}", broken.requests());
}

#[test]
fn a_further_tier_gets_what_the_nearer_one_cannot_carry() {
    let [near, far] = [Backend::start("n", WELL), Backend::start("f", WELL)];
    for balance in ["round_robin", "least_request", "peak_ewma", "{ hash: path }"] {
        let endpoints = format!("\"{}\", {{ url: \"{}\", priority: 1 }}", near.url(), far.url());
        let keys = format!("balance: {balance}, outliers: {{ failures: 2, ejection: 60s }}");
        near.behave(WELL);
        let leat = Leat::gateway(&upstream(&endpoints, "", &keys), 1);
        let mut client = leat.connect();
        for number in 0..10 {
            assert_eq!(ask(&mut client, &format!("/{number}"), ""), "n", "{balance}");
        }
        near.behave(Manner::Answer(500, ""));
        for _ in 0..2 {
            assert_eq!(client.get("/").response().status, 500, "{balance}");
        }
        for number in 0..10 {
            assert_eq!(ask(&mut client, &format!("/{number}"), ""), "f", "{balance}");
        }
    }
}

#[test]
fn an_endpoint_that_comes_with_a_reload_grows_into_its_weight() {
    for method in ["round_robin", "least_request"] {
        let [old, new] = [Backend::start("o", WELL), Backend::start("n", WELL)];
        for (slow_start, least, most) in [("10m", 2, 25), ("off", 70, 130)] {
            let keys = format!("balance: {{ method: {method}, slow_start: {slow_start} }}");
            let mut leat = Leat::gateway(&config(&[&old], "", &keys), 1);
            leat.rewrite(&config(&[&old, &new], "", &keys));
            leat.reload();
            leat.wait_log("the reload", |line| line.contains("\"event\":\"reloaded\""));
            let mut client = leat.connect();
            let all: String = (0..200).map(|_| ask(&mut client, "/", "")).collect();
            let count = all.matches('n').count();
            // By turns the share is exact but for its growth; by chance, 45 are six times its spread.
            let most = if method == "least_request" { most.max(45) } else { most };
            assert!((least..=most).contains(&count), "{method}, {slow_start}: {count} of 200");
        }
    }
}
