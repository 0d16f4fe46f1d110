use super::edits::name;
use crate::config::fault::{Fault, FaultEnd};
use crate::config::table::{Group, Key, Kind, Open, Section};

/// All requests, in the unit of [`Fault::share`].
const ALL: u32 = 1_000_000;
/// One percent.
const PERCENT: u32 = ALL / 100;

pub(super) static FAULT: Section = Section::new(
    "fault",
    "a fault",
    "A failure that is wished for, to see how clients take it. Each fault of a route is drawn for itself, in their order; the first that ends a request is the last.",
    &[
        Key::default(
            "percent",
            Kind::Text { what: "a share of the requests", example: "2.5" },
            "100",
            "How many of a hundred requests: more than 0, with up to four decimals.",
        )
        .aka(&["percentage", "probability", "rate"]),
        Key::optional(
            "header",
            Kind::Text { what: "a field name", example: "x-fault" },
            "Only requests that have this field. Whoever may send it may ask for the fault.",
        ),
        Key::optional(
            "delay",
            Kind::Time { min_ms: 1, max_ms: 600_000, off: false },
            "How long the request is held before it goes on, or fails.",
        )
        .aka(&["latency"]),
        Key::optional("status", Kind::Number { min: 400, max: 599 }, "Answers with this status.").aka(&["abort"]),
        Key::default("reset", Kind::Flag, "false", "Resets the connection."),
    ],
)
.groups(&[Group { keys: &["status", "reset"], required: false }]);

pub(super) fn read_fault(open: &Open<'_>) -> Option<Fault> {
    let share = open.text("percent").and_then(|text| {
        let share = share(text.value);
        if share.is_none() {
            open.reader.problem_help(
                text.place,
                format!("`{}` is not a share of the requests in percent", text.value.escape_debug()),
                "write a number above 0 up to 100, such as `2.5`",
            );
        }
        share
    });
    let field = open.text("header").map(|text| name(open.reader, text));
    let delay_ms = open.time("delay").unwrap_or_default();
    let status = open.number("status").map(|status| status as u16);
    let end = match (status, open.flag("reset")) {
        (Some(status), _) => FaultEnd::Status(status),
        (None, true) => FaultEnd::Reset,
        (None, false) => FaultEnd::GoesOn,
    };
    let is_there = |name: &str| open.place_of(name).is_some();
    if end == FaultEnd::GoesOn && !is_there("delay") && !is_there("status") {
        open.reader.problem_help(open.place(), "this fault does nothing", "add `delay`, `status` or `reset`");
    }
    let field = match field {
        Some(None) => return None,
        Some(Some(field)) => Some(field),
        None => None,
    };
    Some(Fault { share: share?, field, delay_ms, end })
}

/// Reads a percentage as parts of a million, exactly.
fn share(text: &str) -> Option<u32> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(decimals) || decimals.len() > 4 {
        return None;
    }
    let decimals: u32 = format!("{decimals:0<4}").parse().ok()?;
    let share = whole.parse::<u32>().ok()?.checked_mul(PERCENT)?.checked_add(decimals)?;
    (1..=ALL).contains(&share).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn percentages_are_read_exactly() {
        for (text, wanted) in [
            ("100", Some(1_000_000)),
            ("0.0001", Some(1)),
            ("2.5", Some(25_000)),
            ("33.3333", Some(333_333)),
            ("5.", Some(50_000)),
            ("0", None),
            ("0.00001", None),
            ("100.1", None),
            ("-1", None),
            ("", None),
            (".5", None),
            ("5%", None),
            ("99999999999", None),
        ] {
            assert_eq!(share(text), wanted, "{text}");
        }
    }
}
