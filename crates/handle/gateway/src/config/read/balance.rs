use crate::config::policies::{Balance, HashBy, HashTable};
use crate::config::table::{Group, Key, Kind, Open, Section};

const METHODS: &[(&str, &str)] = &[
    ("round_robin", "in turns, as often as the weights say"),
    (
        "least_request",
        "the less busy of two that chance names, beside their weights; each core counts its own requests",
    ),
    ("peak_ewma", "of two that chance names, the one whose answer is expected sooner; each core measures for itself"),
];

const HASH_BY: &[(&str, &str)] = &[
    ("header", "the first field of the name"),
    ("cookie", "the cookie of the name"),
    (
        "address",
        "the client's address, as `access` has it: that of the connection, or the one that trusted proxies tell",
    ),
    ("path", "the path, without the query"),
];

const TABLES: &[(&str, &str)] = &[
    ("maglev", "a table with even shares"),
    ("ring", "a ring: the fewest keys move when endpoints come and go, the shares differ by a tenth"),
];

static HASH: Section = Section::new(
    "hash",
    "the `hash` section",
    "The same key finds the same endpoint, on every core and after a reload. A request without the key goes in turns.",
    &[
        Key::required("by", Kind::Choice(HASH_BY), "What the key is."),
        Key::optional(
            "name",
            Kind::Text { what: "a name", example: "x-user" },
            "The name of the header or the cookie.",
        )
        .aka(&["key"]),
        Key::default("table", Kind::Choice(TABLES), "maglev", "How keys are spread.").aka(&["method"]),
    ],
)
.shorthand("by");

pub(super) static BALANCE: Section = Section::new(
    "balance",
    "the `balance` section",
    "Which endpoint gets a request, of those that are well.",
    &[
        Key::default("method", Kind::Choice(METHODS), "round_robin", "How an endpoint is chosen.")
            .aka(&["strategy", "policy"]),
        Key::optional("hash", Kind::Section(&HASH), "By a key of the request.").aka(&["consistent_hash", "sticky"]),
        Key::default(
            "slow_start",
            Kind::Time { min_ms: 1, max_ms: 86_400_000, off: true },
            "off",
            "In this time an endpoint that comes back, or comes with a reload, grows from a tenth of its weight to the whole. For `round_robin` and `least_request`.",
        )
        .aka(&["warmup", "slow_start_window"]),
    ],
)
.shorthand("method")
.groups(&[Group { keys: &["method", "hash"], required: false }]);

/// How an endpoint is chosen, and in which time one that comes back grows into its weight.
pub(super) fn read_balance(open: &Open<'_>) -> Option<(Balance, Option<u64>)> {
    let slow_start_ms = open.time("slow_start");
    let balance = read_method(open)?;
    if let (Some(place), Balance::PeakEwma | Balance::Hash(..)) = (open.place_of("slow_start"), &balance) {
        open.reader.warn(
            place,
            "`slow_start` does nothing: only `round_robin` and `least_request` have it",
            "remove it, or use one of those",
        );
    }
    Some((balance, slow_start_ms))
}

fn read_method(open: &Open<'_>) -> Option<Balance> {
    let method = open.choice(
        "method",
        &[
            ("round_robin", Method::RoundRobin),
            ("least_request", Method::LeastRequest),
            ("peak_ewma", Method::PeakEwma),
        ],
    );
    match open.section_if("hash") {
        Some(hash) => read_hash(&hash),
        None => Some(match method? {
            Method::RoundRobin => Balance::RoundRobin,
            Method::LeastRequest => Balance::LeastRequest,
            Method::PeakEwma => Balance::PeakEwma,
        }),
    }
}

#[derive(Clone, Copy)]
enum Method {
    RoundRobin,
    LeastRequest,
    PeakEwma,
}

#[derive(Clone, Copy)]
enum By {
    Header,
    Cookie,
    Address,
    Path,
}

fn read_hash(open: &Open<'_>) -> Option<Balance> {
    let by = open
        .choice("by", &[("header", By::Header), ("cookie", By::Cookie), ("address", By::Address), ("path", By::Path)]);
    let name = open.text("name");
    let table = open.choice("table", &[("maglev", HashTable::Maglev), ("ring", HashTable::Ring)]);
    let by = match (by?, name) {
        (By::Header | By::Cookie, None) => {
            open.reader.problem_help(
                open.place_of("by").unwrap_or(open.place()),
                "a hash by header or cookie needs its `name`",
                "write for example `hash: { by: header, name: x-user }`",
            );
            return None;
        }
        (by @ (By::Header | By::Cookie), Some(name)) => {
            // RFC 9110 section 5.6.2, RFC 6265 section 4.1.1: both are tokens.
            let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
            if name.value.is_empty() || !name.value.bytes().all(is_token) {
                open.reader.problem_help(
                    name.place,
                    format!("`name` is not the name of a header or a cookie: `{}`", name.value.escape_debug()),
                    "write for example `name: x-user`",
                );
                return None;
            }
            match by {
                By::Header => HashBy::Header(name.value.to_ascii_lowercase()),
                _ => HashBy::Cookie(name.value.to_owned()),
            }
        }
        (by, name) => {
            if let Some(name) = name {
                open.reader.warn(name.place, "`name` does nothing with this key", "remove it, or use `by: header`");
            }
            if matches!(by, By::Path) { HashBy::Path } else { HashBy::Address }
        }
    };
    Some(Balance::Hash(by, table?))
}
