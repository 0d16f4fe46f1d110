use super::{edits, file};
use crate::config::action::{Coding, Files};
use crate::config::table::{Key, Kind, Open, Section, Text, nearest};

const CODINGS: &[(&str, &str)] = &[("br", "`.br`"), ("zstd", "`.zst`"), ("gzip", "`.gz`")];

pub(super) static FILES: Section = Section::new(
    "files",
    "the `files` section",
    "Serves the files of a directory, and nothing outside of it.",
    &[
        Key::required(
            "root",
            Kind::Text { what: "a directory", example: "./public" },
            "The directory. The request's path, after `strip_prefix`, is looked up in it.",
        )
        .aka(&["dir", "directory", "path"]),
        Key::default(
            "index",
            Kind::List { of: &Kind::Text { what: "a file name", example: "index.html" }, one: true },
            "[index.html]",
            "Files that stand for their directory; the first that is there.",
        ),
        Key::default(
            "precompressed",
            Kind::List { of: &Kind::Choice(CODINGS), one: true },
            "[]",
            "Codings of files that lie beside the plain ones, best first: `app.js.br` is sent for `app.js` to those who take it.",
        ),
        Key::default("hidden", Kind::Flag, "false", "Whether names that start with a dot are served.").aka(&["dotfiles"]),
        Key::optional(
            "cache_control",
            Kind::Text { what: "a field value", example: "public, max-age=3600" },
            "The `Cache-Control` of every file. Without it: none.",
        ),
    ],
)
.shorthand("root");

pub(super) fn read_files(open: &Open<'_>) -> Option<Files> {
    let root = open.text("root").and_then(|text| file::directory(open.reader, text));
    let index = open.texts("index").into_iter().filter_map(|text| read_index(open, text)).collect();
    let mut precompressed = Vec::new();
    for text in open.texts("precompressed") {
        match text.value {
            "br" => precompressed.push(Coding::Br),
            "zstd" => precompressed.push(Coding::Zstd),
            "gzip" => precompressed.push(Coding::Gzip),
            other => {
                let word = nearest(other, CODINGS.iter().map(|(word, _)| *word));
                open.reader.problem_help(
                    text.place,
                    format!("`precompressed` takes {}, found `{other}`", Kind::Choice(CODINGS).expected()),
                    word.map_or("leave it out".to_owned(), |word| format!("write `{word}`")),
                );
            }
        }
    }
    let hidden = open.flag("hidden");
    let cache_control = open.text("cache_control").and_then(|text| edits::value(open.reader, "cache_control", text));
    Some(Files { root: root?, index, precompressed, hidden, cache_control })
}

fn read_index(open: &Open<'_>, text: Text<'_>) -> Option<String> {
    if !text.value.is_empty() && !text.value.contains(['/', '\\', '\0']) && !matches!(text.value, "." | "..") {
        return Some(text.value.to_owned());
    }
    open.reader.problem_help(
        text.place,
        format!("`index` takes the name of a file, found `{}`", text.value.escape_debug()),
        "write for example `index.html`",
    );
    None
}
