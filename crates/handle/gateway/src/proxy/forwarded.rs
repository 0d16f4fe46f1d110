use std::io::Write;
use std::net::IpAddr;

use leat_message::{Address, Exchange, Fields, Head, Name, Peer, Scheme, Version, decimal};

use super::Edits;
use super::request_id::{accepted_id, request_id};
use crate::admit::hops_from_end;
use crate::config::{self, ForwardedStyle};
use crate::observe::TimingPolicy;

/// Longest value that is built from what earlier hops said, in bytes; above it their word is dropped.
const VALUE_BYTES_MAX: usize = 2_048;

/// What an upstream is told about the client and the way the request took, compiled once.
#[derive(Clone, Debug)]
pub(crate) struct ForwardedPolicy {
    trusted_hops: u32,
    x_forwarded: bool,
    forwarded: bool,
    /// The values of Via for HTTP/1.0, 1.1 and 2 (RFC 9110 section 7.6.3).
    via: Option<[Box<str>; 3]>,
    request_id: Option<(Name, Box<str>)>,
    /// Who is told where the time went.
    timing: Option<TimingPolicy>,
}

impl ForwardedPolicy {
    pub(crate) fn new(config: &config::Forwarded) -> Self {
        let style = config.style();
        Self {
            trusted_hops: config.trusted_hops(),
            x_forwarded: matches!(style, ForwardedStyle::XForwarded | ForwardedStyle::Both),
            forwarded: matches!(style, ForwardedStyle::Forwarded | ForwardedStyle::Both),
            via: config.via().map(|name| ["1.0", "1.1", "2"].map(|version| format!("{version} {name}").into())),
            request_id: config.request_id().map(|id| (Name::from_bytes(id.field().as_bytes()), id.field().into())),
            timing: None,
        }
    }

    /// The same, and clients are told where the time went.
    pub(crate) fn timing(mut self, timing: Option<TimingPolicy>) -> Self {
        self.timing = timing;
        self
    }

    /// Who is told where the time went.
    pub(super) fn server_timing(&self) -> Option<&TimingPolicy> {
        self.timing.as_ref()
    }

    /// The id that the request brings, where it is believed.
    pub(super) fn believed_id<'a>(&self, fields: Fields<'a>) -> Option<&'a [u8]> {
        let (_, field) = self.request_id.as_ref().filter(|_| self.trusted_hops > 0)?;
        accepted_id(fields, field.as_bytes())
    }

    /// Whether an incoming field is taken out: ours take its place, or nobody who sent it is believed. `keeps_id`: the request's
    /// id is.
    #[inline]
    pub(super) fn takes_out(&self, id: Name, name: &[u8], keeps_id: bool) -> bool {
        match id {
            Name::XForwardedFor | Name::Forwarded => true,
            Name::XForwardedProto | Name::XForwardedHost | Name::XForwardedPort => !self.believes_x_forwarded(),
            Name::Other if is_disguised(name) => true,
            Name::XRequestId | Name::Other => !keeps_id && self.is_request_id(name),
            _ => false,
        }
    }

    /// Whether a field that stays must not be taken away by a client's `Connection` either: the upstream relies on it.
    #[inline]
    pub(super) fn protects(&self, id: Name, name: &[u8]) -> bool {
        match id {
            Name::XForwardedProto | Name::XForwardedHost | Name::XForwardedPort => true,
            Name::XRequestId | Name::Other => self.is_request_id(name),
            _ => false,
        }
    }

    fn is_request_id(&self, name: &[u8]) -> bool {
        self.request_id.as_ref().is_some_and(|(_, field)| field.as_bytes().eq_ignore_ascii_case(name))
    }

    /// The field that carries a request's id, upstream and back.
    pub(super) fn request_id_field(&self) -> Option<&str> {
        self.request_id.as_ref().map(|(_, field)| &**field)
    }

    /// Whether a response brings that field itself.
    #[inline]
    pub(super) fn has_request_id(&self, fields: Fields<'_>) -> bool {
        self.request_id.as_ref().is_some_and(|(id, field)| match id {
            Name::Other => fields.get_named(field.as_bytes()).is_some(),
            known => fields.get(*known).is_some(),
        })
    }

    fn believes_x_forwarded(&self) -> bool {
        self.trusted_hops > 0 && self.x_forwarded
    }

    /// Gives our fields to `put`, which copies them; returns the request's id if it made one, now or for an earlier try (`made`).
    /// Allocates nothing; builds values in `scratch`.
    pub(super) fn write<X: Exchange>(
        &self,
        x: &X,
        edits: &Edits,
        made: Option<[u8; 32]>,
        scratch: &mut Vec<u8>,
        mut put: impl FnMut(&[u8], &[u8]),
    ) -> Option<[u8; 32]> {
        let head = x.request();
        let fields = head.fields();
        if self.x_forwarded {
            self.write_x_forwarded(head, x.peer(), edits, scratch, &mut put);
        }
        if self.forwarded && !edits.decides(b"forwarded") {
            scratch.clear();
            self.earlier(fields, Name::Forwarded, scratch);
            write_forwarded(x.peer(), head, scratch);
            put(b"forwarded", scratch);
        }
        if let Some([http10, http11, http2]) = &self.via
            && !edits.decides(b"via")
        {
            let value = match head.version() {
                Version::Http10 => http10,
                Version::Http11 => http11,
                Version::Http2 => http2,
            };
            put(b"via", value.as_bytes());
        }
        if let Some((_, field)) = &self.request_id
            && self.believed_id(fields).is_none()
            && !edits.decides(field.as_bytes())
        {
            let id = made.unwrap_or_else(request_id);
            put(field.as_bytes(), &id);
            return Some(id);
        }
        None
    }

    fn write_x_forwarded(
        &self,
        head: Head<'_>,
        peer: &Peer,
        edits: &Edits,
        scratch: &mut Vec<u8>,
        put: &mut impl FnMut(&[u8], &[u8]),
    ) {
        let fields = head.fields();
        if !edits.decides(b"x-forwarded-for") {
            scratch.clear();
            self.earlier(fields, Name::XForwardedFor, scratch);
            write_ip(client_ip(peer), scratch);
            put(b"x-forwarded-for", scratch);
        }
        let is_ours =
            |id: Name, name: &[u8]| (self.trusted_hops == 0 || fields.get(id).is_none()) && !edits.decides(name);
        if is_ours(Name::XForwardedProto, b"x-forwarded-proto") {
            put(b"x-forwarded-proto", scheme(peer).as_bytes());
        }
        if is_ours(Name::XForwardedHost, b"x-forwarded-host") && !head.authority().is_empty() {
            put(b"x-forwarded-host", head.authority());
        }
        if let Address::Ip(local) = peer.local
            && is_ours(Name::XForwardedPort, b"x-forwarded-port")
        {
            scratch.clear();
            decimal(u64::from(local.port()), scratch);
            put(b"x-forwarded-port", scratch);
        }
    }

    /// The last `trusted_hops` entries of what earlier hops said: older ones could be anybody's invention.
    fn earlier(&self, fields: Fields<'_>, id: Name, out: &mut Vec<u8>) {
        let mut believed = [&b""[..]; config::TRUSTED_HOPS_MAX];
        let from_end = hops_from_end(fields, id).take(self.trusted_hops as usize);
        let count = believed.iter_mut().zip(from_end).map(|(place, entry)| *place = entry).count();
        for entry in believed.iter().take(count).rev() {
            if out.len() + entry.len() > VALUE_BYTES_MAX {
                out.clear();
                return;
            }
            out.extend_from_slice(entry);
            out.extend_from_slice(b", ");
        }
    }
}

