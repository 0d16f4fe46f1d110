use leat_files::Coding;

use crate::config::compression::{Compression, MediaRange};
use crate::config::table::{Key, Kind, Open, Reader, Section, Text};

const CODINGS: &[(&str, &str)] = &[("zstd", "Zstandard"), ("br", "Brotli"), ("gzip", "gzip")];
const TYPE: Kind = Kind::Text { what: "a media type", example: "text/html" };

pub(super) static COMPRESSION: Section = Section::new(
    "compression",
    "the `compression` section",
    "Compresses the replies of upstreams and files for clients that take it. Left as they are: short ones, parts of a body, what has a coding or a digest already, what says `cache-control: no-transform`, and what goes out while the core compresses 64 others. A page that mirrors secrets beside a stranger's input should not be compressed (BREACH).",
    &[
        Key::default(
            "codings",
            Kind::List { of: &Kind::Choice(CODINGS), one: true },
            "[zstd, br, gzip]",
            "Best first, among those that a client likes equally.",
        )
        .aka(&["algorithms", "encodings", "encoding"]),
        Key::default(
            "types",
            Kind::List { of: &TYPE, one: true },
            "[text/html, text/css, text/plain, text/xml, text/csv, text/javascript, application/javascript, application/json, application/xml, application/wasm, image/svg+xml, +json, +xml]",
            "The media types that are worth it; `text/*` for all of a kind, `+json` for all of a form.",
        )
        .aka(&["content_types", "mime_types"]),
        Key::default(
            "bytes_min",
            Kind::Size { min: 0, max: 1 << 30 },
            "1KiB",
            "Shorter bodies go as they are, where the length is known ahead.",
        )
        .aka(&["min_length", "min_size", "threshold"]),
    ],
);

pub(super) fn read_compression(open: &Open<'_>) -> Compression {
    let mut codings = Vec::new();
    for text in open.texts("codings") {
        match text.value {
            "zstd" => codings.push(Coding::Zstd),
            "br" => codings.push(Coding::Br),
            "gzip" => codings.push(Coding::Gzip),
            other => open.reader.problem_help(
                text.place,
                format!("`{}` is not a coding", other.escape_debug()),
                "write `zstd`, `br` or `gzip`",
            ),
        }
    }
    let types = open.texts("types").into_iter().filter_map(|text| media_range(open.reader, text)).collect();
    for (name, help) in [("codings", "[zstd, br, gzip]"), ("types", "[text/html]")] {
        if let Some(place) = open.empty_list(name) {
            open.reader.problem_help(
                place,
                format!("`{name}` is empty"),
                format!("write for example `{name}: {help}`"),
            );
        }
    }
    Compression { codings, types, bytes_min: open.size("bytes_min") }
}

fn media_range(reader: &Reader, text: Text<'_>) -> Option<MediaRange> {
    let range = text.value.to_ascii_lowercase();
    let fine = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
    };
    match range.split_once('/') {
        None if range.strip_prefix('+').is_some_and(fine) => return Some(MediaRange::Suffix(range)),
        Some((kind, "*")) if fine(kind) => return Some(MediaRange::Kind(format!("{kind}/"))),
        Some((kind, subtype)) if fine(kind) && fine(subtype) => return Some(MediaRange::Exactly(range)),
        _ => {}
    }
    reader.problem_help(
        text.place,
        format!("`{}` is not a media type", text.value.escape_debug()),
        "write for example `text/html`, `text/*` or `+json`",
    );
    None
}
