use std::sync::Arc;

use leat_message::Record;

use super::record::{self, Entry};
use super::ring::{Producer, Ring};
use super::sampling::Draws;
use super::writer::Writer;
use super::{RING_BYTES, SINKS_MAX, Wanted};

/// Where one core puts its access records. Stays with that core's thread (it is not `Sync`).
#[derive(Debug)]
pub struct Sink {
    producer: Producer,
    writer: Arc<Writer>,
    wanted: Wanted,
    draws: Draws,
}

impl Sink {
    pub(super) fn new(writer: Arc<Writer>, wanted: Wanted) -> Self {
        // The address differs from core to core and from start to start, which is all that the draws need.
        let ring = Arc::new(Ring::new(RING_BYTES));
        writer.adopt(Arc::clone(&ring), SINKS_MAX);
        let draws = Draws::new(wanted.sampling.clone(), Arc::as_ptr(&ring).addr() as u64);
        Self { producer: Producer::new(ring), writer, wanted, draws }
    }

    /// Whether this exchange is to have a line: to be asked before the entry is put together.
    #[inline]
    pub fn takes(&self, record: &Record, duration_us: u64) -> bool {
        self.draws.takes(record, duration_us)
    }

    /// Copies an entry to the writer, or drops and counts it if the writer is too far behind. Never waits, never
    /// allocates; makes a system call only when the writer sleeps and has to be woken.
    #[inline]
    pub fn append(&self, entry: &Entry<'_>) {
        if !record::append(entry, self.wanted.user_agent, &self.wanted.fields, &self.producer) {
            self.writer.count_dropped();
        }
        self.writer.wake_if_wanted(|| self.producer.is_filling());
    }
}
