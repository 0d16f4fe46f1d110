use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::policies::Policies;
use super::problem::Place;

/// Servers that answer the same requests.
#[derive(Clone, Debug)]
pub struct Upstream {
    pub(super) name: String,
    pub(super) endpoints: Vec<Endpoint>,
    pub(super) connections_max: usize,
    pub(super) h2_connections_max: usize,
    pub(super) h2_streams_max: usize,
    pub(super) queue_max: usize,
    pub(super) queue_time_ms: u64,
    pub(super) idle_time_ms: u64,
    pub(super) connect_time_ms: u64,
    pub(super) response_head_bytes_max: usize,
    pub(super) response_fields_max: usize,
    pub(super) tls: ClientTls,
    pub(super) policies: Policies,
    pub(super) place: Place,
}

impl Upstream {
    /// Its name; for one that a route gives by URL, that URL.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The servers, at least one.
    pub fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// HTTP/1.1 connections to one endpoint, of one core.
    pub fn connections_max(&self) -> usize {
        self.connections_max
    }

    /// HTTP/2 connections to one endpoint, of one core.
    pub fn h2_connections_max(&self) -> usize {
        self.h2_connections_max
    }

    /// Streams on one HTTP/2 connection.
    pub fn h2_streams_max(&self) -> usize {
        self.h2_streams_max
    }

    /// Requests of one core that wait for a connection to one endpoint.
    pub fn queue_max(&self) -> usize {
        self.queue_max
    }

    /// How long they wait, in milliseconds.
    pub fn queue_time_ms(&self) -> u64 {
        self.queue_time_ms
    }

    /// How long a connection without a request is kept, in milliseconds.
    pub fn idle_time_ms(&self) -> u64 {
        self.idle_time_ms
    }

    /// How long connecting may take, name resolution and TLS included, in milliseconds.
    pub fn connect_time_ms(&self) -> u64 {
        self.connect_time_ms
    }

    /// The longest response head, in bytes.
    pub fn response_head_bytes_max(&self) -> usize {
        self.response_head_bytes_max
    }

    /// Fields in one response head.
    pub fn response_fields_max(&self) -> usize {
        self.response_fields_max
    }

    /// TLS settings for the endpoints that use it.
    pub fn tls(&self) -> &ClientTls {
        &self.tls
    }

    /// Which endpoint gets a request, when one is put aside, and what follows a failure.
    pub fn policies(&self) -> &Policies {
        &self.policies
    }

    /// Where the file speaks of it.
    pub fn place(&self) -> Place {
        self.place
    }
}

/// One server of an upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub(super) url: String,
    pub(super) address: EndpointAddress,
    pub(super) protocol: Protocol,
    pub(super) tls: bool,
    pub(super) weight: u32,
    pub(super) priority: u8,
    pub(super) place: Place,
}

impl Endpoint {
    /// As the file writes it, for logs and metrics.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Where to connect.
    pub fn address(&self) -> &EndpointAddress {
        &self.address
    }

    /// What to speak.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Whether to encrypt.
    pub fn is_tls(&self) -> bool {
        self.tls
    }

    /// Its share of the requests relative to the other endpoints; at least 1.
    pub fn weight(&self) -> u32 {
        self.weight
    }

    /// Its tier: those of 0 get all requests for as long as enough of them are well.
    pub fn priority(&self) -> u8 {
        self.priority
    }

    /// Host and port as an authority: the default port of the scheme is left out; `localhost` for a Unix socket.
    pub fn authority(&self) -> String {
        let default = if self.tls { 443 } else { 80 };
        match &self.address {
            EndpointAddress::Ip(address) if address.port() == default => match address {
                SocketAddr::V4(v4) => v4.ip().to_string(),
                SocketAddr::V6(v6) => format!("[{}]", v6.ip()),
            },
            EndpointAddress::Ip(address) => address.to_string(),
            EndpointAddress::Name { host, port } if *port == default => host.clone(),
            EndpointAddress::Name { host, port } => format!("{host}:{port}"),
            EndpointAddress::Unix(_) => "localhost".to_owned(),
        }
    }

    /// Where the file speaks of it.
    pub fn place(&self) -> Place {
        self.place
    }
}

/// Where a server is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EndpointAddress {
    /// An address that needs no resolving.
    Ip(SocketAddr),
    /// A DNS name.
    Name {
        /// The name, in lower case, without a final dot.
        host: String,
        /// The port.
        port: u16,
    },
    /// A Unix socket; the path is complete.
    Unix(PathBuf),
}

/// What to speak to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// HTTP/1.1.
    Http1,
    /// HTTP/2: by prior knowledge without TLS, by ALPN with it.
    Http2,
}

/// TLS settings towards an upstream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientTls {
    pub(super) ca: Option<PathBuf>,
    pub(super) server_name: Option<String>,
}

impl ClientTls {
    /// Authorities that are trusted instead of the public ones, PEM.
    pub fn ca(&self) -> Option<&Path> {
        self.ca.as_deref()
    }

    /// The name that is asked for and verified instead of the endpoint's host.
    pub fn server_name(&self) -> Option<&str> {
        self.server_name.as_deref()
    }
}
