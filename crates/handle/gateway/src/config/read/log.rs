use super::auth::Schemes;
use super::share::{SHARE, read_share};
use super::{edits, file};
use crate::config::access_log::{AccessLog, LogFormat, LogTarget};
use crate::config::log_level::LogLevel;
use crate::config::secrets::{PARAMETERS, carries_credentials};
use crate::config::table::{Key, Kind, Open, Section, Text, shorten};

const FORMATS: &[(&str, &str)] =
    &[("auto", "`human` on a terminal, `json` otherwise"), ("json", "a JSON object a line"), ("human", "for people")];

const FIELD: Kind = Kind::Text { what: "a field name", example: "referer" };
const PARAMETER: Kind = Kind::Text { what: "the name of a parameter", example: "token" };
/// Names of parameters that are looked for in every target, and the longest of them, in bytes.
const REDACTED_MAX: usize = 64;
const PARAMETER_BYTES_MAX: usize = 64;

pub(super) static ACCESS_LOG: Section = Section::new(
    "access_log",
    "the `access_log` section",
    "A line for every request. Written in the background: a slow disk never delays a request, and lines that had to be dropped are counted.",
    &[
        Key::default(
            "path",
            Kind::Text { what: "a file, `stderr`, `stdout` or `off`", example: "access.log" },
            "stderr",
            "A file to append to, `stderr`, `stdout` or `off`.",
        )
        .aka(&["file", "to", "target"]),
        Key::default("format", Kind::Choice(FORMATS), "auto", "The form of a line."),
        Key::default(
            "sample",
            SHARE,
            "100%",
            "Which share of the requests that went well has a line. Refusals, statuses from 400 on and slow requests always have one.",
        )
        .aka(&["sampling", "ratio"]),
        Key::default(
            "slow",
            Kind::Time { min_ms: 0, max_ms: 3_600_000, off: true },
            "1s",
            "From which duration on a request counts as slow.",
        ),
        Key::optional(
            "fields",
            Kind::List { of: &FIELD, one: true },
            "Fields of the request that are written down besides `user-agent`, 8 at most. Never those that carry credentials.",
        )
        .aka(&["headers"]),
        Key::optional("redact", Kind::List { of: &PARAMETER, one: true }, REDACT)
        .aka(&["redact_query", "mask"]),
        Key::default(
            "phases",
            Kind::Flag,
            "false",
            "Whether a line says where the time went: parsing, routing, authentication, limits, plug-ins, connecting, waiting for the upstream and sending. Costs some readings of the clock for each request.",
        ),
    ],
)
.shorthand("path");

const REDACT: &str = "Parameters of queries whose values are not written down, beside those that never are: `access_token`, `api_key`, `apikey`, `auth`, `client_secret`, `code`, `id_token`, `jwt`, `key`, `passwd`, `password`, `pwd`, `refresh_token`, `secret`, `sig`, `signature`, `token`, `x-amz-credential`, `x-amz-security-token`, `x-amz-signature` and `x-goog-signature`. The case of a name does not count.";

pub(super) const LOG_LEVELS: &[(&str, &str)] =
    &[("info", "all of them"), ("warn", "what somebody should look at, and errors"), ("error", "errors alone")];

pub(super) fn read_log_level(open: &Open<'_>) -> Option<LogLevel> {
    open.choice("log_level", &[("info", LogLevel::Info), ("warn", LogLevel::Warn), ("error", LogLevel::Error)])
}

/// `schemes` say which fields carry credentials besides those that always do.
pub(super) fn read_access_log(open: &Open<'_>, schemes: &Schemes) -> Option<AccessLog> {
    let target = open.text("path").and_then(|text| match text.value {
        "off" => Some(LogTarget::Off),
        "stderr" => Some(LogTarget::Stderr),
        "stdout" => Some(LogTarget::Stdout),
        _ => file::writable(open.reader, text).map(LogTarget::File),
    });
    let options = [("auto", LogFormat::Auto), ("json", LogFormat::Json), ("human", LogFormat::Human)];
    let format = open.choice("format", &options);
    let sample = read_share(open, "sample");
    let slow_ms = open.time("slow");
    let fields = read_fields(open, schemes);
    let redact = read_redacted(open);
    let phases = open.flag("phases");
    Some(AccessLog { target: target?, format: format?, sample: sample?, slow_ms, fields, redact, phases })
}

fn read_fields(open: &Open<'_>, schemes: &Schemes) -> Vec<String> {
    let mut fields = Vec::new();
    for text in open.texts("fields") {
        let Some(name) = edits::name(open.reader, text) else { continue };
        if carries_credentials(&name) {
            let message = format!("the field `{name}` carries credentials and is never written down");
            open.reader.problem_help(text.place, message, "leave it out");
        } else if let Some(scheme) = schemes.with_field(&name) {
            let message = format!("the field `{name}` carries the keys of `{scheme}` and is never written down");
            open.reader.problem_help(text.place, message, "leave it out");
        } else if fields.len() == leat_observe::access_log::FIELDS_MAX {
            let message = format!("there are more than {} fields", leat_observe::access_log::FIELDS_MAX);
            open.reader.problem_help(text.place, message, "leave some out");
            break;
        } else {
            fields.push(name.to_ascii_lowercase());
        }
    }
    fields
}

/// Those that nobody wants to read, and those that the configuration names beside them.
fn read_redacted(open: &Open<'_>) -> Vec<String> {
    if let Some(place) = open.empty_list("redact") {
        let message = "an empty `redact` changes nothing: those that are never written down stay so";
        open.reader.warn(place, message, "leave it out, or name parameters that are secret beside them");
    }
    let own = open.texts("redact").into_iter().filter_map(|text| parameter(open, text));
    let own: Vec<String> = own.filter(|name| !PARAMETERS.contains(&name.as_str())).collect();
    let too_many = own.len() > REDACTED_MAX;
    let names = PARAMETERS.into_iter().map(str::to_owned).chain(own).collect();
    if too_many {
        let message = format!("there are more than {REDACTED_MAX} parameters");
        open.reader.problem_help(open.place_of("redact").unwrap_or(open.place()), message, "leave some out");
    }
    names
}

fn parameter(open: &Open<'_>, text: Text<'_>) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~[]".contains(&byte);
    if (1..=PARAMETER_BYTES_MAX).contains(&text.value.len()) && text.value.bytes().all(is_plain) {
        return Some(text.value.to_ascii_lowercase());
    }
    let message = format!("`{}` is not the name of a parameter", shorten(text.value));
    open.reader.problem_help(text.place, message, "use letters, digits, `-`, `_`, `.`, `~`, `[` and `]`");
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_names_what_is_never_written_down() {
        let named: Vec<&str> = REDACT.split('`').skip(1).step_by(2).collect();
        assert_eq!(named, PARAMETERS);
    }
}
