use std::time::Duration;

use leat_policy::SettingsError;
use leat_policy::limit::{Gcra, Leasing, Limit, SlidingWindow};
use leat_redis::Server;

use super::address;
use super::auth::read_claim;
use super::edits;
use super::redis::{Found, Servers};
use super::route::upstream_or_route_name;
use crate::config::problem::Place;
use crate::config::rate_limit::{KeyPart, ROUTE_LIMITS_MAX, RateLimit, RouteLimit, StoreError};
use crate::config::table::{Key, Kind, Open, Reader, Section, Text, nearest, quoted, shorten, units};

/// What a route knows of its clients, at best.
#[derive(Clone, Copy)]
pub(super) enum Known {
    /// Nobody is asked.
    Nothing,
    /// That they may come.
    Admitted,
    /// Who they are.
    Names,
    /// Who they are, and what their tokens say.
    Claims,
}

/// The highest rate, burst and cost: far above what a machine serves, and small enough to multiply.
const UNITS_MAX: u64 = 1 << 40;
/// The longest time that a rate may be given for: a year.
const PER_MS_MAX: u64 = 366 * 24 * 3_600_000;
/// Eighths of a microsecond in 8.9 years: with the time of today, a whole number of a double.
const REDIS_TICKS_MAX: u128 = 1 << 51;
/// Parts of one key.
const PARTS_MAX: usize = 8;

const ALGORITHMS: &[(&str, &str)] = &[
    ("gcra", "a burst that refills evenly (the generic cell rate algorithm, a token bucket)"),
    ("sliding_window", "so much in each window, where the window slides; `burst` has no place in it"),
];

const MODES: &[(&str, &str)] = &[
    ("exact", "Redis is asked about each request"),
    (
        "leased",
        "each gateway takes units that it may spend for up to half a second without asking; part of the burst is held back for that, so that no more than the limit passes",
    ),
];

const ON_ERROR: &[(&str, &str)] = &[
    ("local", "they are counted in this process alone"),
    ("open", "they pass"),
    ("closed", "they are answered with 503"),
];

pub(super) static RATE_LIMIT: Section = Section::new(
    "rate_limit",
    "a rate limit",
    "How many requests may come in which time, and what tells them apart. Routes name it in their `rate_limits`; routes that name the same limit share its counts.",
    &[
        Key::required(
            "rate",
            Kind::Text { what: "a number and a time", example: "100/s" },
            "So many in such a time: `100/s`, `600/m`, `5/h`, or `100/10s`.",
        )
        .aka(&["limit", "requests", "average", "quota"]),
        Key::optional(
            "burst",
            Kind::Number { min: 0, max: UNITS_MAX },
            "How many may come at once, of `gcra`. Without it: the number of `rate`.",
        ),
        Key::default("algorithm", Kind::Choice(ALGORITHMS), "gcra", "How it is counted.").aka(&["type", "kind"]),
        Key::default(
            "key",
            Kind::List { of: &Kind::Text { what: "a part of a key", example: "client" }, one: true },
            "client",
            "What tells requests apart: `client` (the address), `user` (whom the route's `auth` finds), `claim:NAME` (of the user's token), `header:NAME` (of a field that the route's `auth` sets, what that says), `route`, `host`, `method`, several of them, or `all` for one count of everything. Requests without the claim or header count together.",
        )
        .aka(&["by", "keys"]),
        Key::default(
            "ipv4_prefix",
            Kind::Number { min: 1, max: 32 },
            "32",
            "Leading bits of an IPv4 address that `client` looks at.",
        ),
        Key::default(
            "ipv6_prefix",
            Kind::Number { min: 1, max: 128 },
            "64",
            "Leading bits of an IPv6 address that `client` looks at. One customer mostly has a /64, and may use any address of it.",
        ),
        Key::optional(
            "allow",
            Kind::List { of: &Kind::Text { what: "a network", example: "10.0.0.0/8" }, one: true },
            "Clients that are not counted.",
        )
        .aka(&["except", "exempt", "whitelist", "allowlist"]),
        Key::default("shadow", Kind::Flag, "false", "Counts whom it would refuse, and lets them pass: to try a limit out.")
            .aka(&["dry_run"]),
        Key::default(
            "headers",
            Kind::Flag,
            "true",
            "Whether responses tell of the limit with `RateLimit-Policy` and `RateLimit`. Of several limits of a route the first lists all, and the second tells of the one that refuses or of which least remains.",
        ),
        Key::default(
            "keys_max",
            Kind::Number { min: 8, max: 1 << 24 },
            "65536",
            "Keys that are remembered, 16 bytes each, rounded up to a power of two. Above it the key that owes least is forgotten.",
        ),
        Key::optional(
            "redis",
            Kind::Text { what: "a name", example: "shared" },
            "The server in `redis` that counts, for all gateways that name the limit alike. Without it this process counts.",
        )
        .aka(&["store", "backend"]),
        Key::default("mode", Kind::Choice(MODES), "exact", "How Redis counts."),
        Key::default(
            "on_error",
            Kind::Choice(ON_ERROR),
            "local",
            "What becomes of requests for which Redis has no answer within its `deadline`.",
        )
        .aka(&["fallback", "failure_mode"]),
    ],
)
.shorthand("rate");

