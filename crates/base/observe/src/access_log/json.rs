//! A line as one JSON object. Fields that have nothing to say are left out.

use std::io::Write;

use leat_message::Version;

use super::record::{Line, Text};
use super::text::Place;
use super::{Look, redact, text, time};
use crate::exposition::blame;
use crate::trace_context::hex;

/// Appends a record and a line feed.
pub(super) fn write(line: &Line<'_>, look: &Look, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"time\":\"");
    time::write(line.time_ms, out);
    out.push(b'"');
    string("id", line.id, out);
    match line.remote {
        Some(remote) => {
            let _ = write!(out, ",\"remote\":\"{remote}\"");
        }
        None => out.extend_from_slice(b",\"remote\":\"unix\""),
    }
    string("method", line.method, out);
    string("host", line.host, out);
    redacted("target", line.target, look, out);
    if let Some(version) = line.version {
        word("version", version_word(version), out);
    }
    number("status", u64::from(line.status), out);
    if let Some(reason) = line.reason {
        word("reason", reason.code(), out);
        word("blame", blame(reason.blame()), out);
    }
    if let Some(detail) = line.detail {
        word("detail", detail.code(), out);
    }
    number("bytes_in", line.bytes_in, out);
    number("bytes_out", line.bytes_out, out);
    number("duration_us", line.duration_us, out);
    string("route", line.route, out);
    string("endpoint", line.endpoint, out);
    if !line.endpoint.bytes.is_empty() || line.attempts > 0 {
        number("upstream_us", u64::from(line.upstream_us), out);
        number("connect_us", u64::from(line.connect_us), out);
        number("attempts", u64::from(line.attempts), out);
    }
    string("user_agent", line.user_agent, out);
    let tail = &line.tail;
    if let Some((id, span)) = tail.trace {
        hexadecimal("trace_id", &id, out);
        hexadecimal("span_id", &[span], out);
    }
    if let Some(times) = &tail.phases {
        name("phases_us", out);
        let named = times.named(line.connect_us, line.upstream_us);
        for (at, (phase, ticks)) in named.into_iter().enumerate() {
            out.push(if at == 0 { b'{' } else { b',' });
            out.push(b'"');
            out.extend_from_slice(phase.as_bytes());
            out.extend_from_slice(b"\":");
            tenths(ticks, out);
        }
        out.push(b'}');
    }
    let mut before = &b",\"fields\":{\""[..];
    for (field, value) in look.fields.iter().zip(&tail.fields).filter(|(_, value)| !value.bytes.is_empty()) {
        out.extend_from_slice(before);
        out.extend_from_slice(field.as_bytes());
        out.extend_from_slice(b"\":\"");
        redact::write(*value, &look.redact, Place::Json, out);
        out.push(b'"');
        before = b",\"";
    }
    if before.len() == 2 {
        out.push(b'}');
    }
    out.extend_from_slice(b"}\n");
}

/// Appends a line that tells of dropped records.
pub(super) fn write_dropped(now_ms: u64, dropped: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"time\":\"");
    time::write(now_ms, out);
    out.push(b'"');
    number("dropped", dropped, out);
    out.extend_from_slice(b"}\n");
}

/// The version as people write it.
pub(super) fn version_word(version: Version) -> &'static str {
    match version {
        Version::Http10 => "HTTP/1.0",
        Version::Http11 => "HTTP/1.1",
        Version::Http2 => "HTTP/2",
    }
}

fn name(name: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

fn redacted(key: &str, value: Text<'_>, look: &Look, out: &mut Vec<u8>) {
    if !value.bytes.is_empty() {
        name(key, out);
        out.push(b'"');
        redact::write(value, &look.redact, Place::Json, out);
        out.push(b'"');
    }
}

fn hexadecimal(key: &str, numbers: &[u64], out: &mut Vec<u8>) {
    name(key, out);
    out.push(b'"');
    numbers.iter().for_each(|&number| out.extend_from_slice(&hex(number)));
    out.push(b'"');
}

/// Appends tenths of a microsecond as microseconds.
fn tenths(ticks: u64, out: &mut Vec<u8>) {
    text::number(ticks / 10, out);
    if !ticks.is_multiple_of(10) {
        out.push(b'.');
        text::number(ticks % 10, out);
    }
}

fn string(key: &str, value: Text<'_>, out: &mut Vec<u8>) {
    if !value.bytes.is_empty() {
        name(key, out);
        out.push(b'"');
        text::write(value, Place::Json, out);
        out.push(b'"');
    }
}

/// Appends one of our own words, which need no escaping.
fn word(key: &str, value: &str, out: &mut Vec<u8>) {
    string(key, Text { bytes: value.as_bytes(), cut: false }, out);
}

fn number(key: &str, value: u64, out: &mut Vec<u8>) {
    name(key, out);
    text::number(value, out);
}
