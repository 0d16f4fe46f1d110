use std::num::NonZeroUsize;

use leat_message::Profile;

use super::admin::{ADMIN, read_admin};
use super::auth::{AUTH_SCHEME, Schemes};
use super::forwarded::{FORWARDED, read_forwarded};
use super::limits::{LIMITS, read_limits};
use super::listener::{LISTENER, read_listener};
use super::log::{ACCESS_LOG, LOG_LEVELS, read_access_log, read_log_level};
use super::observation::{OTLP, SERVER_TIMING, TRACING, read_observation};
use super::plugin::{PLUGIN, PLUGIN_LIMITS, PluginSets};
use super::rate_limit::{RATE_LIMIT, RateLimits};
use super::redis::{REDIS, Servers};
use super::route::{ROUTE, Routes};
use super::upstream::{UPSTREAM, Upstreams};
use crate::config::admin::Admin;
use crate::config::model::{Bind, Config, Drain, Listener, OnError, Workers};
use crate::config::problem::Place;
use crate::config::table::{Key, Kind, Open, Section};

const ON_ERROR: &[(&str, &str)] = &[
    ("close", "the connection of the exchange closes"),
    ("continue", "the error is logged and the connection goes on"),
    ("crash", "the process ends, for a supervisor to start it again"),
];

static DRAIN: Section = Section::new(
    "drain",
    "the `drain` section",
    "How the process shuts down.",
    &[
        Key::default(
            "grace",
            Kind::Time { min_ms: 0, max_ms: 600_000, off: false },
            "1s",
            "How long idle connections stay open after the signal, so that no request already under way is lost.",
        ),
        Key::default(
            "deadline",
            Kind::Time { min_ms: 0, max_ms: 86_400_000, off: false },
            "30s",
            "When whatever still runs is cut off, counted from the signal.",
        )
        .aka(&["timeout", "time"]),
    ],
);

pub(in crate::config) static ROOT: Section = Section::new(
    "config",
    "the configuration",
    "The file as a whole. Keys that start with `x-` are ignored: a place for YAML anchors.",
    &[
        Key::optional(
            "listeners",
            Kind::List { of: &Kind::Section(&LISTENER), one: true },
            "Where connections are accepted. Without it: `127.0.0.1:8080`.",
        )
        .aka(&["listen", "server", "servers", "bind", "port"]),
        Key::default(
            "workers",
            Kind::NumberOr { min: 1, max: 512, word: "auto" },
            "auto",
            "How many cores to use, one thread each; `auto` is all that the process may use.",
        )
        .aka(&["threads", "worker_processes"]),
        Key::optional("admin", Kind::Section(&ADMIN), "Metrics and health. Without it they are not served."),
        Key::optional("access_log", Kind::Section(&ACCESS_LOG), "Where a line for every request goes.").aka(&["log"]),
        Key::default(
            "log_level",
            Kind::Choice(LOG_LEVELS),
            "info",
            "Which events the process tells of on standard error. The access log is another one.",
        ),
        Key::optional("tracing", Kind::Section(&TRACING), "Distributed traces.").aka(&["trace", "opentelemetry"]),
        Key::optional("otlp", Kind::Section(&OTLP), "Where spans and metrics are sent.").aka(&["otel", "telemetry"]),
        Key::optional("server_timing", Kind::Section(&SERVER_TIMING), "Who is told where the time of a request went."),
        Key::optional("limits", Kind::Section(&LIMITS), "Limits of the inbound side; nothing is unbounded."),
        Key::optional(
            "forwarded",
            Kind::Section(&FORWARDED),
            "What upstreams are told about the client, and what is believed of what clients tell.",
        ),
        Key::default("on_error", Kind::Choice(ON_ERROR), "close", "What follows an error that escapes an exchange."),
        Key::optional("drain", Kind::Section(&DRAIN), "How the process shuts down.").aka(&["shutdown"]),
        Key::optional(
            "routes",
            Kind::List { of: &Kind::Section(&ROUTE), one: false },
            "Which requests are answered, and how. The most specific route wins; the order counts only between equals.",
        )
        .aka(&["locations", "paths"]),
        Key::optional(
            "upstreams",
            Kind::Map { key: "names", of: &Kind::Section(&UPSTREAM) },
            "The servers that routes pass requests on to, by name.",
        )
        .aka(&["backends", "services", "clusters"]),
        Key::optional(
            "rate_limits",
            Kind::Map { key: "names", of: &Kind::Section(&RATE_LIMIT) },
            "How many requests may come in which time, by name. Routes say which of them count their requests.",
        )
        .aka(&["rate_limit", "ratelimit", "limit_req_zone", "throttle"]),
        Key::optional(
            "redis",
            Kind::Map { key: "names", of: &Kind::Section(&REDIS) },
            "Redis or Valkey servers that rate limits are counted in, by name.",
        )
        .aka(&["valkey"]),
        Key::optional(
            "auth",
            Kind::Map { key: "names", of: &Kind::Section(&AUTH_SCHEME) },
            "Ways to find out who a request is from, by name; routes name them.",
        )
        .aka(&["authentication"]),
        Key::optional(
            "plugins",
            Kind::Map { key: "names", of: &Kind::Section(&PLUGIN) },
            "JavaScript that sees requests and responses of the routes that name it.",
        )
        .aka(&["middleware", "middlewares", "scripts"]),
        Key::optional("plugin_limits", Kind::Section(&PLUGIN_LIMITS), "What plug-ins may use."),
    ],
)
.extensible();

