//! What a process that runs a program counts, and its text in the Prometheus format.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use leat_observe::{BOUNDS_US, Counter, Histogram, HistogramCounts, Shared};

/// The numbers of one worker: written by its thread, read by any.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) requests: Counter,
    pub(crate) interrupted: Counter,
    pub(crate) rebuilt: Counter,
    pub(crate) collections: Histogram,
    collection_max_us: AtomicU64,
    pub(crate) loop_delay: Histogram,
    pub(crate) heap_bytes: Shared,
}

impl Metrics {
    /// Garbage was collected, which took `pause`.
    pub(crate) fn collected(&self, pause: Duration) {
        let us = micros(pause);
        self.collections.record(us);
        self.collection_max_us.fetch_max(us, Ordering::Relaxed);
    }
}

/// Whole microseconds.
pub(crate) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Every family: its name, its kind, and what it counts, as `docs/reference/run-metrics.md` has them.
pub(crate) const FAMILIES: [(&str, &str, &str); 7] = [
    ("leat_run_requests_total", "counter", "requests that the program was given"),
    ("leat_run_turns_interrupted_total", "counter", "turns of JavaScript stopped because they ran too long"),
    (
        "leat_run_worlds_rebuilt_total",
        "counter",
        "worlds made anew because they were lost: out of memory, or what ran in them had no end",
    ),
    ("leat_run_heap_bytes", "gauge", "memory of the worlds"),
    ("leat_run_collection_seconds", "histogram", "pauses in which garbage was collected"),
    ("leat_run_collection_max_seconds", "gauge", "the longest of these pauses"),
    ("leat_run_loop_delay_seconds", "histogram", "how late wake-ups ran, asked every 100 ms; known to 1 ms"),
];

/// Bounds shown: 1, 2.5 and 5 in each factor of ten from 50 µs on, as on the gateway.
fn shown(us: u64) -> bool {
    let mut mantissa = us;
    while mantissa.is_multiple_of(10) && mantissa >= 100 {
        mantissa /= 10;
    }
    us >= 50 && [10, 25, 50].contains(&mantissa)
}

/// The text: every series has the label `worker`.
pub(crate) fn text(workers: &[Metrics]) -> String {
    let mut out = String::new();
    for (name, kind, help) in FAMILIES {
        let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (worker, metrics) in workers.iter().enumerate() {
            match name {
                "leat_run_requests_total" => sample(&mut out, name, worker, metrics.requests.get()),
                "leat_run_turns_interrupted_total" => sample(&mut out, name, worker, metrics.interrupted.get()),
                "leat_run_worlds_rebuilt_total" => sample(&mut out, name, worker, metrics.rebuilt.get()),
                "leat_run_heap_bytes" => sample(&mut out, name, worker, metrics.heap_bytes.get()),
                "leat_run_collection_seconds" => histogram(&mut out, name, worker, &metrics.collections),
                "leat_run_loop_delay_seconds" => histogram(&mut out, name, worker, &metrics.loop_delay),
                _ => {
                    let max = seconds(metrics.collection_max_us.load(Ordering::Relaxed));
                    let _ = writeln!(out, "{name}{{worker=\"{worker}\"}} {max}");
                }
            }
        }
    }
    out
}

fn sample(out: &mut String, name: &str, worker: usize, value: u64) {
    let _ = writeln!(out, "{name}{{worker=\"{worker}\"}} {value}");
}

fn histogram(out: &mut String, name: &str, worker: usize, times: &Histogram) {
    let mut counts = HistogramCounts::default();
    times.add_to(&mut counts);
    for bound in BOUNDS_US.into_iter().filter(|bound| shown(*bound)) {
        let at_most = counts.at_most(bound);
        let _ = writeln!(out, "{name}_bucket{{worker=\"{worker}\",le=\"{}\"}} {at_most}", seconds(bound));
    }
    let count = counts.count();
    let _ = writeln!(out, "{name}_bucket{{worker=\"{worker}\",le=\"+Inf\"}} {count}");
    let _ = writeln!(out, "{name}_sum{{worker=\"{worker}\"}} {}", seconds(counts.sum_us));
    let _ = writeln!(out, "{name}_count{{worker=\"{worker}\"}} {count}");
}

fn seconds(us: u64) -> f64 {
    us as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_has_its_series() {
        let workers = [Metrics::default(), Metrics::default()];
        workers[1].collected(Duration::from_micros(700));
        workers[1].requests.add(3);
        let text = text(&workers);
        for (name, kind, _) in FAMILIES {
            assert!(text.contains(&format!("# TYPE {name} {kind}")), "{name}");
        }
        for line in [
            "leat_run_requests_total{worker=\"0\"} 0",
            "leat_run_requests_total{worker=\"1\"} 3",
            "leat_run_collection_seconds_bucket{worker=\"1\",le=\"0.0005\"} 0",
            "leat_run_collection_seconds_bucket{worker=\"1\",le=\"0.001\"} 1",
            "leat_run_collection_seconds_sum{worker=\"1\"} 0.0007",
            "leat_run_collection_max_seconds{worker=\"1\"} 0.0007",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        }
    }

    #[test]
    fn every_family_is_in_the_reference() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/reference/run-metrics.md");
        let page = std::fs::read_to_string(page).unwrap();
        for (name, kind, help) in FAMILIES {
            let row = format!("| `{name}` | {kind} | `worker` | {help} |");
            assert!(page.contains(&row), "docs/reference/run-metrics.md lacks the line\n{row}");
        }
    }
}