pub(super) static ROUTE_RATE_LIMIT: Section = Section::new(
    "route_rate_limit",
    "a rate limit of a route",
    "A limit that counts the requests of a route.",
    &[
        Key::required("limit", Kind::Text { what: "a name", example: "per_client" }, "Its name in `rate_limits`.")
            .aka(&["name", "use"]),
        Key::default(
            "cost",
            Kind::Number { min: 1, max: UNITS_MAX },
            "1",
            "What one request counts for, at most the limit's burst.",
        )
        .aka(&["weight"]),
    ],
)
.shorthand("limit");

/// The rate limits of a configuration while its routes are read.
pub(super) struct RateLimits {
    list: Vec<Named>,
}

struct Named {
    name: String,
    place: Place,
    used: bool,
    /// `None` if it is wrong; routes that name it are fine all the same.
    limit: Option<RateLimit>,
}

impl RateLimits {
    pub(super) fn read(open: &Open<'_>, servers: &mut Servers) -> Self {
        let mut list = Vec::new();
        for (pair, section) in open.section_pairs("rate_limits") {
            if upstream_or_route_name(&pair.key).is_none() {
                open.reader.problem_help(
                    pair.place,
                    format!(
                        "the name `{}` of a rate limit is not letters, digits, `-`, `_` and `.`",
                        shorten(&pair.key)
                    ),
                    "write for example `per_client:`",
                );
            }
            let limit = read_limit(&section, &pair.key, pair.place, servers);
            list.push(Named { name: pair.key.clone(), place: pair.place, used: false, limit });
        }
        Self { list }
    }

    /// Reads the `rate_limits` of a route.
    pub(super) fn of_route(&mut self, open: &Open<'_>) -> Vec<RouteLimit> {
        let sections = open.sections("rate_limits");
        let mut limits: Vec<RouteLimit> = Vec::new();
        for section in &sections {
            let (name, cost) = (section.text("limit"), section.number("cost").unwrap_or(1));
            let Some((name, limit)) = name.and_then(|name| Some((name, self.find(section.reader, name)?))) else {
                continue;
            };
            if limits.iter().any(|held| held.limit == limit) {
                section.reader.problem_help(
                    name.place,
                    format!("the rate limit `{}` stands twice in this route", name.value),
                    "keep one of them; use `cost` to count a request more than once",
                );
            }
            self.check_cost(section, limit, cost);
            limits.push(RouteLimit { limit, cost });
        }
        if limits.len() > ROUTE_LIMITS_MAX
            && let Some(place) = open.place_of("rate_limits")
        {
            open.reader.problem_help(
                place,
                format!("more than {ROUTE_LIMITS_MAX} rate limits of one route"),
                "keep those that refuse first",
            );
        }
        limits
    }

    /// Finds limits that count users by what a route can't know of them.
    pub(super) fn check_users(&self, open: &Open<'_>, limits: &[RouteLimit], known: Known) {
        for named in limits.iter().filter_map(|limit| self.list.get(limit.limit)) {
            let Some(limit) = &named.limit else { continue };
            let (what, help) = match known {
                Known::Nothing if limit.counts_users() => (
                    "counts users, and this route asks nobody who they are",
                    "add `auth` to the route, or count by `client`",
                ),
                Known::Admitted if limit.counts_users() => (
                    "counts users, and `external` says of none who it is",
                    "count by `header:NAME` with the field that tells them apart, or by `client`",
                ),
                Known::Names | Known::Admitted if limit.counts_claims() => (
                    "counts by a claim, and no scheme of this route has any",
                    "name a scheme with `jwt` in its `auth`, or count by `user`",
                ),
                _ => continue,
            };
            let place = open.place_of("rate_limits").unwrap_or(open.place());
            open.reader.problem_help(place, format!("the rate limit `{}` {what}", named.name), help);
        }
    }

