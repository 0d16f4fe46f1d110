use crate::config::policies::{HealthCheck, HealthKind};
use crate::config::table::{Key, Kind, Open, Section};

const TIME: Kind = Kind::Time { min_ms: 20, max_ms: 86_400_000, off: false };
const COUNT: Kind = Kind::Number { min: 1, max: 1_000 };

const KINDS: &[(&str, &str)] = &[
    ("http", "a GET of `path`, answered with a status from 200 to 299"),
    ("tcp", "a connection, with TLS where the endpoint's URL says so"),
    ("grpc", "grpc.health.v1.Health/Check, answered with SERVING; the endpoint speaks HTTP/2"),
];

pub(super) static HEALTH: Section = Section::new(
    "health",
    "the `health` section",
    "Asks every endpoint whether it is well, over a connection of its own each time. One that fails gets no requests until it is well again; where all fail, requests are answered with 503 `upstream.unhealthy`. All count as well until they are found not to be.",
    &[
        Key::default("check", Kind::Choice(KINDS), "http", "What is asked.").aka(&["type", "kind", "protocol"]),
        Key::optional(
            "path",
            Kind::Text { what: "a path", example: "/healthz" },
            "The path that `http` asks for. Without it: `/`.",
        )
        .aka(&["uri", "url"]),
        Key::optional(
            "host",
            Kind::Text { what: "a host", example: "app.internal" },
            "The host that `http` and `grpc` ask for. Without it: the endpoint's own.",
        ),
        Key::optional(
            "service",
            Kind::Text { what: "a name", example: "shop.Orders" },
            "The service that `grpc` asks about. Without it: the server as a whole.",
        ),
        Key::default("interval", TIME, "10s", "From one check to the next.").aka(&["period", "every"]),
        Key::default(
            "jitter_percent",
            Kind::Number { min: 0, max: 50 },
            "10",
            "How far an interval may be from that at random, so that several gateways don't ask at once.",
        ),
        Key::default("time", TIME, "2s", "How long a check may take, connecting included.").aka(&["timeout"]),
        Key::default("failures", COUNT, "3", "So many failed checks in a row, and it is not well.")
            .aka(&["fall", "unhealthy_threshold"]),
        Key::default("successes", COUNT, "2", "So many good checks in a row, and it is well again.")
            .aka(&["rise", "healthy_threshold"]),
    ],
)
.shorthand("path");

pub(super) fn read_health(open: &Open<'_>) -> Option<HealthCheck> {
    let kind = open.choice("check", &[("http", By::Http), ("tcp", By::Tcp), ("grpc", By::Grpc)]);
    let (path, host, service) = (open.text("path"), open.text("host"), open.text("service"));
    let interval_ms = open.time("interval");
    let jitter_percent = open.number("jitter_percent");
    let time_ms = open.time("time");
    let (failures, successes) = (open.number("failures"), open.number("successes"));
    let kind = kind?;
    for (key, text, used) in
        [("path", path, kind == By::Http), ("host", host, kind != By::Tcp), ("service", service, kind == By::Grpc)]
    {
        if let (Some(text), false) = (text, used) {
            open.reader.warn(text.place, format!("`{key}` does nothing with this check"), "remove it");
        }
    }
    if let Some(path) = path
        && !(path.value.starts_with('/') && path.value.bytes().all(|b| b.is_ascii_graphic() && b != b'#'))
    {
        open.reader.problem_help(
            path.place,
            format!("`path` is not a path: `{}`", path.value.escape_debug()),
            "write for example `path: /healthz`",
        );
        return None;
    }
    for (key, text) in [("host", host), ("service", service)] {
        if let Some(text) = text
            && (text.value.is_empty()
                || !text.value.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:[]/".contains(&b)))
        {
            open.reader.problem_help(
                text.place,
                format!("`{key}` is not a name: `{}`", text.value.escape_debug()),
                format!("write for example `{key}: {}`", if key == "host" { "app.internal" } else { "shop.Orders" }),
            );
            return None;
        }
    }
    let owned = |text: Option<crate::config::table::Text<'_>>| text.map(|text| text.value.to_owned());
    Some(HealthCheck {
        kind: match kind {
            By::Http => HealthKind::Http { path: owned(path).unwrap_or_else(|| "/".to_owned()) },
            By::Tcp => HealthKind::Tcp,
            By::Grpc => HealthKind::Grpc { service: owned(service).unwrap_or_default() },
        },
        host: owned(host),
        interval_ms: interval_ms?,
        jitter_percent: jitter_percent? as u32,
        time_ms: time_ms?,
        failures: failures? as u32,
        successes: successes? as u32,
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Http,
    Tcp,
    Grpc,
}
