use std::path::PathBuf;
use std::sync::OnceLock;

use leat_rpc::client::Backend;
use leat_rpc::mock::journal::JournalLimits;
use leat_rpc::mock::{Record, Settings, Validate};

use super::file;
use crate::config::mock::Mock;
use crate::config::table::{Group, Key, Kind, Open, Section, Text};

/// The longest name of metadata, in bytes.
const NAME_BYTES_MAX: usize = 256;
const PATH: Kind = Kind::Text { what: "a file or a folder", example: "protos" };
const FILE: Kind = Kind::Text { what: "a file", example: "ca.pem" };
const SERVER: Kind = Kind::Text { what: "a server", example: "127.0.0.1:9000" };
const NAME: Kind = Kind::Text { what: "a name of metadata", example: "x-session" };

const VALIDATE: &[(&str, &str)] = &[
    ("auto", "where the schema has constraints"),
    ("on", "every request, also one whose type has none: it must be one of its type"),
    ("off", "never"),
];

static RECORD: Section = Section::new(
    "mock_record",
    "the `record` section",
    "Calls that no rule answers go on to a backend, and what they and its answers were is written down as rules.",
    &[
        Key::required("upstream", SERVER, "The backend, which speaks gRPC: as for `reflect`.").aka(&["to", "url"]),
        Key::required(
            "folder",
            Kind::Text { what: "a folder", example: "recorded" },
            "Where the rules go, one file for each method.",
        )
        .aka(&["dir", "directory"]),
    ],
);

static JOURNAL: Section = Section::new(
    "mock_journal",
    "the `journal` section",
    "How many calls are kept, for the [admin API](mock-admin.md) to show and to verify. They are kept only where there is an admin address.",
    &[
        Key::default("calls_max", Kind::Number { min: 1, max: 10_000_000 }, "10000", "Calls; the oldest go first.")
            .aka(&["entries"]),
        Key::default("size_max", Kind::Size { min: 64 * 1024, max: 1 << 32 }, "16MiB", "Memory for all of them.")
            .aka(&["bytes"]),
    ],
);

pub(super) static MOCK: Section = Section::new(
    "mock",
    "the `mock` section",
    "Answers RPC calls (gRPC, gRPC-Web, Connect, and HTTP by `google.api.http`) by rules, in the place of services.",
    &[
        Key::optional(
            "proto",
            Kind::List { of: &PATH, one: true },
            "The schema: folders and files of `.proto`, sets of descriptors and images of buf, told apart by their content.",
        )
        .aka(&["protos", "descriptor_set", "descriptors", "schema"]),
        Key::optional("include", Kind::List { of: &PATH, one: true }, "Folders that imports are looked up in, beside those of `proto`.")
            .aka(&["import_path", "import_paths", "proto_path"]),
        Key::optional(
            "reflect",
            SERVER,
            "A server whose reflection tells the schema, when the configuration is read: `host:port` for plain HTTP/2, `https://host:port` for TLS.",
        )
        .aka(&["reflection"]),
        Key::optional("rules", Kind::List { of: &PATH, one: true }, "Files of rules, and folders of them (`.yaml`, `.yml` and `.json`)."),
        Key::default("validate", Kind::Choice(VALIDATE), "auto", "Whether requests are held against the constraints (`buf.validate`) of the schema."),
        Key::default("fake", Kind::Flag, "false", "Whether a call that no rule answers gets a made-up message instead of an error."),
        Key::default("seed", Kind::Number { min: 0, max: u64::MAX }, "0", "What made-up values, weights and delays are drawn from: the same seed, the same answers."),
        Key::optional("session_key", NAME, "Metadata whose value tells sessions apart: each has states, counts and sequences of its own.")
            .aka(&["session"]),
        Key::optional("journal", Kind::Section(&JOURNAL), "How many calls are kept."),
        Key::optional("redact", Kind::List { of: &NAME, one: true }, "Metadata whose values are neither kept nor recorded, beside those whose names sound secret."),
        Key::optional("record", Kind::Section(&RECORD), "Records a backend."),
        Key::optional("ca", FILE, "Authorities to trust instead of the public ones, PEM: for `reflect` and `record` over TLS."),
    ],
)
.groups(&[Group { keys: &["proto", "reflect"], required: true }]);

