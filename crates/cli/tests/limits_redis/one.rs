//! One server that several gateways share.

use std::thread;
use std::time::{Duration, Instant};

use leat_testkit::{Client, Folder, eventually};
use rustix::process::Signal;

use crate::server::{Redis, ask, errors, statuses};
use crate::support::metric;

#[test]
fn two_gateways_admit_together_what_one_limit_allows() {
    let Some(redis) = Redis::start(&[]) else { return };
    for limit in
        ["{ rate: 100/h, key: all, redis: shared }", "{ rate: 100/365d, algorithm: sliding_window, redis: shared }"]
    {
        redis.ask("FLUSHALL");
        let gateways = [0, 1].map(|_| redis.gateway(", deadline: 5s", &format!("x: {limit}"), "x"));
        let addresses = gateways.each_ref().map(|leat| leat.address(0));
        let clients: Vec<_> = (0..16)
            .map(|number| {
                let address = addresses[number % 2];
                thread::spawn(move || {
                    let mut client = Client::connect(address);
                    statuses(&mut client, "", 10).into_iter().filter(|status| *status == 200).count()
                })
            })
            .collect();
        let passed: usize = clients.into_iter().map(|client| client.join().unwrap()).sum();
        assert_eq!(passed, 100, "{limit}");
        for mut leat in gateways {
            assert_eq!(errors(&mut leat, "x"), 0, "{limit}");
        }
    }
}

#[test]
fn replies_tell_what_the_server_counted() {
    let Some(redis) = Redis::start(&[]) else { return };
    let leat = redis.gateway("", "two: { rate: 2/m, redis: shared }", "two");
    let mut client = leat.connect();
    // Whole seconds, rounded up, of a server whose clock goes on.
    for (state, again) in [("\"two\";r=1;t=30", None), ("\"two\";r=0;t=60", None), ("\"two\";r=0;t=60", Some("30"))] {
        let response = ask(&mut client, "");
        assert_eq!(response.field("ratelimit-policy"), Some("\"two\";q=2;w=60"));
        assert_eq!(response.field("ratelimit"), Some(state));
        assert_eq!(response.field("retry-after"), again);
        if again.is_some() {
            assert_eq!(response.status, 429);
            assert!(response.text().contains("\"code\":\"limit.rate\""), "{}", response.text());
        }
    }
}

#[test]
fn several_limits_are_debited_in_one_step_or_not_at_all() {
    let Some(redis) = Redis::start(&[]) else { return };
    let leat = redis.gateway(
        "",
        "small: { rate: 2/h, key: 'header:x-key', redis: shared }\nlarge: { rate: 5/h, key: all, redis: shared }
dry: { rate: 1/h, key: all, redis: shared, shadow: true }\nhere: { rate: 100/h, key: all }",
        "[here, large, small, dry]",
    );
    let mut client = leat.connect();
    assert_eq!(statuses(&mut client, "x-key: a\r\n", 4), [200, 200, 429, 429]);
    assert_eq!(statuses(&mut client, "x-key: b\r\n", 3), [200, 200, 429]);
    let response = ask(&mut client, "x-key: c\r\n");
    // One field of each name, whoever counts: the route's limits in their order, and the one of which least remains.
    let all = "\"here\";q=100;w=3600, \"large\";q=5;w=3600, \"small\";q=2;w=3600";
    assert_eq!(response.fields_named("ratelimit-policy"), [all]);
    assert_eq!(response.fields_named("ratelimit"), ["\"large\";r=0;t=3600"]);
    assert_eq!(response.status, 200);
    let response = ask(&mut client, "x-key: d\r\n");
    assert_eq!(response.status, 429);
    assert_eq!(response.fields_named("ratelimit-policy"), [all]);
    assert_eq!(response.fields_named("ratelimit"), ["\"large\";r=0;t=3600"]);
    assert_eq!(response.fields_named("retry-after").len(), 1);
    let mut leat = leat;
    let admin = leat.admin();
    let dry = |outcome: &str| {
        metric(admin, &format!("leat_rate_limit_requests_total{{limit=\"dry\",outcome=\"{outcome}\"}}"))
    };
    assert_eq!((dry("admitted"), dry("shadow")), (1, 4), "asked about the five that passed");
}

#[test]
fn no_value_of_a_request_is_in_a_key() {
    let Some(redis) = Redis::start(&[]) else { return };
    let leat = redis.gateway("", "x: { rate: 5/h, key: [client, 'header:authorization'], redis: shared }", "x");
    assert_eq!(ask(&mut leat.connect(), "authorization: Bearer hunter2\r\n").status, 200);
    let keys = redis.ask("KEYS *");
    let name = keys.lines().find(|line| line.starts_with("leat:limit:x:g:")).unwrap_or_else(|| panic!("{keys}"));
    assert_eq!(name.len(), "leat:limit:x:g:{}".len() + 32, "{name}");
    assert!(!keys.contains("hunter2"), "{keys}");
    let left_ms: i64 = redis.ask(&format!("PTTL {name}")).lines().next().unwrap()[1..].parse().unwrap();
    assert!((1..=720_002).contains(&left_ms), "a state is kept until it means nothing: {left_ms} ms");
}

