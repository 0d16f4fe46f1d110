use std::net::IpAddr;
use std::rc::Rc;

use leat_message::{Head, Peer};

use crate::admit::OwnFields;
use crate::admit::auth::Identity;
use crate::admit::client::ClientAddress;
use crate::config::{KeyPart, RateLimit, Route};

/// What tells a limit's requests apart, as bytes: equal for requests that count together, different for all others.
///
/// Each part is its kind, its length and its bytes, so that no value can look like two. Costs a copy of the values.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    parts: Box<[KeyPart]>,
    ipv4_bits: u8,
    ipv6_bits: u8,
}

/// How the limits of a route look at its requests.
#[derive(Clone)]
pub(crate) struct Asker {
    route: Box<str>,
    client: ClientAddress,
    own: Rc<OwnFields>,
}

impl Asker {
    pub(crate) fn new(route: &Route, client: ClientAddress, own: OwnFields) -> Self {
        Self { route: route.name().into(), client, own: Rc::new(own) }
    }

    /// What keys of a request may be made from. `identities`: who it is from; empty before `auth` has said so.
    pub(super) fn asked<'a>(&'a self, head: Head<'a>, peer: &Peer, identities: &'a [Rc<Identity>]) -> Asked<'a> {
        Asked { head, client: self.client.of(head, peer), route: &self.route, identities, own: &self.own }
    }

    /// Whether a limit looks at who the client is, so that `auth` has to come before it.
    pub(crate) fn has_to_know(&self, limit: &RateLimit) -> bool {
        let is_told = |part: &KeyPart| matches!(part, KeyPart::Header(name) if self.own.tells(name.as_bytes()));
        limit.counts_users() || limit.key().iter().any(is_told)
    }
}

/// What a key may be made from.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// The request.
    pub(crate) head: Head<'a>,
    /// The client's address; `None` where it has none, as on a Unix socket.
    pub(crate) client: Option<IpAddr>,
    /// The name of the route.
    pub(crate) route: &'a str,
    /// Who it is from; empty before `auth` has said so.
    pub(crate) identities: &'a [Rc<Identity>],
    /// Fields of the route's authentication: what the client says under their names is nobody's word.
    own: &'a OwnFields,
}

impl Key {
    pub(crate) fn new(limit: &RateLimit) -> Self {
        Self { parts: limit.key().into(), ipv4_bits: limit.ipv4_bits(), ipv6_bits: limit.ipv6_bits() }
    }

    /// Appends the key of a request.
    pub(crate) fn write(&self, asked: &Asked<'_>, out: &mut Vec<u8>) {
        for part in &self.parts {
            match part {
                KeyPart::All => put(out, b'*', &[]),
                KeyPart::Client => self.client(asked.client, out),
                KeyPart::Route => put(out, b'r', asked.route.as_bytes()),
                KeyPart::Method => put(out, b'm', asked.head.method_bytes()),
                KeyPart::Host => {
                    let host = undotted(asked.head.host());
                    put(out, b'h', host);
                    let start = out.len() - host.len();
                    out.iter_mut().skip(start).for_each(u8::make_ascii_lowercase);
                }
                KeyPart::User => {
                    asked.identities.iter().for_each(|identity| put(out, b'i', identity.subject().as_bytes()));
                    if asked.identities.is_empty() {
                        put(out, b'-', &[]);
                    }
                }
                KeyPart::Claim(name) => match asked.identities.iter().find_map(|identity| identity.claim(name)) {
                    Some(serde_json::Value::String(text)) => put(out, b'c', text.as_bytes()),
                    // As it is written; the one part that allocates.
                    Some(value) => put(out, b'j', value.to_string().as_bytes()),
                    None => put(out, b'-', &[]),
                },
                KeyPart::Header(name) if asked.own.tells(name.as_bytes()) => {
                    let mut told = asked.identities.iter().flat_map(|identity| identity.fields());
                    match told.find(|(own, _)| own.eq_ignore_ascii_case(name.as_bytes())) {
                        Some((_, value)) => put(out, b'f', value),
                        None => put(out, b'-', &[]),
                    }
                }
                KeyPart::Header(name) => {
                    let mut there = false;
                    let named = |field: &[u8]| field.eq_ignore_ascii_case(name.as_bytes());
                    for (_, _, value) in asked.head.fields().iter().filter(|(_, field, _)| named(field)) {
                        put(out, b'f', value);
                        there = true;
                    }
                    if !there {
                        put(out, b'-', &[]);
                    }
                }
            }
        }
    }

    /// Appends the key of requests whose parts are these texts: one for each part that has a value, in their order. An empty
    /// one stands for a request without that part.
    pub(super) fn write_texts(&self, texts: &[String], out: &mut Vec<u8>) -> Result<(), String> {
        let mut given = texts.iter();
        for part in &self.parts {
            if matches!(part, KeyPart::All) {
                put(out, b'*', &[]);
                continue;
            }
            let text = given.next().ok_or_else(|| format!("the key has {} parts", self.valued()))?;
            let or_none = |kind: u8, out: &mut Vec<u8>| match text.as_str() {
                "" => put(out, b'-', &[]),
                text => put(out, kind, text.as_bytes()),
            };
            match part {
                KeyPart::All => {}
                KeyPart::Client if text.is_empty() => self.client(None, out),
                KeyPart::Client => {
                    self.client(Some(text.parse().map_err(|_| "the part `client` is an IP address".to_owned())?), out);
                }
                KeyPart::Route => put(out, b'r', text.as_bytes()),
                KeyPart::Method => put(out, b'm', text.as_bytes()),
                KeyPart::Host => put(out, b'h', undotted(text.to_ascii_lowercase().as_bytes())),
                KeyPart::User => or_none(b'i', out),
                KeyPart::Claim(_) => or_none(b'c', out),
                KeyPart::Header(_) => or_none(b'f', out),
            }
        }
        match given.next() {
            None => Ok(()),
            Some(_) => Err(format!("the key has {} parts", self.valued())),
        }
    }

    fn valued(&self) -> usize {
        self.parts.iter().filter(|part| !matches!(part, KeyPart::All)).count()
    }

    fn client(&self, client: Option<IpAddr>, out: &mut Vec<u8>) {
        match client.map(|ip| ip.to_canonical()) {
            Some(IpAddr::V4(ip)) => {
                let kept = ip.to_bits() & u32::MAX.checked_shl(32 - u32::from(self.ipv4_bits)).unwrap_or(0);
                put(out, b'4', &kept.to_be_bytes());
            }
            Some(IpAddr::V6(ip)) => {
                let kept = ip.to_bits() & u128::MAX.checked_shl(128 - u32::from(self.ipv6_bits)).unwrap_or(0);
                put(out, b'6', &kept.to_be_bytes());
            }
            None => put(out, b'u', &[]),
        }
    }
}

/// The host without its final dot, with which it is the same one to routes.
fn undotted(host: &[u8]) -> &[u8] {
    host.strip_suffix(b".").unwrap_or(host)
}

fn put(out: &mut Vec<u8>, kind: u8, bytes: &[u8]) {
    out.push(kind);
    out.extend_from_slice(&(bytes.len() as u64).to_be_bytes());
    out.extend_from_slice(bytes);
}
