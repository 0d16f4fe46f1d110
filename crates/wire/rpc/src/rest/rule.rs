use std::fmt;

use super::template::{Template, TemplateError};

/// The number of the extension `google.api.http` of `google.protobuf.MethodOptions` (google/api/annotations.proto).
pub const HTTP_EXTENSION: u32 = 72_295_728;

/// Bindings in one rule. Google's have up to five.
const BINDINGS_MAX: usize = 64;

/// One binding of a `google.api.HttpRule`: a method and a path that stand for a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The HTTP method, as it is sent; `*` of a custom pattern for all of them.
    pub method: String,
    /// The path.
    pub template: Template,
    /// Which field the request's body is: `*` for all that the path does not give, empty for no body.
    pub body: String,
    /// Which field of the response is the reply's body; empty for all of it.
    pub response_body: String,
}

/// Why a `google.api.http` option can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleError {
    /// The bytes are no `HttpRule`.
    Malformed,
    /// The rule has no method and path.
    NoPattern,
    /// An additional binding has additional bindings.
    Nested,
    /// More than 64 bindings.
    TooMany,
    /// The path is no template.
    Template(String, TemplateError),
    /// The HTTP method is no token (RFC 9110 section 5.6.2).
    Method(String),
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str("the option is no google.api.HttpRule"),
            Self::NoPattern => f.write_str("the rule has none of get, put, post, delete, patch and custom"),
            Self::Nested => f.write_str("an additional binding has additional bindings of its own"),
            Self::TooMany => write!(f, "the rule has more than {BINDINGS_MAX} bindings"),
            Self::Template(text, error) => write!(f, "the path `{text}` is no template: {error}"),
            Self::Method(text) => write!(f, "`{}` is no HTTP method", text.escape_debug()),
        }
    }
}

impl std::error::Error for RuleError {}

impl Rule {
    /// Reads a `google.api.HttpRule` in binary form: the binding itself, then the additional ones.
    ///
    /// # Errors
    /// What can't be used; nothing is left out in silence.
    pub fn read(bytes: &[u8]) -> Result<Vec<Self>, RuleError> {
        let mut found = Vec::new();
        Self::read_one(bytes, &mut found, true)?;
        Ok(found)
    }

    fn read_one(bytes: &[u8], found: &mut Vec<Self>, is_first: bool) -> Result<(), RuleError> {
        let mut pattern = None;
        let (mut body, mut response_body) = (String::new(), String::new());
        let mut additional = Vec::new();
        for field in super::wire::texts(bytes) {
            let (number, value) = field.ok_or(RuleError::Malformed)?;
            match number {
                2 => pattern = Some(("GET".to_owned(), text(value)?)),
                3 => pattern = Some(("PUT".to_owned(), text(value)?)),
                4 => pattern = Some(("POST".to_owned(), text(value)?)),
                5 => pattern = Some(("DELETE".to_owned(), text(value)?)),
                6 => pattern = Some(("PATCH".to_owned(), text(value)?)),
                7 => body = text(value)?,
                8 => pattern = Some(custom(value)?),
                11 => additional.push(value),
                12 => response_body = text(value)?,
                _ => {}
            }
        }
        let (method, path) = pattern.ok_or(RuleError::NoPattern)?;
        if method.is_empty()
            || !method.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
        {
            return Err(RuleError::Method(method));
        }
        let template = Template::parse(&path).map_err(|error| RuleError::Template(path, error))?;
        found.push(Self { method, template, body, response_body });
        if found.len() > BINDINGS_MAX {
            return Err(RuleError::TooMany);
        }
        if !additional.is_empty() && !is_first {
            return Err(RuleError::Nested);
        }
        additional.into_iter().try_for_each(|bytes| Self::read_one(bytes, found, false))
    }
}

/// A `google.api.CustomHttpPattern`.
fn custom(bytes: &[u8]) -> Result<(String, String), RuleError> {
    let (mut kind, mut path) = (String::new(), String::new());
    for field in super::wire::texts(bytes) {
        match field.ok_or(RuleError::Malformed)? {
            (1, value) => kind = text(value)?,
            (2, value) => path = text(value)?,
            _ => {}
        }
    }
    Ok((kind, path))
}

fn text(bytes: &[u8]) -> Result<String, RuleError> {
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| RuleError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::super::wire::put_bytes;
    use super::*;

    fn message(fields: &[(u32, &[u8])]) -> Vec<u8> {
        let mut out = Vec::new();
        fields.iter().for_each(|(number, value)| put_bytes(*number, value, &mut out));
        out
    }

    #[test]
    fn bindings_come_in_their_order() {
        let custom = message(&[(1, b"HEAD"), (2, b"/h")]);
        let second = message(&[(6, b"/p/{a}"), (7, b"b")]);
        let third = message(&[(8, &custom)]);
        let rule = message(&[(1, b"x.Y.Z"), (4, b"/v1"), (7, b"*"), (12, b"out"), (11, &second), (11, &third)]);
        let found = Rule::read(&rule).unwrap_or_else(|error| panic!("{error}"));
        let shown: Vec<_> = found
            .iter()
            .map(|rule| format!("{} {} {:?} {:?}", rule.method, rule.template, rule.body, rule.response_body))
            .collect();
        assert_eq!(shown, [r#"POST /v1 "*" "out""#, r#"PATCH /p/* "b" """#, r#"HEAD /h "" """#]);
    }

    #[test]
    fn what_can_not_be_used_says_why() {
        let inner = message(&[(2, b"/a"), (11, &message(&[(2, b"/b")]))]);
        let many: Vec<(u32, &[u8])> = std::iter::once((2, &b"/a"[..]))
            .chain(std::iter::repeat_n((11, &b"\x12\x02/b"[..]), BINDINGS_MAX))
            .collect();
        for (bytes, expected) in [
            (b"\x12\x05/".to_vec(), "the option is no google.api.HttpRule"),
            (Vec::new(), "the rule has none of get, put, post, delete, patch and custom"),
            (message(&[(2, b"v1")]), "the path `v1` is no template: a template starts with `/` (at byte 0)"),
            (message(&[(8, &message(&[(1, b"A B"), (2, b"/")]))]), "`A B` is no HTTP method"),
            (message(&[(2, b"/"), (11, &inner)]), "an additional binding has additional bindings of its own"),
            (message(&many), "the rule has more than 64 bindings"),
        ] {
            let error = Rule::read(&bytes).err().map(|error| error.to_string());
            assert_eq!(error.as_deref(), Some(expected));
        }
    }
}
