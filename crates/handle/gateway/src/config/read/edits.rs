//! Field names and values, and changes to fields.

use leat_message::Name;

use crate::config::fields::FieldEdits;
use crate::config::table::{Key, Kind, Open, Reader, Section, Text};

const NAME: Kind = Kind::Text { what: "a field name", example: "x-name" };
pub(super) const VALUE: Kind = Kind::Text { what: "a field value", example: "value" };

pub(super) static FIELD_EDITS: Section = Section::new(
    "field_edits",
    "changes to fields",
    "Changes to the fields (headers) of a message, made in this order: remove, set, add.",
    &[
        Key::optional("remove", Kind::List { of: &NAME, one: true }, "Removes every field of these names.")
            .aka(&["delete", "unset", "hide"]),
        Key::optional("set", Kind::Map { key: "field names", of: &VALUE }, "Fields that replace all of their name.")
            .aka(&["replace"]),
        Key::optional(
            "add",
            Kind::Map { key: "field names", of: &Kind::List { of: &VALUE, one: true } },
            "Fields that are appended to what is there.",
        )
        .aka(&["append"]),
    ],
);

/// Which way a message goes: it decides which fields may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Request,
    Response,
}

pub(super) fn read_edits(open: &Open<'_>, way: Way) -> FieldEdits {
    let mut edits = FieldEdits::default();
    for text in open.texts("remove") {
        edits.remove.extend(editable(open.reader, text, way));
    }
    for (pair, values) in open.text_pairs("set") {
        let text = Text { value: &pair.key, place: pair.place };
        if let (Some(name), Some(value)) = (editable(open.reader, text, way), one(open.reader, &pair.key, &values)) {
            if edits.set.iter().any(|(held, _)| held.eq_ignore_ascii_case(&name)) {
                open.reader.problem_help(
                    pair.place,
                    format!("`{name}` is set twice; the case of a field name does not count"),
                    "keep one of them, or use `add` for several fields of one name",
                );
            }
            edits.set.push((name, value));
        }
    }
    edits.add = read_fields(open, "add", way);
    edits
}

/// Reads a mapping from names to values or lists of values.
pub(super) fn read_fields(open: &Open<'_>, key: &str, way: Way) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    for (pair, values) in open.text_pairs(key) {
        let text = Text { value: &pair.key, place: pair.place };
        let Some(name) = editable(open.reader, text, way) else { continue };
        for text in values {
            fields.extend(value(open.reader, &pair.key, text).map(|value| (name.clone(), value)));
        }
    }
    fields
}

fn one(reader: &Reader, name: &str, values: &[Text<'_>]) -> Option<String> {
    values.first().and_then(|text| value(reader, name, *text))
}

/// A field name that is a token.
pub(super) fn name(reader: &Reader, text: Text<'_>) -> Option<String> {
    if is_token(text.value) {
        return Some(text.value.to_owned());
    }
    let message = match text.value.chars().find(|c| !is_token_char(*c)) {
        Some(wrong) => format!("the field name `{}` has `{}` in it", text.value.escape_debug(), wrong.escape_default()),
        None => "the field name is empty".to_owned(),
    };
    reader.problem_help(text.place, message, "use letters, digits and `-`, as in `x-request-id`");
    None
}

/// A field name that a configuration may touch.
pub(super) fn editable(reader: &Reader, text: Text<'_>, way: Way) -> Option<String> {
    let name = name(reader, text)?;
    let help = match Name::from_bytes(name.as_bytes()) {
        Name::ContentLength | Name::TransferEncoding | Name::Trailer => {
            "the engine frames bodies itself: leave the field out"
        }
        Name::Host if way == Way::Request => "write `host: keep`, `endpoint` or a name in `proxy`",
        Name::Expect if way == Way::Request => "the engine answers `Expect` itself: leave the field out",
        id if id.is_hop_by_hop() => "the engine manages connections and upgrades itself: leave the field out",
        _ => return Some(name),
    };
    reader.problem_help(text.place, format!("the field `{name}` cannot be changed by a configuration"), help);
    None
}

/// A field value. Messages do not show it: it may be a credential.
pub(super) fn value(reader: &Reader, name: &str, text: Text<'_>) -> Option<String> {
    let wrong = if text.value.chars().any(|c| c.is_control() && c != '\t') {
        "has a line break or another control character in it"
    } else if text.value.trim() != text.value {
        "starts or ends with white space"
    } else {
        return Some(text.value.to_owned());
    };
    reader.problem_help(text.place, format!("the value of `{name}` {wrong}"), "write a value on one line");
    None
}

pub(super) fn is_token(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_token_char)
}

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}
