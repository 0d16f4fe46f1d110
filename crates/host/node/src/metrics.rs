use std::fmt::Write as _;
use std::sync::atomic::Ordering::Relaxed;

use leat_listen::Gate;
use leat_message::Reason;
use leat_script::Lane;

/// The counters at one moment.
#[derive(Default)]
pub(crate) struct Snapshot {
    lanes: Vec<LaneCounts>,
    accepted: u64,
    refused: Vec<(Reason, u64)>,
}

struct LaneCounts {
    number: u64,
    values: [u64; 10],
}

/// Name, type and help of what is counted of a lane, in the order of [`LaneCounts::values`].
const LANE_METRICS: [(&str, &str, &str); 10] = [
    ("leat_lane_requests_total", "counter", "Requests given to JavaScript."),
    ("leat_lane_calls_total", "counter", "Calls out that JavaScript has begun."),
    ("leat_lane_wakes_total", "counter", "Batches of records to JavaScript: one crossing each."),
    ("leat_lane_flushes_total", "counter", "Batches of replies from JavaScript: one crossing each."),
    ("leat_lane_exchanges", "gauge", "Exchanges that are open."),
    ("leat_lane_connections", "gauge", "Connections that are open."),
    ("leat_lane_queue_bytes", "gauge", "Bytes of records that JavaScript has not taken yet."),
    ("leat_lane_late_seconds", "gauge", "For how long JavaScript has been woken now without coming."),
    ("leat_lane_delay_seconds_total", "counter", "Time from each wake-up until JavaScript came."),
    ("leat_lane_delay_seconds_max", "gauge", "The longest such time since the lane began."),
];
/// The first metric that is a time in microseconds.
const FIRST_TIME: usize = 7;

impl Snapshot {
    pub(crate) fn new<'a>(lanes: impl Iterator<Item = (u64, &'a Lane)>) -> Self {
        let lanes = lanes.map(|(number, lane)| {
            let counts = lane.counts();
            let values = [
                counts.requests.load(Relaxed),
                counts.calls.load(Relaxed),
                counts.wakes.load(Relaxed),
                counts.flushes.load(Relaxed),
                counts.exchanges.load(Relaxed),
                counts.connections.load(Relaxed),
                counts.published_bytes.load(Relaxed).saturating_sub(counts.taken_bytes.load(Relaxed)),
                lane.late_us(),
                counts.delay_us_sum.load(Relaxed),
                counts.delay_us_max.load(Relaxed),
            ];
            LaneCounts { number, values }
        });
        let mut lanes: Vec<LaneCounts> = lanes.collect();
        lanes.sort_by_key(|lane| lane.number);
        Self { lanes, ..Self::default() }
    }

    /// Adds what was accepted and refused at the doors.
    pub(crate) fn gates<'a>(&mut self, gates: impl Iterator<Item = &'a Gate>) {
        let mut refused = vec![0; Reason::ALL.len()];
        for gate in gates {
            self.accepted += gate.accepted();
            for (reason, count) in Reason::ALL.iter().zip(&mut refused) {
                *count += gate.refused(*reason);
            }
        }
        self.refused = Reason::ALL.iter().copied().zip(refused).filter(|(_, count)| *count > 0).collect();
    }

    /// In the text format of Prometheus.
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        for (index, (name, kind, help)) in LANE_METRICS.iter().enumerate() {
            // Writing to a string does not fail.
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for lane in &self.lanes {
                let value = lane.values.get(index).copied().unwrap_or(0);
                let _ = if index < FIRST_TIME {
                    writeln!(out, "{name}{{lane=\"{}\"}} {value}", lane.number)
                } else {
                    writeln!(out, "{name}{{lane=\"{}\"}} {}", lane.number, value as f64 / 1e6)
                };
            }
        }
        let _ = writeln!(
            out,
            "# HELP leat_connections_accepted_total Connections accepted by the servers that listen.\n\
             # TYPE leat_connections_accepted_total counter\nleat_connections_accepted_total {}",
            self.accepted
        );
        let _ = writeln!(
            out,
            "# HELP leat_connections_refused_total Connections refused before their first request.\n\
             # TYPE leat_connections_refused_total counter"
        );
        for (reason, count) in &self.refused {
            let _ = writeln!(out, "leat_connections_refused_total{{reason=\"{}\"}} {count}", reason.code());
        }
        out
    }
}
