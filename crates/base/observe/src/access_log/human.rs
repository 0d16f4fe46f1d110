//! A line for a person: time, status, method, where to, how long, how much, then what is out of the ordinary.

use std::fmt::Write;

use super::json::version_word;
use super::pen::Pen;
use super::record::Line;
use super::tail::TailLine;
use super::text::{self, Place, Text};
use super::{Look, redact};
use crate::trace_context::hex;

/// Appends a record and a line feed.
pub(super) fn write(line: &Line<'_>, look: &mut Look, out: &mut Pen<'_>) {
    look.clock.write(line.time_ms, out);
    let _ = write!(out, " {:03} ", line.status);
    if line.method.is_empty() {
        out.fixed(b"-");
    } else {
        text::write(line.method, Place::Word, out);
        out.fixed(b" ");
        text::write(line.host, Place::Word, out);
        out.fixed(b" ");
        redact::write(line.target, &look.redact, Place::Word, &mut look.scratch, out);
    }
    if let Some(version) = line.version {
        let _ = write!(out, " {}", version_word(version));
    }
    if let Some(rpc) = line.rpc {
        let _ = write!(out, " rpc={}", rpc.name());
    }
    let _ = write!(out, " {}.{:03}ms", line.duration_us / 1_000, line.duration_us % 1_000);
    let _ = write!(out, " in={} out={}", line.bytes_in, line.bytes_out);
    if let Some(reason) = line.reason {
        let _ = write!(out, " reason={}", reason.code());
    }
    if let Some(detail) = line.detail {
        let _ = write!(out, " detail={}", detail.code());
    }
    pair(" route=", line.route, out);
    pair(" endpoint=", line.endpoint, out);
    if line.attempts > 0 {
        let _ =
            write!(out, " upstream={}us connect={}us attempts={}", line.upstream_us, line.connect_us, line.attempts);
    }
    match line.remote {
        Some(remote) => {
            let _ = write!(out, " from={remote}");
        }
        None => out.fixed(b" from=unix"),
    }
    pair(" id=", line.id, out);
    if !line.user_agent.is_empty() {
        out.fixed(b" agent=\"");
        text::write(line.user_agent, Place::Quoted, out);
        out.fixed(b"\"");
    }
    if !line.tail.is_empty() {
        tail(line, &TailLine::read(line.tail), look, out);
    }
    out.fixed(b"\n");
}

fn tail(line: &Line<'_>, tail: &TailLine<'_>, look: &mut Look, out: &mut Pen<'_>) {
    if let Some(client) = tail.client {
        let _ = write!(out, " client={client}");
    }
    if let Some((id, _)) = tail.trace {
        out.fixed(b" trace=");
        id.iter().for_each(|&half| out.fixed(&hex(half)));
    }
    if let Some(times) = &tail.phases {
        for (phase, ticks) in times.named(line.connect_us, line.upstream_us) {
            let _ = write!(out, " {phase}={}.{}us", ticks / 10, ticks % 10);
        }
    }
    for (field, value) in look.fields.iter().zip(tail.fields.iter().flatten()).filter(|(_, value)| !value.is_empty()) {
        let _ = write!(out, " {field}=\"");
        redact::write(*value, &look.redact, Place::Quoted, &mut look.scratch, out);
        out.fixed(b"\"");
    }
}

/// Appends a line that tells of dropped records.
pub(super) fn write_dropped(now_ms: u64, dropped: u64, look: &mut Look, out: &mut Pen<'_>) {
    look.clock.write(now_ms, out);
    let _ = writeln!(out, " dropped={dropped} access records: the log's writer did not keep up");
}

fn pair(key: &str, value: Text<'_>, out: &mut Pen<'_>) {
    if !value.is_empty() {
        out.bytes(key.as_bytes());
        text::write(value, Place::Word, out);
    }
}
