use std::time::{Duration, Instant};

use leat_observe::access_log::Tally;

use crate::event::{Level, event};

/// A disk that is full stays so for a while: it is told of so often.
const TOLD_EACH: Duration = Duration::from_secs(60);

/// Tells of lines of the access log that could not be written: a full disk shows nowhere else but in the metrics.
#[derive(Debug, Default)]
pub(super) struct LostLines {
    /// Errors that were told of.
    told: u64,
    last: Option<Instant>,
}

impl LostLines {
    /// Looks whether there are new ones.
    pub(super) fn look(&mut self, tally: &Tally) {
        let errors = tally.write_errors.get();
        if errors <= self.told || self.last.is_some_and(|last| last.elapsed() < TOLD_EACH) {
            return;
        }
        let count = (errors - self.told).to_string();
        self.told = errors;
        self.last = Some(Instant::now());
        let message = format!("lines of the access log are lost: {}", tally.last_error());
        event(Level::Error, "access_log_failed", &message, &[("failures", &count)]);
    }
}
