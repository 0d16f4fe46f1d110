use leat_message::Fixed;

use super::edits::{self, Way};
use crate::config::fields::FieldEdits;
use crate::config::table::{Group, Key, Kind, Open, Section};
use crate::config::yaml::{Node, Value};

pub(super) static RESPOND: Section = Section::new(
    "respond",
    "the `respond` section",
    "Answers with the same reply every time.",
    &[
        Key::default("status", Kind::Number { min: 200, max: 599 }, "200", "The status.").aka(&["code"]),
        Key::optional(
            "headers",
            Kind::Map { key: "field names", of: &Kind::List { of: &edits::VALUE, one: true } },
            "Fields of the reply.",
        )
        .aka(&["header", "fields"]),
        Key::optional(
            "body",
            Kind::Text { what: "a text", example: "hello" },
            "The body, `text/plain` in UTF-8 unless `headers` says otherwise.",
        )
        .aka(&["text"]),
        Key::optional("json", Kind::Json, "The body as JSON."),
    ],
)
.groups(&[Group { keys: &["body", "json"], required: false }]);

/// `edits` are the route's changes to responses, made here once.
pub(super) fn read_respond(open: &Open<'_>, edits: &FieldEdits) -> Option<Fixed> {
    let status = open.number("status").unwrap_or(200) as u16;
    let mut fields = edits::read_fields(open, "headers", Way::Response);
    let text = open.text("body");
    let json = open.json("json");
    let (body, kind) = match (text, json) {
        (Some(text), _) => (text.value.as_bytes().to_vec(), Some("text/plain; charset=utf-8")),
        (None, Some(node)) => (to_json(node).to_string().into_bytes(), Some("application/json")),
        (None, None) => (Vec::new(), None),
    };
    // RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5.
    if matches!(status, 204 | 205 | 304) && !body.is_empty() {
        open.reader.problem_help(
            open.place_of("body").or(open.place_of("json")).unwrap_or(open.place()),
            format!("a reply with status {status} cannot have a body"),
            "leave the body out, or use another status",
        );
    }
    if let Some(kind) = kind
        && !fields.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"))
    {
        fields.insert(0, ("content-type".to_owned(), kind.to_owned()));
    }
    apply(edits, &mut fields);
    Some(Fixed::new(status, fields, body))
}

fn apply(edits: &FieldEdits, fields: &mut Vec<(String, String)>) {
    let dropped = edits.remove().iter().chain(edits.set().iter().map(|(name, _)| name));
    for gone in dropped {
        fields.retain(|(name, _)| !name.eq_ignore_ascii_case(gone));
    }
    fields.extend(edits.set().iter().chain(edits.add()).cloned());
}

/// YAML's core schema: what is not quoted may be a number, a truth value or null.
pub(super) fn to_json(node: &Node) -> serde_json::Value {
    match &node.value {
        Value::Null => serde_json::Value::Null,
        Value::Quoted(text) => text.as_str().into(),
        Value::Plain(text) => match serde_json::from_str(text) {
            Ok(value @ (serde_json::Value::Bool(_) | serde_json::Value::Number(_))) => value,
            _ => text.as_str().into(),
        },
        Value::List(items) => items.iter().map(to_json).collect(),
        Value::Map(pairs) => pairs.iter().map(|pair| (pair.key.clone(), to_json(&pair.value))).collect(),
    }
}
