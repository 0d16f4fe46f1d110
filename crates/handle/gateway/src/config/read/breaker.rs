use std::time::Duration;

use leat_policy::breaker::{Raw, Settings, WindowSize};

use super::policies::settled;
use crate::config::policies::BreakerScope;
use crate::config::table::{Key, Kind, Open, Section};

const TIME: Kind = Kind::Time { min_ms: 1, max_ms: 86_400_000, off: false };

const SCOPES: &[(&str, &str)] =
    &[("endpoint", "each endpoint by itself: requests go to the others"), ("upstream", "all endpoints together")];

pub(super) static BREAKER: Section = Section::new(
    "breaker",
    "the `breaker` section",
    "Stops sending where too much fails or is slow: 503 `upstream.breaker` where nothing else is left, with the seconds until the next try in `Retry-After`. After a while a few requests are let through, and all of them must succeed. One state for all cores; it stays over a reload unless its settings change.",
    &[
        Key::default("scope", Kind::Choice(SCOPES), "endpoint", "What it watches over.").aka(&["per"]),
        Key::default("window", TIME, "10s", "Over how long the parts are taken.").aka(&["interval", "period"]),
        Key::default(
            "calls_min",
            Kind::Number { min: 1, max: 1_000_000 },
            "20",
            "The least requests in the window for a part to count.",
        )
        .aka(&["minimum_calls", "request_volume"]),
        Key::default(
            "failure_percent",
            Kind::NumberOr { min: 1, max: 100, word: "off" },
            "50",
            "The part of failed requests that opens it.",
        )
        .aka(&["failure_rate", "error_threshold"]),
        Key::default(
            "slow_percent",
            Kind::NumberOr { min: 1, max: 100, word: "off" },
            "off",
            "The part of slow requests that opens it.",
        ),
        Key::default("slow_time", TIME, "1s", "A response head that takes at least so long is slow.")
            .aka(&["slow_call", "slow_threshold"]),
        Key::default(
            "failures",
            Kind::NumberOr { min: 1, max: 1_000_000, word: "off" },
            "10",
            "Failures in a row that open it, however few requests there were.",
        )
        .aka(&["consecutive_failures"]),
        Key::default("probes", Kind::Number { min: 1, max: 1_000 }, "3", "Requests that are let through to try it.")
            .aka(&["half_open_requests"]),
        Key::default(
            "open",
            TIME,
            "1s",
            "For how long nothing is let through; doubles each time that follows on another.",
        )
        .aka(&["open_time", "reset_timeout", "cooldown"]),
        Key::default("open_max", TIME, "60s", "The longest such time."),
    ],
);

pub(super) fn read_breaker(open: &Open<'_>) -> Option<(BreakerScope, Settings)> {
    let scope = open.choice("scope", &[("endpoint", BreakerScope::Endpoint), ("upstream", BreakerScope::Upstream)]);
    let time = |name: &str| open.time(name).map(Duration::from_millis);
    let percent = |name: &str| open.number(name).map(|percent| percent as f64 / 100.0);
    let window = time("window");
    let calls_min = open.number("calls_min");
    let (failure_rate, slow_rate) = (percent("failure_percent"), percent("slow_percent"));
    let slow_call = time("slow_time");
    let consecutive_failures = open.number("failures").map(|count| count as u32);
    let probes = open.number("probes");
    let (closed, closed_max) = (time("open"), time("open_max"));
    if failure_rate.is_none() && slow_rate.is_none() && consecutive_failures.is_none() && !open.reader.has_problems() {
        open.reader.warn(
            open.place(),
            "the breaker never opens: everything that could open it is off",
            "set `failure_percent`, `slow_percent` or `failures`, or remove `breaker`",
        );
    }
    let raw = Raw {
        window: WindowSize::Time(window?),
        calls_min: calls_min? as u32,
        failure_rate,
        slow_rate,
        slow_call: slow_call?,
        consecutive_failures,
        probes: probes? as u32,
        open: closed?,
        open_max: closed_max?,
    };
    Some((scope?, settled(open, Settings::new(&raw))?))
}