#[test]
fn a_server_that_is_gone_leaves_each_limit_its_way_and_is_back_without_a_restart() {
    let Some(mut redis) = Redis::start(&[]) else { return };
    for (on_error, without) in [("open", [200, 200, 200]), ("closed", [503, 503, 503]), ("local", [200, 200, 429])] {
        redis.ask("FLUSHALL");
        let mut leat =
            redis.gateway("", &format!("x: {{ rate: 2/h, key: all, redis: shared, on_error: {on_error} }}"), "x");
        let mut client = leat.connect();
        assert_eq!(statuses(&mut client, "", 3), [200, 200, 429], "{on_error}: with Redis");
        redis.kill();
        assert_eq!(statuses(&mut client, "", 3), without, "{on_error}: without Redis");
        assert!(errors(&mut leat, "x") >= 3, "{on_error}");
        redis.restart();
        eventually("the gateway to find Redis again", || {
            let before = errors(&mut leat, "x");
            ask(&mut client, "");
            (errors(&mut leat, "x") == before).then_some(())
        });
        redis.ask("FLUSHALL");
        assert_eq!(statuses(&mut client, "", 3), [200, 200, 429], "{on_error}: Redis counts again");
    }
}

#[test]
fn a_server_that_hangs_costs_a_deadline_and_then_nothing() {
    let Some(redis) = Redis::start(&[]) else { return };
    let mut leat =
        redis.gateway(", deadline: 200ms", "x: { rate: 1000/h, key: all, redis: shared, on_error: closed }", "x");
    let mut client = leat.connect();
    assert_eq!(statuses(&mut client, "", 2), [200, 200]);
    redis.signal(Signal::STOP);
    let started = Instant::now();
    let response = ask(&mut client, "");
    let waited = started.elapsed();
    assert_eq!(response.status, 503);
    assert!(response.text().contains("\"code\":\"limit.store\""), "{}", response.text());
    assert!(waited >= Duration::from_millis(150), "the deadline was waited for: {waited:?}");
    // From now on the server counts as down: a hundred requests don't wait a hundred times.
    let started = Instant::now();
    assert_eq!(statuses(&mut client, "", 100), [503; 100]);
    let waited = started.elapsed();
    assert!(waited < Duration::from_secs(5), "{waited:?}");
    redis.signal(Signal::CONT);
    eventually("the gateway to find Redis again", || (ask(&mut client, "").status == 200).then_some(()));
    assert!(errors(&mut leat, "x") >= 101);
}

#[test]
fn a_server_that_forgot_the_script_is_told_again() {
    let Some(redis) = Redis::start(&[]) else { return };
    let mut leat = redis.gateway("", "x: { rate: 2/h, key: all, redis: shared, on_error: closed }", "x");
    let mut client = leat.connect();
    assert_eq!(statuses(&mut client, "", 1), [200]);
    redis.ask("SCRIPT FLUSH");
    assert_eq!(statuses(&mut client, "", 2), [200, 429]);
    assert_eq!(errors(&mut leat, "x"), 0);
}

#[test]
fn a_gateway_logs_in_with_the_password_of_a_file() {
    let Some(redis) = Redis::start(&["--requirepass", "hunter2"]) else { return };
    for (password, wanted) in [("hunter2\n", [200, 429]), ("wrong", [503, 503])] {
        redis.ask("AUTH hunter2\r\nFLUSHALL");
        let folder = Folder::new();
        let file = folder.write("password", password);
        let leat = redis.gateway(
            &format!(", password_file: '{}'", file.display()),
            "x: { rate: 1/h, key: all, redis: shared, on_error: closed }",
            "x",
        );
        assert_eq!(statuses(&mut leat.connect(), "", 2), wanted, "{password}");
        assert!(!leat.log().join("\n").contains("hunter2"));
    }
}

#[test]
fn a_reload_keeps_the_connection() {
    let Some(redis) = Redis::start(&[]) else { return };
    let mut leat = redis.gateway("", "x: { rate: 100/h, key: all, redis: shared }", "x");
    let mut client = leat.connect();
    assert_eq!(ask(&mut client, "").status, 200);
    let number = |name: &str| {
        let info = redis.ask("INFO");
        let line = info.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().parse::<u64>().unwrap()
    };
    let connections = || number("total_connections_received:");
    // Of both cores, and that of the question itself.
    eventually("the other core's connection", || (number("connected_clients:") == 3).then_some(()));
    let before = connections();
    leat.reload();
    leat.wait_log("the reload", |line| line.contains("\"event\":\"reloaded\""));
    assert_eq!(ask(&mut client, "").status, 200);
    assert_eq!(connections(), before + 1, "its own connection is the only new one");
}

