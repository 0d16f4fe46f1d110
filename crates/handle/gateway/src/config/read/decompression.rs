use crate::config::decompression::{Decompression, RequestCoding};
use crate::config::table::{Key, Kind, Open, Section};

const CODINGS: &[(&str, &str)] =
    &[("gzip", "gzip"), ("deflate", "deflate in zlib's form"), ("br", "Brotli"), ("zstd", "Zstandard")];

pub(super) static DECOMPRESSION: Section = Section::new(
    "decompress",
    "the `decompress` section",
    "Decodes the bodies of requests before an upstream gets them, piece by piece; without `content-encoding`, and without the digests of the coded bytes. A coding that is not listed, and more than one at a time, is refused with 415; a window of more than 8 MiB, and what the two limits say, with 413; what is malformed or cut off with 400. The decoders of a core hold at most 64 MiB; requests beyond that get 503.",
    &[
        Key::default(
            "codings",
            Kind::List { of: &Kind::Choice(CODINGS), one: true },
            "[gzip, deflate, br, zstd]",
            "Those that are taken.",
        )
        .aka(&["algorithms", "encodings", "encoding"]),
        Key::default(
            "ratio_max",
            Kind::Number { min: 1, max: 1_000_000 },
            "100",
            "How many times as long as the coded body the decoded one may be, from its first 256 KiB on. Texts reach 10 to 30.",
        )
        .aka(&["max_ratio", "max_inflate_ratio"]),
        Key::optional(
            "bytes_max",
            Kind::Size { min: 1, max: 1 << 50 },
            "The longest decoded body. Without it: the route's `body_bytes_max`, which bounds the coded one as well.",
        )
        .aka(&["max_size"]),
    ],
);

pub(super) fn read_decompression(open: &Open<'_>) -> Decompression {
    let mut codings = Vec::new();
    for text in open.texts("codings") {
        match text.value {
            "gzip" => codings.push(RequestCoding::Gzip),
            "deflate" => codings.push(RequestCoding::Deflate),
            "br" => codings.push(RequestCoding::Br),
            "zstd" => codings.push(RequestCoding::Zstd),
            other => open.reader.problem_help(
                text.place,
                format!("`{}` is not a coding", other.escape_debug()),
                "write `gzip`, `deflate`, `br` or `zstd`",
            ),
        }
    }
    if let Some(place) = open.empty_list("codings") {
        open.reader.problem_help(place, "`codings` is empty", "write for example `codings: [gzip]`");
    }
    let bytes_max = open.size("bytes_max");
    Decompression {
        codings,
        ratio_max: open.number("ratio_max").unwrap_or(1).max(1),
        bytes_max: open.place_of("bytes_max").map(|_| bytes_max),
    }
}
