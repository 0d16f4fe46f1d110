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
    /// The version: `TLSv1.2` or `TLSv1.3`.
    pub version: &'static str,
    /// The IANA name of the cipher suite, such as `TLS_AES_128_GCM_SHA256`.
    pub cipher: &'static str,
    /// What ALPN settled: `http/1.1` or `h2`; `None` where the client offered nothing.
    pub alpn: Option<&'static str>,
    /// The certificate that the client showed; `None` where it was not asked or has none.
    pub client: Option<Rc<ClientCertificate>>,
}

/// What a client showed of itself. That it has the key was proved in the handshake, whatever `problem` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    /// In DER form: the client's own certificate, then the intermediates that it sent.
    pub chain: Vec<Box<[u8]>>,
    /// Why it cannot be trusted, in OpenSSL's word for it (such as `CERT_HAS_EXPIRED`); `None` where it was verified.
    pub problem: Option<&'static str>,
}

impl std::fmt::Debug for TlsInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TlsInfo")
            .field("server_name", &self.server_name)
            .field("version", &self.version)
            .field("cipher", &self.cipher)
            .field("alpn", &self.alpn)
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

/// Which hosts a TLS connection is authoritative for (RFC 9110 section 7.4): anything else is answered with 421.
pub trait HostPolicy {
    /// Whether `host` (no port, any case) may be asked for on a connection that was opened for `server_name`.
    fn allows(&self, server_name: Option<&str>, host: &[u8]) -> bool;
}
