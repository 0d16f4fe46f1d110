//! The numbers as text: in the Prometheus exposition format, version 0.0.4, or as OpenMetrics 1.0.0, which has exemplars.

use std::fmt::Write;

use leat_message::{Blame, Reason};

use crate::exemplar::shown_bucket;
use crate::{BOUNDS_US, EndpointName, HistogramCounts, RouteCounts, Snapshot};

/// The media type of the text.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
/// The media type of the text as OpenMetrics.
pub const OPEN_METRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The route label of exchanges that no route matched.
const UNMATCHED: &str = "(none)";
/// The reason label of connections that came to their end without one.
const DONE: &str = "done";
/// Which of the bounds are shown: 1, 2.5 and 5 in each factor of ten. The rest would be three times the text.
const SHOWN_MANTISSAS: [u64; 3] = [10, 25, 50];
/// The least bound shown, in microseconds.
const SHOWN_US_MIN: u64 = 50;

const CLASSES: [&str; 6] = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"];

/// Appends the numbers to `out`. Series that are labelled with a reason appear once that reason has occurred.
pub fn write(snapshot: &Snapshot, out: &mut String) {
    families(snapshot, &mut Text::new(out));
}

/// The same in any form.
pub fn families(snapshot: &Snapshot, into: &mut impl Families) {
    process(into, snapshot);
    connections(into, snapshot);
    routes(into, snapshot);
    endpoints(into, snapshot);
    limits(into, snapshot);
}

/// A form that numbers are written in.
pub trait Families {
    /// Begins the samples of one name; `kind` is `counter`, whose name ends in `_total`, `gauge` or `histogram`.
    fn family(&mut self, name: &str, kind: &str, help: &str);

    /// Writes a sample of a counter or a gauge.
    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: u64);

    /// Writes a histogram.
    fn histogram(&mut self, name: &str, labels: &[(&str, &str)], counts: &HistogramCounts);

    /// A family of one sample.
    fn single(&mut self, name: &str, kind: &str, help: &str, value: u64) {
        self.family(name, kind, help);
        self.sample(name, &[], value);
    }
}

fn process(text: &mut impl Families, s: &Snapshot) {
    text.family(
        "leat_config_reloads_total",
        "counter",
        "Configurations taken over (ok) or refused (failed) after the first.",
    );
    text.sample("leat_config_reloads_total", &[("outcome", "ok")], s.reloads_done);
    text.sample("leat_config_reloads_total", &[("outcome", "failed")], s.reloads_failed);
    text.single("leat_buffer_bytes", "gauge", "Bytes held in buffers.", s.buffer_bytes);
    text.single("leat_access_log_records_total", "counter", "Access records written.", s.log_records);
    text.single(
        "leat_access_log_dropped_total",
        "counter",
        "Access records dropped because the writer did not keep up.",
        s.log_dropped,
    );
    text.single(
        "leat_access_log_write_errors_total",
        "counter",
        "Failed writes of the access log.",
        s.log_write_errors,
    );
    text.family(
        "leat_spans_total",
        "counter",
        "Recorded spans that a collector took (sent), and those that found no room or that it did not take (dropped).",
    );
    text.sample("leat_spans_total", &[("outcome", "sent")], s.spans_sent);
    text.sample("leat_spans_total", &[("outcome", "dropped")], s.spans_dropped);
    text.family(
        "leat_otlp_exports_total",
        "counter",
        "Messages to the collector that it took (ok) or did not (failed).",
    );
    text.sample("leat_otlp_exports_total", &[("outcome", "ok")], s.exports_done);
    text.sample("leat_otlp_exports_total", &[("outcome", "failed")], s.exports_failed);
}

