use std::net::IpAddr;

use leat_message::{Address, Head, Name, Peer};

use super::hops::{hops_from_end, pairs};

use crate::config::{Forwarded, ForwardedStyle};

/// Whose request it is: the client in front of the proxies that are trusted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientAddress {
    /// How many proxies are believed.
    hops: usize,
    /// Which field they write.
    field: Name,
}

impl ClientAddress {
    pub(crate) fn new(config: &Forwarded) -> Self {
        let field = match config.style() {
            ForwardedStyle::Forwarded => Name::Forwarded,
            ForwardedStyle::XForwarded | ForwardedStyle::Both | ForwardedStyle::Off => Name::XForwardedFor,
        };
        Self { hops: config.trusted_hops() as usize, field }
    }

    /// The client's address. With trusted hops it is the entry that the outermost of them wrote; with fewer entries than
    /// hops, the first one; without any, the connection's own. `None` where there is no address: a Unix socket, or an
    /// entry that is none (RFC 7239 section 6 allows `unknown` and made-up names).
    ///
    /// Allocates nothing.
    pub(crate) fn of(&self, head: Head<'_>, peer: &Peer) -> Option<IpAddr> {
        let own = match peer.remote {
            Address::Ip(address) => Some(address.ip().to_canonical()),
            Address::Unix => None,
        };
        if self.hops == 0 {
            return own;
        }
        match hops_from_end(head.fields(), self.field).take(self.hops).last() {
            None => own,
            Some(entry) if self.field == Name::Forwarded => forwarded_for(entry),
            Some(entry) => address(entry),
        }
    }
}

/// The `for` parameter of one element of Forwarded (RFC 7239 section 4).
fn forwarded_for(element: &[u8]) -> Option<IpAddr> {
    pairs(element).find_map(|pair| {
        let (name, value) = pair.split_at_checked(4)?;
        let bare = value.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(value);
        name.eq_ignore_ascii_case(b"for=").then(|| address(bare))?
    })
}

/// An address as proxies write it: bare, in brackets, with a port.
fn address(text: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(text).ok()?;
    let plain = text.parse::<IpAddr>().ok();
    let bracketed = || text.strip_prefix('[')?.split_once(']')?.0.parse().ok();
    let with_port = || text.parse::<std::net::SocketAddr>().ok().map(|address| address.ip());
    plain.or_else(bracketed).or_else(with_port).map(|ip: IpAddr| ip.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::{address, forwarded_for};

    #[test]
    fn addresses_are_read_as_proxies_write_them() {
        for (text, wanted) in [
            ("10.0.0.1", Some("10.0.0.1")),
            ("10.0.0.1:4711", Some("10.0.0.1")),
            ("2001:db8::1", Some("2001:db8::1")),
            ("[2001:db8::1]", Some("2001:db8::1")),
            ("[2001:db8::1]:4711", Some("2001:db8::1")),
            ("::ffff:10.0.0.1", Some("10.0.0.1")),
            ("unknown", None),
            ("_hidden", None),
            ("10.0.0.1 ", None),
            ("10.0.0.256", None),
            ("", None),
        ] {
            assert_eq!(address(text.as_bytes()), wanted.map(|ip| ip.parse().unwrap()), "{text}");
        }
        for (element, wanted) in [
            ("for=10.0.0.1", Some("10.0.0.1")),
            ("proto=http; FOR=\"[2001:db8::1]:80\" ;by=x", Some("2001:db8::1")),
            ("for=unknown", None),
            ("by=10.0.0.1", None),
            ("for", None),
            ("host=\"a;for=6.6.6.6;b\";for=10.0.0.1", Some("10.0.0.1")),
        ] {
            assert_eq!(forwarded_for(element.as_bytes()), wanted.map(|ip| ip.parse().unwrap()), "{element}");
        }
    }
}
