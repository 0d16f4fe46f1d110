use serde_json::{Map, Value};

/// Steps into a token's claims that a name may take.
const DEPTH_MAX: usize = 8;

/// The name of a claim: a member of the token, or with dots a member of its members. A member that has the whole name,
/// dots and all (`https://example.com/roles`), comes first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClaimName(Box<str>);

/// A claim that must be there, and the values that will do.
pub(crate) type ClaimRule = (ClaimName, Box<[Box<str>]>);

impl ClaimName {
    /// `None` for an empty name, an empty step, or more than eight steps.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_url = text.contains("://");
        let steps = || text.split('.');
        let fits = !text.is_empty() && (is_url || steps().all(|step| !step.is_empty()) && steps().count() <= DEPTH_MAX);
        fits.then(|| Self(text.into()))
    }

    /// As the configuration writes it.
    pub(crate) fn name(&self) -> &str {
        &self.0
    }

    pub(crate) fn find<'c>(&self, claims: &'c Map<String, Value>) -> Option<&'c Value> {
        if let Some(value) = claims.get(&*self.0) {
            return Some(value);
        }
        let mut steps = self.0.split('.').take(DEPTH_MAX);
        let mut value = claims.get(steps.next()?)?;
        for step in steps {
            value = value.as_object()?.get(step)?;
        }
        Some(value)
    }
}

/// A claim as the value of a field: text, a number, a truth value, or a list of those with commas between. `None` for what
/// cannot be told apart there: an object, null, a list in a list, a list's text with a comma.
pub(crate) fn as_field(value: &Value) -> Option<String> {
    match value {
        Value::Array(items) => {
            let items: Option<Vec<String>> =
                items.iter().map(|item| scalar(item).filter(|text| !text.contains(','))).collect();
            items.map(|items| items.join(","))
        }
        value => scalar(value),
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Whether a claim has this value: it is the value, or a list with it; `scope` and `scp` are also texts of values with
/// spaces between (RFC 8693 section 4.2).
pub(crate) fn has_value(name: &ClaimName, value: &Value, wanted: &str) -> bool {
    match value {
        Value::String(text) if matches!(&*name.0, "scope" | "scp") => text.split(' ').any(|one| one == wanted),
        Value::Array(items) => items.iter().any(|item| is(item, wanted)),
        value => is(value, wanted),
    }
}

/// Allocates for numbers only.
fn is(value: &Value, wanted: &str) -> bool {
    match value {
        Value::String(text) => text == wanted,
        value => scalar(value).as_deref() == Some(wanted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims() -> Map<String, Value> {
        let text = r#"{"sub":"ann","n":7,"on":true,"org":{"id":"acme","roles":["a","b"]},"https://x.example/r":["q"],
            "a.b":"whole","a":{"b":"steps"},"scope":"read write","list":["x,y"],"none":null}"#;
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn names_find_what_they_name() {
        for (name, found) in [
            ("sub", Some("ann")),
            ("n", Some("7")),
            ("on", Some("true")),
            ("org.id", Some("acme")),
            ("org.roles", Some("a,b")),
            ("https://x.example/r", Some("q")),
            ("a.b", Some("whole")),
            ("org", None),
            ("org.id.x", None),
            ("list", None),
            ("none", None),
            ("absent", None),
        ] {
            let value = ClaimName::parse(name).unwrap();
            let claims = claims();
            assert_eq!(value.find(&claims).and_then(as_field).as_deref(), found, "{name}");
        }
        assert_eq!(["", ".", "a.", "a..b", "a.a.a.a.a.a.a.a.a"].map(ClaimName::parse), [const { None }; 5]);
    }

    #[test]
    fn a_claim_has_a_value_or_a_list_with_it() {
        for (name, wanted, has) in [
            ("sub", "ann", true),
            ("sub", "an", false),
            ("n", "7", true),
            ("org.roles", "b", true),
            ("org.roles", "a,b", false),
            ("scope", "write", true),
            ("scope", "read write", false),
            ("none", "null", false),
        ] {
            let (name, claims) = (ClaimName::parse(name).unwrap(), claims());
            assert_eq!(
                name.find(&claims).is_some_and(|value| has_value(&name, value, wanted)),
                has,
                "{name:?} {wanted}"
            );
        }
    }
}
