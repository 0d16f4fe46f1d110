use std::fmt;
use std::path::Path;
use std::rc::Rc;

use leat_dial::{Endpoint, EndpointError, EndpointLimits, Host, Protocol, Target, Trust, TrustError};

use crate::config::{self, EndpointAddress};
use crate::pick::Seat;

/// Why an upstream's endpoints can't be used.
#[derive(Debug)]
pub enum EndpointsError {
    /// The settings don't go together.
    Endpoint {
        /// The endpoint as the configuration writes it.
        url: String,
        /// What is wrong.
        error: EndpointError,
    },
    /// The authorities that are to be trusted can't be read.
    Trust {
        /// The upstream's name.
        upstream: String,
        /// What is wrong.
        error: TrustError,
    },
}

impl fmt::Display for EndpointsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Endpoint { url, error } => write!(f, "endpoint {url}: {error}"),
            Self::Trust { upstream, error } => write!(f, "upstream {upstream}: {error}"),
        }
    }
}

impl std::error::Error for EndpointsError {}

/// The servers of an upstream as the dialer knows them. `first` is the index of the first one among all endpoints.
pub(crate) fn seats(upstream: &config::Upstream, first: u32) -> Result<Vec<Seat>, EndpointsError> {
    let limits = EndpointLimits {
        connections_max: upstream.connections_max(),
        queue_max: upstream.queue_max(),
        queue_time_ms: upstream.queue_time_ms(),
        idle_time_ms: upstream.idle_time_ms(),
        connect_time_ms: upstream.connect_time_ms(),
        h2_connections_max: upstream.h2_connections_max(),
        h2_streams_max: upstream.h2_streams_max(),
        fields_max: upstream.response_fields_max(),
        head_bytes_max: upstream.response_head_bytes_max(),
        ..EndpointLimits::default()
    };
    let trust = if upstream.endpoints().iter().any(config::Endpoint::is_tls) { Some(trust(upstream)?) } else { None };
    let server_name = upstream.tls().server_name();
    upstream
        .endpoints()
        .iter()
        .zip(first..)
        .map(|(endpoint, index)| {
            let made = Endpoint::new(target(endpoint), protocol(endpoint), trust.clone(), server_name, limits.clone());
            let made = made.map_err(|error| EndpointsError::Endpoint { url: endpoint.url().to_owned(), error })?;
            Ok(Seat {
                index,
                endpoint: Rc::new(made),
                authority: endpoint.authority().into(),
                scheme: if endpoint.is_tls() { "https" } else { "http" },
                counts: true,
                told: Default::default(),
                cells: None,
            })
        })
        .collect()
}

/// One server beside the upstreams, with the dialer's own limits.
///
/// # Errors
/// What is wrong with its TLS settings, as text.
pub(crate) fn single(endpoint: &config::Endpoint, ca: Option<&Path>) -> Result<Endpoint, String> {
    let trust = match (endpoint.is_tls(), ca) {
        (false, _) => None,
        (true, None) => Some(Trust::public()),
        (true, Some(path)) => Some(Trust::file(path).map_err(|error| error.to_string())?),
    };
    Endpoint::new(target(endpoint), protocol(endpoint), trust, None, EndpointLimits::default())
        .map_err(|error| format!("endpoint {}: {error}", endpoint.url()))
}

fn trust(upstream: &config::Upstream) -> Result<Trust, EndpointsError> {
    match upstream.tls().ca() {
        None => Ok(Trust::public()),
        Some(path) => {
            Trust::file(path).map_err(|error| EndpointsError::Trust { upstream: upstream.name().to_owned(), error })
        }
    }
}

fn target(endpoint: &config::Endpoint) -> Target {
    match endpoint.address() {
        EndpointAddress::Ip(address) => Target::Tcp { host: Host::Ip(address.ip()), port: address.port() },
        EndpointAddress::Name { host, port } => Target::Tcp { host: Host::Name(host.as_str().into()), port: *port },
        EndpointAddress::Unix(path) => Target::Unix(path.clone()),
    }
}

fn protocol(endpoint: &config::Endpoint) -> Protocol {
    match (endpoint.protocol(), endpoint.is_tls()) {
        (config::Protocol::Http1, false) => Protocol::H1,
        (config::Protocol::Http1, true) => Protocol::H1Tls,
        (config::Protocol::Http2, false) => Protocol::H2c,
        (config::Protocol::Http2, true) => Protocol::H2Tls,
    }
}
