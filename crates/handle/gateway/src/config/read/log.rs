use super::file;
use crate::config::log_level::LogLevel;
use crate::config::model::{AccessLog, LogFormat, LogTarget};
use crate::config::table::{Key, Kind, Open, Section};

const FORMATS: &[(&str, &str)] =
    &[("auto", "`human` on a terminal, `json` otherwise"), ("json", "a JSON object a line"), ("human", "for people")];

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
    ],
)
.shorthand("path");

pub(super) const LOG_LEVELS: &[(&str, &str)] =
    &[("info", "all of them"), ("warn", "what somebody should look at, and errors"), ("error", "errors alone")];

pub(super) fn read_log_level(open: &Open<'_>) -> Option<LogLevel> {
    open.choice("log_level", &[("info", LogLevel::Info), ("warn", LogLevel::Warn), ("error", LogLevel::Error)])
}

pub(super) fn read_access_log(open: &Open<'_>) -> Option<AccessLog> {
    let target = open.text("path").and_then(|text| match text.value {
        "off" => Some(LogTarget::Off),
        "stderr" => Some(LogTarget::Stderr),
        "stdout" => Some(LogTarget::Stdout),
        _ => file::writable(open.reader, text).map(LogTarget::File),
    });
    let options = [("auto", LogFormat::Auto), ("json", LogFormat::Json), ("human", LogFormat::Human)];
    let format = open.choice("format", &options);
    Some(AccessLog { target: target?, format: format? })
}
