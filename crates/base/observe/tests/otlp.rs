//! The messages of OTLP, read by the types that OpenTelemetry publishes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use leat_message::{Reason, Record, Trace};
use leat_observe::otlp::{Metrics, Resource, traces};
use leat_observe::{Core, EndpointName, Registry, Shape, Span, SpanKind, Value, exposition};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{AggregationTemporality, Metric, metric, number_data_point};
use prost::Message;

const TRACE: Trace =
    Trace { id: [0x0102, 0x0304], parent: 5, span: 6, sampled: true, random: true, keeps_state: false };

fn resource() -> Resource {
    Resource { service: "edge".into(), version: "1.2.3", instance: "i-1".into() }
}

fn text(attributes: &[KeyValue], key: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    match found.value.as_ref()?.value.as_ref()? {
        any_value::Value::StringValue(text) => Some(text.clone()),
        any_value::Value::IntValue(number) => Some(number.to_string()),
        other => panic!("{other:?}"),
    }
}

fn span(kind: SpanKind, name: &str, attributes: Vec<(&'static str, Value)>) -> Box<Span> {
    Box::new(Span {
        trace: TRACE,
        id: 7,
        parent: if kind == SpanKind::Client { 6 } else { 0 },
        is_remote: kind == SpanKind::Server,
        kind,
        name: name.into(),
        state: "a=1,b=2".into(),
        start_ns: 1_000,
        end_ns: u64::MAX,
        failed: kind == SpanKind::Client,
        attributes,
    })
}

#[test]
fn spans_arrive_as_they_were() {
    let long = "x".repeat(40_000);
    let attributes = vec![
        ("http.request.method", Value::from("GET")),
        ("http.response.status_code", Value::Number(200)),
        ("zero", Value::Number(0)),
        ("negative", Value::Number(-1)),
        ("empty", Value::from("")),
        ("long", Value::from(long.as_str())),
    ];
    let spans = [span(SpanKind::Server, "GET api", attributes), span(SpanKind::Client, "", Vec::new())];
    let mut bytes = Vec::new();
    traces(&resource(), &spans, &mut bytes);
    let message = ExportTraceServiceRequest::decode(&bytes[..]).unwrap();
    let [of_process] = &message.resource_spans[..] else { panic!("{message:?}") };
    let process = &of_process.resource.as_ref().unwrap().attributes;
    assert_eq!(text(process, "service.name").unwrap(), "edge");
    assert_eq!(text(process, "service.version").unwrap(), "1.2.3");
    assert_eq!(text(process, "service.instance.id").unwrap(), "i-1");
    let [of_scope] = &of_process.scope_spans[..] else { panic!() };
    assert_eq!(of_scope.scope.as_ref().unwrap().name, "leat");
    let [server, client] = &of_scope.spans[..] else { panic!() };
    assert_eq!(server.trace_id, [0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 3, 4]);
    assert_eq!((server.span_id.as_slice(), server.parent_span_id.len()), (&7_u64.to_be_bytes()[..], 0));
    assert_eq!((server.kind, client.kind), (2, 3));
    assert_eq!((server.name.as_str(), server.trace_state.as_str()), ("GET api", "a=1,b=2"));
    assert_eq!((server.start_time_unix_nano, server.end_time_unix_nano), (1_000, u64::MAX));
    assert_eq!((server.flags, client.flags), (0x303, 0x103));
    assert_eq!((server.status.clone(), client.status.as_ref().unwrap().code), (None, 2));
    assert_eq!(client.parent_span_id, 6_u64.to_be_bytes());
    let wanted = [
        ("http.request.method", "GET"),
        ("http.response.status_code", "200"),
        ("zero", "0"),
        ("negative", "-1"),
        ("empty", ""),
        ("long", &long),
    ];
    for (key, value) in wanted {
        assert_eq!(text(&server.attributes, key).as_deref(), Some(value), "{key}");
    }
}

/// A registry with one proxied exchange whose trace is recorded, and one that is not.
fn registry() -> std::sync::Arc<Registry> {
    let registry = Registry::new();
    let shape = Shape {
        routes: vec!["api".into()],
        endpoints: vec![EndpointName { upstream: "u".into(), address: "http://h".into() }],
        limits: Vec::new(),
    };
    let core = Core::new(&registry, &shape);
    let record = Record {
        route: Some(0),
        endpoint: Some(0),
        status: 200,
        bytes_in: 3,
        upstream_us: 400,
        trace: Some(TRACE),
        ..Record::default()
    };
    core.observe(&record, 1_700);
    core.exemplify(&record, 1_700, 1_234_567);
    let failed = Record { status: 502, reason: Some(Reason::UpstreamReset), trace: None, ..record };
    core.observe(&failed, 200_000_000);
    core.exemplify(&failed, 200_000_000, 1_234_568);
    registry
}

fn point_attributes(metric: &Metric) -> Vec<Vec<KeyValue>> {
    match metric.data.as_ref().unwrap() {
        metric::Data::Sum(sum) => sum.data_points.iter().map(|point| point.attributes.clone()).collect(),
        metric::Data::Gauge(gauge) => gauge.data_points.iter().map(|point| point.attributes.clone()).collect(),
        metric::Data::Histogram(of) => of.data_points.iter().map(|point| point.attributes.clone()).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn numbers_arrive_as_sums_gauges_and_histograms() {
    let mut metrics = Metrics::new(1_000, 5_000);
    exposition::families(&registry().snapshot(), &mut metrics);
    let mut bytes = Vec::new();
    metrics.finish(&resource(), &mut bytes);
    let message = ExportMetricsServiceRequest::decode(&bytes[..]).unwrap();
    let all = &message.resource_metrics[0].scope_metrics[0].metrics;
    let named = |name: &str| all.iter().find(|metric| metric.name == name).expect(name);

    let requests = named("leat_requests");
    let metric::Data::Sum(sum) = requests.data.as_ref().unwrap() else { panic!() };
    assert!(sum.is_monotonic && sum.aggregation_temporality == AggregationTemporality::Cumulative as i32);
    assert_eq!((requests.unit.as_str(), requests.description.is_empty()), ("1", false));
    let point = sum.data_points.iter().find(|point| {
        text(&point.attributes, "route").as_deref() == Some("api") && text(&point.attributes, "class").unwrap() == "2xx"
    });
    let point = point.unwrap();
    assert_eq!(point.value, Some(number_data_point::Value::AsInt(1)));
    assert_eq!((point.start_time_unix_nano, point.time_unix_nano), (1_000, 5_000));

    let metric::Data::Gauge(open) = named("leat_connections_open").data.as_ref().unwrap() else { panic!() };
    assert_eq!(open.data_points[0].value, Some(number_data_point::Value::AsInt(0)));

    let duration = named("leat_request_duration_seconds");
    let metric::Data::Histogram(histogram) = duration.data.as_ref().unwrap() else { panic!() };
    assert_eq!((duration.unit.as_str(), histogram.aggregation_temporality), ("s", 2));
    let api = histogram.data_points.iter().find(|point| text(&point.attributes, "route").unwrap() == "api").unwrap();
    assert_eq!((api.count, api.sum), (2, Some(200.0017)));
    assert_eq!((api.bucket_counts.len(), api.explicit_bounds.len()), (21, 20));
    assert_eq!(api.bucket_counts.iter().sum::<u64>(), 2);
    assert_eq!(api.bucket_counts.last(), Some(&1));
    assert!(api.explicit_bounds.is_sorted());
    let [exemplar] = &api.exemplars[..] else { panic!("only recorded traces are exemplars") };
    assert_eq!((exemplar.time_unix_nano, exemplar.span_id.as_slice()), (1_234_567_000_000, &6_u64.to_be_bytes()[..]));
    assert_eq!(exemplar.trace_id[14..], [3, 4]);
    let upstream = named("leat_upstream_response_seconds");
    assert_eq!(text(&point_attributes(upstream)[0], "endpoint").unwrap(), "http://h");

    let mut text_form = String::new();
    exposition::write(&registry().snapshot(), &mut text_form);
    let families = text_form.lines().filter(|line| line.starts_with("# TYPE ")).count();
    // A family without a sample is no metric here; the rate limits have none.
    let empty = text_form.lines().zip(text_form.lines().skip(1));
    let empty = empty.filter(|(one, next)| one.starts_with("# TYPE ") && next.starts_with("# HELP ")).count();
    let last_is_empty = usize::from(text_form.lines().last().unwrap().starts_with("# TYPE "));
    assert_eq!(all.len(), families - empty - last_is_empty);
}

#[test]
fn open_metrics_has_exemplars_and_an_end() {
    let mut text = String::new();
    let mut form = exposition::Text::open_metrics(&mut text);
    exposition::families(&registry().snapshot(), &mut form);
    form.end();
    assert!(text.ends_with("\n# EOF\n"));
    for line in [
        "# TYPE leat_requests counter",
        "leat_requests_total{route=\"api\",class=\"2xx\"} 1",
        "leat_request_duration_seconds_bucket{route=\"api\",le=\"0.0025\"} 1 # {trace_id=\"00000000000001020000000000000304\",span_id=\"0000000000000006\"} 0.0017 1234.567",
        "leat_upstream_response_seconds_bucket{upstream=\"u\",endpoint=\"http://h\",le=\"0.0005\"} 2 # {trace_id=\"00000000000001020000000000000304\",span_id=\"0000000000000006\"} 0.0004 1234.567",
        "leat_request_duration_seconds_bucket{route=\"api\",le=\"+Inf\"} 2",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
    assert_eq!(text.matches(" # {").count(), 2);
    assert!(!text.contains("# TYPE leat_requests_total"));
    let mut plain = String::new();
    exposition::write(&registry().snapshot(), &mut plain);
    assert!(!plain.contains("trace_id") && !plain.contains("# EOF"));
}
