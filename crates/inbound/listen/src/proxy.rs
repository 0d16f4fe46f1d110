//! The PROXY protocol (versions 1 and 2, as HAProxy's `proxy-protocol.txt` defines them): a load balancer in front says
//! who the client is, in a header ahead of everything else.

mod header;
mod read;

use leat_message::Address;

pub(crate) use header::Origin;
pub(crate) use read::read;

use crate::TrustedSource;

/// From whom a PROXY protocol header is expected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ProxyProtocol {
    /// From nobody.
    #[default]
    Off,
    /// From peers with one of these addresses, and from every peer of a Unix socket: there the header must come, first
    /// and whole. Anybody else is a client of their own: a header from them is not believed but a malformed request.
    From(Vec<TrustedSource>),
}

impl ProxyProtocol {
    pub(crate) fn expects(&self, remote: &Address) -> bool {
        match (self, remote) {
            (Self::Off, _) => false,
            (Self::From(_), Address::Unix) => true,
            (Self::From(sources), Address::Ip(address)) => sources.iter().any(|source| source.contains(address.ip())),
        }
    }
}
