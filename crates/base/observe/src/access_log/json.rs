//! A line as one JSON object. Fields that have nothing to say are left out.

use std::fmt::Write;
use std::net::SocketAddr;

use leat_message::Version;

use super::pen::Pen;
use super::record::Line;
use super::tail::TailLine;
use super::text::{self, Place, Text};
use super::{Look, redact};
use crate::exposition::blame;
use crate::trace_context::hex;

/// Appends a record and a line feed.
pub(super) fn write(line: &Line<'_>, look: &mut Look, out: &mut Pen<'_>) {
    out.fixed(b"{\"time\":\"");
    look.clock.write(line.time_ms, out);
    out.fixed(b"\"");
    string(b",\"id\":\"", line.id, out);
    remote(line.remote, out);
    string(b",\"method\":\"", line.method, out);
    string(b",\"host\":\"", line.host, out);
    if !line.target.is_empty() {
        out.fixed(b",\"target\":\"");
        redact::write(line.target, &look.redact, Place::Json, &mut look.scratch, out);
        out.fixed(b"\"");
    }
    match line.version {
        Some(Version::Http10) => out.fixed(b",\"version\":\"HTTP/1.0\""),
        Some(Version::Http11) => out.fixed(b",\"version\":\"HTTP/1.1\""),
        Some(Version::Http2) => out.fixed(b",\"version\":\"HTTP/2\""),
        None => {}
    }
    if let Some(rpc) = line.rpc {
        word(b",\"rpc\":\"", rpc.name(), out);
    }
    number(b",\"status\":", u64::from(line.status), out);
    if let Some(reason) = line.reason {
        word(b",\"reason\":\"", reason.code(), out);
        word(b",\"blame\":\"", blame(reason.blame()), out);
    }
    if let Some(detail) = line.detail {
        word(b",\"detail\":\"", detail.code(), out);
    }
    number(b",\"bytes_in\":", line.bytes_in, out);
    number(b",\"bytes_out\":", line.bytes_out, out);
    number(b",\"duration_us\":", line.duration_us, out);
    string(b",\"route\":\"", line.route, out);
    string(b",\"endpoint\":\"", line.endpoint, out);
    if !line.endpoint.is_empty() || line.attempts > 0 {
        number(b",\"upstream_us\":", u64::from(line.upstream_us), out);
        number(b",\"connect_us\":", u64::from(line.connect_us), out);
        number(b",\"attempts\":", u64::from(line.attempts), out);
    }
    string(b",\"user_agent\":\"", line.user_agent, out);
    if !line.tail.is_empty() {
        tail(line, &TailLine::read(line.tail), look, out);
    }
    out.fixed(b"}\n");
}

fn tail(line: &Line<'_>, tail: &TailLine<'_>, look: &mut Look, out: &mut Pen<'_>) {
    if let Some(client) = tail.client {
        let _ = write!(out, ",\"client\":\"{client}\"");
    }
    if let Some(([high, low], span)) = tail.trace {
        out.fixed(b",\"trace_id\":\"");
        out.fixed(&hex(high));
        out.fixed(&hex(low));
        out.fixed(b"\",\"span_id\":\"");
        out.fixed(&hex(span));
        out.fixed(b"\"");
    }
    if let Some(times) = &tail.phases {
        tenths(b",\"phases_us\":{\"parse\":", times.parse, out);
        tenths(b",\"route\":", times.route, out);
        tenths(b",\"auth\":", times.auth, out);
        tenths(b",\"limit\":", times.limit, out);
        tenths(b",\"plugin\":", times.plugin, out);
        number(b",\"connect\":", u64::from(line.connect_us), out);
        number(b",\"upstream\":", u64::from(line.upstream_us), out);
        tenths(b",\"send\":", times.send, out);
        out.fixed(b"}");
    }
    let mut is_first = true;
    for (field, value) in look.fields.iter().zip(tail.fields.iter().flatten()).filter(|(_, value)| !value.is_empty()) {
        if std::mem::take(&mut is_first) {
            out.fixed(b",\"fields\":{\"");
        } else {
            out.fixed(b",\"");
        }
        out.bytes(field.as_bytes());
        out.fixed(b"\":\"");
        redact::write(*value, &look.redact, Place::Json, &mut look.scratch, out);
        out.fixed(b"\"");
    }
    if !is_first {
        out.fixed(b"}");
    }
}

/// Appends a line that tells of dropped records.
pub(super) fn write_dropped(now_ms: u64, dropped: u64, look: &mut Look, out: &mut Pen<'_>) {
    out.fixed(b"{\"time\":\"");
    look.clock.write(now_ms, out);
    number(b"\",\"dropped\":", dropped, out);
    out.fixed(b"}\n");
}

/// The version as people write it.
pub(super) fn version_word(version: Version) -> &'static str {
    match version {
        Version::Http10 => "HTTP/1.0",
        Version::Http11 => "HTTP/1.1",
        Version::Http2 => "HTTP/2",
    }
}

#[inline]
fn remote(remote: Option<SocketAddr>, out: &mut Pen<'_>) {
    match remote {
        Some(SocketAddr::V4(v4)) => {
            let [first, rest @ ..] = v4.ip().octets();
            number(b",\"remote\":\"", u64::from(first), out);
            rest.into_iter().for_each(|octet| number(b".", u64::from(octet), out));
            number(b":", u64::from(v4.port()), out);
            out.fixed(b"\"");
        }
        Some(SocketAddr::V6(v6)) => {
            let _ = write!(out, ",\"remote\":\"{v6}\"");
        }
        None => out.fixed(b",\"remote\":\"unix\""),
    }
}

/// Appends tenths of a microsecond as microseconds.
#[inline]
fn tenths<const N: usize>(key: &[u8; N], ticks: u32, out: &mut Pen<'_>) {
    number(key, u64::from(ticks / 10), out);
    if !ticks.is_multiple_of(10) {
        out.fixed(b".");
        out.number(u64::from(ticks % 10));
    }
}

#[inline]
fn string<const N: usize>(key: &[u8; N], value: Text<'_>, out: &mut Pen<'_>) {
    if !value.is_empty() {
        out.fixed(key);
        text::write(value, Place::Json, out);
        out.fixed(b"\"");
    }
}

/// Appends one of our own words, which need no escaping.
fn word<const N: usize>(key: &[u8; N], value: &str, out: &mut Pen<'_>) {
    out.fixed(key);
    out.bytes(value.as_bytes());
    out.fixed(b"\"");
}

#[inline]
fn number<const N: usize>(key: &[u8; N], value: u64, out: &mut Pen<'_>) {
    out.fixed_number(key, value);
}
