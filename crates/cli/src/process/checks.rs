use leat_gateway::health;
use tokio::task::spawn_local;

use super::control::Control;
use crate::event::{Level, event};

impl Control {
    /// Starts the health checks of the plan in place of those that run; what they have found stays.
    pub(super) fn start_checks(&mut self) {
        for check in self.checks.drain(..) {
            check.abort();
        }
        match health::checks(&self.plan.config, &self.shared.lasting.states, &self.shared.resolver) {
            Ok(checks) => self.checks.extend(checks.into_iter().map(|check| spawn_local(check.run(tell)))),
            // The cores have made the same endpoints, so that this is hardly ever seen.
            Err(error) => event(Level::Error, "checks_failed", &format!("no health checks: {error}"), &[]),
        }
    }
}

fn tell(upstream: &str, endpoint: &str, problem: Option<&str>) {
    let named = [("upstream", upstream), ("endpoint", endpoint)];
    match problem {
        None => event(Level::Info, "endpoint_well", "an endpoint is well again", &named),
        Some(problem) => {
            let message = format!("an endpoint is not well and gets no requests: {problem}");
            event(Level::Warn, "endpoint_unwell", &message, &named);
        }
    }
}
