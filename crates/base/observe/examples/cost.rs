//! What counting and logging one exchange cost the core that does it, in nanoseconds. Run with optimisation:
//! `cargo run --release -p leat-observe --example cost`.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use leat_message::{Address, Field, Head, Name, Peer, Record, RequestLines, Scheme, Span};
use leat_observe::access_log::{AccessLog, Entry, Format, Settings, Target};
use leat_observe::{Core, EndpointName, Histogram, Registry, Shape};

const ROUNDS: u64 = 2_000_000;
/// Records appended in a row: well below what a ring holds. Then the writer gets time to empty it, as it does on a core
/// that serves requests in between.
const BURST: u64 = 250;

const HEAD: &[u8] = b"GET /api/v1/users/12345?fields=name,mail HTTP/1.1 example.org \
    Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

fn nanoseconds(time: Duration, count: u64) -> f64 {
    time.as_secs_f64() * 1e9 / count as f64
}

fn main() -> std::io::Result<()> {
    let registry = Registry::new();
    let endpoint = EndpointName { upstream: "users".into(), address: "127.0.0.1:9000".into() };
    let core =
        Core::new(&registry, &Shape { routes: vec!["api".into()], endpoints: vec![endpoint], ..Shape::default() });
    let histogram = Histogram::default();
    let record = Record { route: Some(0), status: 200, bytes_out: 100, ..Record::default() };
    let proxied = Record { endpoint: Some(0), upstream_us: 90, attempts: 1, ..record.clone() };

    let begin = Instant::now();
    (0..ROUNDS).for_each(|i| histogram.record(black_box(i * 7919 % 50_000)));
    println!("histogram.record            {:6.1} ns", nanoseconds(begin.elapsed(), ROUNDS));
    for (name, record) in [("core.observe, no upstream   ", &record), ("core.observe, upstream      ", &proxied)] {
        let begin = Instant::now();
        (0..ROUNDS).for_each(|i| core.observe(black_box(record), i * 7919 % 50_000));
        println!("{name}{:6.1} ns", nanoseconds(begin.elapsed(), ROUNDS));
    }

    let lines = RequestLines {
        method_span: Span::new(0, 3),
        target: Span::new(4, 40),
        authority: Span::new(50, 61),
        fields: vec![Field { id: Name::UserAgent, name: Span::default(), value: Span::new(62, HEAD.len()) }],
        ..RequestLines::default()
    };
    let peer = Peer {
        remote: Address::Ip(([192, 0, 2, 1], 5000).into()),
        local: Address::Unix,
        scheme: Scheme::Http,
        tls: None,
    };
    for user_agent in [false, true] {
        let target = Target::File("/dev/null".into());
        let settings = Settings { user_agent, ..Settings::new(target, Format::Json) };
        let log = AccessLog::start(settings, Arc::clone(&registry.process().access_log))?;
        let sink = log.sink();
        let mut spent = Duration::ZERO;
        for burst in 0..400 {
            let begin = Instant::now();
            for i in 0..BURST {
                sink.append(&Entry {
                    time_ms: burst * BURST + i,
                    duration_us: 100,
                    peer: &peer,
                    client: None,
                    request: Some(Head::new(HEAD, &lines)),
                    request_id: b"0123456789abcdef",
                    record: black_box(&proxied),
                    route: core.route_name(&proxied),
                    endpoint: core.endpoint_address(&proxied),
                    phases: None,
                });
            }
            spent += begin.elapsed();
            std::thread::sleep(Duration::from_millis(1));
        }
        println!("sink.append, agent: {user_agent:5}   {:6.1} ns", nanoseconds(spent, 400 * BURST));
        log.finish(Duration::from_secs(5));
    }
    let snapshot = registry.snapshot();
    println!("records written {}, dropped {}", snapshot.log_records, snapshot.log_dropped);
    Ok(())
}
