//! Counting over threads, reloads and reads, and the text that comes out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;
use std::thread;

use leat_message::{Reason, Record};
use leat_observe::{Core, EndpointName, Registry, Shape, Snapshot, exposition};

fn shape(routes: &[&str], endpoints: &[(&str, &str)]) -> Shape {
    Shape {
        routes: routes.iter().map(|&name| name.into()).collect(),
        endpoints: endpoints.iter().map(|&(u, a)| EndpointName { upstream: u.into(), address: a.into() }).collect(),
        limits: vec!["per_client".into()],
    }
}

fn to_route(route: u32) -> Record {
    Record { route: Some(route), status: 200, ..Record::default() }
}

fn requests(snapshot: &Snapshot, route: &str) -> u64 {
    snapshot.routes.get(route).map_or(0, |counts| counts.classes.iter().sum())
}

#[test]
fn cores_are_summed_while_they_count_and_sums_never_go_down() {
    const CORES: u64 = 4;
    const EACH: u64 = 20_000;
    let registry = Registry::new();
    let threads: Vec<_> = (0..CORES)
        .map(|_| {
            let registry = Arc::clone(&registry);
            thread::spawn(move || {
                let core = Core::new(&registry, &shape(&["a", "b"], &[]));
                for i in 0..EACH {
                    core.observe(&Record { bytes_out: 3, ..to_route((i % 2) as u32) }, 100);
                }
            })
        })
        .collect();
    let mut last = 0;
    while threads.iter().any(|thread| !thread.is_finished()) {
        let now = requests(&registry.snapshot(), "a");
        assert!(now >= last);
        last = now;
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let snapshot = registry.snapshot();
    for route in ["a", "b"] {
        let counts = &snapshot.routes[route];
        assert_eq!(counts.classes, [0, 0, CORES * EACH / 2, 0, 0, 0]);
        assert_eq!((counts.bytes_out, counts.duration.count()), (CORES * EACH * 3 / 2, CORES * EACH / 2));
    }
}

#[test]
fn a_route_that_keeps_its_name_keeps_its_numbers_over_a_reload() {
    let registry = Registry::new();
    let before = Core::new(&registry, &shape(&["a", "b"], &[("u", "1:1")]));
    before.observe(&to_route(0), 1);
    let after = before.reshape(&shape(&["c", "b", "a"], &[("u", "2:2"), ("u", "1:1")]));
    after.observe(&to_route(2), 1);
    after.observe(&Record { endpoint: Some(1), ..to_route(0) }, 1);
    // An exchange that began before the reload ends after it.
    before.observe(&Record { endpoint: Some(0), ..to_route(1) }, 1);
    let snapshot = registry.snapshot();
    for (route, count) in [("a", 2), ("b", 1), ("c", 1)] {
        assert_eq!(requests(&snapshot, route), count, "{route}");
    }
    let endpoints: Vec<_> = snapshot.endpoints.iter().map(|(name, counts)| (&*name.address, counts.requests)).collect();
    assert_eq!(endpoints, [("1:1", 2), ("2:2", 0)]);
    assert_eq!((after.route_name(&to_route(2)), after.route_name(&to_route(9))), ("a", ""));
    assert_eq!(after.endpoint_address(&Record { endpoint: Some(0), ..Record::default() }), "2:2");
}

#[test]
fn the_numbers_of_a_thread_that_ended_stay_and_the_next_one_goes_on_with_them() {
    let registry = Registry::new();
    for round in 1..=50 {
        let counting = Arc::clone(&registry);
        thread::spawn(move || Core::new(&counting, &shape(&["a"], &[])).observe(&to_route(0), 1)).join().unwrap();
        assert_eq!(requests(&registry.snapshot(), "a"), round);
    }
}

#[test]
fn names_out_of_use_are_forgotten_only_above_the_limit() {
    let registry = Registry::new();
    let mut core = Core::new(&registry, &shape(&["kept"], &[]));
    core.observe(&to_route(0), 1);
    for generation in 0..3 {
        let mut many: Vec<String> = (0..4_000).map(|i| format!("r{generation}-{i}")).collect();
        many.push("kept".into());
        let names: Vec<&str> = many.iter().map(String::as_str).collect();
        core = core.reshape(&shape(&names, &[]));
    }
    let snapshot = registry.snapshot();
    assert_eq!(requests(&snapshot, "kept"), 1);
    assert!(snapshot.routes.len() <= leat_observe::NAMES_MAX, "{}", snapshot.routes.len());
}

#[test]
fn status_and_route_that_nobody_knows_count_as_unmatched() {
    let registry = Registry::new();
    let core = Core::new(&registry, &Shape::default());
    for (record, class) in [
        (Record::default(), 0),
        (Record { status: 101, ..Record::default() }, 1),
        (Record { status: 404, route: Some(7), ..Record::default() }, 4),
        (Record { status: 599, endpoint: Some(7), ..Record::default() }, 5),
    ] {
        let before = registry.snapshot().unmatched.classes;
        core.observe(&record, 0);
        let after = registry.snapshot().unmatched.classes;
        assert_eq!(after[class], before[class] + 1, "{record:?}");
    }
}

#[test]
fn pool_connections_are_counted_by_whoever_keeps_them_even_past_a_reload() {
    let registry = Registry::new();
    let core = Core::new(&registry, &shape(&[], &[("u", "1:1")]));
    let pool = core.endpoint(0).unwrap();
    pool.connections_opened.add(3);
    pool.connections_idle.up();
    pool.connections_idle.up();
    drop(core.reshape(&shape(&[], &[])));
    pool.connections_idle.down();
    pool.connections_reused.add(1);
    pool.connections_closed.add(1);
    let snapshot = registry.snapshot();
    let counts = snapshot.endpoints.values().next().unwrap();
    assert_eq!((counts.connections_opened, counts.connections_open), (3, 2));
    assert_eq!((counts.connections_idle, counts.connections_reused), (1, 1));
    assert!(core.endpoint(1).is_none());
}

/// A little of everything.
fn busy() -> Arc<Registry> {
    let registry = Registry::new();
    let core = Core::new(&registry, &shape(&["say \"hi\"\\\n", "api"], &[("users", "127.0.0.1:9000")]));
    core.connection_accepted();
    core.connection_accepted();
    core.connection_accepted();
    core.connection_closed(None);
    core.connection_closed(Some(Reason::TimeIdle));
    core.refused(Reason::LimitConnections);
    core.accept_paused();
    core.handshake_started();
    core.handshake_started();
    core.handshake_started();
    core.handshake_ended(Ok(()));
    core.handshake_ended(Err(Reason::TlsHandshake));
    core.h2_stream_opened();
    core.h2_stream_opened();
    core.h2_stream_closed();
    core.observe(&Record { bytes_in: 5, bytes_out: 7, ..to_route(0) }, 90);
    core.observe(&Record { reason: Some(Reason::HeadBareLf), status: 400, ..Record::default() }, 12);
    core.retried(0, Reason::UpstreamConnect);
    core.observe(
        &Record {
            endpoint: Some(0),
            reason: Some(Reason::UpstreamResponseTime),
            status: 504,
            connect_us: 250,
            upstream_us: 2_000_001,
            attempts: 2,
            ..to_route(1)
        },
        2_500_000,
    );
    if let Some(pool) = core.endpoint(0) {
        pool.connections_opened.add(2);
        pool.connections_reused.add(1);
        pool.connections_idle.up();
    }
    registry.process().reloads_done.add(2);
    registry.process().reloads_failed.add(1);
    registry.process().buffer_bytes.set(65_536);
    registry.process().access_log.records.add(3);
    registry.process().access_log.dropped.add(1);
    registry
}

#[test]
fn the_exposition_text_is_the_golden_one() {
    let mut text = String::new();
    exposition::write(&busy().snapshot(), &mut text);
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/metrics.txt");
    if std::env::var_os("LEAT_GOLDEN").is_some() {
        std::fs::write(golden, &text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(golden).unwrap(), "run with LEAT_GOLDEN=1 to write it anew");
}

#[test]
fn every_family_is_described_once_before_its_samples_and_no_series_stands_twice() {
    let mut text = String::new();
    exposition::write(&busy().snapshot(), &mut text);
    let (mut described, mut seen, mut family) = (Vec::new(), std::collections::HashSet::new(), String::new());
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            family = help.split(' ').next().unwrap().to_owned();
            assert!(!described.contains(&family), "{family} is described twice");
            described.push(family.clone());
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').unwrap();
            assert_eq!(name, family);
            assert_eq!(kind == "counter", name.ends_with("_total"), "{name} is a {kind}");
        } else {
            let (series, value) = line.rsplit_once(' ').unwrap();
            assert!(series.starts_with(&family), "{series} stands under {family}");
            assert!(seen.insert(series.to_owned()), "{series} stands twice");
            assert!(value.parse::<f64>().is_ok(), "{line}");
        }
    }
}

#[test]
fn the_reference_table_lists_every_family_with_its_kind() {
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/reference/metrics.md");
    let table = std::fs::read_to_string(table).unwrap();
    let listed: Vec<String> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .map(|line| line.split(" | ").take(2).collect::<Vec<_>>().join(" ").replace('`', ""))
        .collect();
    let mut text = String::new();
    exposition::write(&busy().snapshot(), &mut text);
    let written: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
    assert_eq!(listed, written);
}
