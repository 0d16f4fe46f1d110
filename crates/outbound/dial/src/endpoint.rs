use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::path::PathBuf;
use std::sync::Arc;

use rustls_pki_types::ServerName;

use crate::{EndpointLimits, Trust};

/// Longest name in a target, in bytes (RFC 1035 section 2.3.4, without the final dot).
const NAME_BYTES_MAX: usize = 253;
/// Longest path of a Unix socket that Linux accepts, in bytes.
const UNIX_PATH_BYTES_MAX: usize = 107;

/// One server that requests can be sent to. Parsed once, cheap to share; its pool of connections is found by
/// [`Endpoint::identity`] and so survives a reload that makes an equal endpoint.
#[derive(Clone, Debug)]
pub struct Endpoint {
    identity: Arc<str>,
    target: Target,
    protocol: Protocol,
    tls: Option<Tls>,
    limits: EndpointLimits,
}

/// Where an endpoint listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// TCP.
    Tcp {
        /// Its address or name.
        host: Host,
        /// Its port.
        port: u16,
    },
    /// A Unix socket.
    Unix(PathBuf),
}

/// The host of a TCP target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// An address: never resolved.
    Ip(IpAddr),
    /// A name in lower case, without a final dot; resolved, and resolved again when its time to live is over.
    Name(Arc<str>),
}

/// What is spoken with an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1 in plain text.
    H1,
    /// HTTP/1.1 over TLS.
    H1Tls,
    /// HTTP/2 in plain text, with prior knowledge.
    H2c,
    /// HTTP/2 over TLS; an endpoint that does not choose it by ALPN is refused.
    H2Tls,
}

/// How an endpoint's certificate is checked.
#[derive(Clone, Debug)]
pub(crate) struct Tls {
    pub(crate) trust: Trust,
    pub(crate) server_name: ServerName<'static>,
}

/// Why an endpoint or its target is not valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndpointError {
    /// The text is neither `host:port`, `[v6]:port` nor `unix:/path`.
    Form(String),
    /// The port is missing, zero or above 65535.
    Port(String),
    /// The host is no address and no legal name.
    Host(String),
    /// The Unix socket's path is relative, or too long for the system.
    UnixPath(String),
    /// The protocol needs TLS and no trust was given.
    TrustMissing,
    /// The name that the certificate is checked against is missing (Unix socket) or not legal.
    ServerName(String),
}

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form(text) => {
                write!(f, "`{text}` is not an endpoint: write `host:port`, `[::1]:port` or `unix:/path/to/socket`")
            }
            Self::Port(text) => write!(f, "`{text}` has no port from 1 to 65535: write it as in `{text}:8080`"),
            Self::Host(text) => {
                write!(f, "`{text}` is neither an IP address nor a host name of letters, digits, `-`, `_` and `.`")
            }
            Self::UnixPath(text) => {
                write!(f, "`{text}` is not an absolute path of at most {UNIX_PATH_BYTES_MAX} bytes")
            }
            Self::TrustMissing => f.write_str("an endpoint over TLS needs to know which certificates to trust"),
            Self::ServerName(text) => {
                write!(f, "`{text}` is not a name that a certificate can be checked against: set the server name")
            }
        }
    }
}

impl std::error::Error for EndpointError {}

impl Target {
    /// Reads `host:port`, `1.2.3.4:port`, `[v6]:port` or `unix:/path`.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, EndpointError> {
        if let Some(path) = text.strip_prefix("unix:") {
            let fits = path.starts_with('/') && path.len() <= UNIX_PATH_BYTES_MAX && !path.contains('\0');
            return if fits { Ok(Self::Unix(path.into())) } else { Err(EndpointError::UnixPath(path.into())) };
        }
        if text.contains('/') {
            return Err(EndpointError::Form(text.into()));
        }
        if let Some(rest) = text.strip_prefix('[') {
            let (address, port) = rest.split_once(']').ok_or_else(|| EndpointError::Form(text.into()))?;
            let ip: Ipv6Addr = address.parse().map_err(|_| EndpointError::Host(address.into()))?;
            let port = port.strip_prefix(':').ok_or_else(|| EndpointError::Port(text.into()))?;
            return Ok(Self::Tcp { host: Host::Ip(ip.into()), port: parse_port(port, text)? });
        }
        let (host, port) = text.rsplit_once(':').ok_or_else(|| EndpointError::Port(text.into()))?;
        if host.contains(':') {
            return Err(EndpointError::Form(text.into()));
        }
        Ok(Self::Tcp { host: Host::parse(host)?, port: parse_port(port, text)? })
    }
}

