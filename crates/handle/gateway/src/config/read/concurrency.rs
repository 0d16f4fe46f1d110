use std::time::Duration;

use leat_policy::concurrency::{Raw, Settings};

use super::policies::settled;
use crate::config::concurrency::Concurrency;
use crate::config::table::{Key, Kind, Open, Section};

const COUNT: Kind = Kind::Number { min: 1, max: 1_000_000 };

pub(super) static CONCURRENCY: Section = Section::new(
    "concurrency",
    "the `concurrency` section",
    "How many requests the upstream is given at once, by all cores together: a limit that grows while the upstream answers about as fast as with few, and falls when it gets slower. A request counts until the head of its response. Those above the limit wait; 503 `upstream.concurrency` with `Retry-After: 1` where too many do, or for too long.",
    &[
        Key::default(
            "min",
            COUNT,
            "4",
            "The limit begins here and never falls below. What so few requests take counts as normal: no more than the upstream surely does at once.",
        )
        .aka(&["min_limit", "initial"]),
        Key::default("max", COUNT, "1000", "The limit never grows above this. The same as `min`: a limit that does not move.")
            .aka(&["max_limit", "limit"]),
        Key::default(
            "window",
            Kind::Time { min_ms: 1, max_ms: 60_000, off: false },
            "100ms",
            "How often the limit moves: by what the responses of this time took, at least ten.",
        ),
        Key::default(
            "tolerance_percent",
            Kind::Number { min: 100, max: 1_000 },
            "150",
            "How slow the upstream may be, relative to what it takes with little load, before the limit falls.",
        )
        .aka(&["tolerance", "rtt_tolerance"]),
        Key::default(
            "smoothing_percent",
            Kind::Number { min: 1, max: 100 },
            "20",
            "How far the limit goes at once towards what the last responses ask for.",
        )
        .aka(&["smoothing"]),
        Key::default("queue_max", Kind::Number { min: 0, max: 1_000_000 }, "100", "Requests that wait for their turn, of all cores together."),
        Key::default(
            "queue_time",
            Kind::Time { min_ms: 1, max_ms: 86_400_000, off: false },
            "1s",
            "How long a request waits for its turn.",
        ),
    ],
);

pub(super) fn read_concurrency(open: &Open<'_>) -> Option<Concurrency> {
    let number = |name: &str| open.number(name).and_then(|number| u32::try_from(number).ok());
    let (min, max) = (number("min"), number("max"));
    let window_ms = open.time("window");
    let (tolerance_percent, smoothing_percent) = (number("tolerance_percent"), number("smoothing_percent"));
    let queue_max = open.number("queue_max");
    let queue_time_ms = open.time("queue_time");
    let raw = Raw {
        min: min?,
        max: max?,
        window: Duration::from_millis(window_ms?),
        tolerance_percent: tolerance_percent?,
        smoothing_percent: smoothing_percent?,
        ..Raw::default()
    };
    let gradient = settled(open, Settings::new(&raw))?;
    Some(Concurrency::new(gradient, usize::try_from(queue_max?).unwrap_or(usize::MAX), queue_time_ms?))
}
