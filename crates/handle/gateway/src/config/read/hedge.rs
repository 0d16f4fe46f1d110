use std::time::Duration;

use leat_policy::hedge::{After, Hedge};

use super::policies::settled;
use crate::config::table::{Key, Kind, Open, Section, units};

pub(super) static HEDGE: Section = Section::new(
    "hedge",
    "the `hedge` section",
    "Sends a request to another endpoint as well when the first has not begun to answer in time; the first head of a response wins, and the other try is cancelled. Only where doing it twice is the same as doing it once (GET, HEAD, OPTIONS, TRACE, PUT, DELETE) and the body fits `retry`'s `body_bytes_max`. Each takes a token of `retry`'s budget and counts as a try. An answer with one of `failure_statuses` wins only where no other try is left: then it is the first try's.",
    &[
        Key::default(
            "after",
            Kind::Text { what: "a time, or `p50` to `p99`", example: "p95" },
            "p95",
            "When: after this time since the request was sent, or after what this part of the requests takes (`p95`: all but a twentieth; measured by each core, from its hundredth request on). Rounded up to 20 ms.",
        )
        .aka(&["delay", "hedging_delay"]),
        Key::default(
            "max",
            Kind::Number { min: 1, max: 10 },
            "1",
            "Hedges of one request, each after another such time, each to another endpoint.",
        )
        .aka(&["max_attempts", "hedges_max"]),
    ],
)
.shorthand("after");

pub(super) fn read_hedge(open: &Open<'_>) -> Option<Hedge> {
    let after = open.text("after").and_then(|text| {
        let percent = text.value.strip_prefix('p').filter(|digits| digits.len() == 2);
        let after = match percent.and_then(|digits| digits.parse().ok()) {
            Some(percent) if percent >= 50 => Some(After::Percent(percent)),
            Some(_) => None,
            None => units::time_ms(text.value)
                .filter(|ms| (1..=86_400_000).contains(ms))
                .map(|ms| After::Time(Duration::from_millis(ms))),
        };
        if after.is_none() {
            open.reader.problem_help(
                text.place,
                format!(
                    "`after` must be a time up to 24h or a percentile from `p50` to `p99`, found `{}`",
                    text.value.escape_debug()
                ),
                "write for example `after: 50ms`, or `after: p95`",
            );
        }
        after
    });
    let max = open.number("max").and_then(|max| u32::try_from(max).ok());
    settled(open, Hedge::new(after?, max?))
}
