use leat_message::Name;

use super::address::network;
use super::auth::{secret, url};
use super::share::{SHARE, read_share};
use super::{edits, file};
use crate::config::model::Network;
use crate::config::observation::{Hidden, Observation, Otlp, ServerTiming, Tracing};
use crate::config::table::{Group, Key, Kind, Open, Section, Text, shorten};

const NETWORK: Kind = Kind::Text { what: "a network", example: "10.0.0.0/8" };
/// Fields that an exporter sends with each message.
const HEADERS_MAX: usize = 16;

pub(super) static TRACING: Section = Section::new(
    "tracing",
    "the `tracing` section",
    "Distributed traces (W3C Trace Context): every request belongs to one, its id is in the access log, and upstreams get `traceparent`. Without this section the fields of clients pass as they are.",
    &[
        Key::optional(
            "trust",
            Kind::List { of: &NETWORK, one: true },
            "Networks of peers whose `traceparent` and `tracestate` are believed, also as to whether the trace is recorded. Those of everybody else are removed, and a new trace begins.",
        )
        .aka(&["trusted", "trust_incoming"]),
        Key::default(
            "sample",
            SHARE,
            "1%",
            "Which share of the traces that begin here is recorded. Those of trusted peers are recorded when they say so.",
        )
        .aka(&["ratio", "sampling", "sample_rate"]),
    ],
);

static SECRET: Section = Section::new(
    "otlp_header",
    "the value of a header",
    "A secret: it is never shown.",
    &[
        Key::optional("file", Kind::Text { what: "a file", example: "otlp.token" }, "A file with the value."),
        Key::optional(
            "env",
            Kind::Text { what: "a variable", example: "OTLP_TOKEN" },
            "A variable of the environment with the value.",
        ),
    ],
)
.shorthand("file")
.groups(&[Group { keys: &["file", "env"], required: true }]);

pub(super) static OTLP: Section = Section::new(
    "otlp",
    "the `otlp` section",
    "A collector that spans and metrics are sent to: OTLP 1.x over HTTP, as protobuf. No request waits for it; what it does not take is dropped and counted.",
    &[
        Key::required(
            "url",
            Kind::Text { what: "a URL", example: "http://127.0.0.1:4318" },
            "Where it is; `/v1/traces` and `/v1/metrics` are put behind it.",
        )
        .aka(&["endpoint"]),
        Key::optional(
            "ca",
            Kind::Text { what: "a file", example: "ca.pem" },
            "Authorities to trust instead of the public ones, PEM.",
        ),
        Key::optional(
            "headers",
            Kind::Map { key: "field names", of: &Kind::Section(&SECRET) },
            "Fields to send with every message, such as `authorization`; their values are secrets.",
        ),
        Key::default(
            "service",
            Kind::Text { what: "a name", example: "leat" },
            "leat",
            "The `service.name` of this gateway.",
        )
        .aka(&["service_name"]),
        Key::default("gzip", Kind::Flag, "true", "Whether messages are compressed.").aka(&["compression"]),
        Key::default(
            "time",
            Kind::Time { min_ms: 10, max_ms: 60_000, off: false },
            "10s",
            "How long an answer may take.",
        )
        .aka(&["timeout"]),
        Key::default("traces", Kind::Flag, "true", "Whether spans are sent; needs `tracing`."),
        Key::default(
            "metrics",
            Kind::Time { min_ms: 100, max_ms: 3_600_000, off: true },
            "60s",
            "How often metrics are sent, as sums since the start; `off` for never.",
        )
        .aka(&["metrics_interval", "interval"]),
    ],
)
.shorthand("url");

const WHEN: &[(&str, &str)] = &[("on_request", "where the request has `field`"), ("always", "always")];

pub(super) static SERVER_TIMING: Section = Section::new(
    "server_timing",
    "the `server_timing` section",
    "Tells clients in `Server-Timing` where the time of a request that went upstream has gone, up to the head of the response: `route`, `auth`, `limit`, `plugin`, `connect`, `upstream` and `total`. Without this section nobody is told.",
    &[
        Key::required(
            "allow",
            Kind::List { of: &NETWORK, one: true },
            "Networks of the clients that may know: times tell what a service does with a secret.",
        ),
        Key::default("when", Kind::Choice(WHEN), "on_request", "When they are told."),
        Key::default(
            "field",
            Kind::Text { what: "a field name", example: "x-server-timing" },
            "x-server-timing",
            "The field with which a request asks; upstreams get it too.",
        )
        .aka(&["header"]),
    ],
)
.shorthand("allow");

