use super::balance::BALANCE;
use super::breaker::BREAKER;
use super::concurrency::CONCURRENCY;
use super::endpoint::{self, ENDPOINT, read_endpoint};
use super::file;
use super::health::HEALTH;
use super::hedge::HEDGE;
use super::outliers::OUTLIERS;
use super::policies::{FAILURE_STATUSES, read_policies};
use super::retry::RETRY;
use super::route::upstream_or_route_name;
use crate::config::policies::{HealthKind, Policies};
use crate::config::problem::Place;
use crate::config::table::{Key, Kind, Open, Reader, Section, Text, nearest, shorten};
use crate::config::upstream::{ClientTls, Endpoint, Protocol, Upstream};
use crate::config::yaml::{Node, Value};

/// Endpoints of one upstream.
const ENDPOINTS_MAX: usize = 1_000;

const FILE: Kind = Kind::Text { what: "a file", example: "ca.pem" };
const TIME: Kind = Kind::Time { min_ms: 1, max_ms: 86_400_000, off: false };

static CLIENT_TLS: Section = Section::new(
    "upstream_tls",
    "the `tls` section of an upstream",
    "TLS towards the endpoints whose URL asks for it. Certificates are always verified.",
    &[
        Key::optional("ca", FILE, "Authorities to trust instead of the public ones, PEM."),
        Key::optional(
            "server_name",
            Kind::Text { what: "a host", example: "app.internal" },
            "The name to ask for and to verify instead of the endpoint's host.",
        )
        .aka(&["sni"]),
    ],
);

pub(super) static UPSTREAM: Section = Section::new(
    "upstream",
    "an upstream",
    "Servers that answer the same requests, and how to talk to them. Connections are kept per core and endpoint.",
    &[
        Key::required(
            "endpoints",
            Kind::List { of: &Kind::Section(&ENDPOINT), one: true },
            "The servers, at least one.",
        )
        .aka(&["servers", "urls", "url", "endpoint", "targets"]),
        Key::default(
            "connections_max",
            Kind::Number { min: 1, max: 100_000 },
            "256",
            "HTTP/1.1 connections to one endpoint, of one core. Requests above it wait.",
        )
        .aka(&["max_connections", "pool_size"]),
        Key::default(
            "h2_connections_max",
            Kind::Number { min: 1, max: 1_000 },
            "4",
            "HTTP/2 connections to one endpoint, of one core.",
        ),
        Key::default(
            "h2_streams_max",
            Kind::Number { min: 1, max: 10_000 },
            "256",
            "Requests under way on one HTTP/2 connection, also where the endpoint would allow more.",
        ),
        Key::default(
            "queue_max",
            Kind::Number { min: 0, max: 1_000_000 },
            "1024",
            "Requests of one core that wait for a connection to one endpoint. Above it another endpoint is asked, and 503 is the answer where there is none.",
        ),
        Key::default("queue_time", TIME, "5s", "How long a request waits for a connection; 503 after it."),
        Key::default(
            "idle_time",
            TIME,
            "55s",
            "How long a connection without a request is kept; less where the endpoint announces less (`Keep-Alive: timeout`).",
        )
        .aka(&["keepalive_timeout", "keep_alive"]),
        Key::default(
            "connect_time",
            TIME,
            "5s",
            "How long connecting may take, name resolution and TLS included; 504 after it.",
        )
        .aka(&["connect_timeout", "timeout"]),
        Key::default(
            "response_head_bytes_max",
            Kind::Size { min: 1024, max: 16 << 20 },
            "64KiB",
            "The longest response head; 502 above it.",
        ),
        Key::default(
            "response_fields_max",
            Kind::Number { min: 1, max: 10_000 },
            "200",
            "Fields in one response head; 502 above it.",
        ),
        Key::optional("tls", Kind::Section(&CLIENT_TLS), "TLS towards the endpoints.").aka(&["ssl"]),
        Key::optional("balance", Kind::Section(&BALANCE), "Which endpoint gets a request. Without it: in turns.")
            .aka(&["lb", "lb_policy", "load_balancing", "strategy", "policy"]),
        Key::optional(
            "outliers",
            Kind::Section(&OUTLIERS),
            "Puts endpoints aside that fail several times in a row. Without it: none; `outliers: {}` for the defaults.",
        )
        .aka(&["outlier_detection", "passive_health", "max_fails"]),
        Key::optional(
            "breaker",
            Kind::Section(&BREAKER),
            "Stops sending where too much fails, and tries again a little later. Without it: never; `breaker: {}` for the defaults.",
        )
        .aka(&["circuit_breaker"]),
        Key::optional(
            "retry",
            Kind::Section(&RETRY),
            "Which failures are tried again, how often and after which wait. Without it: only what surely did nothing; `retry: {}` for the defaults.",
        )
        .aka(&["retries", "proxy_next_upstream"]),
        Key::optional(
            "health",
            Kind::Section(&HEALTH),
            "Asks every endpoint whether it is well. Without it: never; `health: /healthz` for the defaults.",
        )
        .aka(&["health_check", "healthcheck", "active_health", "check"]),
        Key::optional(
            "concurrency",
            Kind::Section(&CONCURRENCY),
            "Limits what is under way at once, by a limit that follows the upstream's latency. Without it: as many as there are connections; `concurrency: {}` for the defaults.",
        )
        .aka(&["adaptive_concurrency", "max_concurrency", "concurrency_limit"]),
        Key::optional(
            "hedge",
            Kind::Section(&HEDGE),
            "Sends a request to a second endpoint when the first takes long, and takes the first answer. Needs `retry`. Without it: never; `hedge: {}` for the defaults.",
        )
        .aka(&["hedging", "hedge_policy", "speculative"]),
        FAILURE_STATUSES,
    ],
)
.shorthand("endpoints");

