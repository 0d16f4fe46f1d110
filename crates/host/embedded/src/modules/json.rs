//! JSON whose objects keep their order, which `exports` of a package.json needs: the first condition that holds is taken.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
    /// A number or a truth value: no field that matters here has one.
    Other(String),
}

impl Json {
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The last value of a key, as `JSON.parse` gives it.
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Self::Object(members) => members.iter().rfind(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// As `JSON.stringify` writes it.
    pub(crate) fn write(&self, to: &mut String) {
        match self {
            Self::Null => to.push_str("null"),
            Self::Other(text) => to.push_str(text),
            Self::Text(text) => to.push_str(&quoted(text)),
            Self::List(values) => {
                to.push('[');
                for (at, value) in values.iter().enumerate() {
                    if at > 0 {
                        to.push(',');
                    }
                    value.write(to);
                }
                to.push(']');
            }
            Self::Object(members) => {
                to.push('{');
                for (at, (name, value)) in members.iter().enumerate() {
                    if at > 0 {
                        to.push(',');
                    }
                    to.push_str(&quoted(name));
                    to.push(':');
                    value.write(to);
                }
                to.push('}');
            }
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Other(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Other(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Other(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Other(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = from.next_element()? {
            values.push(value);
        }
        Ok(Json::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = from.next_entry()? {
            members.push(member);
        }
        Ok(Json::Object(members))
    }
}
