//! Names: times to live, renewal, failures of the name server, and racing the addresses of both families.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod scripted;

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use leat_dial::{Endpoint, EndpointLimits, Pools, Protocol, Resolver, ResolverSettings};
use leat_message::Reason;
use scripted::names::{Mood, Names};
use scripted::*;
use tokio::net::TcpListener;

fn settings(names: &Names) -> ResolverSettings {
    ResolverSettings {
        nameservers: vec![names.address],
        ttl_min_ms: 20,
        retry_time_ms: 20,
        query_time_ms: 200,
        ..ResolverSettings::default()
    }
}

/// A peer at an address that says who it is.
async fn named(address: SocketAddr, name: &'static str) -> SocketAddr {
    let listener = TcpListener::bind(address).await.unwrap();
    let address = listener.local_addr().unwrap();
    accept(listener, move |_, mut conn| async move {
        while !conn.head().await.is_empty() {
            conn.send(format!("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n{name}")).await;
        }
    });
    address
}

/// Peers `a` and `b` at two addresses and one port, and an endpoint for a name with that port.
async fn two_peers(limits: EndpointLimits) -> Rc<Endpoint> {
    let port = named("127.0.0.1:0".parse().unwrap(), "a").await.port();
    named(SocketAddr::from(([127, 0, 0, 2], port)), "b").await;
    endpoint(format!("up.test:{port}"), Protocol::H1, limits)
}

async fn who(pools: &Rc<Pools>, endpoint: &Rc<Endpoint>) -> Result<String, Reason> {
    Ok(fetch(pools, endpoint, &get("/")).await?.text())
}

#[test]
fn requests_move_to_the_new_address_when_the_time_to_live_is_over() {
    on_core(async {
        let names = Names::start().await;
        names.set("up.test", &["127.0.0.1"]);
        let endpoint = two_peers(EndpointLimits::default()).await;
        let pools = Pools::new(Resolver::new(settings(&names)));
        assert_eq!(who(&pools, &endpoint).await.unwrap(), "a");
        assert_eq!(who(&pools, &endpoint).await.unwrap(), "a");
        assert_eq!(pools.stats_of(&endpoint).connects, 1);
        names.set("up.test", &["127.0.0.2"]);
        // The connection is used all the time, and yet it is left.
        let moved = Cell::new(false);
        for _ in 0..400 {
            settle().await;
            moved.set(who(&pools, &endpoint).await.unwrap() == "b");
            if moved.get() {
                break;
            }
        }
        assert!(moved.get());
        assert_eq!((pools.stats_of(&endpoint).connects, pools.stats_of(&endpoint).open), (2, 1));
    });
}

#[test]
fn an_answer_is_used_for_its_time_to_live() {
    on_core(async {
        let names = Names::start().await;
        names.set("up.test", &["127.0.0.1"]);
        names.ttl.set(60);
        let limits = EndpointLimits { idle_time_ms: 0, ..EndpointLimits::default() };
        let endpoint = two_peers(limits).await;
        let pools = Pools::new(Resolver::new(settings(&names)));
        for _ in 0..20 {
            who(&pools, &endpoint).await.unwrap();
        }
        // One for each family.
        assert_eq!((names.queries.get(), pools.stats_of(&endpoint).connects), (2, 20));
    });
}

#[test]
fn the_old_addresses_are_used_while_the_name_server_fails_but_not_for_ever() {
    for mood in [Mood::Fails, Mood::Silent] {
        on_core(async {
            let names = Names::start().await;
            names.set("up.test", &["127.0.0.1"]);
            let limits = EndpointLimits { idle_time_ms: 0, ..EndpointLimits::default() };
            let endpoint = two_peers(limits).await;
            let settings = ResolverSettings {
                renew_time_ms: 50,
                answer_time_ms: 100,
                stale_time_ms: 600,
                query_time_ms: 50,
                ..settings(&names)
            };
            let pools = Pools::new(Resolver::new(settings));
            assert_eq!(who(&pools, &endpoint).await.unwrap(), "a");
            names.mood.set(mood);
            tokio::time::sleep(Duration::from_millis(200)).await;
            let start = Instant::now();
            assert_eq!(who(&pools, &endpoint).await.unwrap(), "a");
            assert!(start.elapsed() < Duration::from_millis(300), "{:?}", start.elapsed());
            tokio::time::sleep(Duration::from_millis(800)).await;
            assert_eq!(who(&pools, &endpoint).await.unwrap_err(), Reason::UpstreamResolve);
            names.mood.set(Mood::Answers);
            tokio::time::sleep(Duration::from_millis(100)).await;
            assert_eq!(who(&pools, &endpoint).await.unwrap(), "a");
        });
    }
}