    fn find(&mut self, reader: &Reader, text: Text<'_>) -> Option<usize> {
        if let Some((index, named)) = self.list.iter_mut().enumerate().find(|(_, named)| named.name == text.value) {
            named.used = true;
            return Some(index);
        }
        let names = || self.list.iter().map(|named| named.name.as_str());
        let help = match nearest(text.value, names()) {
            Some(name) => format!("write `{name}`"),
            None if self.list.is_empty() => {
                format!("add `rate_limits: {{ {}: 100/s }}` at the top of the file", shorten(text.value))
            }
            None => format!("known are {}", quoted(names())),
        };
        reader.problem_help(text.place, format!("unknown rate limit `{}`", shorten(text.value)), help);
        None
    }

    /// A request that costs more than there ever is would always be refused.
    fn check_cost(&self, open: &Open<'_>, limit: usize, cost: u64) {
        let Some(limit) = self.list.get(limit).and_then(|named| named.limit.as_ref()) else { return };
        let most = match &limit.law {
            Limit::Gcra(law) => law.burst(),
            Limit::SlidingWindow(law) => law.limit(),
        };
        if cost > most {
            open.reader.problem_help(
                open.place_of("cost").unwrap_or(open.place()),
                format!(
                    "a request that costs {cost} never passes the limit `{}`, which has {most} at most",
                    limit.name
                ),
                format!("lower `cost`, or raise the limit to {cost} or more"),
            );
        }
    }

    pub(super) fn warn_unused(&self, open: &Open<'_>) {
        for named in self.list.iter().filter(|named| !named.used) {
            open.reader.warn(
                named.place,
                format!("no route uses the rate limit `{}`", named.name),
                "remove it, or name it in the `rate_limits` of a route",
            );
        }
    }

    /// The limits, if every one is fine.
    pub(super) fn finish(self) -> Option<Vec<RateLimit>> {
        self.list.into_iter().map(|named| named.limit).collect()
    }
}

fn read_limit(open: &Open<'_>, name: &str, place: Place, servers: &mut Servers) -> Option<RateLimit> {
    let law = read_law(open);
    let key = read_key(open);
    let bits = |name: &str| open.number(name).and_then(|bits| u8::try_from(bits).ok());
    let (ipv4_bits, ipv6_bits) = (bits("ipv4_prefix"), bits("ipv6_prefix"));
    let networks = open.texts("allow");
    let allow: Vec<_> = networks.iter().filter_map(|text| address::network(open.reader, *text)).collect();
    let (shadow, fields) = (open.flag("shadow"), open.flag("headers"));
    let keys_max = open.number("keys_max").and_then(|count| usize::try_from(count).ok());
    let server = open.text("redis").map(|text| (text, servers.find(open.reader, text)));
    let options = [("local", StoreError::Local), ("open", StoreError::Open), ("closed", StoreError::Closed)];
    let on_error = open.choice("on_error", &options);
    if let (None, Some(place)) = (&server, open.place_of("on_error")) {
        open.reader.warn(
            place,
            "`on_error` does nothing in a limit that this process counts",
            "remove it, or add `redis`",
        );
    }
    let leased = open.choice("mode", &[("exact", false), ("leased", true)])?;
    let leasing = match (leased, &law) {
        (true, Some(law)) => Some(read_leasing(open, law, server.is_some(), shadow)?),
        _ => None,
    };
    let redis = match (server, &law) {
        (None, _) => None,
        (Some((text, Found::Server(server))), Some(law)) => Some(fits_redis(open.reader, text, law, server)?),
        (Some(_), _) => return None,
    };
    if allow.len() < networks.len() {
        return None;
    }
    let (law, key, name) = (law?, key?, name.to_owned());
    let (ipv4_bits, ipv6_bits, keys_max) = (ipv4_bits?, ipv6_bits?, keys_max?);
    let on_error = on_error?;
    Some(RateLimit {
        name,
        law,
        key,
        ipv4_bits,
        ipv6_bits,
        allow,
        shadow,
        fields,
        keys_max,
        redis,
        on_error,
        leasing,
        place,
    })
}

