use super::address::network;
use crate::config::maintenance::Maintenance;
use crate::config::table::{Key, Kind, Open, Section};

const NETWORK: Kind = Kind::Text { what: "a network", example: "10.0.0.0/8" };

pub(super) static MAINTENANCE: Section = Section::new(
    "maintenance",
    "the `maintenance` section",
    "Closes a route for a while: everybody is answered with 503. Take the section out, and reload, to open it again.",
    &[
        Key::optional(
            "except",
            Kind::List { of: &NETWORK, one: true },
            "Networks of those who are let in all the same, by the client's address as in `access`.",
        )
        .aka(&["allow"]),
        Key::optional(
            "retry_after",
            Kind::Time { min_ms: 1_000, max_ms: 7 * 86_400_000, off: false },
            "When clients may come again. Whole seconds.",
        ),
    ],
);

pub(super) fn read_maintenance(open: &Open<'_>) -> Maintenance {
    let except = open.texts("except").into_iter().filter_map(|text| network(open.reader, text)).collect();
    let retry_after_s = open.time("retry_after").map(|ms| (ms / 1_000).to_string());
    Maintenance { except, retry_after_s }
}
