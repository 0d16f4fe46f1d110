use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, OnceLock};

use leat_message::Trace;

use crate::Shared;
use crate::block::lock;

/// Spans that wait to be sent, of all cores: above it they are dropped. About 1 kB each.
pub const SPANS_MAX: usize = 8_192;

/// What one side did in a trace, when, and what came of it (OpenTelemetry's span).
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// The trace.
    pub trace: Trace,
    /// This span's id.
    pub id: u64,
    /// The span that caused it; 0 for none.
    pub parent: u64,
    /// Whether `parent` is another program's.
    pub is_remote: bool,
    /// Which side.
    pub kind: SpanKind,
    /// Low in cardinality: the method, and the route.
    pub name: String,
    /// The caller's `tracestate`; mostly empty.
    pub state: String,
    /// Nanoseconds since 1970.
    pub start_ns: u64,
    /// Nanoseconds since 1970.
    pub end_ns: u64,
    /// Whether it failed.
    pub failed: bool,
    /// What is known of it, by the names of OpenTelemetry's HTTP conventions.
    pub attributes: Vec<(&'static str, Value)>,
}

/// Which side of an exchange a span is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// We answered.
    Server,
    /// We asked.
    Client,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text.
    Text(String),
    /// A whole number.
    Number(i64),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl Value {
    /// Bytes of a peer, at most so many of them; what is not UTF-8 is replaced.
    pub fn of_peer(bytes: &[u8], bytes_max: usize) -> Self {
        Self::Text(String::from_utf8_lossy(bytes.get(..bytes_max).unwrap_or(bytes)).into_owned())
    }
}

/// Both ends of the queue; who reads is one at a time.
type Ends = (SyncSender<Box<Span>>, Mutex<Receiver<Box<Span>>>);

/// Spans on their way from the cores to whoever sends them. Cores never wait: what finds no room is dropped and counted.
#[derive(Debug, Default)]
pub struct SpanQueue {
    /// Made when it is first used: most processes trace nothing.
    ends: OnceLock<Ends>,
    /// Spans that were sent to a collector, and taken by it.
    pub sent: Shared,
    /// Spans that found no room, or that no collector took.
    pub dropped: Shared,
    /// Messages with spans or metrics that a collector took.
    pub exports_done: Shared,
    /// Messages that it did not take, after all tries.
    pub exports_failed: Shared,
}

impl SpanQueue {
    fn ends(&self) -> &Ends {
        self.ends.get_or_init(|| {
            let (sender, receiver) = sync_channel(SPANS_MAX);
            (sender, Mutex::new(receiver))
        })
    }

    /// Queues a span, or drops and counts it. No lock and no system call: the other end looks by itself.
    pub fn push(&self, span: Box<Span>) {
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) = self.ends().0.try_send(span) {
            self.dropped.add(1);
        }
    }

    /// Takes at most so many.
    pub fn take(&self, spans_max: usize) -> Vec<Box<Span>> {
        lock(&self.ends().1).try_iter().take(spans_max).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_no_room_is_dropped_and_counted() {
        let trace = Trace { id: [1, 2], parent: 0, span: 3, sampled: true, random: true, keeps_state: false };
        let span = |id| Span {
            trace,
            id,
            parent: 0,
            is_remote: false,
            kind: SpanKind::Server,
            name: String::new(),
            state: String::new(),
            start_ns: 0,
            end_ns: 0,
            failed: false,
            attributes: Vec::new(),
        };
        let queue = SpanQueue::default();
        (0..SPANS_MAX as u64 + 5).for_each(|id| queue.push(Box::new(span(id))));
        assert_eq!(queue.dropped.get(), 5);
        let taken = queue.take(100);
        assert_eq!((taken.len(), taken.last().map(|span| span.id)), (100, Some(99)));
        assert_eq!(queue.take(usize::MAX).len(), SPANS_MAX - 100);
        assert!(queue.take(1).is_empty());
    }
}