fn read_leasing(open: &Open<'_>, law: &Limit, has_server: bool, shadow: bool) -> Option<Leasing> {
    let (message, help) = match law {
        _ if !has_server => ("`leased` needs a server to take units from".to_owned(), "add `redis`, or remove `mode`"),
        _ if shadow => {
            ("a limit in shadow mode cannot be leased".to_owned(), "use `mode: exact` while it is tried out")
        }
        Limit::SlidingWindow(_) => ("a sliding window cannot be leased".to_owned(), "use `algorithm: gcra`"),
        Limit::Gcra(law) => match Leasing::new(law) {
            Ok(leasing) => return Some(leasing),
            Err(SettingsError::TooSmall { min, .. }) => {
                let burst = law.burst();
                (
                    format!("a burst of {burst} is too small to lease out: {min} at least"),
                    "raise `burst`, or use `mode: exact`",
                )
            }
            Err(error) => (format!("the limit cannot be leased: {error}"), "use `mode: exact`"),
        },
    };
    open.reader.problem_help(open.place_of("mode").unwrap_or(open.place()), message, help);
    None
}

/// Redis counts in doubles, in eighths of a microsecond.
fn fits_redis(reader: &Reader, text: Text<'_>, law: &Limit, server: Server) -> Option<Server> {
    let Limit::Gcra(law) = law else { return Some(server) };
    let per_us = law.per().as_micros();
    let wrong = if u128::from(law.quota()) > per_us * 8 {
        Some("has a rate of more than 8,000,000 a second, which Redis cannot count")
    } else if u128::from(law.burst()) * (per_us * 8).div_ceil(u128::from(law.quota())) > REDIS_TICKS_MAX {
        Some("has a burst that takes more than 8 years to come back, which Redis cannot count")
    } else {
        None
    };
    match wrong {
        None => Some(server),
        Some(message) => {
            reader.problem_help(text.place, format!("the limit {message}"), "lower it, or leave `redis` out");
            None
        }
    }
}

fn read_law(open: &Open<'_>) -> Option<Limit> {
    let rate = open.text("rate").and_then(|text| Some((text, read_rate(open.reader, text)?)));
    let burst = open.number("burst");
    let sliding = open.choice("algorithm", &[("gcra", false), ("sliding_window", true)])?;
    let (text, (quota, per)) = rate?;
    let made = match (sliding, open.place_of("burst")) {
        (true, Some(place)) => {
            open.reader.problem_help(
                place,
                "`burst` has no meaning in a sliding window: its number may always come at once",
                "remove it, or use `algorithm: gcra`",
            );
            return None;
        }
        (true, None) => SlidingWindow::new(quota, per).map(Limit::SlidingWindow),
        (false, place) => {
            let burst = burst.unwrap_or(quota);
            if burst == 0 {
                open.reader.problem_help(
                    place.unwrap_or(text.place),
                    "a burst of 0 would never admit a request",
                    "write `burst: 1` to let requests come one at a time",
                );
                return None;
            }
            Gcra::new(quota, per, burst).map(Limit::Gcra)
        }
    };
    match made {
        Ok(law) => Some(law),
        Err(error) => {
            open.reader.problem_help(
                text.place,
                format!("the rate `{}` cannot be kept: {error}", text.value),
                settings_help(error, sliding),
            );
            None
        }
    }
}

fn settings_help(error: SettingsError, sliding: bool) -> &'static str {
    match error {
        SettingsError::TooLarge { name: "limit", .. } if sliding => "use `algorithm: gcra`, which has no such bound",
        SettingsError::TooLarge { name: "burst", .. } => "lower `burst`, or raise the rate",
        _ => "write for example `100/s`",
    }
}

