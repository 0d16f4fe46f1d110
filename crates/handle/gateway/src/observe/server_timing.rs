use std::io::Write;

use leat_message::{Exchange, Head, Phase, ticks};

use crate::admit::ClientAddress;
use crate::config::{Forwarded, ServerTiming};

/// Who is told where the time went (W3C Server Timing).
#[derive(Clone, Debug)]
pub(crate) struct TimingPolicy {
    config: ServerTiming,
    client: ClientAddress,
}

impl TimingPolicy {
    pub(crate) fn new(config: &ServerTiming, forwarded: &Forwarded) -> Self {
        Self { config: config.clone(), client: ClientAddress::new(forwarded) }
    }

    /// Whether the request asks for it, from whomever it comes.
    pub(crate) fn is_asked(&self, request: Head<'_>) -> bool {
        self.config.field().is_none_or(|field| request.fields().get_named(field.as_bytes()).is_some())
    }

    fn tells<X: Exchange>(&self, x: &X) -> bool {
        self.is_asked(x.request())
            && self.client.of(x.request(), x.peer()).is_some_and(|address| self.config.allows(address))
    }
}

/// Writes `Server-Timing` behind the fields of a response that came from upstream, in milliseconds: the phases that were gone
/// through, and `total` up to here.
pub(crate) fn write_server_timing<X: Exchange>(x: &mut X, policy: &TimingPolicy) {
    if !policy.tells(x) {
        return;
    }
    let record = x.record();
    let phases = record.phases;
    let Some(began) = phases.began() else { return };
    let in_us = |us: u32| us.saturating_mul(10);
    let named = [
        ("route", phases.time(Phase::Route)),
        ("auth", phases.time(Phase::Auth)),
        ("limit", phases.time(Phase::Limit)),
        ("plugin", phases.time(Phase::Plugin)),
        ("connect", in_us(record.connect_us)),
        ("upstream", in_us(record.upstream_us)),
        ("total", ticks(began.elapsed())),
    ];
    let mut value = Vec::with_capacity(128);
    for (name, ticks) in named.into_iter().filter(|(_, ticks)| *ticks > 0) {
        let before = if value.is_empty() { "" } else { ", " };
        // Writing into a Vec can't fail.
        let _ = write!(value, "{before}{name};dur={}.{:04}", ticks / 10_000, ticks % 10_000);
    }
    x.field(b"server-timing", &value);
}
