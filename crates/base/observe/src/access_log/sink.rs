use std::sync::Arc;

use super::record::{self, Entry};
use super::ring::{Producer, Ring};
use super::writer::Writer;
use super::{RING_BYTES, SINKS_MAX};

/// Where one core puts its access records. Stays with that core's thread (it is not `Sync`).
#[derive(Debug)]
pub struct Sink {
    producer: Producer,
    writer: Arc<Writer>,
    user_agent: bool,
}

impl Sink {
    pub(super) fn new(writer: Arc<Writer>, user_agent: bool) -> Self {
        let ring = Arc::new(Ring::new(RING_BYTES));
        writer.adopt(Arc::clone(&ring), SINKS_MAX);
        Self { producer: Producer::new(ring), writer, user_agent }
    }

    /// Copies an entry to the writer, or drops and counts it if the writer is too far behind. Never waits, never
    /// allocates; makes a system call only when the writer sleeps and has to be woken.
    #[inline]
    pub fn append(&self, entry: &Entry<'_>) {
        if !record::append(entry, self.user_agent, &self.producer) {
            self.writer.count_dropped();
        }
        self.writer.wake_if_wanted(|| self.producer.is_filling());
    }
}
