//! Breaks below RPC, and the calls that they strike.

use leat_config::table::{Key, Kind, Open, Section, Text, nearest, quoted};

use crate::call::Fault;

/// HTTP/2 error codes by their names (RFC 9113 section 7), in the order of their numbers.
const CODES: &[&str] = &[
    "no_error",
    "protocol_error",
    "internal_error",
    "flow_control_error",
    "settings_timeout",
    "stream_closed",
    "frame_size_error",
    "refused_stream",
    "cancel",
    "compression_error",
    "connect_error",
    "enhance_your_calm",
    "inadequate_security",
    "http_1_1_required",
];

/// Messages before a fault that a rule may ask for.
const AFTER_MAX: u64 = 1_000_000;

static TRICKLE: Section = Section::new(
    "trickle",
    "a trickle",
    "The reply leaves drop by drop.",
    &[
        Key::required("bytes", Kind::Number { min: 1, max: 65_536 }, "Bytes in a drop."),
        Key::required("every", Kind::Time { min_ms: 1, max_ms: 60_000, off: false }, "Time between two drops."),
    ],
);

const CODE: Kind =
    Kind::Text { what: "an error code of HTTP/2 such as `refused_stream`, or its number", example: "refused_stream" };

pub(super) static FAULT: Section = Section::new(
    "fault",
    "a fault",
    "A break below RPC, to test what clients make of it. Of several that strike the same call the first one counts.",
    &[
        Key::optional(
            "reset",
            CODE,
            "Resets the stream with this error code; on HTTP/1 the connection is reset. The reply's messages before \
             `after` are sent, and nothing else.",
        )
        .aka(&["rst_stream"]),
        Key::optional(
            "goaway",
            CODE,
            "Ends the connection with GOAWAY and this error code; on HTTP/1 it is closed.",
        )
        .aka(&["go_away"]),
        Key::optional(
            "close",
            Kind::Flag,
            "Closes the connection without another byte.",
        )
        .aka(&["disconnect"]),
        Key::optional(
            "cut",
            Kind::Size { min: 0, max: 1 << 30 },
            "Sends so many bytes of the reply's body, and then resets the stream.",
        )
        .aka(&["cut_after", "truncate"]),
        Key::optional(
            "no_trailers",
            Kind::Flag,
            "Leaves out the trailers, or the protocol's own end of the stream.",
        ),
        Key::optional(
            "bad_compression",
            Kind::Flag,
            "Marks messages as compressed that are not.",
        ),
        Key::optional("trickle", Kind::Section(&TRICKLE), "Sends the body drop by drop."),
        Key::default(
            "after",
            Kind::Number { min: 0, max: AFTER_MAX },
            "0",
            "Messages that are sent before the fault.",
        ),
        Key::optional(
            "on_calls",
            Kind::List { of: &Kind::Text { what: "a number or a range such as `5..7`", example: "3" }, one: true },
            "The calls of this rule in a session that it strikes, from 1: numbers and ranges, both ends included. Without \
             it and `every`: all calls.",
        )
        .aka(&["calls", "on"]),
        Key::optional(
            "every",
            Kind::Number { min: 1, max: 1_000_000_000 },
            "Strikes every so many-th call: `every: 10` the 10th, the 20th and so on.",
        ),
    ],
)
.groups(&[leat_config::table::Group {
    keys: &["reset", "goaway", "close", "cut", "no_trailers", "bad_compression", "trickle"],
    required: true,
}]);

/// A fault and when it strikes.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) fault: Fault,
    /// Messages that are sent before it.
    pub(super) after: u64,
    /// Calls that it strikes, both ends included; empty for all.
    calls: Vec<(u64, u64)>,
    every: Option<u64>,
}

