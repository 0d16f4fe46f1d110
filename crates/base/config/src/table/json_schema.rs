use serde_json::{Map, Value, json};

use super::key::Need;
use super::{Kind, Section, units};

/// Sizes as text: `32KiB`, `1 MB`.
const SIZE_PATTERN: &str = "^[0-9]+ *(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)?$";
/// Times as text: `250ms`, `60s`.
const TIME_PATTERN: &str = "^[0-9]+ *(ms|s|m|min|h)$";

/// The JSON Schema (2020-12) of a section and of all that it refers to, under this title.
pub fn schema(root: &Section, title: &str) -> Value {
    let mut defs = Map::new();
    let mut schema = object(root, &mut defs);
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
        schema.insert("title".into(), title.into());
        schema.insert("$defs".into(), Value::Object(defs));
    }
    schema
}

fn object(section: &Section, defs: &mut Map<String, Value>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for key in section.keys {
        let mut value = of(&key.kind, defs);
        if let Some(value) = value.as_object_mut() {
            value.insert("description".into(), key.doc.into());
            if let Need::Default(text) = key.need {
                value.insert("default".into(), default(&key.kind, text));
            }
        }
        if key.need == Need::Required {
            required.push(Value::from(key.name));
        }
        properties.insert(key.name.into(), value);
    }
    let mut schema = json!({
        "type": "object",
        "description": section.doc,
        "properties": properties,
        "additionalProperties": false,
    });
    if let Some(schema) = schema.as_object_mut() {
        if !required.is_empty() {
            schema.insert("required".into(), required.into());
        }
        if section.extensible {
            schema.insert("patternProperties".into(), json!({ "^x-": true }));
        }
        let groups: Vec<Value> = section.groups.iter().map(exclusive).collect();
        if !groups.is_empty() {
            schema.insert("allOf".into(), groups.into());
        }
    }
    schema
}

/// Exactly one, or at most one, of these keys.
fn exclusive(group: &super::Group) -> Value {
    let mut cases: Vec<Value> = group.keys.iter().map(|key| json!({ "required": [key] })).collect();
    if !group.required {
        let any = cases.clone();
        cases.push(json!({ "not": { "anyOf": any } }));
    }
    json!({ "oneOf": cases })
}

fn of(kind: &Kind, defs: &mut Map<String, Value>) -> Value {
    match kind {
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Number { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::NumberOr { min, max, word } => {
            json!({ "anyOf": [{ "type": "integer", "minimum": min, "maximum": max }, { "const": word }] })
        }
        Kind::Size { min, max } => json!({
            "anyOf": [{ "type": "integer", "minimum": min, "maximum": max }, { "type": "string", "pattern": SIZE_PATTERN }],
        }),
        Kind::Time { off: true, .. } => {
            json!({ "anyOf": [{ "type": "string", "pattern": TIME_PATTERN }, { "const": "off" }] })
        }
        Kind::Time { .. } => json!({ "type": "string", "pattern": TIME_PATTERN }),
        Kind::Choice(words) => choice(words),
        // What is not quoted reads as a number or a truth value to those who know the schema alone.
        Kind::Text { example, .. } => json!({ "type": ["string", "number", "boolean"], "examples": [example] }),
        Kind::List { of: element, one } => {
            let element = of(element, defs);
            let list = json!({ "type": "array", "items": element });
            if *one { json!({ "anyOf": [list, element] }) } else { list }
        }
        Kind::Map { of: element, .. } => {
            let element = of(element, defs);
            json!({ "type": ["object", "null"], "additionalProperties": element })
        }
        Kind::Section(section) => {
            define(section, defs);
            json!({ "$ref": format!("#/$defs/{}", section.name) })
        }
        Kind::Json => json!({}),
        // The second alternative says nothing new to a checker; editors offer its keys.
        Kind::JsonOr(section) => {
            define(section, defs);
            json!({ "anyOf": [{}, { "$ref": format!("#/$defs/{}", section.name) }] })
        }
    }
}

fn choice(words: &[(&str, &str)]) -> Value {
    let values: Vec<Value> = words.iter().map(|(word, _)| Value::from(*word)).collect();
    // A word such as `301` or `1.2` is a number to YAML unless it is quoted.
    let numbers: Vec<Value> =
        words.iter().filter_map(|(word, _)| serde_json::from_str(word).ok().filter(Value::is_number)).collect();
    json!({ "enum": values.into_iter().chain(numbers).collect::<Vec<_>>() })
}

fn define(section: &'static Section, defs: &mut Map<String, Value>) {
    if defs.contains_key(section.name) {
        return;
    }
    defs.insert(section.name.into(), Value::Null);
    let object = object(section, defs);
    let schema = match section.shorthand.and_then(|name| section.key(name)) {
        Some((_, key)) => {
            let short = of(&key.kind, defs);
            json!({ "description": section.doc, "anyOf": [object, short] })
        }
        // A section whose keys are all commented out.
        None => json!({ "description": section.doc, "anyOf": [object, { "type": "null" }] }),
    };
    defs.insert(section.name.into(), schema);
}

fn default(kind: &Kind, text: &str) -> Value {
    match kind {
        Kind::Flag | Kind::Number { .. } => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        Kind::Size { .. } => units::size(text).map_or_else(|| text.into(), |bytes| units::show_size(bytes).into()),
        Kind::List { .. } => {
            let words = text.trim_matches(['[', ']']).split(", ").filter(|word| !word.is_empty());
            words.map(Value::from).collect()
        }
        _ => text.into(),
    }
}
