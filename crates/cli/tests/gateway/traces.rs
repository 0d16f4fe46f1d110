//! Traces: what is believed, made and passed on, what a collector gets, and that nobody waits for it.

use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use leat_testkit::{Client, Leat, Peer, eventually};
use opentelemetry_proto::tonic::metrics::v1::{metric, number_data_point};

use crate::collector::{Collector, TAKEN, attribute};
use crate::support::{OK, answers, config, lines, url};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SAMPLED: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const NOT_SAMPLED: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
const LOOPBACK: &str = "trust: [127.0.0.0/8]";

fn free() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// The values of a field that an upstream got.
fn values(head: &[u8], name: &str) -> Vec<String> {
    let fields = lines(head).into_iter().filter_map(|line| {
        let (own, value) = line.split_once(": ")?;
        own.eq_ignore_ascii_case(name).then(|| value.to_owned())
    });
    fields.collect()
}

/// What an upstream gets of a request with these fields.
fn passed_on(root: &str, fields: &str) -> (Vec<String>, Vec<String>) {
    let peer = Peer::listen([answers(OK, 1)]);
    let leat = Leat::gateway(&config(url(&peer), root, "", "", ""), 1);
    let request = format!("GET / HTTP/1.1\r\nhost: h\r\n{fields}\r\n");
    assert_eq!(leat.connect().send(request).response().status, 200);
    drop(leat);
    let heads = peer.finish();
    (values(&heads[0], "traceparent"), values(&heads[0], "tracestate"))
}

#[test]
fn traces_of_strangers_are_replaced_and_those_of_trusted_peers_go_on() {
    let fields = format!("TraceParent: {SAMPLED}\r\ntracestate: a=1\r\nTraceState: b=2\r\n");
    // Without tracing they are none of our business.
    assert_eq!(passed_on("", &fields), (vec![SAMPLED.to_owned()], vec!["a=1".into(), "b=2".into()]));

    let (parents, states) = passed_on("tracing: { sample: 0% }", &fields);
    let [parent] = &parents[..] else { panic!("{parents:?}") };
    assert!(parent.starts_with("00-") && !parent.contains(TRACE) && parent.ends_with("-02"), "{parent}");
    assert!(states.is_empty());

    let trusting = format!("tracing: {{ {LOOPBACK}, sample: 0% }}");
    let (parents, states) = passed_on(&trusting, &fields);
    let [parent] = &parents[..] else { panic!("{parents:?}") };
    assert!(parent.starts_with(&format!("00-{TRACE}-")) && parent.ends_with("-01"), "{parent}");
    assert!(!parent.contains("00f067aa0ba902b7"), "the span is the gateway's own: {parent}");
    assert_eq!(states, ["a=1", "b=2"]);

    // A malformed one is replaced, and takes its state with it.
    for broken in [
        format!("traceparent: {SAMPLED}\r\ntraceparent: {SAMPLED}\r\ntracestate: a=1\r\n"),
        "tracestate: a=1\r\n".into(),
    ] {
        let (parents, states) = passed_on(&trusting, &broken);
        assert!(parents.len() == 1 && !parents[0].contains(TRACE) && states.is_empty(), "{parents:?} {states:?}");
    }
    let (parents, states) = passed_on(&trusting, &format!("traceparent: {SAMPLED}\r\ntracestate: A=1\r\n"));
    assert!(parents[0].contains(TRACE) && states.is_empty(), "{parents:?} {states:?}");

    let (parents, _) = passed_on("tracing: { sample: 100% }", "");
    assert!(parents[0].ends_with("-03"), "{parents:?}");
}

