use leat_policy::concurrency::Settings;

/// How many requests an upstream is given at once, by all cores together.
#[derive(Clone, Debug, PartialEq)]
pub struct Concurrency {
    gradient: Settings,
    queue_max: usize,
    queue_time_ms: u64,
}

impl Concurrency {
    pub(crate) fn new(gradient: Settings, queue_max: usize, queue_time_ms: u64) -> Self {
        Self { gradient, queue_max, queue_time_ms }
    }

    /// How the limit moves.
    pub fn gradient(&self) -> &Settings {
        &self.gradient
    }

    /// Requests that wait for their turn.
    pub fn queue_max(&self) -> usize {
        self.queue_max
    }

    /// How long they wait, in milliseconds.
    pub fn queue_time_ms(&self) -> u64 {
        self.queue_time_ms
    }
}
