//! Servers that are cut off, slow, or talk nonsense; gateways that share a limit meanwhile.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use leat_testkit::{Leat, eventually};

use crate::cut::{Cut, Manner};
use crate::load::Load;
use crate::server::{Redis, ask, errors, gateway, statuses};

#[test]
fn each_way_to_fail_leaves_each_limit_its_way_within_the_deadline_and_is_over_without_a_restart() {
    let Some(redis) = Redis::start(&[]) else { return };
    let ways = [Manner::Silence, Manner::End, Manner::Half, Manner::Garbage, Manner::Slow(Duration::from_millis(600))];
    for (on_error, without) in [("open", [200, 200, 200]), ("closed", [503, 503, 503]), ("local", [200, 200, 429])] {
        let cut = Cut::before(redis.address);
        let server = format!("{{ url: 'redis://{}', deadline: 200ms }}", cut.address);
        let limit = format!("x: {{ rate: 2/h, key: all, redis: shared, on_error: {on_error} }}");
        for way in ways {
            redis.ask("FLUSHALL");
            cut.set(Manner::Pass);
            let mut leat = gateway(&server, &limit, "x");
            let mut client = leat.connect();
            assert_eq!(statuses(&mut client, "", 3), [200, 200, 429], "{on_error}, {way:?}: with Redis");
            cut.set(way);
            let before = Instant::now();
            assert_eq!(statuses(&mut client, "", 3), without, "{on_error}, {way:?}: without Redis");
            let took = before.elapsed();
            assert!(took < Duration::from_secs(2), "{on_error}, {way:?}: {took:?}");
            assert!(errors(&mut leat, "x") >= 3, "{on_error}, {way:?}");
            cut.set(Manner::Pass);
            eventually("the gateway to find Redis again", || {
                let before = errors(&mut leat, "x");
                ask(&mut client, "");
                (errors(&mut leat, "x") == before).then_some(())
            });
            redis.ask("FLUSHALL");
            assert_eq!(statuses(&mut client, "", 3), [200, 200, 429], "{on_error}, {way:?}: Redis counts again");
        }
    }
}

#[test]
fn a_server_that_answers_with_errors_is_told_of_once_and_again_when_it_is_well() {
    let Some(redis) = Redis::start(&[]) else { return };
    for (ill, well, reason) in [
        ("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE", "it is a replica, not the master"),
        ("CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0", "it answered with an error (OOM)"),
    ] {
        let mut leat = redis.gateway("", "x: { rate: 100000/s, redis: shared, on_error: closed }", "x");
        let mut client = leat.connect();
        assert_eq!(statuses(&mut client, "", 2), [200, 200], "{reason}");
        redis.ask(ill);
        assert_eq!(statuses(&mut client, "", 3), [503, 503, 503], "{reason}");
        leat.wait_log("the reason", |line| line.contains("\"event\":\"redis_down\"") && line.contains(reason));
        redis.ask(well);
        eventually("that it is well", || {
            assert_eq!(statuses(&mut client, "", 1), [200], "{reason}");
            leat.log().iter().any(|line| line.contains("\"event\":\"redis_well\"")).then_some(())
        });
        let told = leat.log().iter().filter(|line| line.contains("\"event\":\"redis_down\"")).count();
        assert_eq!(told, 1, "{reason}");
    }
}

#[test]
fn answers_that_take_long_but_not_too_long_are_waited_for() {
    let Some(redis) = Redis::start(&[]) else { return };
    let cut = Cut::before(redis.address);
    cut.set(Manner::Slow(Duration::from_millis(60)));
    let server = format!("{{ url: 'redis://{}', deadline: 2s }}", cut.address);
    let mut leat = gateway(&server, "x: { rate: 2/h, key: all, redis: shared, on_error: closed }", "x");
    assert_eq!(statuses(&mut leat.connect(), "", 3), [200, 200, 429]);
    assert_eq!(errors(&mut leat, "x"), 0);
}

/// Of two gateways one is cut off for a second, and neither knows of the other.
fn two_gateways_and_a_partition(mode: &str) {
    const RATE: u64 = 400;
    const BURST: u64 = 200;
    let Some(redis) = Redis::start(&[]) else { return };
    let cuts = [Cut::before(redis.address), Cut::before(redis.address)];
    let limit =
        format!("x: {{ rate: {RATE}/s, burst: {BURST}, key: all, redis: shared, mode: {mode}, on_error: closed }}");
    let mut gateways = cuts.each_ref().map(|cut| gateway(&format!("'redis://{}'", cut.address), &limit, "x"));
    let load = Load::start(&gateways.each_ref().map(|leat| leat.address(0)), |_, _| String::new());
    load.until(Duration::from_millis(1_000));
    cuts[1].set(Manner::Silence);
    load.until(Duration::from_millis(2_000));
    let cut_off = errors(&mut gateways[1], "x");
    cuts[1].set(Manner::Pass);
    load.until(Duration::from_millis(4_000));
    let took = load.elapsed();
    let seen = load.stop();
    assert!(cut_off > 0, "{mode}: one gateway was cut off");
    let excess = seen.excess(BURST, RATE, Duration::from_millis(100));
    assert!(excess <= 0, "{mode}: {excess} too many in some window, {} passed in {took:?}", seen.passed.len());
    let allowed = BURST as f64 + took.as_secs_f64() * RATE as f64;
    let passed = seen.passed.len() as f64;
    assert!(passed > allowed * 0.6, "{mode}: {passed} passed in {took:?}, {allowed} are allowed");
    assert!(seen.refused > 0, "{mode}: there was more to do than is allowed");
}

#[test]
fn two_gateways_that_ask_keep_the_bound_while_one_is_cut_off() {
    two_gateways_and_a_partition("exact");
}

#[test]
fn two_gateways_that_lease_keep_the_bound_while_one_is_cut_off() {
    two_gateways_and_a_partition("leased");
}

#[test]
fn without_redis_clients_are_told_what_this_process_counts_and_nothing_else() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for mode in ["exact", "leased"] {
        for (on_error, told) in [("local", Some("\"x\";r=99;t=1")), ("open", None)] {
            let config = format!(
                "listeners: 127.0.0.1:0\nworkers: 1\nredis: {{ gone: {{ url: 'redis://{free}' }} }}\nrate_limits:\n  x: {{ rate: 3600/h, burst: 100, key: all, redis: gone, mode: {mode}, on_error: {on_error} }}\nroutes:\n  - {{ rate_limits: x, respond: {{ body: a }} }}\n"
            );
            let leat = Leat::gateway(&config, 1);
            let response = leat.connect().get("/").response();
            assert_eq!((response.status, response.field("ratelimit")), (200, told), "{mode}, {on_error}");
            assert_eq!(response.field("ratelimit-policy").is_some(), told.is_some(), "{mode}, {on_error}");
        }
    }
}
