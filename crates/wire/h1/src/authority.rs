use leat_message::{Profile, Reason, Span};

use crate::class::REG_NAME;
use crate::scan::lanes::{LANES, Lanes};

/// `uri-host [ ":" port ]` (RFC 3986 section 3.2), checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Authority<'a> {
    /// The host; IPv6 literals keep their brackets.
    pub(crate) host: &'a [u8],
    /// The port; `None` where it is absent or empty.
    pub(crate) port: Option<u16>,
}

impl<'a> Authority<'a> {
    /// Parses a Host value or the authority of a target.
    ///
    /// # Errors
    /// `host.userinfo` for a user part, `host.invalid` for everything else, an empty host among it: an http URI with an
    /// empty host is invalid (RFC 9110 section 4.2.1).
    pub(crate) fn parse(bytes: &'a [u8], profile: Profile) -> Result<Self, Reason> {
        let host_len = match bytes.first() {
            None => return Err(Reason::HostInvalid),
            Some(b'[') => ip_literal_len(bytes)?,
            Some(_) => reg_name_len(bytes)?,
        };
        let (host, tail) = bytes.split_at_checked(host_len).ok_or(Reason::HostInvalid)?;
        let port = match tail.split_first() {
            None => None,
            Some((b':', digits)) => port(digits, profile)?,
            Some(_) => return Err(Reason::HostInvalid),
        };
        Ok(Self { host, port })
    }

    /// Whether both name the same host and port, with `default_port` for an absent one.
    pub(crate) fn is_same(self, other: Self, default_port: Option<u16>) -> bool {
        self.host.eq_ignore_ascii_case(other.host) && self.port.or(default_port) == other.port.or(default_port)
    }
}

/// Whether this is a host with a port or without (RFC 9110 section 7.2), as a Host field has it.
pub fn is_authority(bytes: &[u8]) -> bool {
    Authority::parse(bytes, Profile::Compatible).is_ok()
}

/// Whether `host` is a name or an IPv4 address of at most 64 bytes without percent-encoding, with no port or a sound one: the
/// usual case, at a fraction of the cost of [`Authority::parse`]. False means no more than that a closer look is needed.
#[inline(always)]
pub(crate) fn is_plain<L: Lanes>(bytes: &[u8], host: Span) -> bool {
    let [outside] = L::outside([&REG_NAME], bytes, host.start as usize);
    let name_len = outside.trailing_zeros() as usize;
    if name_len == 0 || name_len > host.len() {
        return false;
    }
    let (Some(tail), true) = (host.of(bytes).get(name_len..), name_len < LANES) else {
        return false;
    };
    match tail {
        [] => true,
        [b':', digits @ ..] => !digits.is_empty() && digits.len() < 5 && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// Length of `reg-name` or IPv4 address at the front of `bytes`; at least 1.
fn reg_name_len(bytes: &[u8]) -> Result<usize, Reason> {
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b':' => break,
            b'%' => {
                let digits = bytes.get(at + 1..at + 3).ok_or(Reason::HostInvalid)?;
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return Err(Reason::HostInvalid);
                }
                at += 3;
            }
            _ if REG_NAME.has(byte) => at += 1,
            _ => return Err(invalid(bytes)),
        }
    }
    match at {
        0 => Err(Reason::HostInvalid),
        // `user:password@host` stops at its first colon.
        _ if bytes.get(at..).is_some_and(|tail| tail.contains(&b'@')) => Err(Reason::HostUserinfo),
        _ => Ok(at),
    }
}

/// Length of `[` IPv6 address `]`. IPvFuture has no use yet and zone identifiers mean nothing to the peer.
fn ip_literal_len(bytes: &[u8]) -> Result<usize, Reason> {
    let close = bytes.iter().position(|&b| b == b']').ok_or_else(|| invalid(bytes))?;
    let inner = bytes.get(1..close).and_then(|inner| std::str::from_utf8(inner).ok());
    match inner.map(str::parse::<std::net::Ipv6Addr>) {
        Some(Ok(_)) => Ok(close + 1),
        _ => Err(invalid(bytes)),
    }
}

fn port(digits: &[u8], profile: Profile) -> Result<Option<u16>, Reason> {
    if digits.is_empty() {
        // `host:` is legal (RFC 3986 section 3.2.3) and means no port.
        return if profile == Profile::Strict { Err(Reason::HostInvalid) } else { Ok(None) };
    }
    let mut port = 0u16;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return Err(invalid(digits));
        }
        port = port.checked_mul(10).and_then(|p| p.checked_add(u16::from(digit - b'0'))).ok_or(Reason::HostInvalid)?;
    }
    Ok(Some(port))
}

fn invalid(bytes: &[u8]) -> Reason {
    if bytes.contains(&b'@') { Reason::HostUserinfo } else { Reason::HostInvalid }
}
