use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::AtomicU64;

use leat_message::{Address, Head, Name, Peer, Reason, Record, RpcProtocol, Version};

use super::ring::Producer;
use super::tail::{PhaseTimes, Tail, take};
use super::text::Text;

/// What a line is made from; borrowed for the length of one call.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// When the request's head was complete, in milliseconds since 1970.
    pub time_ms: u64,
    /// From there to the end of the reply, in microseconds.
    pub duration_us: u64,
    /// Where the connection comes from.
    pub peer: &'a Peer,
    /// Who asked, where trusted proxies stand between.
    pub client: Option<IpAddr>,
    /// The request; `None` where its head could not be read.
    pub request: Option<Head<'a>>,
    /// The request's id; may be empty.
    pub request_id: &'a [u8],
    /// What is known of the exchange.
    pub record: &'a Record,
    /// Name of the route; may be empty.
    pub route: &'a str,
    /// Name of the endpoint; may be empty.
    pub endpoint: &'a str,
    /// Where the time went, where that was asked for.
    pub phases: Option<PhaseTimes>,
}

/// The texts of a record, in the order that they are copied in, with the most bytes that are kept of each. Longer ones
/// are cut, and the line says so.
const TEXTS_MAX: [usize; TEXTS] = [64, 32, 255, 1_024, 128, 128, 256];
const TEXTS: usize = 7;
/// What is kept of all of them together at most.
pub(super) const TEXTS_BYTES_MAX: usize = 64 + 32 + 255 + 1_024 + 128 + 128 + 256;
const WORDS_FIXED: usize = 11;

/// Copies an entry into the ring; false if there was no room. No allocation.
#[inline]
pub(super) fn append(entry: &Entry<'_>, user_agent: bool, fields: &[Box<str>], producer: &Producer) -> bool {
    let (record, request) = (entry.record, entry.request);
    let agent = if user_agent { request.and_then(|head| head.fields().get(Name::UserAgent)) } else { None };
    let mut texts = [
        entry.request_id,
        request.map_or(&b""[..], |head| head.method_bytes()),
        request.map_or(&b""[..], |head| head.authority()),
        request.map_or(&b""[..], |head| head.target()),
        entry.route.as_bytes(),
        entry.endpoint.as_bytes(),
        agent.unwrap_or_default(),
    ];
    let (mut words, mut cut, mut lengths) = (WORDS_FIXED, 0, [0u64; TEXTS]);
    for (i, ((text, length), max)) in texts.iter_mut().zip(&mut lengths).zip(TEXTS_MAX).enumerate() {
        if let Some((kept, [_, ..])) = text.split_at_checked(max) {
            *text = kept;
            cut |= 1u64 << i;
        }
        words += text.len().div_ceil(8);
        *length = text.len() as u64;
    }
    let tail = Tail::of(entry, fields);
    words += tail.words();
    let Some(mut slot) = producer.begin(words) else { return false };
    let (family, port, address) = remote_bits(&entry.peer.remote);
    let reason = |reason: Option<Reason>| reason.map_or(0, |reason| reason as u64 + 1);
    let version = request.map_or(0, |head| 1 + head.version() as u64);
    let rpc = record.rpc.map_or(0, |protocol| 1 + protocol as u64);
    let [l0, l1, l2, l3, l4, l5, l6] = lengths;
    slot.words([
        words as u64,
        entry.time_ms,
        entry.duration_us,
        record.bytes_in,
        record.bytes_out,
        u64::from(record.connect_us) | u64::from(record.upstream_us) << 32,
        u64::from(record.status)
            | u64::from(record.attempts) << 16
            | reason(record.reason) << 32
            | family << 40
            | version << 43
            | rpc << 45
            | reason(record.detail) << 48
            | cut << 56
            | u64::from(!tail.is_empty()) << 63,
        address as u64,
        (address >> 64) as u64,
        l0 | l1 << 16 | l2 << 32 | l3 << 48,
        l4 | l5 << 16 | l6 << 32 | u64::from(port) << 48,
    ]);
    texts.into_iter().for_each(|text| slot.bytes(text));
    tail.write(&mut slot);
    slot.commit();
    true
}