fn connections(text: &mut impl Families, s: &Snapshot) {
    text.single("leat_connections_accepted_total", "counter", "Connections accepted.", s.connections_accepted);
    text.single("leat_connections_open", "gauge", "Connections open.", s.connections_open);
    text.family(
        "leat_connections_closed_total",
        "counter",
        "Connections closed, by reason; done where there was none.",
    );
    text.sample("leat_connections_closed_total", &[("reason", DONE)], s.connections_done);
    for (reason, count) in occurred(&s.connections_closed) {
        text.sample("leat_connections_closed_total", &[("reason", reason.code())], count);
    }
    text.single(
        "leat_accept_pauses_total",
        "counter",
        "Times that accepting paused for want of file descriptors.",
        s.accept_pauses,
    );
    text.family("leat_tls_handshakes_total", "counter", "TLS handshakes with clients that ended.");
    text.sample("leat_tls_handshakes_total", &[("outcome", "ok")], s.handshakes_done);
    text.sample("leat_tls_handshakes_total", &[("outcome", "failed")], s.handshakes_failed);
    text.single("leat_tls_handshakes_open", "gauge", "TLS handshakes under way.", s.handshakes_open);
    text.single("leat_h2_streams_total", "counter", "HTTP/2 streams opened by clients.", s.h2_streams);
    text.single("leat_h2_streams_open", "gauge", "HTTP/2 streams open.", s.h2_streams_open);
    text.family("leat_refusals_total", "counter", "Requests, connections and streams refused or given up, by reason.");
    for (reason, count) in occurred(&s.refusals) {
        text.sample("leat_refusals_total", &[("reason", reason.code()), ("blame", blame(reason.blame()))], count);
    }
}

fn routes(text: &mut impl Families, s: &Snapshot) {
    let all = || {
        let unmatched: (&str, &RouteCounts) = (UNMATCHED, &s.unmatched);
        std::iter::once(unmatched).chain(s.routes.iter().map(|(name, counts)| (&**name, counts)))
    };
    text.family("leat_requests_total", "counter", "Requests by route and status class; none where no reply was sent.");
    for (route, counts) in all() {
        for (class, &count) in CLASSES.iter().zip(&counts.classes) {
            text.sample("leat_requests_total", &[("route", route), ("class", class)], count);
        }
    }
    text.family("leat_request_body_bytes_total", "counter", "Body bytes received from clients.");
    for (route, counts) in all() {
        text.sample("leat_request_body_bytes_total", &[("route", route)], counts.bytes_in);
    }
    text.family("leat_response_body_bytes_total", "counter", "Body bytes sent to clients.");
    for (route, counts) in all() {
        text.sample("leat_response_body_bytes_total", &[("route", route)], counts.bytes_out);
    }
    text.family("leat_request_duration_seconds", "histogram", "From a request's head to the end of its reply.");
    for (route, counts) in all() {
        text.histogram("leat_request_duration_seconds", &[("route", route)], &counts.duration);
    }
}

fn endpoints(text: &mut impl Families, s: &Snapshot) {
    type Read = fn(&crate::EndpointCounts) -> u64;
    let numbers: [(&str, &str, &str, Read); 6] = [
        ("leat_upstream_requests_total", "counter", "Tries at an endpoint.", |c| c.requests),
        ("leat_upstream_requests_under_way", "gauge", "Tries at an endpoint that have not ended.", |c| c.under_way),
        ("leat_upstream_connections_opened_total", "counter", "Connections opened to an endpoint.", |c| {
            c.connections_opened
        }),
        ("leat_upstream_connections_reused_total", "counter", "Exchanges over a pooled connection.", |c| {
            c.connections_reused
        }),
        ("leat_upstream_connections_open", "gauge", "Connections open to an endpoint.", |c| c.connections_open),
        ("leat_upstream_connections_idle", "gauge", "Connections idle in the pool.", |c| c.connections_idle),
    ];
    for (name, kind, help, read) in numbers {
        text.family(name, kind, help);
        for (endpoint, counts) in &s.endpoints {
            text.sample(name, &labels(endpoint), read(counts));
        }
    }
    text.family("leat_upstream_errors_total", "counter", "Tries that failed, by endpoint and reason.");
    for (endpoint, counts) in &s.endpoints {
        let [upstream, address] = labels(endpoint);
        for (reason, count) in occurred(&counts.errors) {
            text.sample("leat_upstream_errors_total", &[upstream, address, ("reason", reason.code())], count);
        }
    }
    text.family("leat_upstream_connect_seconds", "histogram", "Time to connect to an endpoint.");
    for (endpoint, counts) in &s.endpoints {
        text.histogram("leat_upstream_connect_seconds", &labels(endpoint), &counts.connect);
    }
    text.family("leat_upstream_response_seconds", "histogram", "From sending a request to the response's head.");
    for (endpoint, counts) in &s.endpoints {
        text.histogram("leat_upstream_response_seconds", &labels(endpoint), &counts.response);
    }
}