pub(super) fn read_mock(open: &Open<'_>) -> Option<Mock> {
    let ca = open.text("ca").map(|text| file::pem(open.reader, text, "CERTIFICATE", "certificate"));
    let (proto, include, rules) = (paths(open, "proto"), paths(open, "include"), paths(open, "rules"));
    let ca = match ca {
        Some(None) => return None,
        ca => ca.flatten(),
    };
    let reflect = open.text("reflect").map(|text| backend(open, text, ca.as_ref()));
    let record = open.section_if("record").map(|section| {
        let upstream = section.text("upstream").and_then(|text| backend(&section, text, ca.as_ref()));
        let folder = section.text("folder").map(|text| section.reader.path(text.value));
        Some(Record { upstream: upstream?, folder: folder? })
    });
    let validate = open
        .choice("validate", &[("auto", Validate::Auto), ("on", Validate::On), ("off", Validate::Off)])
        .unwrap_or_default();
    let session_key = open.text("session_key").map(|text| name(open, text));
    let redact: Vec<Option<String>> = open.texts("redact").into_iter().map(|text| name(open, text)).collect();
    let journal = open.section("journal");
    let journal = JournalLimits {
        entries_max: usize::try_from(journal.number("calls_max").unwrap_or_default()).unwrap_or(usize::MAX),
        bytes_max: usize::try_from(journal.size("size_max")).unwrap_or(usize::MAX),
    };
    let (fake, seed) = (open.flag("fake"), open.number("seed").unwrap_or_default());
    if let (true, None, None) = (open.place_of("rules").is_none(), &record, open.place_of("fake")) {
        open.reader.warn(
            open.place(),
            "the mock has no `rules`: it answers no call",
            "add `rules: rules/`, or `fake: true`",
        );
    }
    // The inner `None`s were reported where they were read.
    let settings = Settings {
        proto: proto?,
        include: include?,
        reflect: whole(reflect)?,
        rules: rules?,
        validate,
        fake,
        seed,
        session_key: whole(session_key)?,
        journal,
        redact: redact.into_iter().collect::<Option<_>>()?,
        record: whole(record)?,
    };
    Some(Mock { settings, place: open.place(), loaded: OnceLock::new() })
}

/// What is not there is right; what is there and wrong is not.
fn whole<T>(value: Option<Option<T>>) -> Option<Option<T>> {
    match value {
        None => Some(None),
        Some(value) => value.map(Some),
    }
}

fn paths(open: &Open<'_>, key: &str) -> Option<Vec<PathBuf>> {
    let texts = open.texts(key);
    let paths = texts.into_iter().map(|text| {
        let path = open.reader.path(text.value);
        match std::fs::metadata(&path) {
            Ok(_) => Some(path),
            Err(error) => {
                file::missing(open.reader, text, &path, &error);
                None
            }
        }
    });
    // All are looked at, so that each missing one is told.
    paths.collect::<Vec<_>>().into_iter().collect()
}

fn backend(open: &Open<'_>, text: Text<'_>, ca: Option<&PathBuf>) -> Option<Backend> {
    let read = Backend::parse(text.value, ca.map(PathBuf::as_path));
    read.inspect_err(|message| {
        open.reader.problem_help(
            text.place,
            message.clone(),
            "write for example `127.0.0.1:9000` or `https://api.example:443`",
        );
    })
    .ok()
}

/// A name of metadata, in lower case (gRPC over HTTP/2, "Header-Name").
fn name(open: &Open<'_>, text: Text<'_>) -> Option<String> {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if !text.value.is_empty() && text.value.len() <= NAME_BYTES_MAX && text.value.bytes().all(is_fine) {
        return Some(text.value.to_ascii_lowercase());
    }
    open.reader.problem_help(
        text.place,
        format!("`{}` is no name of metadata", text.value.escape_debug()),
        "it has letters, digits, `-`, `_` and `.`, such as `x-session`",
    );
    None
}
