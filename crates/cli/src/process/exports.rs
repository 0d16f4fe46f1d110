use std::sync::Arc;

use leat_gateway::{Exported, export};
use leat_observe::exposition::families;
use leat_observe::otlp::Metrics;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_local};

use super::control::Control;
use super::numbers::numbers;
use crate::event::{Level, event};

/// The task that sends spans and metrics. Dropping `stop` ends it, once it has sent what is left or given that up.
pub(super) struct Exports {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Exports {
    /// Sends what is left.
    pub(super) async fn finish(self) {
        drop(self.stop);
        let _ = self.task.await;
    }
}

impl Control {
    /// Sends spans and metrics to the collector of the plan, if it has one. What sent to another one before sends what it has
    /// and ends.
    pub(super) fn start_exports(&mut self) {
        if let Some(before) = self.exports.take() {
            // It ends by itself.
            drop(before.stop);
        }
        let Some(config) = self.plan.config.observation().otlp().cloned() else { return };
        let (stop, stopped) = oneshot::channel();
        let (registry, gate) = (Arc::clone(&self.shared.registry), Arc::clone(&self.shared.gate));
        let written = {
            let (registry, counters) = (Arc::clone(&registry), Arc::clone(&self.shared.plugin_counters));
            move |into: &mut Metrics| {
                families(&numbers(&registry, &gate), into);
                counters.families(into);
            }
        };
        let upstreams = (self.shared.lasting.states.clone(), self.shared.resolver.clone());
        let task = spawn_local(async move {
            if let Err(error) = export(config, registry, upstreams, written, tell, stopped).await {
                event(Level::Error, "exports_failed", &format!("nothing is sent to the collector: {error}"), &[]);
            }
        });
        self.exports = Some(Exports { stop, task });
    }
}

fn tell(exported: Exported) {
    match exported {
        Exported::Well => event(Level::Info, "collector_well", "the collector takes messages again", &[]),
        Exported::Failed { url, problem } => {
            let message = format!("the collector does not take messages, they are dropped: {problem}");
            event(Level::Warn, "collector_failed", &message, &[("url", &url)]);
        }
    }
}