fn limits(text: &mut impl Families, s: &Snapshot) {
    text.family(
        "leat_rate_limit_requests_total",
        "counter",
        "Requests that a rate limit was asked about: admitted, refused, or shadow where it would have refused.",
    );
    for (name, counts) in &s.limits {
        let outcomes = [("admitted", counts.admitted), ("refused", counts.refused), ("shadow", counts.shadowed)];
        for (outcome, count) in outcomes {
            text.sample("leat_rate_limit_requests_total", &[("limit", name), ("outcome", outcome)], count);
        }
    }
    text.family(
        "leat_rate_limit_store_errors_total",
        "counter",
        "Requests for which Redis gave a rate limit no answer; on_error decided.",
    );
    for (name, counts) in &s.limits {
        text.sample("leat_rate_limit_store_errors_total", &[("limit", name)], counts.errors);
    }
    text.family(
        "leat_rate_limit_lease_error_units",
        "gauge",
        "Units by which a leased limit may admit less than one counter would, on account of this process: the reserve, and what was lent and not spent.",
    );
    for (name, counts) in &s.limits {
        text.sample("leat_rate_limit_lease_error_units", &[("limit", name)], counts.lease_error);
    }
    text.family(
        "leat_rate_limit_evicted_total",
        "counter",
        "Keys of a rate limit that were forgotten for want of room (keys_max) while they still owed something.",
    );
    for (name, counts) in &s.limits {
        text.sample("leat_rate_limit_evicted_total", &[("limit", name)], counts.evicted);
    }
}

fn labels(endpoint: &EndpointName) -> [(&'static str, &str); 2] {
    [("upstream", &endpoint.upstream), ("endpoint", &endpoint.address)]
}

fn occurred(counts: &[u64]) -> impl Iterator<Item = (Reason, u64)> {
    Reason::ALL.iter().zip(counts).filter(|&(_, &count)| count > 0).map(|(&reason, &count)| (reason, count))
}

/// The word for who is to blame, in metric labels and in access records.
pub fn blame(blame: Blame) -> &'static str {
    match blame {
        Blame::Peer => "peer",
        Blame::Caller => "caller",
        Blame::Upstream => "upstream",
        Blame::Us => "us",
    }
}

/// Text in this format, for numbers that are kept elsewhere as well.
///
/// Writing to a `String` cannot fail, so its results are not looked at.
#[derive(Debug)]
pub struct Text<'a> {
    out: &'a mut String,
    is_open_metrics: bool,
}

impl<'a> Text<'a> {
    /// Appends to `out`.
    pub fn new(out: &'a mut String) -> Self {
        Self { out, is_open_metrics: false }
    }

    /// Appends to `out` as OpenMetrics; [`Text::end`] comes last.
    pub fn open_metrics(out: &'a mut String) -> Self {
        Self { out, is_open_metrics: true }
    }

    /// Ends the text; needed for OpenMetrics only.
    pub fn end(self) {
        if self.is_open_metrics {
            self.out.push_str("# EOF\n");
        }
    }

    fn series(&mut self, name: &str, labels: &[(&str, &str)], bound: Option<Bound>) {
        self.out.push_str(name);
        let mut before = '{';
        for (label, value) in labels {
            let _ = write!(self.out, "{before}{label}=\"");
            escape(value, true, self.out);
            self.out.push('"');
            before = ',';
        }
        match bound {
            Some(Bound::Us(us)) => {
                let _ = write!(self.out, "{before}le=\"");
                seconds(us, self.out);
                self.out.push('"');
            }
            Some(Bound::Infinite) => {
                let _ = write!(self.out, "{before}le=\"+Inf\"");
            }
            None => {}
        }
        if bound.is_some() || !labels.is_empty() {
            self.out.push('}');
        }
    }