#[test]
fn a_collector_gets_the_server_span_and_one_for_each_try() {
    let (peer, collector, dead) = (Peer::listen([answers(OK, 2)]), Collector::start([TAKEN]), free());
    let config = format!(
        "listeners: 127.0.0.1:0
workers: 1
tracing: {{ {LOOPBACK}, sample: 0% }}
otlp: {{ url: \"{}\", service: edge, metrics: off, headers: {{ x-tenant: {{ file: tenant }} }} }}
routes:
  - {{ name: api, match: {{ prefix: /api }}, proxy: up }}
  - {{ name: hi, match: {{ path: /hi }}, respond: {{ body: hi }} }}
upstreams: {{ up: {{ endpoints: [\"http://{dead}\", \"{}\"] }} }}
",
        collector.url(),
        url(&peer)
    );
    let folder = leat_testkit::Folder::new();
    std::fs::write(folder.path().join("tenant"), "t-secret-1\n").unwrap();
    let mut leat = Leat::gateway_in(folder, &config, 1);
    let mut client = leat.connect();
    let ask = |client: &mut Client, path: &str, parent: &str| {
        let fields = format!("host: shop.test:81\r\nuser-agent: t/1\r\ntraceparent: {parent}\r\ntracestate: a=1\r\n");
        client.send(format!("GET {path} HTTP/1.1\r\n{fields}\r\n")).response().status
    };
    assert_eq!(ask(&mut client, "/api/x?token=s3cret", NOT_SAMPLED), 200);
    assert_eq!(ask(&mut client, "/hi", SAMPLED), 200);
    // The first try goes to whoever's turn it is: both have been asked after two.
    assert_eq!(ask(&mut client, "/api/x?token=s3cret", SAMPLED), 200);
    let line = leat.wait_log("the line of /hi", |line| line.contains("\"target\":\"/hi\""));
    assert!(line.contains(&format!("\"trace_id\":\"{TRACE}\"")) && line.contains("\"span_id\":\""), "{line}");
    let spans = collector.wait_spans(2);
    leat.terminate();
    leat.wait();
    let spans = if spans.len() > 2 { spans } else { collector.spans() };

    let servers: Vec<_> = spans.iter().filter(|span| span.kind == 2).collect();
    assert_eq!(servers.len(), 2, "only what is sampled is recorded: {spans:?}");
    let (hi, api) = (servers[0], servers[1]);
    assert_eq!((hi.name.as_str(), api.name.as_str()), ("GET hi", "GET api"));
    for (key, value) in [
        ("http.request.method", "GET"),
        ("http.route", "api"),
        ("http.response.status_code", "200"),
        ("url.path", "/api/x"),
        ("url.scheme", "http"),
        ("server.address", "shop.test"),
        ("server.port", "81"),
        ("network.peer.address", "127.0.0.1"),
        ("network.protocol.version", "1.1"),
        ("user_agent.original", "t/1"),
    ] {
        assert_eq!(attribute(api, key).as_deref(), Some(value), "{key}");
    }
    assert!(!format!("{spans:?}").contains("s3cret"));
    assert_eq!(
        (api.parent_span_id.as_slice(), api.trace_state.as_str()),
        (&0x00f0_67aa_0ba9_02b7_u64.to_be_bytes()[..], "a=1")
    );
    assert!(api.end_time_unix_nano > api.start_time_unix_nano && api.status.is_none());

    let tries: Vec<_> = spans.iter().filter(|span| span.kind == 3).collect();
    let last = *tries.last().unwrap();
    assert_eq!(attribute(last, "url.full").unwrap(), format!("{}/api/x", url(&peer)));
    assert_eq!(attribute(last, "http.response.status_code").as_deref(), Some("200"));
    assert!(tries.iter().all(|span| span.parent_span_id == api.span_id && span.trace_id == api.trace_id));
    if let [failed, again] = tries[..] {
        assert_eq!(attribute(failed, "error.type").as_deref(), Some("upstream.connect"));
        assert_eq!(
            (failed.status.as_ref().unwrap().code, attribute(again, "http.request.resend_count").as_deref()),
            (2, Some("1"))
        );
    }
    let head = peer.finish().concat();
    let parents = values(&head[head.len() / 2..], "traceparent");
    let wanted: String = last.span_id.iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(parents.iter().any(|parent| parent.contains(&wanted)), "{parents:?} and {wanted}");

    let received = collector.received();
    let head = &received[0].head;
    for part in [
        "post /v1/traces http/1.1",
        "content-type: application/x-protobuf",
        "content-encoding: gzip",
        "x-tenant: t-secret-1",
    ] {
        assert!(head.contains(part), "{part} is not in {head}");
    }
    assert!(!leat.log().concat().contains("t-secret-1"));
}

#[test]
fn a_collector_gets_numbers() {
    let (peer, collector) = (Peer::listen([answers(OK, 1)]), Collector::start([TAKEN]));
    let root = format!("otlp: {{ url: \"{}/base/\", metrics: 100ms, gzip: false }}", collector.url());
    let leat = Leat::gateway(&config(url(&peer), &root, "", "", ""), 1);
    assert_eq!(leat.connect().get("/").response().status, 200);
    eventually("numbers come below the path", || {
        collector.received().iter().any(|one| one.head.starts_with("post /base/v1/metrics ")).then_some(())
    });
    let all = collector.received();
    assert!(all.iter().all(|one| !one.head.contains("gzip")));
    drop((leat, peer));
}

#[test]
fn numbers_are_those_of_the_process() {
    let (peer, collector) = (Peer::listen([answers(OK, 1)]), Collector::start([TAKEN]));
    let root = format!("otlp: {{ url: \"{}\", metrics: 100ms }}", collector.url());
    let leat = Leat::gateway(&config(url(&peer), &root, "", "", ""), 1);
    assert_eq!(leat.connect().get("/").response().status, 200);
    collector.wait_metric(|metric| {
        let Some(metric::Data::Sum(sum)) = &metric.data else { return false };
        let one = Some(number_data_point::Value::AsInt(1));
        metric.name == "leat_requests" && sum.data_points.iter().any(|point| point.value == one)
    });
    drop(leat);
}

/// The value of a line of the metrics.
fn count(admin: SocketAddr, series: &str) -> u64 {
    let text = Client::connect(admin).get("/metrics").response().text().to_owned();
    let line = text.lines().find_map(|line| line.strip_prefix(series)).unwrap_or_else(|| panic!("{series} in {text}"));
    line.trim().parse().unwrap()
}

/// A gateway that records everything and sends it to `collector`.
fn recording(collector: &str, admin: SocketAddr, keys: &str) -> Leat {
    let config = format!(
        "listeners: 127.0.0.1:0
workers: 1
admin: {admin}
access_log: off
tracing: {{ sample: 100% }}
otlp: {{ url: \"{collector}\", metrics: off{keys} }}
routes: [{{ respond: {{ body: hi }} }}]
"
    );
    Leat::gateway(&config, 1)
}

const SENT: &str = "leat_spans_total{outcome=\"sent\"}";
const DROPPED: &str = "leat_spans_total{outcome=\"dropped\"}";

#[test]
fn what_a_collector_is_too_busy_for_is_sent_again_and_what_it_refuses_is_not() {
    let busy = "HTTP/1.1 503 Busy\r\nretry-after: 0\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let limited = "HTTP/1.1 429 Slow\r\nretry-after: 0\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let (collector, admin) = (Collector::start([busy, limited, TAKEN]), free());
    let leat = recording(&collector.url(), admin, "");
    assert_eq!(leat.connect().get("/").response().status, 200);
    collector.wait_spans(1);
    eventually("it counts as sent", || (count(admin, SENT) == 1).then_some(()));
    assert_eq!(count(admin, DROPPED), 0);

    let wrong = "HTTP/1.1 400 Bad\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let (collector, admin) = (Collector::start([wrong]), free());
    let mut leat = recording(&collector.url(), admin, "");
    assert_eq!(leat.connect().get("/").response().status, 200);
    eventually("it counts as dropped", || (count(admin, DROPPED) == 1).then_some(()));
    assert_eq!(collector.received().len(), 1, "400 is not tried again");
    let line = leat.wait_log("the failure is told", |line| line.contains("collector_failed"));
    assert!(line.contains("status 400"), "{line}");
}

#[test]
fn a_collector_that_is_down_silent_or_talks_nonsense_holds_nobody_up() {
    let silent = Collector::start([""]);
    let nonsense = Collector::start(["SSH-2.0-OpenSSH_9.2\r\n\r\n"]);
    let endless = Collector::start(["HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n"]);
    for collector in [format!("http://{}", free()), silent.url(), nonsense.url(), endless.url()] {
        let admin = free();
        let leat = recording(&collector, admin, ", time: 50ms");
        let mut client = leat.connect();
        let started = Instant::now();
        for _ in 0..200 {
            assert_eq!(client.get("/").response().status, 200);
        }
        assert!(started.elapsed() < Duration::from_secs(20), "{collector}");
        eventually("they are dropped and counted", || (count(admin, DROPPED) >= 200).then_some(()));
        assert_eq!(count(admin, SENT), 0);
    }
}

#[test]
fn a_full_queue_drops_and_the_process_ends_in_time() {
    let (silent, admin) = (Collector::start([""]), free());
    let mut leat = recording(&silent.url(), admin, ", time: 60s");
    let mut client = leat.connect();
    // More than the queue and a message that is under way hold, in batches.
    let batch = "GET / HTTP/1.1\r\nhost: h\r\n\r\n".repeat(100);
    for _ in 0..100 {
        client.send(&batch);
        for _ in 0..100 {
            assert_eq!(client.response().status, 200);
        }
    }
    assert!(count(admin, DROPPED) > 0);
    let started = Instant::now();
    leat.terminate();
    drop(client);
    assert!(leat.wait().success());
    assert!(started.elapsed() < Duration::from_secs(15));
}

#[test]
fn server_timing_is_told_to_those_who_may_know_and_ask() {
    let told = |root: &str, fields: &str| {
        let peer = Peer::listen([answers(OK, 1)]);
        let leat = Leat::gateway(&config(url(&peer), root, "", "", ""), 1);
        let request = format!("GET / HTTP/1.1\r\nhost: h\r\n{fields}\r\n");
        let response = leat.connect().send(request).response();
        assert_eq!(response.status, 200);
        response.field("server-timing").map(str::to_owned)
    };
    let asks = "x-server-timing: 1\r\n";
    assert_eq!(told("", asks), None);
    assert_eq!(told("server_timing: 127.0.0.0/8", ""), None);
    assert_eq!(told("server_timing: { allow: 10.0.0.0/8, when: always }", asks), None);
    for root in ["server_timing: 127.0.0.0/8", "server_timing: { allow: 127.0.0.1, field: x-server-timing }"] {
        let value = told(root, asks).unwrap();
        assert!(
            value.contains("connect;dur=") && value.contains("upstream;dur=") && value.contains("total;dur="),
            "{value}"
        );
        let times: Vec<f64> =
            value.split(", ").map(|part| part.split_once(";dur=").unwrap().1.parse().unwrap()).collect();
        let (total, parts) = times.split_last().unwrap();
        assert!(parts.iter().sum::<f64>() <= total + 0.01, "{value}");
    }
    assert!(told("server_timing: { allow: 127.0.0.1, when: always }", "").is_some());
}

#[test]
fn the_log_says_where_the_time_went_leaves_out_secrets_and_samples_what_went_well() {
    let peer = Peer::listen([answers(OK, 2)]);
    let root = "access_log: { phases: true, fields: [X-Tenant, referer], redact: [PIN, token], sample: 0%, slow: off }\n\
                rate_limits: { some: { rate: 100/s, burst: 100 } }";
    let mut leat = Leat::gateway(&config(url(&peer), root, "", "rate_limits: some, match: { prefix: /up }", ""), 1);
    let mut client = leat.connect();
    assert_eq!(client.get("/up/well").response().status, 200);
    client
        .send("GET /none?token=s3cret&pin=s3cret&password=s3cret&pins=1 HTTP/1.1\r\nhost: h\r\nx-tenant: t1\r\nreferer: http://r/?token=s3cret\r\n\r\n");
    assert_eq!(client.response().status, 404);
    let line = leat.wait_log("the line of what failed", |line| line.contains("/none"));
    for part in [
        "?token=[redacted]&pin=[redacted]&password=[redacted]&pins=1\"",
        "\"fields\":{\"x-tenant\":\"t1\",\"referer\":\"http://r/?token=[redacted]\"}",
        "\"phases_us\":{\"parse\":",
        "\"send\":",
    ] {
        assert!(line.contains(part), "{part} is not in {line}");
    }
    assert!(!leat.log().concat().contains("s3cret"));
    assert!(leat.log().iter().all(|line| !line.contains("/up/well")), "what went well is not in the sample");
}

#[test]
fn a_request_keeps_its_id_over_its_tries_and_only_a_plain_one_is_taken_over() {
    let fails = "HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n";
    let peer = Peer::listen([leat_testkit::Script::new().expect_head().send(fails).expect_head().send(OK)]);
    let leat = Leat::gateway(&config(url(&peer), "", "", "", "retry: { retries_max: 1, statuses: [503] }"), 1);
    assert_eq!(leat.connect().get("/").response().status, 200);
    drop(leat);
    let ids = values(&peer.finish().concat().replace_heads(), "x-request-id");
    assert_eq!(ids.len(), 2);
    assert_eq!(ids[0], ids[1]);

    for (brought, is_kept) in [("abc-1", true), ("two words", false)] {
        let peer = Peer::listen([answers(OK, 1)]);
        let leat = Leat::gateway(&config(url(&peer), "forwarded: { trusted_hops: 1 }", "", "", ""), 1);
        let response =
            leat.connect().send(format!("GET / HTTP/1.1\r\nhost: h\r\nx-request-id: {brought}\r\n\r\n")).response();
        let told = response.field("x-request-id").unwrap().to_owned();
        drop(leat);
        let ids = values(&peer.finish()[0], "x-request-id");
        assert_eq!((ids.len(), ids[0] == brought, told == ids[0]), (1, is_kept, true), "{brought}: {ids:?} and {told}");
    }
}

/// Several heads in a row, read as one.
trait Heads {
    fn replace_heads(&self) -> Vec<u8>;
}

impl Heads for Vec<u8> {
    fn replace_heads(&self) -> Vec<u8> {
        String::from_utf8_lossy(self).replace("\r\n\r\n", "\r\n").into_bytes()
    }
}

#[test]
fn metrics_are_open_metrics_with_exemplars_for_who_takes_them() {
    let admin = free();
    let config = format!(
        "listeners: 127.0.0.1:0\nworkers: 1\nadmin: {admin}\ntracing: {{ {LOOPBACK} }}\n\
         routes: [{{ name: hi, respond: {{ body: hi }} }}]\n"
    );
    let leat = Leat::gateway(&config, 1);
    let request = format!("GET / HTTP/1.1\r\nhost: h\r\ntraceparent: {SAMPLED}\r\n\r\n");
    assert_eq!(leat.connect().send(request).response().status, 200);
    let ask = |accept: &str| {
        let mut client = Client::connect(admin);
        let request = format!("GET /metrics HTTP/1.1\r\nhost: h\r\naccept: {accept}\r\n\r\n");
        let response = client.send(request).response();
        (response.field("content-type").unwrap().to_owned(), response.text().to_owned())
    };
    let prometheus = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1";
    let (kind, text) = ask(prometheus);
    assert_eq!(kind, "application/openmetrics-text; version=1.0.0; charset=utf-8");
    assert!(text.ends_with("# EOF\n"));
    let exemplars: Vec<&str> = text.lines().filter(|line| line.contains(&format!("trace_id=\"{TRACE}\""))).collect();
    assert!(
        exemplars.len() == 1 && exemplars[0].starts_with("leat_request_duration_seconds_bucket{route=\"hi\""),
        "{exemplars:?}"
    );
    for accept in ["application/openmetrics-text, text/plain", "text/*;q=0.4, application/openmetrics-text; Q=0.4"] {
        assert!(ask(accept).0.starts_with("application/openmetrics-text"), "{accept}");
    }
    for accept in [
        "*/*",
        "text/plain",
        "application/openmetrics-text;q=0",
        "application/openmetrics-text;q=0.1, text/plain",
        "application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.8",
        "application/openmetrics-text;q=x",
    ] {
        let (kind, text) = ask(accept);
        assert!(kind.starts_with("text/plain; version=0.0.4") && !text.contains("trace_id"), "{accept}");
    }
}