impl Planned {
    /// Reads it. `None`: problems were reported.
    pub(super) fn compile(open: &Open<'_>) -> Option<Self> {
        let reset = open.text("reset");
        let goaway = open.text("goaway");
        let flags = [
            ("close", open.flag("close"), Fault::Close),
            ("no_trailers", open.flag("no_trailers"), Fault::NoTrailers),
            ("bad_compression", open.flag("bad_compression"), Fault::BadCompression),
        ];
        let cut = open.size("cut");
        let trickle = open.section_if("trickle").map(|trickle| Fault::Trickle {
            bytes: trickle.number("bytes").and_then(|bytes| u32::try_from(bytes).ok()).unwrap_or(1),
            every_ms: trickle.time("every").and_then(|ms| u32::try_from(ms).ok()).unwrap_or(1),
        });
        let after = open.number("after").unwrap_or_default();
        let every = open.number("every");
        let calls: Option<Vec<(u64, u64)>> = open.texts("on_calls").into_iter().map(|text| range(open, text)).collect();
        if let (Some(place), Some(_)) = (open.place_of("on_calls"), every) {
            open.reader.problem_help(place, "`on_calls` beside `every`", "keep one of them");
            return None;
        }
        let fault = match (reset, goaway) {
            (Some(text), _) => Some(Fault::Reset { code: code(open, text)? }),
            (None, Some(text)) => Some(Fault::GoAway { code: code(open, text)? }),
            (None, None) => None,
        };
        let fault = fault.or(trickle).or_else(|| {
            if open.place_of("cut").is_some() {
                return Some(Fault::Cut { after_bytes: cut });
            }
            let (name, on, fault) = flags.into_iter().find(|(name, ..)| open.place_of(name).is_some())?;
            if !on {
                let place = open.place_of(name)?;
                open.reader.problem_help(
                    place,
                    format!("`{name}: false` is no fault"),
                    "write `true`, or leave the fault out",
                );
            }
            on.then_some(fault)
        });
        Some(Self { fault: fault?, after, calls: calls?, every })
    }

    /// Whether it strikes the call of this number, from 1.
    pub(super) fn strikes(&self, call: u64) -> bool {
        match self.every {
            Some(every) => call.is_multiple_of(every),
            None => self.calls.is_empty() || self.calls.iter().any(|&(from, to)| (from..=to).contains(&call)),
        }
    }

    /// Whether calls must be counted for it.
    pub(super) fn counts(&self) -> bool {
        self.every.is_some() || !self.calls.is_empty()
    }

    /// Whether the call has no further reply once it struck.
    pub(super) fn ends(&self) -> bool {
        matches!(self.fault, Fault::Reset { .. } | Fault::GoAway { .. } | Fault::Close)
    }
}

fn code(open: &Open<'_>, text: Text<'_>) -> Option<u32> {
    let lower = text.value.to_ascii_lowercase();
    let named = CODES.iter().position(|code| *code == lower).and_then(|number| u32::try_from(number).ok());
    let found = named.or_else(|| text.value.parse().ok());
    if found.is_none() {
        let help = match nearest(text.value, CODES.iter().copied()) {
            Some(near) => format!("write `{near}`"),
            None => format!("the codes are {}", quoted(CODES.iter().copied())),
        };
        let message = format!("there is no error code `{}` in HTTP/2", leat_config::table::shorten(text.value));
        open.reader.problem_help(text.place, message, help);
    }
    found
}

fn range(open: &Open<'_>, text: Text<'_>) -> Option<(u64, u64)> {
    let (from, to) = text.value.split_once("..").unwrap_or((text.value, text.value));
    let number = |part: &str| part.trim().trim_start_matches('=').parse::<u64>().ok().filter(|&number| number > 0);
    match (number(from), number(to)) {
        (Some(from), Some(to)) if from <= to => Some((from, to)),
        _ => {
            let message = format!("`{}` is no number of calls", leat_config::table::shorten(text.value));
            open.reader.problem_help(text.place, message, "write numbers from 1 on, and ranges such as `5..7`");
            None
        }
    }
}
