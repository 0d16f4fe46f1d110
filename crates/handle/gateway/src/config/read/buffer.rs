use crate::config::table::{Key, Kind, Open, Section};

pub(super) static BUFFER_RESPONSE: Section = Section::new(
    "buffer_response",
    "the `buffer_response` section",
    "Reads replies whole before the client gets their head: their length is known then, an upstream that fails in the middle is a 502 in place of a body that is cut off, and a slow client holds no connection to it. Longer replies stream from the limit on. `text/event-stream`, gRPC and tunnels are never held. What is held counts for `memory_bytes_max`.",
    &[Key::default(
        "bytes_max",
        Kind::Size { min: 1, max: 1 << 30 },
        "1MiB",
        "The longest reply that is held, as its body leaves the gateway.",
    )
    .aka(&["max_size"])],
);

/// The longest reply that is held, in bytes.
pub(super) fn read_buffer_response(open: &Open<'_>) -> usize {
    usize::try_from(open.size("bytes_max")).unwrap_or(usize::MAX)
}
