use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use leat_message::Address;

use crate::listener::canonical;

const V1_START: &[u8] = b"PROXY ";
/// The longest header of version 1, CRLF included (section 2.1).
const V1_BYTES_MAX: usize = 107;
const V2_START: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
/// Signature, command, family and length.
const V2_FIXED_BYTES: usize = 16;
/// The longest header of version 2 that is taken, in bytes: addresses and ample room for TLVs such as a certificate's
/// name. The format would allow 64 KiB.
const V2_BYTES_MAX: usize = 4 * 1024;

/// What a header says of the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The proxy speaks for itself (a health check) or does not know: the socket's own addresses hold.
    Direct,
    /// The addresses of the client's connection to the proxy.
    Proxied { remote: Address, local: Address },
}

/// How many bytes of `fresh` belong to the header that `held` began; at least one. `None` if this is no header.
pub(super) fn claim(held: &[u8], fresh: &[u8]) -> Option<usize> {
    let at = |index: usize| if index < held.len() { held.get(index) } else { fresh.get(index - held.len()) };
    let starts_with = |start: &[u8]| start.iter().enumerate().all(|(i, byte)| at(i).is_none_or(|b| b == byte));
    if starts_with(V1_START) {
        let count = fresh.iter().position(|&b| b == b'\n').map_or(fresh.len(), |i| i + 1);
        return (held.len() + count <= V1_BYTES_MAX).then_some(count);
    }
    if starts_with(V2_START) {
        let total = match (at(V2_FIXED_BYTES - 2), at(V2_FIXED_BYTES - 1)) {
            (Some(&high), Some(&low)) => V2_FIXED_BYTES + usize::from(u16::from_be_bytes([high, low])),
            _ => V2_FIXED_BYTES,
        };
        return (total <= V2_BYTES_MAX).then_some(fresh.len().min(total - held.len()));
    }
    None
}

/// Whether `held`, made of claimed bytes, is a whole header.
pub(super) fn is_whole(held: &[u8]) -> bool {
    if held.starts_with(V1_START) {
        return held.last() == Some(&b'\n');
    }
    match held {
        [.., _] if held.len() < V2_FIXED_BYTES => false,
        _ => v2_parts(held).is_some(),
    }
}

/// What a whole header says; `None` if it is malformed.
pub(super) fn parse(held: &[u8]) -> Option<Origin> {
    if held.starts_with(V1_START) { parse_v1(held) } else { parse_v2(held) }
}

fn parse_v1(line: &[u8]) -> Option<Origin> {
    let line = str::from_utf8(line.strip_suffix(b"\r\n")?).ok()?;
    let mut words = line.strip_prefix("PROXY ")?.split(' ');
    let addresses: fn(&str) -> Option<IpAddr> = match words.next()? {
        // The rest of the line, if any, is to be ignored.
        "UNKNOWN" => return Some(Origin::Direct),
        "TCP4" => |text| text.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
        "TCP6" => |text| text.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        _ => return None,
    };
    let remote = addresses(words.next()?)?;
    let local = addresses(words.next()?)?;
    let remote_port = v1_port(words.next()?)?;
    let local_port = v1_port(words.next()?)?;
    if words.next().is_some() {
        return None;
    }
    Some(proxied(SocketAddr::new(remote, remote_port), SocketAddr::new(local, local_port)))
}

/// A port without sign or leading zeros (section 2.1).
fn v1_port(text: &str) -> Option<u16> {
    let plain = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if plain { text.parse().ok() } else { None }
}

/// Command and protocol bytes, and what follows the fixed part.
fn v2_parts(held: &[u8]) -> Option<(u8, u8, &[u8])> {
    let fixed = held.strip_prefix(V2_START)?;
    let (&[command, protocol, high, low], rest) = fixed.split_first_chunk::<4>()?;
    (rest.len() == usize::from(u16::from_be_bytes([high, low]))).then_some((command, protocol, rest))
}

fn parse_v2(held: &[u8]) -> Option<Origin> {
    const LOCAL: u8 = 0x20;
    const PROXY: u8 = 0x21;
    let (command, protocol, rest) = v2_parts(held)?;
    match command {
        LOCAL => return Some(Origin::Direct),
        PROXY => {}
        _ => return None,
    }
    match protocol {
        0x00 => Some(Origin::Direct),
        0x11 => {
            let (&[a, b, c, d, e, f, g, h, p, q, r, s], tlvs) = rest.split_first_chunk::<12>()?;
            let remote = SocketAddr::new(IpAddr::from([a, b, c, d]), u16::from_be_bytes([p, q]));
            let local = SocketAddr::new(IpAddr::from([e, f, g, h]), u16::from_be_bytes([r, s]));
            tlvs_fit(tlvs).then(|| proxied(remote, local))
        }
        0x21 => {
            let (remote, rest) = rest.split_first_chunk::<16>()?;
            let (local, rest) = rest.split_first_chunk::<16>()?;
            let (&[p, q, r, s], tlvs) = rest.split_first_chunk::<4>()?;
            let remote = SocketAddr::new(IpAddr::from(*remote), u16::from_be_bytes([p, q]));
            let local = SocketAddr::new(IpAddr::from(*local), u16::from_be_bytes([r, s]));
            tlvs_fit(tlvs).then(|| proxied(remote, local))
        }
        0x31 => {
            let (_, tlvs) = rest.split_first_chunk::<216>()?;
            tlvs_fit(tlvs).then_some(Origin::Proxied { remote: Address::Unix, local: Address::Unix })
        }
        // Datagrams do not come over a stream.
        _ => None,
    }
}

fn proxied(remote: SocketAddr, local: SocketAddr) -> Origin {
    Origin::Proxied { remote: Address::Ip(canonical(remote)), local: Address::Ip(canonical(local)) }
}

/// Whether the rest is a sequence of type, length and value, to the last byte. What they say is not used.
fn tlvs_fit(mut tlvs: &[u8]) -> bool {
    while !tlvs.is_empty() {
        let Some((&[_, high, low], rest)) = tlvs.split_first_chunk::<3>() else { return false };
        let Some(rest) = rest.get(usize::from(u16::from_be_bytes([high, low]))..) else { return false };
        tlvs = rest;
    }
    true
}

#[cfg(test)]
#[path = "header_tests.rs"]
mod tests;