/// The upstreams of a configuration while its routes are read.
pub(super) struct Upstreams {
    list: Vec<Named>,
}

struct Named {
    name: String,
    place: Place,
    used: bool,
    /// Whether a route gives it by URL.
    inline: bool,
    /// `None` if it is wrong; routes that name it are fine all the same.
    upstream: Option<Upstream>,
}

impl Upstreams {
    pub(super) fn read(open: &Open<'_>) -> Self {
        let mut list = Vec::new();
        for (pair, section) in open.section_pairs("upstreams") {
            let name = upstream_or_route_name(&pair.key);
            if name.is_none() {
                open.reader.problem_help(
                    pair.place,
                    format!("the upstream name `{}` is not letters, digits, `-`, `_` and `.`", shorten(&pair.key)),
                    "write for example `users:`",
                );
            }
            let upstream = read_upstream(&section, &pair.key, pair.place);
            list.push(Named { name: pair.key.clone(), place: pair.place, used: false, inline: false, upstream });
        }
        Self { list }
    }

    /// The index of what a route names: an upstream, or a URL that becomes one.
    pub(super) fn find(&mut self, reader: &Reader, text: Text<'_>) -> Option<usize> {
        if endpoint::is_url(text.value) {
            return self.find_url(reader, text);
        }
        let known = |named: &Named| named.name == text.value && !named.inline;
        if let Some((index, named)) = self.list.iter_mut().enumerate().find(|(_, named)| known(named)) {
            named.used = true;
            return Some(index);
        }
        let names: Vec<String> =
            self.list.iter().filter(|named| !named.inline).map(|named| named.name.clone()).collect();
        let names = || names.iter().map(String::as_str);
        let help = match nearest(text.value, names()) {
            Some(name) => {
                // Most likely meant: saying that nobody uses it would be noise.
                self.list.iter_mut().filter(|named| named.name == name).for_each(|named| named.used = true);
                format!("write `{name}`")
            }
            None if names().next().is_none() => {
                format!("add `upstreams: {{ {}: \"http://127.0.0.1:3000\" }}`, or write a URL", text.value)
            }
            None => format!("known are {}", crate::config::table::quoted(names())),
        };
        reader.problem_help(text.place, format!("unknown upstream `{}`", text.value), help);
        None
    }

    fn find_url(&mut self, reader: &Reader, text: Text<'_>) -> Option<usize> {
        let endpoint = endpoint::parse(reader, text)?;
        let held = self.list.iter().position(|named| named.inline && named.name == endpoint.url);
        if held.is_some() {
            return held;
        }
        // The same defaults as for one that is written out.
        let node = Node {
            place: text.place,
            value: Value::Map(vec![crate::config::yaml::Pair {
                key: "endpoints".to_owned(),
                place: text.place,
                value: Node { place: text.place, value: Value::Quoted(text.value.to_owned()) },
            }]),
        };
        let upstream = read_upstream(&Open::new(reader, &UPSTREAM, &node), &endpoint.url, text.place);
        self.list.push(Named { name: endpoint.url, place: text.place, used: true, inline: true, upstream });
        Some(self.list.len() - 1)
    }

    /// The URL of an endpoint of this upstream that does not speak HTTP/2.
    pub(super) fn without_http2(&self, number: usize) -> Option<&str> {
        let upstream = self.list.get(number)?.upstream.as_ref()?;
        let endpoint = upstream.endpoints().iter().find(|endpoint| endpoint.protocol() != Protocol::Http2)?;
        Some(endpoint.url())
    }

