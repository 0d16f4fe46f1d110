use super::upstream::Upstreams;
use crate::config::mirror::Mirror;
use crate::config::table::{Key, Kind, Open, Section};

pub(super) static MIRROR: Section = Section::new(
    "mirror",
    "the `mirror` section",
    "Sends copies of the requests to another upstream too, such as a new version. Its answers are read and dropped, and the client's request neither waits for it nor fails with it. A copy has the field `x-mirrored: 1`, and what else the upstream of the route gets, credentials too. Never copied: what is itself a copy, tunnels, trailers.",
    &[
        Key::required(
            "upstream",
            Kind::Text { what: "the name of an upstream, or a URL", example: "next" },
            "Where the copies go.",
        )
        .aka(&["to", "url"]),
        Key::default("percent", Kind::Number { min: 0, max: 100 }, "100", "Copies this part of the requests, each by chance.")
            .aka(&["fraction", "sample"]),
        Key::default(
            "unsafe_methods",
            Kind::Flag,
            "false",
            "Also methods that may change something: anything but GET, HEAD, OPTIONS and TRACE. What the copy changes is then changed twice, unless its upstream has data of its own.",
        ),
        Key::default(
            "body_bytes_max",
            Kind::Size { min: 0, max: 16 << 20 },
            "64KiB",
            "The longest body that is copied; requests with a longer one are not, and are counted as `large`.",
        ),
        Key::default(
            "response_bytes_max",
            Kind::Size { min: 0, max: 1 << 30 },
            "1MiB",
            "How much of an answer's body is read; a longer one is cut off.",
        ),
        Key::default(
            "in_flight_max",
            Kind::Number { min: 1, max: 100_000 },
            "100",
            "Copies under way at once, of all cores and of all routes that copy to the upstream; those above it are dropped.",
        )
        .aka(&["budget", "concurrency", "max"]),
        Key::default(
            "total_time",
            Kind::Time { min_ms: 1, max_ms: 86_400_000, off: false },
            "10s",
            "How long a copy may take, to the end of its answer.",
        )
        .aka(&["timeout"]),
    ],
)
.shorthand("upstream");

pub(super) fn read_mirror(open: &Open<'_>, upstreams: &mut Upstreams) -> Option<Mirror> {
    let upstream = open.text("upstream").and_then(|text| upstreams.find(open.reader, text));
    let percent = open.number("percent");
    let unsafe_methods = open.flag("unsafe_methods");
    let body_bytes_max = usize::try_from(open.size("body_bytes_max")).unwrap_or(usize::MAX);
    let response_bytes_max = open.size("response_bytes_max");
    let in_flight_max = open.number("in_flight_max");
    let total_time_ms = open.time("total_time");
    Some(Mirror {
        upstream: upstream?,
        percent: u32::try_from(percent?).ok()?,
        unsafe_methods,
        body_bytes_max,
        response_bytes_max,
        in_flight_max: u32::try_from(in_flight_max?).ok()?,
        total_time_ms: total_time_ms?,
    })
}
