//! What a request calls allocates nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use leat_message::{Address, Head, Peer, Reason, Record, RequestLines, Scheme};
use leat_observe::access_log::{AccessLog, Entry, Format, Settings, Target};
use leat_observe::{Core, EndpointName, Registry, Shape};
use leat_testkit::Counting;

#[global_allocator]
static GLOBAL: Counting = Counting;

fn allocations_in(run: impl FnOnce()) -> u64 {
    Counting::count(run).0.count
}

#[test]
fn counting_and_logging_an_exchange_allocate_nothing() {
    let shape = Shape {
        routes: vec!["api".into()],
        endpoints: vec![EndpointName { upstream: "u".into(), address: "127.0.0.1:1".into() }],
        limits: vec!["l".into()],
    };
    let registry = Registry::new();
    let core = Core::new(&registry, &shape);
    let settings = Settings::new(Target::File("/dev/null".into()), Format::Json);
    let log = AccessLog::start(settings, Arc::clone(&registry.process().access_log)).unwrap();
    let sink = log.sink();
    let (bytes, lines) = (b"GET /".to_vec(), RequestLines::default());
    let peer = Peer {
        remote: Address::Ip("127.0.0.1:1".parse().unwrap()),
        local: Address::Unix,
        scheme: Scheme::Http,
        tls: None,
    };
    let record = Record {
        route: Some(0),
        endpoint: Some(0),
        reason: Some(Reason::UpstreamReset),
        connect_us: 1,
        upstream_us: 1,
        ..Record::default()
    };
    assert_eq!(allocations_in(|| drop(Box::new(1))), 1, "the counter counts");
    // More than a ring holds, so that dropping is covered as well.
    let allocations = allocations_in(|| {
        for time_ms in 0..20_000 {
            core.connection_accepted();
            core.observe(&record, time_ms);
            core.retried(0, Reason::UpstreamConnect);
            sink.append(&Entry {
                time_ms,
                duration_us: 1,
                peer: &peer,
                client: None,
                request: Some(Head::new(&bytes, &lines)),
                request_id: b"id",
                record: &record,
                route: core.route_name(&record),
                endpoint: core.endpoint_address(&record),
                phases: None,
            });
            core.connection_closed(None);
        }
    });
    assert_eq!(allocations, 0);
}