impl Host {
    fn parse(text: &str) -> Result<Self, EndpointError> {
        if let Ok(ip) = text.parse() {
            return Ok(Self::Ip(ip));
        }
        let name = text.strip_suffix('.').unwrap_or(text);
        let legal = |label: &str| {
            (1..=63).contains(&label.len())
                && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
                && !label.starts_with('-')
                && !label.ends_with('-')
        };
        // A last label of digits only would be read as an address elsewhere (WHATWG URL, "ends in a number").
        let number = name.rsplit('.').next().is_some_and(|last| last.bytes().all(|b| b.is_ascii_digit()));
        if name.len() > NAME_BYTES_MAX || number || !name.split('.').all(legal) {
            return Err(EndpointError::Host(text.into()));
        }
        Ok(Self::Name(name.to_ascii_lowercase().into()))
    }
}

fn parse_port(text: &str, whole: &str) -> Result<u16, EndpointError> {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    match text.parse() {
        Ok(port) if port > 0 && digits => Ok(port),
        _ => Err(EndpointError::Port(whole.into())),
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host: Host::Ip(IpAddr::V6(ip)), port } => write!(f, "[{ip}]:{port}"),
            Self::Tcp { host: Host::Ip(ip), port } => write!(f, "{ip}:{port}"),
            Self::Tcp { host: Host::Name(name), port } => write!(f, "{name}:{port}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl Protocol {
    /// Whether the connection is encrypted.
    pub fn is_tls(self) -> bool {
        matches!(self, Self::H1Tls | Self::H2Tls)
    }

    /// Whether HTTP/2 is spoken.
    pub fn is_h2(self) -> bool {
        matches!(self, Self::H2c | Self::H2Tls)
    }

    fn label(self) -> &'static str {
        match self {
            Self::H1 => "h1",
            Self::H1Tls => "h1+tls",
            Self::H2c => "h2c",
            Self::H2Tls => "h2+tls",
        }
    }
}

impl Endpoint {
    /// Puts an endpoint together. `trust` and `server_name` are for protocols over TLS and ignored otherwise; without a
    /// server name the certificate is checked against the target's host.
    ///
    /// # Errors
    /// TLS without trust, or without a name that a certificate could be checked against.
    pub fn new(
        target: Target,
        protocol: Protocol,
        trust: Option<Trust>,
        server_name: Option<&str>,
        limits: EndpointLimits,
    ) -> Result<Self, EndpointError> {
        let mut identity = format!("{}://{target}", protocol.label());
        let tls = if protocol.is_tls() {
            let trust = trust.ok_or(EndpointError::TrustMissing)?;
            let name = match (server_name, &target) {
                (Some(name), _) => name.to_owned(),
                (None, Target::Tcp { host: Host::Ip(ip), .. }) => ip.to_string(),
                (None, Target::Tcp { host: Host::Name(name), .. }) => name.to_string(),
                (None, Target::Unix(_)) => return Err(EndpointError::ServerName(target.to_string())),
            };
            // Another name or other roots must never meet a connection that was checked against these.
            identity.push_str(&format!("#{name}#{}", trust.identity()));
            let server_name = ServerName::try_from(name.clone()).map_err(|_| EndpointError::ServerName(name))?;
            Some(Tls { trust, server_name })
        } else {
            None
        };
        Ok(Self { identity: identity.into(), target, protocol, tls, limits })
    }

    /// What makes this endpoint the same one after a reload: protocol, target, and how its certificate is checked.
    pub fn identity(&self) -> &Arc<str> {
        &self.identity
    }

    /// Where it listens.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// What is spoken with it.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Its limits.
    pub fn limits(&self) -> &EndpointLimits {
        &self.limits
    }

    pub(crate) fn tls(&self) -> Option<&Tls> {
        self.tls.as_ref()
    }
}

#[cfg(test)]
#[path = "endpoint_tests.rs"]
mod tests;
