use super::protobuf::Writer;
use super::traces::trace_id;
use super::{Resource, attribute, resource, scope};
use crate::exposition::{Families, is_shown};
use crate::{BOUNDS_US, HistogramCounts};

const CUMULATIVE: u64 = 2;
const US_IN_S: f64 = 1e6;

/// Numbers, as an `ExportMetricsServiceRequest`: sums since the start, gauges, and histograms with their exemplars. They have
/// the names of the Prometheus text without `_total`, and of `_seconds` and `_bytes` the unit says so.
#[derive(Debug)]
pub struct Metrics {
    start_ns: u64,
    now_ns: u64,
    metrics: Vec<u8>,
    /// The family that is being written: its name, kind and help, and its points so far.
    family: (String, String, String),
    points: Vec<u8>,
}

impl Metrics {
    /// `start_ns` is when counting began, both in nanoseconds since 1970.
    pub fn new(start_ns: u64, now_ns: u64) -> Self {
        Self { start_ns, now_ns, metrics: Vec::new(), family: Default::default(), points: Vec::new() }
    }

    /// Appends the message.
    pub fn finish(mut self, from: &Resource, out: &mut Vec<u8>) {
        self.close();
        let metrics = self.metrics;
        Writer::new(out).message(1, |writer| {
            writer.message(1, |writer| resource(writer, from));
            writer.message(2, |writer| {
                writer.message(1, |writer| scope(writer, from));
                writer.raw(&metrics);
            });
        });
    }

    /// `Metric`: opentelemetry/proto/metrics/v1/metrics.proto.
    fn close(&mut self) {
        let (name, kind, help) = std::mem::take(&mut self.family);
        let points = std::mem::take(&mut self.points);
        if points.is_empty() {
            return;
        }
        let bare = name.strip_suffix("_total").unwrap_or(&name);
        Writer::new(&mut self.metrics).message(2, |writer| {
            writer.text(1, bare);
            writer.text(2, &help);
            writer.text(3, unit(bare));
            let field = match kind.as_str() {
                "gauge" => 5,
                "histogram" => 9,
                _ => 7,
            };
            writer.message(field, |writer| {
                writer.raw(&points);
                if field != 5 {
                    writer.varint(2, CUMULATIVE);
                }
                if field == 7 {
                    // Monotonic.
                    writer.varint(3, 1);
                }
            });
        });
    }

    fn labels(writer: &mut Writer<'_>, field: u64, labels: &[(&str, &str)]) {
        for (name, value) in labels {
            writer.message(field, |writer| attribute(writer, name, value));
        }
    }
}

/// The unit (UCUM) that a name ends in.
fn unit(name: &str) -> &'static str {
    if name.ends_with("_seconds") {
        "s"
    } else if name.ends_with("_bytes") {
        "By"
    } else {
        "1"
    }
}

impl Families for Metrics {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.close();
        self.family = (name.to_owned(), kind.to_owned(), help.to_owned());
    }

    fn sample(&mut self, _name: &str, labels: &[(&str, &str)], value: u64) {
        let (start_ns, now_ns) = (if self.family.1 == "gauge" { 0 } else { self.start_ns }, self.now_ns);
        Writer::new(&mut self.points).message(1, |writer| {
            Self::labels(writer, 7, labels);
            writer.fixed64(2, start_ns);
            writer.fixed64(3, now_ns);
            writer.fixed64_or_zero(6, value);
        });
    }

    fn histogram(&mut self, _name: &str, labels: &[(&str, &str)], counts: &HistogramCounts) {
        let (start_ns, now_ns) = (self.start_ns, self.now_ns);
        let bounds: Vec<u64> = BOUNDS_US.into_iter().filter(|&bound_us| is_shown(bound_us)).collect();
        let mut before = 0;
        let mut buckets: Vec<u64> = Vec::with_capacity(bounds.len() + 1);
        for &bound_us in &bounds {
            let below = counts.at_most(bound_us);
            buckets.push(below - before);
            before = below;
        }
        buckets.push(counts.count() - before);
        Writer::new(&mut self.points).message(1, |writer| {
            Self::labels(writer, 9, labels);
            writer.fixed64(2, start_ns);
            writer.fixed64(3, now_ns);
            writer.fixed64(4, counts.count());
            writer.double(5, counts.sum_us as f64 / US_IN_S);
            writer.fixed64s(6, buckets.into_iter());
            writer.fixed64s(7, bounds.iter().map(|&us| (us as f64 / US_IN_S).to_bits()));
            for exemplar in &counts.exemplars {
                writer.message(8, |writer| {
                    writer.fixed64(2, exemplar.time_ms.saturating_mul(1_000_000));
                    writer.double(3, exemplar.us as f64 / US_IN_S);
                    writer.bytes(4, &exemplar.span.to_be_bytes());
                    writer.bytes(5, &trace_id(exemplar.trace));
                });
            }
        });
    }
}
