use leat_message::{BodyLimits, LeftToHandler, Limits};

use crate::config::head_limits::HeadLimits;
use crate::config::table::{Key, Kind, Open, Section, units};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
const GIB: u64 = 1024 * MIB;
const HOUR_MS: u64 = 3_600_000;

const fn size(min: u64, max: u64) -> Kind {
    Kind::Size { min, max }
}

const fn time(min_ms: u64) -> Kind {
    Kind::Time { min_ms, max_ms: 24 * HOUR_MS, off: false }
}

const fn count(max: u64) -> Kind {
    Kind::Number { min: 1, max }
}

/// The longest body that may be allowed: far beyond any disk, and safe to add to.
const BODY_BYTES_MAX: u64 = 1 << 50;
const BODY_TIME: Kind = Kind::Time { min_ms: 1, max_ms: 24 * HOUR_MS, off: true };

pub(super) static LIMITS: Section = Section::new(
    "limits",
    "the `limits` section",
    "Limits of the inbound side. Every one has a default; only `body_time` and `throughput_bytes_min` can be switched off.",
    &[
        Key::default("head_bytes_max", size(KIB, MIB), "32KiB", "Request line and fields together."),
        Key::default("fields_max", count(10_000), "100", "Fields in one head.").aka(&["headers_max"]),
        Key::default("field_bytes_max", size(256, MIB), "16KiB", "One field, name and value."),
        Key::default("target_bytes_max", size(256, MIB), "8000B", "The request target."),
        Key::default("body_bytes_max", size(0, BODY_BYTES_MAX), "64MiB", "A request body; routes raise or lower it.")
            .aka(&["client_max_body_size", "body_max"]),
        Key::default("trailer_bytes_max", size(0, MIB), "8KiB", "The trailer section of a body."),
        Key::default("chunk_extension_bytes_max", size(0, 64 * KIB), "256B", "The extensions of one chunk."),
        Key::default("head_time", time(1), "10s", "From a request's first byte to the end of its head."),
        Key::default("idle_time", time(1), "75s", "A connection without a request.")
            .aka(&["keepalive_timeout", "keep_alive_timeout"]),
        Key::default(
            "body_time",
            BODY_TIME,
            "60s",
            "From the end of the head to the end of the body; routes raise it, or switch it `off` for streams.",
        ),
        Key::default(
            "throughput_bytes_min",
            size(0, GIB),
            "240B",
            "Fewest bytes a second, either way, while bytes are owed; 0 for no minimum.",
        ),
        Key::default("throughput_grace", time(1), "10s", "How long a client may stay below `throughput_bytes_min`."),
        Key::default(
            "drain_bytes_max",
            size(0, GIB),
            "256KiB",
            "A body that nobody reads: so much of it is thrown away to keep the connection, which closes above.",
        ),
        Key::default("drain_time", time(1), "2s", "How long such a body is waited for."),
        Key::default(
            "requests_per_connection_max",
            count(1 << 50),
            "1000000",
            "Requests on one connection before it is closed.",
        ),
        Key::default(
            "batch_bytes_max",
            size(4 * KIB, 16 * MIB),
            "64KiB",
            "Replies to pipelined requests that are gathered before they are written.",
        ),
        Key::default("connections_max", count(10_000_000), "20000", "Connections of the process."),
        Key::default(
            "connections_per_client_max",
            count(10_000_000),
            "20000",
            "Connections of one client address (IPv6: of its /64).",
        ),
        Key::default("handshakes_max", count(1_000_000), "1000", "TLS handshakes under way at once."),
        Key::default("handshake_time", time(1), "10s", "From accepting a connection to the end of its TLS handshake."),
        Key::default("h2_streams_max", count(10_000), "128", "HTTP/2 streams that one connection may have open."),
        Key::default(
            "memory_bytes_max",
            size(MIB, 1 << 50),
            "512MiB",
            "Memory in buffers of the process, above which new requests get 503.",
        ),
    ],
);

