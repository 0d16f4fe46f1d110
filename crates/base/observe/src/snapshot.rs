use std::collections::BTreeMap;
use std::sync::Arc;

use crate::block::CLASSES;
use crate::{EndpointName, HistogramCounts, Process};

/// Every number of a process at one moment, summed over its cores. Vectors by reason are in the order of
/// [`leat_message::Reason::ALL`], and empty where no core exists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Connections accepted.
    pub connections_accepted: u64,
    /// Connections open now.
    pub connections_open: u64,
    /// Connections that came to their end without a reason to name.
    pub connections_done: u64,
    /// Connections closed for a reason.
    pub connections_closed: Vec<u64>,
    /// Times that accepting paused for want of file descriptors.
    pub accept_pauses: u64,
    /// TLS handshakes that succeeded.
    pub handshakes_done: u64,
    /// TLS handshakes that failed.
    pub handshakes_failed: u64,
    /// TLS handshakes under way now.
    pub handshakes_open: u64,
    /// HTTP/2 streams opened by clients.
    pub h2_streams: u64,
    /// HTTP/2 streams open now.
    pub h2_streams_open: u64,
    /// Refusals by reason.
    pub refusals: Vec<u64>,
    /// Exchanges that no route matched, such as those with a malformed head.
    pub unmatched: RouteCounts,
    /// By route name.
    pub routes: BTreeMap<Arc<str>, RouteCounts>,
    /// By endpoint.
    pub endpoints: BTreeMap<EndpointName, EndpointCounts>,
    /// By rate limit.
    pub limits: BTreeMap<Arc<str>, LimitCounts>,
    /// Configurations taken over after the first one.
    pub reloads_done: u64,
    /// Configurations refused.
    pub reloads_failed: u64,
    /// Bytes held in buffers.
    pub buffer_bytes: u64,
    /// Access records written.
    pub log_records: u64,
    /// Access records dropped since the writer did not keep up.
    pub log_dropped: u64,
    /// Failed writes of the access log.
    pub log_write_errors: u64,
    /// Spans that a collector took.
    pub spans_sent: u64,
    /// Spans that found no room, or that no collector took.
    pub spans_dropped: u64,
    /// Messages that a collector took.
    pub exports_done: u64,
    /// Messages that it did not take.
    pub exports_failed: u64,
}

/// The numbers of one route.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouteCounts {
    /// Exchanges by status class: without a reply, 1xx, 2xx, 3xx, 4xx, 5xx.
    pub classes: [u64; CLASSES],
    /// Body bytes received from clients.
    pub bytes_in: u64,
    /// Body bytes given to clients' connections.
    pub bytes_out: u64,
    /// From the request's head to the end of the reply.
    pub duration: HistogramCounts,
}

/// The numbers of one endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointCounts {
    /// Tries.
    pub requests: u64,
    /// Connections opened.
    pub connections_opened: u64,
    /// Connections taken from the pool.
    pub connections_reused: u64,
    /// Connections open now.
    pub connections_open: u64,
    /// Connections idle in the pool now.
    pub connections_idle: u64,
    /// Tries under way now.
    pub under_way: u64,
    /// Time to connect.
    pub connect: HistogramCounts,
    /// Time to the response's head.
    pub response: HistogramCounts,
    /// Failures by reason.
    pub errors: Vec<u64>,
}

/// The numbers of one rate limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitCounts {
    /// Requests let pass.
    pub admitted: u64,
    /// Requests refused.
    pub refused: u64,
    /// Requests that would have been refused, but for shadow mode.
    pub shadowed: u64,
    /// Requests for which Redis gave no answer.
    pub errors: u64,
    /// Units that leases of this process may keep from being admitted.
    pub lease_error: u64,
    /// Keys forgotten while they still owed something.
    pub evicted: u64,
}

impl Snapshot {
    pub(crate) fn of(process: &Process) -> Self {
        Self {
            reloads_done: process.reloads_done.get(),
            reloads_failed: process.reloads_failed.get(),
            buffer_bytes: process.buffer_bytes.get(),
            log_records: process.access_log.records.get(),
            log_dropped: process.access_log.dropped.get(),
            log_write_errors: process.access_log.write_errors.get(),
            spans_sent: process.spans.sent.get(),
            spans_dropped: process.spans.dropped.get(),
            exports_done: process.spans.exports_done.get(),
            exports_failed: process.spans.exports_failed.get(),
            ..Self::default()
        }
    }
}
