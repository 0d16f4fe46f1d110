use std::time::Duration;

use leat_policy::balance::OutlierSettings;

use super::policies::settled;
use crate::config::table::{Key, Kind, Open, Section};

const TIME: Kind = Kind::Time { min_ms: 1, max_ms: 86_400_000, off: false };

pub(super) static OUTLIERS: Section = Section::new(
    "outliers",
    "the `outliers` section",
    "Puts an endpoint aside that fails several times in a row, on all cores together. A failure is no answer, a bad answer, or one of `failure_statuses`.",
    &[
        Key::default(
            "failures",
            Kind::Number { min: 1, max: 1_000_000 },
            "5",
            "So many failures in a row put it aside.",
        )
        .aka(&["consecutive_failures", "consecutive_5xx", "max_fails"]),
        Key::default(
            "ejection",
            TIME,
            "10s",
            "For how long at first; twice as long the second time in a row, three times the third.",
        )
        .aka(&["base_ejection_time", "fail_timeout"]),
        Key::default("ejection_max", TIME, "5m", "The longest time aside.").aka(&["max_ejection_time"]),
        Key::default(
            "ejected_max_percent",
            Kind::Number { min: 0, max: 100 },
            "50",
            "At most this part of the endpoints is aside at once, rounded down: where most fail, the rest would drown. A single endpoint is put aside with 100 only, and is used all the same.",
        )
        .aka(&["max_ejection_percent"]),
    ],
);

pub(super) fn read_outliers(open: &Open<'_>) -> Option<OutlierSettings> {
    let failures = open.number("failures");
    let ejection_ms = open.time("ejection");
    let ejection_max_ms = open.time("ejection_max");
    let percent = open.number("ejected_max_percent");
    let part = percent? as f64 / 100.0;
    let (ejection, longest) = (Duration::from_millis(ejection_ms?), Duration::from_millis(ejection_max_ms?));
    settled(open, OutlierSettings::new(failures? as u32, ejection, longest, part))
}
