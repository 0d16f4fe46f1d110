use std::net::SocketAddr;
use std::rc::Rc;

/// Who is on the other end of an inbound connection, and how they came in. One per connection, shared by its exchanges.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The client's address, as the socket or a trusted PROXY header says.
    pub remote: Address,
    /// The address they connected to.
    pub local: Address,
    /// `https` where the connection is encrypted.
    pub scheme: Scheme,
    /// What the TLS handshake settled; `None` on a plain connection.
    pub tls: Option<TlsInfo>,
}

/// An address of a connection's end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// TCP.
    Ip(SocketAddr),
    /// A Unix socket; clients have no name there.
    Unix,
}

/// The scheme of a request's target URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Plain text.
    Http,
    /// TLS.
    Https,
}

/// What a TLS handshake settled.
#[derive(Clone)]
pub struct TlsInfo {
    /// The server name the client asked for, in lower case; `None` where it sent none.
    pub server_name: Option<Rc<str>>,
    /// Tells whether a request for another host may be answered on this connection.
    pub hosts: Rc<dyn HostPolicy>,
}

impl std::fmt::Debug for TlsInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TlsInfo").field("server_name", &self.server_name).finish_non_exhaustive()
    }
}

/// Which hosts a TLS connection is authoritative for (RFC 9110 section 7.4): anything else is answered with 421.
pub trait HostPolicy {
    /// Whether `host` (no port, any case) may be asked for on a connection that was opened for `server_name`.
    fn allows(&self, server_name: Option<&str>, host: &[u8]) -> bool;
}