/// How often the server ran the script.
fn script_calls(redis: &Redis) -> u64 {
    let info = redis.ask("INFO commandstats");
    let line = info.lines().find_map(|line| line.strip_prefix("cmdstat_evalsha:calls="));
    line.map_or(0, |line| line.split(',').next().unwrap().parse().unwrap())
}

#[test]
fn two_gateways_with_leases_admit_together_what_the_limit_allows_and_seldom_ask() {
    const RATE: u64 = 100;
    const BURST: u64 = 50;
    let Some(redis) = Redis::start(&[]) else { return };
    let limit =
        format!("x: {{ rate: {RATE}/s, burst: {BURST}, key: all, redis: shared, mode: leased, on_error: closed }}");
    let mut gateways = [0, 1].map(|_| redis.gateway("", &limit, "x"));
    let addresses = gateways.each_ref().map(|leat| leat.address(0));
    let started = Instant::now();
    let clients: Vec<_> = (0..8)
        .map(|number| {
            let address = addresses[number % 2];
            thread::spawn(move || {
                let mut client = Client::connect(address);
                let mut counts = [0, 0, 0];
                while started.elapsed() < Duration::from_secs(3) {
                    match ask(&mut client, "").status {
                        200 => counts[0] += 1,
                        429 => counts[1] += 1,
                        // No answer in time, on a machine that is busy: nothing passes then.
                        503 => counts[2] += 1,
                        other => panic!("{other}"),
                    }
                }
                counts
            })
        })
        .collect();
    let counts = clients.into_iter().map(|client| client.join().unwrap());
    let [passed, refused, failed] = counts.fold([0; 3], |[a, b, c], [d, e, f]| [a + d, b + e, c + f]);
    let took = started.elapsed();
    let allowed = BURST + (took.as_secs_f64() * RATE as f64) as u64;
    assert!(passed <= allowed, "{passed} passed in {took:?}, {allowed} are allowed, {failed} failed");
    assert!(passed * 10 >= allowed * 7, "{passed} passed in {took:?}, {allowed} are allowed");
    assert!(refused > 0);
    let calls = script_calls(&redis);
    assert!(calls * 2 < passed + refused, "{calls} calls for {passed} that passed and {refused} that did not");
    for leat in &mut gateways {
        let error = metric(leat.admin(), "leat_rate_limit_lease_error_units{limit=\"x\"}");
        // A quarter of the burst is the reserve; a lease is at most a quarter of the rest, and two may overlap.
        assert!((12..=50).contains(&error), "{error}");
    }
}

#[test]
fn a_leased_limit_tells_what_remains_and_gives_back_what_another_limit_refused() {
    let Some(redis) = Redis::start(&[]) else { return };
    let leat = redis.gateway(
        "",
        "wide: { rate: 4/h, burst: 8, key: all, redis: shared, mode: leased }
narrow: { rate: 2/h, burst: 3, key: 'header:x-key', redis: shared, mode: leased }",
        "[wide, narrow]",
    );
    let mut client = leat.connect();
    // One of each burst is the reserve: two of `narrow` and seven of `wide` can be spent.
    let first = ask(&mut client, "x-key: a\r\n");
    assert_eq!(first.field("ratelimit-policy"), Some("\"wide\";q=4;w=3600, \"narrow\";q=2;w=3600"));
    assert_eq!(statuses(&mut client, "x-key: a\r\n", 1), [200]);
    let refused = ask(&mut client, "x-key: a\r\n");
    assert_eq!(refused.status, 429);
    assert_eq!(refused.field("ratelimit"), Some("\"narrow\";r=0;t=3600"));
    assert_eq!(refused.field("retry-after"), Some("1800"));
    let calls = script_calls(&redis);
    assert_eq!(statuses(&mut client, "x-key: a\r\n", 20), [429; 20]);
    assert_eq!(script_calls(&redis), calls, "what was refused is not asked again, and `wide` has its unit back");
}

#[test]
fn leases_end_with_redis_and_come_back_with_it() {
    let Some(mut redis) = Redis::start(&[]) else { return };
    let mut leat =
        redis.gateway("", "x: { rate: 1000/s, key: all, redis: shared, mode: leased, on_error: closed }", "x");
    let mut client = leat.connect();
    assert_eq!(statuses(&mut client, "", 20), [200; 20]);
    redis.kill();
    eventually("the leases to end", || (ask(&mut client, "").status == 503).then_some(()));
    assert!(errors(&mut leat, "x") >= 1);
    redis.restart();
    eventually("the gateway to find Redis again", || (ask(&mut client, "").status == 200).then_some(()));
}