/// Whether servers that turn fields into variables (RFC 3875 section 4.1.18) would take a field for one of ours: `_` is as good as
/// `-` to them. Who wrote it is not known, so nobody is believed.
#[inline]
fn is_disguised(name: &[u8]) -> bool {
    const NAMES: [&[u8]; 4] = [b"x-forwarded-for", b"x-forwarded-proto", b"x-forwarded-host", b"x-forwarded-port"];
    let is_same = |own: &&[u8]| own.len() == name.len() && own.iter().zip(name).all(|(&a, &b)| is_like(a, b));
    (15..=17).contains(&name.len()) && name.contains(&b'_') && NAMES.iter().any(is_same)
}

fn is_like(own: u8, byte: u8) -> bool {
    own == byte.to_ascii_lowercase() || own == b'-' && byte == b'_'
}

fn client_ip(peer: &Peer) -> Option<IpAddr> {
    match peer.remote {
        Address::Ip(address) => Some(address.ip().to_canonical()),
        Address::Unix => None,
    }
}

fn scheme(peer: &Peer) -> &'static str {
    match peer.scheme {
        Scheme::Http => "http",
        Scheme::Https => "https",
    }
}

fn write_ip(ip: Option<IpAddr>, out: &mut Vec<u8>) {
    // The octets by hand: this is on the path of every request, and the formatter's machinery is not cheap.
    match ip {
        Some(IpAddr::V4(ip)) => {
            for (at, octet) in ip.octets().into_iter().enumerate() {
                if at > 0 {
                    out.push(b'.');
                }
                decimal(u64::from(octet), out);
            }
        }
        Some(ip) => {
            // Writing into a Vec can't fail.
            let _ = write!(out, "{ip}");
        }
        None => out.extend_from_slice(b"unknown"),
    }
}

/// One element of Forwarded (RFC 7239 section 4). An IPv6 address is quoted and bracketed; a host is quoted, and left out
/// where it has a character that would need escaping, or that a reader who splits before it unquotes would trip over.
fn write_forwarded(peer: &Peer, head: Head<'_>, out: &mut Vec<u8>) {
    let _ = match client_ip(peer) {
        Some(IpAddr::V6(ip)) => write!(out, "for=\"[{ip}]\""),
        Some(IpAddr::V4(ip)) => write!(out, "for={ip}"),
        None => write!(out, "for=unknown"),
    };
    let authority = head.authority();
    if !authority.is_empty() && authority.iter().all(|&b| b.is_ascii_alphanumeric() || b"-._~:[]%".contains(&b)) {
        out.extend_from_slice(b";host=\"");
        out.extend_from_slice(authority);
        out.push(b'"');
    }
    let _ = write!(out, ";proto={}", scheme(peer));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_written_as_the_standard_library_does() {
        for text in ["0.0.0.0", "127.0.0.1", "10.20.30.40", "100.101.109.110", "255.199.9.99", "2001:db8::1"] {
            let mut out = Vec::new();
            write_ip(text.parse().ok(), &mut out);
            assert_eq!(out, text.as_bytes());
        }
    }
}