    pub(super) fn warn_unused(&self, open: &Open<'_>) {
        for named in self.list.iter().filter(|named| !named.used) {
            open.reader.warn(
                named.place,
                format!("no route uses the upstream `{}`", named.name),
                "remove it, or name it in the `proxy` of a route",
            );
        }
    }

    /// The upstreams, if every one is fine.
    pub(super) fn finish(self) -> Option<Vec<Upstream>> {
        self.list.into_iter().map(|named| named.upstream).collect()
    }
}

fn read_upstream(open: &Open<'_>, name: &str, place: Place) -> Option<Upstream> {
    let endpoints = read_endpoints(open);
    let number = |name: &str| open.number(name).map(|number| number as usize);
    let connections_max = number("connections_max");
    let h2_connections_max = number("h2_connections_max");
    let h2_streams_max = number("h2_streams_max");
    let response_fields_max = number("response_fields_max");
    let queue_max = number("queue_max");
    let queue_time_ms = open.time("queue_time");
    let idle_time_ms = open.time("idle_time");
    let connect_time_ms = open.time("connect_time");
    let response_head_bytes_max = usize::try_from(open.size("response_head_bytes_max")).unwrap_or(usize::MAX);
    let section = open.section("tls");
    let tls = read_tls(&section);
    let policies = read_policies(open);
    let endpoints = endpoints?;
    if section.is_present() && !endpoints.iter().any(Endpoint::is_tls) {
        open.reader.warn(
            open.place_of("tls").unwrap_or(place),
            format!("`tls` does nothing: no endpoint of `{name}` uses it"),
            "write `https://…` or `h2://…` as the endpoint's URL, or remove `tls`",
        );
    }
    check_health(open, policies.as_ref()?, &endpoints);
    Some(Upstream {
        name: name.to_owned(),
        endpoints,
        connections_max: connections_max?,
        h2_connections_max: h2_connections_max?,
        h2_streams_max: h2_streams_max?,
        queue_max: queue_max?,
        queue_time_ms: queue_time_ms?,
        idle_time_ms: idle_time_ms?,
        connect_time_ms: connect_time_ms?,
        response_head_bytes_max,
        response_fields_max: response_fields_max?,
        tls,
        policies: policies?,
        place,
    })
}

/// gRPC is spoken over HTTP/2 alone.
fn check_health(open: &Open<'_>, policies: &Policies, endpoints: &[Endpoint]) {
    let is_grpc = policies.health().is_some_and(|health| matches!(health.kind(), HealthKind::Grpc { .. }));
    if let Some(endpoint) = endpoints.iter().find(|endpoint| is_grpc && endpoint.protocol() != Protocol::Http2) {
        open.reader.problem_help(
            endpoint.place,
            format!("the endpoint `{}` does not speak HTTP/2, which a `grpc` health check needs", endpoint.url),
            "write `h2c://…` or `h2://…`, or `check: tcp`",
        );
    }
}

fn read_endpoints(open: &Open<'_>) -> Option<Vec<Endpoint>> {
    let sections = open.sections("endpoints");
    let mut endpoints: Vec<Endpoint> = Vec::new();
    let mut complete = true;
    for section in &sections {
        let Some(endpoint) = read_endpoint(section) else {
            complete = false;
            continue;
        };
        let same = |held: &&Endpoint| held.address == endpoint.address && held.protocol == endpoint.protocol;
        if let Some(first) = endpoints.iter().find(same) {
            open.reader.problem_help(
                endpoint.place,
                format!("the endpoint `{}` stands twice, first at {}", endpoint.url, first.place),
                "keep one of them; use `weight` to send it more requests",
            );
        }
        endpoints.push(endpoint);
    }
    if let Some(place) = open.place_of("endpoints") {
        if sections.is_empty() {
            open.reader.problem_help(place, "`endpoints` is empty", "add `- http://127.0.0.1:3000`");
        } else if sections.len() > ENDPOINTS_MAX {
            open.reader.problem_help(
                place,
                format!("more than {ENDPOINTS_MAX} endpoints"),
                "use a DNS name that has many addresses",
            );
        }
    }
    (complete && !endpoints.is_empty()).then_some(endpoints)
}

fn read_tls(open: &Open<'_>) -> ClientTls {
    let ca = open.text("ca").and_then(|text| file::pem(open.reader, text, "CERTIFICATE", "certificate"));
    let server_name = open.text("server_name").and_then(|text| match leat_route::Host::parse(text.value) {
        Ok(leat_route::Host::Exact(name)) => Some(name),
        _ => {
            open.reader.problem_help(
                text.place,
                format!("`server_name` is not a host name: `{}`", text.value.escape_debug()),
                "write for example `app.internal`",
            );
            None
        }
    });
    ClientTls { ca, server_name }
}