    /// An exemplar of the bucket that ends at `bound_us`.
    fn exemplar(&mut self, counts: &HistogramCounts, bound_us: u64) {
        let Some(one) = counts.exemplars.iter().find(|one| self.is_open_metrics && shown_bucket(one.us) == bound_us)
        else {
            return;
        };
        let [high, low] = one.trace;
        let _ = write!(self.out, " # {{trace_id=\"{high:016x}{low:016x}\",span_id=\"{:016x}\"}} ", one.span);
        seconds(one.us, self.out);
        let _ = write!(self.out, " {}.{:03}", one.time_ms / 1_000, one.time_ms % 1_000);
    }
}

impl Families for Text<'_> {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let name = if self.is_open_metrics { name.strip_suffix("_total").unwrap_or(name) } else { name };
        let _ = write!(self.out, "# HELP {name} ");
        escape(help, self.is_open_metrics, self.out);
        let _ = writeln!(self.out, "\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: u64) {
        self.series(name, labels, None);
        let _ = writeln!(self.out, " {value}");
    }

    fn histogram(&mut self, name: &str, labels: &[(&str, &str)], counts: &HistogramCounts) {
        let bucket = format!("{name}_bucket");
        for &bound_us in BOUNDS_US.iter().filter(|&&bound_us| is_shown(bound_us)) {
            self.series(&bucket, labels, Some(Bound::Us(bound_us)));
            let _ = write!(self.out, " {}", counts.at_most(bound_us));
            self.exemplar(counts, bound_us);
            self.out.push('\n');
        }
        let count = counts.count();
        self.series(&bucket, labels, Some(Bound::Infinite));
        let _ = write!(self.out, " {count}");
        self.exemplar(counts, u64::MAX);
        self.out.push('\n');
        self.series(&format!("{name}_sum"), labels, None);
        self.out.push(' ');
        seconds(counts.sum_us, self.out);
        self.out.push('\n');
        self.sample(&format!("{name}_count"), labels, count);
    }
}

#[derive(Clone, Copy)]
enum Bound {
    Us(u64),
    Infinite,
}

pub(crate) fn is_shown(bound_us: u64) -> bool {
    let mut mantissa = bound_us;
    while mantissa >= 100 && mantissa.is_multiple_of(10) {
        mantissa /= 10;
    }
    bound_us >= SHOWN_US_MIN && SHOWN_MANTISSAS.contains(&mantissa)
}

/// Writes microseconds as decimal seconds, exactly and without trailing zeros.
fn seconds(us: u64, out: &mut String) {
    let _ = write!(out, "{}", us / 1_000_000);
    let rest = us % 1_000_000;
    if rest > 0 {
        let digits = format!("{rest:06}");
        let _ = write!(out, ".{}", digits.trim_end_matches('0'));
    }
}

/// Label values and words: backslash, line feed and (but in words of the older format) quotes are escaped, all else is UTF-8 as it stands.
fn escape(value: &str, has_quotes: bool, out: &mut String) {
    for c in value.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' if has_quotes => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_exact_and_short() {
        for (us, text) in
            [(0, "0"), (1, "0.000001"), (50, "0.00005"), (250_000, "0.25"), (10_000_000, "10"), (1_500_001, "1.500001")]
        {
            let mut out = String::new();
            seconds(us, &mut out);
            assert_eq!(out, text);
        }
    }

    #[test]
    fn shown_bounds_are_1_2_5_and_5_from_50_us_to_100_s() {
        let shown: Vec<u64> = BOUNDS_US.into_iter().filter(|&us| is_shown(us)).collect();
        assert_eq!(shown.len(), 20);
        assert_eq!(shown[..5], [50, 100, 250, 500, 1000]);
        assert_eq!(shown[17..], [25_000_000, 50_000_000, 100_000_000]);
    }
}