/// Reads a whole configuration; `None` if there is a problem.
pub(in crate::config) fn read(open: &Open<'_>) -> Option<Config> {
    let listeners = read_listeners(open);
    let admin = open.section_if("admin").and_then(|section| read_admin(&section));
    check_addresses(open, &listeners, admin.as_ref());
    let workers = match open.number("workers").and_then(|count| NonZeroUsize::new(count as usize)) {
        Some(count) => Workers::Count(count),
        None => Workers::Auto,
    };
    let log_level = read_log_level(open);
    let observation = read_observation(open);
    let limits = read_limits(&open.section("limits"));
    let forwarded = read_forwarded(&open.section("forwarded"));
    let on_error = open
        .choice("on_error", &[("close", OnError::Close), ("continue", OnError::Continue), ("crash", OnError::Crash)]);
    let drain = read_drain(&open.section("drain"));
    let mut upstreams = Upstreams::read(open);
    let mut servers = Servers::read(open);
    let mut rate_limits = RateLimits::read(open, &mut servers);
    servers.warn_unused(open);
    let mut schemes = Schemes::read(open);
    let access_log = read_access_log(&open.section("access_log"), &schemes);
    let mut plugins = PluginSets::read(open);
    let routes = Routes::read(open, &limits, &mut upstreams, &mut rate_limits, &mut schemes, &mut plugins);
    rate_limits.warn_unused(open);
    schemes.warn_unused(open);
    schemes.check_certificates(open, &listeners);
    // A plug-in may send requests to any of them.
    if plugins.is_empty() {
        upstreams.warn_unused(open);
    }
    plugins.warn_unused(open);
    let (routes, table) = routes?;
    if routes.is_empty() {
        open.reader.warn(
            open.place_of("routes").unwrap_or_else(|| open.place()),
            "there are no routes: every request will be answered with 404",
            "add `routes:`, for example `- proxy: http://127.0.0.1:3000`",
        );
    }
    let config = Config {
        listeners,
        workers,
        admin: admin.map(|(admin, _)| admin),
        log_level: log_level?,
        source: None,
        access_log: access_log?,
        limits,
        forwarded: forwarded?,
        on_error: on_error?,
        drain,
        routes,
        table,
        upstreams: upstreams.finish()?,
        rate_limits: rate_limits.finish()?,
        auth: schemes.finish()?,
        plugins: plugins.finish()?,
        observation: observation?,
    };
    (!open.reader.has_problems()).then_some(config)
}

fn read_listeners(open: &Open<'_>) -> Vec<Listener> {
    let sections = open.sections("listeners");
    if sections.is_empty() {
        // A section without a line has its defaults.
        if let Some(place) = open.empty_list("listeners").filter(|_| !open.is_left_empty("listeners")) {
            open.reader.problem_help(place, "`listeners` is empty", "leave it out to listen on `127.0.0.1:8080`");
        }
        let address = Bind::Tcp(([127, 0, 0, 1], 8080).into());
        let place = open.place();
        return vec![Listener {
            address,
            http2: true,
            tls: None,
            proxy_protocol: None,
            profile: Profile::Compatible,
            place,
        }];
    }
    sections.iter().filter_map(read_listener).collect()
}

/// Two listeners on one address, or the admin address on one of theirs.
fn check_addresses(open: &Open<'_>, listeners: &[Listener], admin: Option<&(Admin, Place)>) {
    let any_port = |bind: &Bind| matches!(bind, Bind::Tcp(address) if address.port() == 0);
    let mut seen: Vec<(&Bind, Place)> = Vec::new();
    let listed = listeners.iter().map(|listener| (listener.address(), listener.place()));
    for (bind, place) in listed.chain(admin.map(|(admin, place)| (admin.bind(), *place))) {
        match seen.iter().find(|(other, _)| *other == bind && !any_port(bind)) {
            Some((_, first)) => open.reader.problem_help(
                place,
                format!("the address `{bind}` is already used at {first}"),
                "give each listener, and `admin`, an address of its own",
            ),
            None => seen.push((bind, place)),
        }
    }
}

fn read_drain(open: &Open<'_>) -> Drain {
    let grace_ms = open.time("grace").unwrap_or_default();
    let deadline_ms = open.time("deadline").unwrap_or_default();
    if grace_ms > deadline_ms {
        open.reader.problem_help(
            open.place_of("grace").unwrap_or(open.place()),
            "`grace` is longer than `deadline`",
            "idle connections close after `grace`, everything else by `deadline`: make `deadline` the longer one",
        );
    }
    Drain { grace_ms, deadline_ms }
}
