use leat_message::{Address, Head, Peer, Trace};
use leat_observe::trace_context::{Sampler, begun, continued};

use super::random;
use crate::config::{Observation, Tracing};

/// Which trace a request belongs to, and whether its spans are recorded.
#[derive(Clone, Debug)]
pub(crate) struct Tracer {
    config: Tracing,
    sampler: Sampler,
    /// Whether there is a collector that recorded spans are for.
    records: bool,
}

impl Tracer {
    /// `None` where traces are none of our business.
    pub(crate) fn new(config: &Observation) -> Option<Self> {
        let tracing = config.tracing()?;
        let sampler = Sampler::per_million(tracing.sample().per_million());
        Some(Self { config: tracing.clone(), sampler, records: config.otlp().is_some_and(|otlp| otlp.traces()) })
    }

    /// The trace of this request: its own, where the peer is believed and says it rightly; else a new one. No allocation.
    #[inline]
    pub(crate) fn begin(&self, request: Head<'_>, peer: &Peer) -> Trace {
        let span = random().max(1);
        let is_trusted = match peer.remote {
            Address::Ip(address) => self.config.trusts(address.ip().to_canonical()),
            Address::Unix => false,
        };
        let theirs = if is_trusted { continued(request.fields(), span) } else { None };
        theirs.unwrap_or_else(|| begun([random(), random()], span, self.sampler))
    }

    /// Whether spans of this trace are to be made.
    #[inline]
    pub(crate) fn records(&self, trace: &Trace) -> bool {
        self.records && trace.sampled
    }
}

/// What an upstream is told of the trace: which span of ours asks it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    pub(crate) trace: Trace,
    /// The span of this try; the exchange's own where tries have none, since nothing of them is recorded.
    pub(crate) span: u64,
}