pub(super) static ROUTE_LIMITS: Section = Section::new(
    "route_limits",
    "the `limits` of a route",
    "Limits of the requests of one route. Those of the head can only be tighter than the global ones, which each request has passed before its route is known.",
    &[
        Key::optional(
            "head_bytes_max",
            size(1, MIB),
            "Request line and fields together. Without it: the global limit.",
        ),
        Key::optional("fields_max", count(10_000), "Fields in one head. Without it: the global limit.")
            .aka(&["headers_max"]),
        Key::optional("target_bytes_max", size(1, MIB), "The request target. Without it: the global limit."),
        Key::optional("body_bytes_max", size(0, BODY_BYTES_MAX), "A request body. Without it: the global limit.")
            .aka(&["client_max_body_size", "body_max"]),
        Key::optional(
            "body_time",
            BODY_TIME,
            "The whole body; `off` for streams. Without it: the global limit, and none for calls of gRPC, whose pauses are normal.",
        ),
    ],
);

pub(super) fn read_limits(open: &Open<'_>) -> Limits {
    let bytes = |name: &str| usize::try_from(open.size(name)).unwrap_or(usize::MAX);
    let number = |name: &str| open.number(name).unwrap_or_default();
    let ms = |name: &str| open.time(name).unwrap_or_default();
    let limits = Limits {
        head_bytes_max: bytes("head_bytes_max"),
        fields_max: number("fields_max") as usize,
        field_bytes_max: bytes("field_bytes_max"),
        target_bytes_max: bytes("target_bytes_max"),
        body_bytes_max: open.size("body_bytes_max"),
        trailer_bytes_max: bytes("trailer_bytes_max"),
        chunk_extension_bytes_max: bytes("chunk_extension_bytes_max"),
        head_time_ms: ms("head_time"),
        idle_time_ms: ms("idle_time"),
        first_time_ms: None,
        body_time_ms: open.time("body_time"),
        throughput_bytes_min: open.size("throughput_bytes_min"),
        throughput_grace_ms: ms("throughput_grace"),
        drain_bytes_max: open.size("drain_bytes_max"),
        drain_time_ms: ms("drain_time"),
        requests_per_connection_max: number("requests_per_connection_max"),
        batch_bytes_max: bytes("batch_bytes_max"),
        connections_max: number("connections_max") as usize,
        connections_per_client_max: number("connections_per_client_max") as usize,
        handshakes_max: number("handshakes_max") as usize,
        handshake_time_ms: ms("handshake_time"),
        h2_streams_max: number("h2_streams_max") as u32,
        left_to_handler: LeftToHandler::default(),
        half_closed_ms: Limits::default().half_closed_ms,
        memory_bytes_max: bytes("memory_bytes_max"),
    };
    for (name, value) in [("field_bytes_max", limits.field_bytes_max), ("target_bytes_max", limits.target_bytes_max)] {
        let place = open.place_of(name).or_else(|| open.place_of("head_bytes_max"));
        if let (true, Some(place)) = (value > limits.head_bytes_max, place) {
            let (part, whole) = (units::show_size(value as u64), units::show_size(limits.head_bytes_max as u64));
            open.reader.problem_help(
                place,
                format!("`{name}` ({part}) is more than `head_bytes_max` ({whole}), which it is a part of"),
                format!("raise `head_bytes_max`, or lower `{name}`"),
            );
        }
    }
    limits
}

/// The limits of a route's heads.
pub(super) fn read_head_limits(open: &Open<'_>, global: &Limits) -> HeadLimits {
    let tighter = |name: &str, value: u64, most: usize, show: fn(u64) -> String| {
        let place = open.place_of(name)?;
        if value > most as u64 {
            let (value, most) = (show(value), show(most as u64));
            open.reader.problem_help(
                place,
                format!("`{name}` ({value}) is more than the global limit ({most}), which is kept first"),
                format!("raise `{name}` in the `limits` of the root, or lower it here"),
            );
        }
        usize::try_from(value).ok()
    };
    let number = |value: u64| value.to_string();
    let fields_max = open.number("fields_max").unwrap_or_default();
    HeadLimits {
        bytes_max: tighter("head_bytes_max", open.size("head_bytes_max"), global.head_bytes_max, units::show_size),
        fields_max: tighter("fields_max", fields_max, global.fields_max, number),
        target_bytes_max: tighter(
            "target_bytes_max",
            open.size("target_bytes_max"),
            global.target_bytes_max,
            units::show_size,
        ),
    }
}

pub(super) fn read_route_limits(open: &Open<'_>, global: &Limits) -> BodyLimits {
    let bytes = open.size("body_bytes_max");
    let time = open.time("body_time");
    BodyLimits {
        bytes_max: if open.place_of("body_bytes_max").is_some() { bytes } else { global.body_bytes_max },
        time_ms: if open.place_of("body_time").is_some() { time } else { global.body_time_ms },
    }
}