fn remote_bits(remote: &Address) -> (u64, u16, u128) {
    match remote {
        Address::Ip(SocketAddr::V4(v4)) => (4, v4.port(), u128::from(u32::from(*v4.ip()))),
        Address::Ip(SocketAddr::V6(v6)) => (6, v6.port(), u128::from(*v6.ip())),
        Address::Unix => (0, 0, 0),
    }
}

/// A record as the writer reads it.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) time_ms: u64,
    pub(super) duration_us: u64,
    pub(super) bytes_in: u64,
    pub(super) bytes_out: u64,
    pub(super) connect_us: u32,
    pub(super) upstream_us: u32,
    pub(super) status: u16,
    pub(super) attempts: u16,
    pub(super) reason: Option<Reason>,
    pub(super) detail: Option<Reason>,
    pub(super) version: Option<Version>,
    pub(super) rpc: Option<RpcProtocol>,
    /// `None` for a Unix socket.
    pub(super) remote: Option<SocketAddr>,
    pub(super) id: Text<'a>,
    pub(super) method: Text<'a>,
    pub(super) host: Text<'a>,
    pub(super) target: Text<'a>,
    pub(super) route: Text<'a>,
    pub(super) endpoint: Text<'a>,
    pub(super) user_agent: Text<'a>,
    /// What only some records have (see `TailLine::read`); mostly empty.
    pub(super) tail: &'a [AtomicU64],
}

/// What a record's words say; `None` for what is none. In place: else the line is made, and then moved to where it is read.
#[inline(always)]
pub(super) fn decode<'a>(record: &'a [AtomicU64]) -> Option<Line<'a>> {
    let (fixed, mut left) = take::<WORDS_FIXED>(record)?;
    let [_, time_ms, duration_us, bytes_in, bytes_out, times, flags, low, high, lengths_first, lengths_last] = fixed;
    let lengths = [lengths_first, lengths_last];
    let mut texts = [Text::default(); TEXTS];
    for (i, text) in texts.iter_mut().enumerate() {
        let length = usize::from((lengths[i / 4] >> (i % 4 * 16)) as u16);
        let (words, after) = left.split_at_checked(length.div_ceil(8))?;
        left = after;
        *text = Text { words, length, cut: flags >> (56 + i) & 1 == 1 };
    }
    let [id, method, host, target, route, endpoint, user_agent] = texts;
    Some(Line {
        time_ms,
        duration_us,
        bytes_in,
        bytes_out,
        connect_us: times as u32,
        upstream_us: (times >> 32) as u32,
        status: flags as u16,
        attempts: (flags >> 16) as u16,
        reason: reason((flags >> 32) as u8),
        detail: reason((flags >> 48) as u8),
        version: match (flags >> 43) as u8 & 3 {
            1 => Some(Version::Http10),
            2 => Some(Version::Http11),
            3 => Some(Version::Http2),
            _ => None,
        },
        rpc: RpcProtocol::ALL.get(usize::from((flags >> 45) as u8 & 7).wrapping_sub(1)).copied(),
        remote: remote((flags >> 40) as u8 & 7, (lengths_last >> 48) as u16, u128::from(low) | u128::from(high) << 64),
        id,
        method,
        host,
        target,
        route,
        endpoint,
        user_agent,
        tail: if flags >> 63 == 1 { left } else { &[] },
    })
}

fn reason(number: u8) -> Option<Reason> {
    Reason::ALL.get(usize::from(number.checked_sub(1)?)).copied()
}

fn remote(family: u8, port: u16, address: u128) -> Option<SocketAddr> {
    let ip = match family {
        4 => IpAddr::V4(Ipv4Addr::from(address as u32)),
        6 => IpAddr::V6(Ipv6Addr::from(address)),
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}