/// Reads `100/s` or `100/10s`.
fn read_rate(reader: &Reader, text: Text<'_>) -> Option<(u64, Duration)> {
    let wrong = |message: &str| {
        reader.problem_help(
            text.place,
            format!("the rate `{}` {message}", shorten(text.value)),
            "write for example `100/s`, `600/m`, `5/h` or `100/10s`",
        );
        None
    };
    let Some((count, time)) = text.value.split_once('/') else {
        return wrong("does not say in which time");
    };
    let count = count.trim();
    let digits = !count.is_empty() && count.bytes().all(|b| b.is_ascii_digit());
    if !digits {
        return wrong("does not start with a number of requests");
    }
    let Some(quota) = count.parse::<u64>().ok().filter(|quota| *quota <= UNITS_MAX) else {
        return wrong("is of more than 2^40 requests");
    };
    if quota == 0 {
        reader.problem_help(
            text.place,
            format!("the rate `{}` would never admit a request", shorten(text.value)),
            "write at least 1; to refuse a route altogether, answer it with `respond: { status: 403 }`",
        );
        return None;
    }
    let time = time.trim();
    // A day is long enough to be meant, and no unit of the other times.
    let (time, factor) = match time.strip_suffix('d') {
        Some(days) => (format!("{days}h"), 24),
        None => (time.to_owned(), 1),
    };
    let bare = time.starts_with(|c: char| c.is_ascii_alphabetic());
    let ms = units::time_ms(&if bare { format!("1{time}") } else { time }).and_then(|ms| ms.checked_mul(factor));
    match ms {
        Some(0) => wrong("is for no time at all"),
        Some(ms) if ms <= PER_MS_MAX => Some((quota, Duration::from_millis(ms))),
        Some(_) => wrong("is for more than a year"),
        None => wrong("has no time after the slash"),
    }
}

fn read_key(open: &Open<'_>) -> Option<Vec<KeyPart>> {
    let texts = open.texts("key");
    let mut parts: Vec<KeyPart> = Vec::new();
    let mut complete = true;
    for text in &texts {
        let Some(part) = read_part(open.reader, *text) else {
            complete = false;
            continue;
        };
        if parts.contains(&part) {
            open.reader.problem_help(
                text.place,
                format!("`{}` stands twice in the key", shorten(text.value)),
                "keep one of them",
            );
            complete = false;
        }
        parts.push(part);
    }
    let place = open.place_of("key").unwrap_or(open.place());
    if parts.len() > 1 && parts.contains(&KeyPart::All) {
        open.reader.problem_help(
            place,
            "`all` beside other parts of a key",
            "`all` counts everything together: remove one",
        );
        complete = false;
    }
    if texts.is_empty() {
        open.reader.problem_help(place, "`key` is empty", "write `all` for one count of everything");
    } else if texts.len() > PARTS_MAX {
        open.reader.problem_help(place, format!("more than {PARTS_MAX} parts in one key"), "use fewer");
        complete = false;
    }
    (complete && !parts.is_empty()).then_some(parts)
}

fn read_part(reader: &Reader, text: Text<'_>) -> Option<KeyPart> {
    const WORDS: [(&str, KeyPart); 6] = [
        ("all", KeyPart::All),
        ("client", KeyPart::Client),
        ("user", KeyPart::User),
        ("route", KeyPart::Route),
        ("host", KeyPart::Host),
        ("method", KeyPart::Method),
    ];
    if let Some(name) = text.value.strip_prefix("header:") {
        let name = edits::name(reader, Text { value: name, ..text })?;
        return Some(KeyPart::Header(name.to_ascii_lowercase()));
    }
    if let Some(name) = text.value.strip_prefix("claim:") {
        return read_claim(reader, Text { value: name, ..text }).map(KeyPart::Claim);
    }
    if let Some((_, part)) = WORDS.iter().find(|(word, _)| *word == text.value) {
        return Some(part.clone());
    }
    let help = match text.value {
        "ip" | "address" | "addr" | "remote" | "remote_addr" => "write `client`".to_owned(),
        value => match nearest(value, WORDS.iter().map(|(word, _)| *word)) {
            Some(word) => format!("write `{word}`"),
            None if edits::is_token(value) => format!("write `header:{value}` for a field of the request"),
            None => {
                "write `client`, `user`, `claim:NAME`, `header:NAME`, `route`, `host`, `method` or `all`".to_owned()
            }
        },
    };
    reader.problem_help(text.place, format!("`{}` is not a part of a key", shorten(text.value)), help);
    None
}
