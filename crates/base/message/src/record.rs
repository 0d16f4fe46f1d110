use crate::{Phases, Reason, RpcProtocol, Trace};

/// What is known of one exchange when it ends, for the access log and the metrics. Plain data, written in place.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Index of the route that matched, in the order of the configuration.
    pub route: Option<u32>,
    /// Index of the endpoint that answered, among all endpoints of the configuration.
    pub endpoint: Option<u32>,
    /// Why the engine refused or gave up, if it did.
    pub reason: Option<Reason>,
    /// What exactly was wrong, where `reason` only says which side failed (such as `upstream.invalid`).
    pub detail: Option<Reason>,
    /// Status of the final reply; 0 before there is one.
    pub status: u16,
    /// Body bytes received from the client.
    pub bytes_in: u64,
    /// Body bytes given to the client's connection.
    pub bytes_out: u64,
    /// Time until the upstream was connected, in microseconds; 0 for a pooled connection.
    pub connect_us: u32,
    /// Time from sending to the upstream's response head, in microseconds.
    pub upstream_us: u32,
    /// The id that was made for the request, if one was; the client's own stands in its head.
    pub request_id: Option<[u8; 32]>,
    /// Tries made upstream.
    pub attempts: u16,
    /// In how many seconds the client may come again, where the refusal knows; 0 where it doesn't.
    pub retry_after_s: u32,
    /// The protocol of a call of RPC, as the client speaks it.
    pub rpc: Option<RpcProtocol>,
    /// The trace that it belongs to, where tracing is on.
    pub trace: Option<Trace>,
    /// Where its time went, where that was asked for.
    pub phases: Phases,
}