pub(super) fn read_observation(open: &Open<'_>) -> Option<Observation> {
    let traced = open.section_if("tracing");
    let tracing = traced.as_ref().map(read_tracing);
    let otlp = open.section_if("otlp").map(|section| {
        let otlp = read_otlp(&section);
        if section.place_of("traces").is_some() && traced.is_none() && otlp.as_ref().is_some_and(Otlp::traces) {
            section.reader.warn(section.place(), "no spans are made without `tracing`", "add `tracing: {}`");
        }
        otlp
    });
    let server_timing = open.section_if("server_timing").map(|section| read_server_timing(&section));
    Some(Observation {
        tracing: tracing.map_or(Some(None), |read| read.map(Some))?,
        otlp: otlp.map_or(Some(None), |read| read.map(Some))?,
        server_timing: server_timing.map_or(Some(None), |read| read.map(Some))?,
    })
}

fn networks(open: &Open<'_>, key: &str) -> Vec<Network> {
    open.texts(key).into_iter().filter_map(|text| network(open.reader, text)).collect()
}

fn read_tracing(open: &Open<'_>) -> Option<Tracing> {
    let trust = networks(open, "trust");
    Some(Tracing { trust, sample: read_share(open, "sample")? })
}

fn read_otlp(open: &Open<'_>) -> Option<Otlp> {
    let url = open.text("url").and_then(|text| url::read(open, text));
    let ca = open.text("ca").and_then(|text| file::pem(open.reader, text, "CERTIFICATE", "certificate"));
    let headers = read_headers(open);
    let service = open.text("service").and_then(|text| read_service(open, text));
    let gzip = open.flag("gzip");
    let time_ms = open.time("time");
    let traces = open.flag("traces");
    let metrics_ms = open.time("metrics");
    let (endpoint, path) = url?;
    let path = path.trim_end_matches('/').to_owned();
    let (service, time_ms) = (service?, time_ms?);
    Some(Otlp { endpoint, path, ca, headers, service, gzip, time_ms, traces, metrics_ms })
}

fn read_headers(open: &Open<'_>) -> Vec<(String, Hidden)> {
    let mut headers = Vec::new();
    for (pair, section) in open.section_pairs("headers") {
        let text = Text { value: &pair.key, place: pair.place };
        let name = edits::editable(open.reader, text, edits::Way::Request);
        if matches!(Name::from_bytes(pair.key.as_bytes()), Name::ContentType | Name::ContentEncoding) {
            let message = format!("the field `{}` is that of the messages themselves", pair.key);
            open.reader.problem_help(pair.place, message, "leave it out");
        }
        let (from_file, from_env) = (section.text("file"), section.text("env"));
        let value = match (from_file, from_env) {
            // Without `file:` in front it may well be the value.
            (Some(text), _) if text.place == section.place() => secret::named_file(open.reader, text),
            (Some(text), _) => secret::secret_file(open.reader, text),
            (None, Some(text)) => secret::variable(open.reader, text),
            (None, None) => None,
        };
        let Some(value) = value else { continue };
        if value.is_empty() || value.iter().any(|byte| !matches!(byte, b' '..=b'~' | 0x80..)) {
            let message = format!("the value of `{}` is empty or has a control character in it", shorten(&pair.key));
            open.reader.problem_help(section.place(), message, "put the value on one line");
            continue;
        }
        if headers.len() == HEADERS_MAX {
            let message = format!("there are more than {HEADERS_MAX} headers");
            open.reader.problem_help(pair.place, message, "leave some out");
            break;
        }
        headers.extend(name.map(|name| (name, Hidden(value))));
    }
    headers
}

fn read_service(open: &Open<'_>, text: Text<'_>) -> Option<String> {
    if text.value.is_empty() || text.value.len() > 255 || text.value.chars().any(char::is_control) {
        open.reader.problem_help(text.place, "`service` is a name of 1 to 255 bytes", "write for example `leat`");
        return None;
    }
    Some(text.value.to_owned())
}

fn read_server_timing(open: &Open<'_>) -> Option<ServerTiming> {
    let allow = networks(open, "allow");
    let always = open.choice("when", &[("on_request", false), ("always", true)]);
    let field = open.text("field").and_then(|text| edits::name(open.reader, text));
    let (always, field) = (always?, field?);
    Some(ServerTiming { field: (!always).then_some(field), allow })
}
