use super::edits;
use crate::config::model::{Forwarded, ForwardedStyle, RequestId, TRUSTED_HOPS_MAX};
use crate::config::table::{Key, Kind, Open, Section};

const STYLES: &[(&str, &str)] = &[
    ("x_forwarded", "`X-Forwarded-For`, `-Proto`, `-Host` and `-Port`"),
    ("forwarded", "`Forwarded` (RFC 7239)"),
    ("both", "both kinds"),
    ("off", "none; those that arrive are removed"),
];

pub(super) static FORWARDED: Section = Section::new(
    "forwarded",
    "the `forwarded` section",
    "What upstreams are told about the client, and what is believed of what clients tell.",
    &[
        Key::default(
            "trusted_hops",
            Kind::Number { min: 0, max: TRUSTED_HOPS_MAX as u64 },
            "0",
            "How many proxies in front of this one are trusted: so many entries from the end of `X-Forwarded-For` or `Forwarded` are believed, and a request id is kept. 0 believes nothing and removes what arrives.",
        ),
        Key::default("style", Kind::Choice(STYLES), "x_forwarded", "Which fields are sent."),
        Key::default(
            "via",
            Kind::Text { what: "a name or `off`", example: "leat" },
            "leat",
            "The name in the `Via` field; `off` sends none.",
        ),
        Key::default(
            "request_id",
            Kind::Text { what: "a field name or `off`", example: "x-request-id" },
            "x-request-id",
            "The field that carries the id of a request, upstream and back; `off` for none.",
        ),
    ],
);

pub(super) fn read_forwarded(open: &Open<'_>) -> Option<Forwarded> {
    let trusted_hops = open.number("trusted_hops");
    let options = [
        ("x_forwarded", ForwardedStyle::XForwarded),
        ("forwarded", ForwardedStyle::Forwarded),
        ("both", ForwardedStyle::Both),
        ("off", ForwardedStyle::Off),
    ];
    let style = open.choice("style", &options);
    let via = open.text("via").and_then(|text| match text.value {
        "off" => Some(None),
        name if edits::is_token(name) => Some(Some(name.to_owned())),
        name => {
            open.reader.problem_help(
                text.place,
                format!("`via` must be a token, found `{name}`"),
                "use letters, digits, `-`, `.` and `_`, or write `off`",
            );
            None
        }
    });
    let request_id = open.text("request_id").and_then(|text| match text.value {
        "off" => Some(None),
        _ => edits::editable(open.reader, text, edits::Way::Request).map(|field| Some(RequestId { field })),
    });
    Some(Forwarded { trusted_hops: trusted_hops? as u32, style: style?, via: via?, request_id: request_id? })
}