#[test]
fn names_without_an_address_are_refused() {
    on_core(async {
        let names = Names::start().await;
        names.set("empty.test", &[]);
        let pools = Pools::new(Resolver::new(settings(&names)));
        for name in ["missing.test:80", "empty.test:80"] {
            let endpoint = endpoint(name, Protocol::H1, EndpointLimits::default());
            assert_eq!(who(&pools, &endpoint).await.unwrap_err(), Reason::UpstreamResolve, "{name}");
            assert_eq!(pools.stats_of(&endpoint).open, 0);
        }
    });
}

#[test]
fn a_silent_name_server_is_waited_for_no_longer_than_connecting_may_take() {
    on_core(async {
        let names = Names::start().await;
        names.mood.set(Mood::Silent);
        let limits = EndpointLimits { connect_time_ms: 100, ..EndpointLimits::default() };
        let pools = Pools::new(Resolver::new(ResolverSettings { query_time_ms: 2_000, ..settings(&names) }));
        let start = Instant::now();
        let endpoint = endpoint("up.test:80", Protocol::H1, limits);
        assert_eq!(who(&pools, &endpoint).await.unwrap_err(), Reason::UpstreamConnectTime);
        assert!(start.elapsed() < Duration::from_millis(1_000));
    });
}

#[test]
fn localhost_asks_no_name_server() {
    on_core(async {
        let names = Names::start().await;
        names.mood.set(Mood::Silent);
        let port = named("127.0.0.1:0".parse().unwrap(), "a").await.port();
        let pools = Pools::new(Resolver::new(settings(&names)));
        for name in ["localhost", "LocalHost."] {
            let endpoint = endpoint(format!("{name}:{port}"), Protocol::H1, EndpointLimits::default());
            assert_eq!(who(&pools, &endpoint).await.unwrap(), "a", "{name}");
        }
        assert_eq!(names.queries.get(), 0);
    });
}

#[test]
fn a_closed_address_of_one_family_falls_back_to_the_other_at_once() {
    on_core(async {
        let names = Names::start().await;
        names.set("up.test", &["::1", "127.0.0.1"]);
        let endpoint = two_peers(EndpointLimits::default()).await;
        let pools = Pools::new(Resolver::new(settings(&names)));
        let start = Instant::now();
        assert_eq!(who(&pools, &endpoint).await.unwrap(), "a");
        assert!(start.elapsed() < Duration::from_millis(240), "{:?}", start.elapsed());
    });
}

#[test]
fn an_address_that_does_not_answer_is_overtaken() {
    on_core(async {
        let names = Names::start().await;
        names.set("up.test", &["127.0.0.1", "127.0.0.2"]);
        let hole = black_hole("127.0.0.1:0");
        named(SocketAddr::from(([127, 0, 0, 2], hole.address.port())), "b").await;
        let endpoint = endpoint(format!("up.test:{}", hole.address.port()), Protocol::H1, EndpointLimits::default());
        let pools = Pools::new(Resolver::new(settings(&names)));
        let start = Instant::now();
        assert_eq!(who(&pools, &endpoint).await.unwrap(), "b");
        let took = start.elapsed();
        assert!(took >= Duration::from_millis(240) && took < Duration::from_millis(900), "{took:?}");
    });
}

#[test]
fn connections_spread_over_the_addresses_of_a_name() {
    on_core(async {
        let names = Names::start().await;
        names.set("up.test", &["127.0.0.1", "127.0.0.2"]);
        names.ttl.set(60);
        let limits = EndpointLimits { idle_time_ms: 0, ..EndpointLimits::default() };
        let endpoint = two_peers(limits).await;
        let pools = Pools::new(Resolver::new(settings(&names)));
        let mut seen = String::new();
        for _ in 0..4 {
            seen.push_str(&who(&pools, &endpoint).await.unwrap());
        }
        assert_eq!(seen, "abab");
    });
}
