//! What is told of requests: the traces they belong to, where spans and metrics go, and which client sees its own times.

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use super::model::Network;
use super::upstream::Endpoint;

/// A share of requests, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share(pub(super) u32);

impl Share {
    /// Everything.
    pub const ALL: Self = Self(1_000_000);

    /// How many of a million.
    pub fn per_million(self) -> u32 {
        self.0
    }
}

/// Everything about observation that is not the access log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    pub(super) tracing: Option<Tracing>,
    pub(super) otlp: Option<Otlp>,
    pub(super) server_timing: Option<ServerTiming>,
}

impl Observation {
    /// Trace context: `None` leaves the fields of clients as they are.
    pub fn tracing(&self) -> Option<&Tracing> {
        self.tracing.as_ref()
    }

    /// Where spans and metrics are sent.
    pub fn otlp(&self) -> Option<&Otlp> {
        self.otlp.as_ref()
    }

    /// Who is told where the time of a request went.
    pub fn server_timing(&self) -> Option<&ServerTiming> {
        self.server_timing.as_ref()
    }
}

/// Which traces requests belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracing {
    pub(super) trust: Vec<Network>,
    pub(super) sample: Share,
}

impl Tracing {
    /// Whether what a peer says of its trace is believed. A peer on a Unix socket has no address, and is not.
    pub fn trusts(&self, address: IpAddr) -> bool {
        self.trust.iter().any(|network| network.contains(address))
    }

    /// Which share of the traces that begin here is recorded.
    pub fn sample(&self) -> Share {
        self.sample
    }
}

/// A server that takes OTLP over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Otlp {
    pub(super) endpoint: Endpoint,
    pub(super) path: String,
    pub(super) ca: Option<PathBuf>,
    pub(super) headers: Vec<(String, Hidden)>,
    pub(super) service: String,
    pub(super) gzip: bool,
    pub(super) time_ms: u64,
    pub(super) traces: bool,
    pub(super) metrics_ms: Option<u64>,
}

impl Otlp {
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// What comes before `/v1/traces`; without a slash at its end.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn ca(&self) -> Option<&Path> {
        self.ca.as_deref()
    }

    pub(crate) fn headers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.0.as_slice()))
    }

    pub(crate) fn service(&self) -> &str {
        &self.service
    }

    pub(crate) fn gzip(&self) -> bool {
        self.gzip
    }

    pub(crate) fn time_ms(&self) -> u64 {
        self.time_ms
    }

    /// Whether spans are sent.
    pub fn traces(&self) -> bool {
        self.traces
    }

    /// How often metrics are sent, in milliseconds, if at all.
    pub fn metrics_ms(&self) -> Option<u64> {
        self.metrics_ms
    }
}

/// A value that is not shown.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Hidden(pub(super) Vec<u8>);

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// Who is told where the time of a request went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerTiming {
    pub(super) field: Option<String>,
    pub(super) allow: Vec<Network>,
}

impl ServerTiming {
    /// The field that a request must have; `None`: every request.
    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }

    /// Whether a client with this address is told.
    pub fn allows(&self, address: IpAddr) -> bool {
        self.allow.iter().any(|network| network.contains(address))
    }
}

#[cfg(test)]
mod tests {
    use super::Hidden;

    #[test]
    fn a_header_of_the_exporter_never_shows_its_value() {
        assert_eq!(format!("{:?}", Hidden(b"Bearer s3cret".to_vec())), "…");
    }
}
