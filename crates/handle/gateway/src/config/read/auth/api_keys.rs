use std::sync::Arc;

use super::{Read, own_field, secret};
use crate::admit::auth::{ApiKeys, parse_hash};
use crate::config::auth::{ApiKeyAuth, AuthKind};
use crate::config::problem::Place;
use crate::config::read::edits;
use crate::config::table::{Key, Kind, Open, Section};

const HASH: Kind = Kind::Text {
    what: "the SHA-256 of a key",
    example: "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b",
};
const FIELD: Kind = Kind::Text { what: "a field name", example: "x-api-key" };

pub(super) static API_KEYS: Section = Section::new(
    "api_keys",
    "the `api_keys` section",
    "Keys of programs. Only their SHA-256 is kept, here and in memory: `printf %s KEY | sha256sum`. Make keys with `openssl rand -hex 32`; a fast hash is safe for those, and for nothing that a person made up.",
    &[
        Key::default("header", FIELD, "x-api-key", "The field that carries the key.").aka(&["name", "key_header"]),
        Key::optional(
            "keys",
            Kind::Map { key: "owners", of: &Kind::List { of: &HASH, one: true } },
            "The owners, each with the SHA-256 of one or several keys.",
        ),
        Key::optional(
            "file",
            Kind::Text { what: "a file", example: "api-keys.txt" },
            "A file with a line `owner:sha256` for each key; empty lines and those with `#` in front are passed over.",
        ),
        Key::optional(
            "owner_header",
            Kind::Text { what: "a field name", example: "x-client" },
            "The field that tells the upstream whose key it is. What clients send under this name is removed.",
        )
        .aka(&["consumer_header", "user_header"]),
    ],
)
.secret();

pub(super) fn read(open: &Open<'_>) -> Read {
    let header = open.text("header").and_then(|text| edits::name(open.reader, text));
    let owner_field = open.text("owner_header").map(|text| own_field(open, text));
    let mut keys = ApiKeys::default();
    for (pair, hashes) in open.text_pairs("keys") {
        for text in hashes {
            add(open, &mut keys, &pair.key, text.value, text.place, None);
        }
    }
    let mut complete = true;
    if let Some(text) = open.text("file") {
        match secret::text_file(open.reader, text) {
            None => complete = false,
            Some(content) => {
                for (number, line) in content.lines().enumerate() {
                    let line = line.trim();
                    if line.is_empty() || line.starts_with('#') {
                        continue;
                    }
                    let (owner, hash) = line.split_once(':').unwrap_or_default();
                    add(open, &mut keys, owner.trim(), hash.trim(), text.place, Some((number + 1, text.value)));
                }
            }
        }
    }
    if keys.is_empty() && complete && !open.reader.has_problems() {
        open.reader.problem_help(
            open.place(),
            "there are no keys: nobody would be let in",
            "add `keys: { owner: SHA-256 }`, or a `file` with a line `owner:SHA-256` for each key",
        );
    }
    let owner_field = match owner_field {
        None => None,
        Some(name) => Some(name?),
    };
    let own = owner_field.iter().cloned().collect();
    let header = header?.to_ascii_lowercase();
    Some((AuthKind::ApiKeys(ApiKeyAuth { keys: Arc::new(keys), header, owner_field }), own))
}

/// Adds a key. A message never shows what stands where the hash should be: it may be the key.
fn add(open: &Open<'_>, keys: &mut ApiKeys, owner: &str, hash: &str, place: Place, line: Option<(usize, &str)>) {
    let at = line.map(|(line, file)| format!("line {line} of the file `{file}`: ")).unwrap_or_default();
    let problem = match parse_hash(hash) {
        _ if owner.is_empty() || owner.chars().any(char::is_control) => "there is no owner before the `:`",
        None => "this is not a SHA-256 (64 hexadecimal digits)",
        Some(hash) if keys.add(hash, owner) => return,
        Some(_) => "the same key stands there twice",
    };
    open.reader.problem_help(place, format!("{at}{problem}"), "write what `printf %s KEY | sha256sum` prints");
}
