use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use leat_dial::Resolver;
use leat_observe::Registry;
use leat_observe::otlp::{Metrics, Resource, traces};
use leat_observe::trace_context::hex;
use tokio::sync::oneshot;
use tokio::time::{Instant, MissedTickBehavior, interval, interval_at, timeout};

use super::collector::{Collector, Signal};
use super::random;
use crate::config::Otlp;
use crate::pick::States;

/// How often the queue of spans is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Spans in one message.
const BATCH_MAX: usize = 512;
/// How long the last messages may take, when the process ends.
const FLUSH_MAX: Duration = Duration::from_secs(1);

/// What became of a message, for the log: the first one that is not taken, and the first one that is taken after that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exported {
    /// The collector takes messages again.
    Well,
    /// It did not take one.
    Failed {
        /// Where it is.
        url: String,
        /// What went wrong.
        problem: String,
    },
}

/// Sends recorded spans and the numbers of all cores to a collector until `stop` is dropped, and what is left then: on the
/// control thread. No core waits for it: while the collector does not answer, the queue fills up and spans are dropped.
///
/// # Errors
/// The collector's TLS settings can't be used.
pub async fn export(
    config: Otlp,
    registry: Arc<Registry>,
    (states, resolver): (States, Resolver),
    numbers: impl Fn(&mut Metrics) + 'static,
    told: impl Fn(Exported) + 'static,
    stop: oneshot::Receiver<()>,
) -> Result<(), String> {
    let exporter = Exporter {
        collector: Collector::new(&config, resolver)?,
        resource: Resource {
            service: config.service().to_owned(),
            version: env!("CARGO_PKG_VERSION"),
            instance: String::from_utf8_lossy(&[hex(random()), hex(random())].concat()).into_owned(),
        },
        config,
        registry,
        states,
        numbers,
        told,
    };
    exporter.run(stop).await;
    Ok(())
}

struct Exporter<N, T> {
    config: Otlp,
    collector: Collector,
    resource: Resource,
    registry: Arc<Registry>,
    states: States,
    numbers: N,
    told: T,
}

impl<N: Fn(&mut Metrics), T: Fn(Exported)> Exporter<N, T> {
    async fn run(self, mut stop: oneshot::Receiver<()>) {
        let mut look = interval(LOOK_EVERY);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let period = Duration::from_millis(self.config.metrics_ms().unwrap_or(u64::MAX >> 20));
        let mut numbers = interval_at(Instant::now() + period, period);
        numbers.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_well = true;
        loop {
            let working = async {
                tokio::select! {
                    _ = look.tick() => self.send_spans(&mut is_well).await,
                    _ = numbers.tick(), if self.config.metrics_ms().is_some() => self.send_metrics(&mut is_well).await,
                }
            };
            tokio::select! {
                // An error is the sender's drop, which is the word.
                _ = &mut stop => break,
                () = working => {}
            }
        }
        let _ = timeout(FLUSH_MAX, async {
            self.send_spans(&mut is_well).await;
            if self.config.metrics_ms().is_some() {
                self.send_metrics(&mut is_well).await;
            }
        })
        .await;
    }

    async fn send_spans(&self, is_well: &mut bool) {
        if !self.config.traces() {
            return;
        }
        let queue = &self.registry.process().spans;
        loop {
            let spans = queue.take(BATCH_MAX);
            if spans.is_empty() {
                return;
            }
            let count = spans.len() as u64;
            // Counted as lost until it is known that they are not, so that a message that is broken off is counted too.
            let mut lost = Lost { registry: &self.registry, count };
            let mut message = Vec::with_capacity(spans.len() * 512);
            traces(&self.resource, &spans, &mut message);
            drop(spans);
            if self.send(Signal::Traces, &message, is_well).await {
                lost.count = 0;
                queue.sent.add(count);
            }
            if (count as usize) < BATCH_MAX {
                return;
            }
        }
    }

    async fn send_metrics(&self, is_well: &mut bool) {
        let mut metrics = Metrics::new(self.registry.began_ns(), now_ns());
        (self.numbers)(&mut metrics);
        self.states.metrics(&mut metrics);
        let mut message = Vec::new();
        metrics.finish(&self.resource, &mut message);
        self.send(Signal::Metrics, &message, is_well).await;
    }

    async fn send(&self, signal: Signal, message: &[u8], is_well: &mut bool) -> bool {
        let tally = &self.registry.process().spans;
        match self.collector.send(signal, message).await {
            Ok(()) => {
                tally.exports_done.add(1);
                if !std::mem::replace(is_well, true) {
                    (self.told)(Exported::Well);
                }
                true
            }
            Err(problem) => {
                tally.exports_failed.add(1);
                if std::mem::replace(is_well, false) {
                    (self.told)(Exported::Failed { url: self.config.endpoint().url().to_owned(), problem });
                }
                false
            }
        }
    }
}

/// Spans that are under way; dropped, they count as such.
struct Lost<'a> {
    registry: &'a Registry,
    count: u64,
}

impl Drop for Lost<'_> {
    fn drop(&mut self) {
        self.registry.process().spans.dropped.add(self.count);
    }
}

fn now_ns() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}
