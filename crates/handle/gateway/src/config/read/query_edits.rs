use crate::config::query_edits::QueryEdits;
use crate::config::table::{Key, Kind, Open, Section};

const NAME: Kind = Kind::Text { what: "a name", example: "debug" };
const VALUE: Kind = Kind::Text { what: "a value", example: "1" };

pub(super) static QUERY_EDITS: Section = Section::new(
    "query_edits",
    "changes to a query",
    "Changes to the query that an upstream gets, made in this order: remove, set, add; behind `rewrite`. Names and values are written plain here: names of a request are compared as servers read them (`%61` is `a`, `+` is a space), and what is put is percent-encoded. What is not named stays byte by byte.",
    &[
        Key::optional("remove", Kind::List { of: &NAME, one: true }, "Takes out every parameter of these names.")
            .aka(&["delete", "unset"]),
        Key::optional("set", Kind::Map { key: "names", of: &VALUE }, "Parameters that replace all of their name.")
            .aka(&["replace"]),
        Key::optional(
            "add",
            Kind::Map { key: "names", of: &Kind::List { of: &VALUE, one: true } },
            "Parameters that are appended to what is there.",
        )
        .aka(&["append"]),
    ],
);

pub(super) fn read_query_edits(open: &Open<'_>) -> QueryEdits {
    let mut edits = QueryEdits::default();
    let named = |place, name: &str| {
        if name.is_empty() {
            open.reader.problem_help(place, "the name of a parameter is empty", "write for example `debug`");
        }
    };
    for text in open.texts("remove") {
        named(text.place, text.value);
        edits.out.push(text.value.as_bytes().to_vec());
    }
    for key in ["set", "add"] {
        for (pair, values) in open.text_pairs(key) {
            named(pair.place, &pair.key);
            if key == "set" {
                edits.out.push(pair.key.as_bytes().to_vec());
            }
            for value in values {
                let mut put = String::new();
                encode(&pair.key, &mut put);
                put.push('=');
                encode(value.value, &mut put);
                edits.put.push(put);
            }
        }
    }
    edits
}

/// Percent-encodes all that is not unreserved (RFC 3986 section 2.3).
fn encode(text: &str, out: &mut String) {
    use std::fmt::Write;
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String can't fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
}
