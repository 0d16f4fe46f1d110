use leat_message::Name;

use super::{Read, own_field, url};
use crate::config::auth::{AuthKind, ExternalRules, OnFailure};
use crate::config::read::{edits, file};
use crate::config::table::{Key, Kind, Open, Section, Text};

const FIELD: Kind = Kind::Text { what: "a field name", example: "cookie" };

const ON_FAILURE: &[(&str, &str)] = &[
    ("refuse", "the request is answered with 503"),
    ("admit", "the request goes on as if the service had said yes: for what must not stand still because of it"),
];

pub(super) static EXTERNAL: Section = Section::new(
    "external",
    "the `external` section",
    "A service that is asked about every request with GET: method, target and host of the request, and the client's address as in `access`, are in `x-forwarded-method`, `-uri`, `-host` and `-for`; bodies are not sent. 2xx lets the request in, 401 is answered with 401, every other 4xx with 403.",
    &[
        Key::required(
            "url",
            Kind::Text { what: "a URL", example: "http://127.0.0.1:9000/check" },
            "Whom to ask.",
        ),
        Key::optional(
            "ca",
            Kind::Text { what: "a file", example: "ca.pem" },
            "Authorities to trust instead of the public ones, PEM.",
        ),
        Key::default(
            "time",
            Kind::Time { min_ms: 1, max_ms: 60_000, off: false },
            "1s",
            "How long an answer may take.",
        )
        .aka(&["timeout"]),
        Key::default(
            "on_failure",
            Kind::Choice(ON_FAILURE),
            "refuse",
            "What follows where there is no answer in time, or one with 3xx or 5xx.",
        )
        .aka(&["failure_mode", "fail_open"]),
        Key::default(
            "request_headers",
            Kind::List { of: &FIELD, one: true },
            "[authorization, cookie]",
            "Fields of the request that the service sees.",
        ),
        Key::optional(
            "response_headers",
            Kind::List { of: &FIELD, one: true },
            "Fields of its answer that the upstream gets. What clients send under these names is removed.",
        ),
    ],
)
.shorthand("url");

pub(super) fn read(open: &Open<'_>) -> Read {
    let url = open.text("url").and_then(|text| url::read(open, text));
    let ca = open.text("ca").and_then(|text| file::pem(open.reader, text, "CERTIFICATE", "certificate"));
    let time_ms = open.time("time");
    let on_failure = open.choice("on_failure", &[("refuse", OnFailure::Refuse), ("admit", OnFailure::Admit)]);
    let request_fields = open.texts("request_headers").into_iter().filter_map(|text| askable(open, text)).collect();
    let response_fields: Vec<String> =
        open.texts("response_headers").into_iter().filter_map(|text| own_field(open, text)).collect();
    let (endpoint, path) = url?;
    let own = response_fields.clone();
    let (time_ms, on_failure) = (time_ms?, on_failure?);
    let rules = ExternalRules { endpoint, path, ca, time_ms, on_failure, request_fields, response_fields };
    Some((AuthKind::External(rules), own))
}

/// The name of a field that the service may see. Those that frame the request, or say where it goes, are the question's own.
fn askable(open: &Open<'_>, text: Text<'_>) -> Option<String> {
    if Name::from_bytes(text.value.as_bytes()) == Name::Host {
        let help = "leave it out: the service finds it in `x-forwarded-host`";
        open.reader.problem_help(
            text.place,
            format!("the field `{}` is that of the question itself", text.value),
            help,
        );
        return None;
    }
    edits::editable(open.reader, text, edits::Way::Request)
}
