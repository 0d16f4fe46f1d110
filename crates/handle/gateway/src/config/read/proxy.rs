use leat_route::Host;

use super::mirror::{MIRROR, read_mirror};
use super::split::{SPLIT, read_split};
use super::upstream::Upstreams;
use crate::config::action::{Proxy, ProxyHost, Split};
use crate::config::table::{Key, Kind, Open, Section};

const TIME: Kind = Kind::Time { min_ms: 1, max_ms: 86_400_000, off: true };

/// Keys that `transcode` has as well.
pub(super) const HOST: Key = Key::default(
    "host",
    Kind::Text { what: "`keep`, `endpoint` or a host", example: "keep" },
    "keep",
    "Which host the upstream is asked for: `keep` is what the client asked for, `endpoint` the endpoint's own, anything else is sent as written.",
)
.aka(&["host_header", "preserve_host"]);

/// See [`HOST`].
pub(super) const RESPONSE_TIME: Key =
    Key::default("response_time", TIME, "60s", "From the end of the request to the response's head; 504 after it.")
        .aka(&["timeout", "read_timeout", "response_timeout"]);

/// See [`HOST`].
pub(super) const IDLE_TIME: Key = Key::default(
    "idle_time",
    TIME,
    "5m",
    "How long the upstream, or a tunnel (WebSocket), may neither send nor take a byte; also a client that the exchange waits for.",
)
.aka(&["idle_timeout"]);

/// See [`HOST`].
pub(super) const TOTAL_TIME: Key =
    Key::default("total_time", TIME, "off", "The whole exchange.").aka(&["total_timeout"]);

static ONE_SPLIT: Kind = Kind::Section(&SPLIT);

/// See [`HOST`].
pub(super) const SPLITS: Key = Key::optional(
    "split",
    Kind::List { of: &ONE_SPLIT, one: true },
    "Requests that go to another upstream, by chance, header or cookie.",
)
.aka(&["canary", "splits", "weighted"]);

/// See [`HOST`].
pub(super) const MIRRORED: Key = Key::optional(
    "mirror",
    Kind::Section(&MIRROR),
    "Copies of the requests that go to another upstream as well, whose answers nobody waits for.",
)
.aka(&["shadow", "request_mirror_policies", "tee"]);

pub(super) static PROXY: Section = Section::new(
    "proxy",
    "the `proxy` section",
    "Passes requests on to an upstream.",
    &[
        Key::required(
            "upstream",
            Kind::Text { what: "the name of an upstream, or a URL", example: "http://127.0.0.1:3000" },
            "The name of an upstream, or the URL of a single endpoint with the defaults of one.",
        )
        .aka(&["to", "url", "target", "pass", "proxy_pass"]),
        HOST,
        RESPONSE_TIME,
        IDLE_TIME,
        SPLITS,
        MIRRORED,
        TOTAL_TIME,
    ],
)
.shorthand("upstream");

pub(super) fn read_proxy(open: &Open<'_>, upstreams: &mut Upstreams) -> Option<Proxy> {
    let upstream = open.text("upstream").and_then(|text| upstreams.find(open.reader, text));
    let splits = open.sections("split");
    // All are read before one that is wrong counts: each has mistakes of its own to tell.
    let splits: Vec<Option<Split>> = splits.iter().map(|section| read_split(section, upstreams)).collect();
    let splits: Option<Vec<Split>> = splits.into_iter().collect();
    let mirror = open.section_if("mirror").map(|section| read_mirror(&section, upstreams));
    let host = open.text("host").and_then(|text| match text.value {
        "keep" => Some(ProxyHost::Keep),
        "endpoint" => Some(ProxyHost::Endpoint),
        name => {
            let bare = match name.rsplit_once(':') {
                Some((bare, port)) if port.parse::<u16>().is_ok() => bare,
                _ => name,
            };
            if let Ok(Host::Exact(_)) = Host::parse(bare) {
                return Some(ProxyHost::Literal(name.to_owned()));
            }
            open.reader.problem_help(
                text.place,
                format!("`host` must be `keep`, `endpoint` or a host with an optional port, found `{name}`"),
                "write for example `host: app.internal`",
            );
            None
        }
    });
    let response_time_ms = open.time("response_time");
    let idle_time_ms = open.time("idle_time");
    let total_time_ms = open.time("total_time");
    if let (Some(total), Some(response)) = (total_time_ms, response_time_ms)
        && open.place_of("response_time").is_some()
        && response > total
    {
        open.reader.warn(
            open.place_of("response_time").unwrap_or(open.place()),
            "`response_time` is longer than `total_time` and never counts",
            "make `total_time` the longer one",
        );
    }
    // The inner `None` was reported where it was read.
    let mirror = match mirror {
        Some(mirror) => Some(mirror?),
        None => None,
    };
    Some(Proxy {
        upstream: upstream?,
        splits: splits?,
        mirror,
        host: host?,
        response_time_ms,
        idle_time_ms,
        total_time_ms,
        transcoder: None,
    })
}
