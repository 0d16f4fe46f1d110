use leat_config::table::shorten;
use leat_config::yaml::{Node, Value as Yaml};
use serde_json::Value;

/// A node as JSON: scalars without quotes that JSON knows (numbers, truth values) are these, all others are text.
pub(crate) fn json(node: &Node, as_text: bool) -> Value {
    match &node.value {
        Yaml::Null => Value::Null,
        Yaml::Quoted(text) => Value::String(text.clone()),
        Yaml::Plain(text) if as_text => Value::String(text.clone()),
        Yaml::Plain(text) => match serde_json::from_str::<Value>(text) {
            Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
            _ => Value::String(text.clone()),
        },
        Yaml::List(items) => items.iter().map(|item| json(item, as_text)).collect(),
        Yaml::Map(pairs) => {
            let pairs = pairs.iter().map(|pair| (pair.key.clone(), json(&pair.value, as_text)));
            Value::Object(pairs.collect())
        }
    }
}

/// A node on one line, for messages: cut where it gets long.
pub(crate) fn line(node: &Node) -> String {
    shorten(&json(node, false).to_string())
}
