use std::fmt;
use std::rc::Rc;

use crate::admit::own_fields::is_same;

/// A field for the upstream: its name in lower case, and its value.
type Line = (Rc<str>, Box<[u8]>);

/// Who a request is from, as one scheme found out. Made once for a credential and shared by all of its requests.
pub(crate) struct Identity {
    /// What tells this client from others under its scheme: the subject of a token, the name of a key, a user.
    subject: Box<str>,
    /// What the upstream is told.
    fields: Vec<Line>,
    /// What a route may ask for.
    claims: Claims,
}

/// What is known about a client beyond its name.
#[derive(Default)]
pub(crate) enum Claims {
    /// Nothing.
    #[default]
    None,
    /// A token's.
    Json(serde_json::Map<String, serde_json::Value>),
}

impl Identity {
    pub(crate) fn new(subject: impl Into<Box<str>>) -> Self {
        Self { subject: subject.into(), fields: Vec::new(), claims: Claims::None }
    }

    pub(crate) fn with_claims(mut self, claims: serde_json::Map<String, serde_json::Value>) -> Self {
        self.claims = Claims::Json(claims);
        self
    }

    /// Adds a field for the upstream. A value that no field can carry (a control byte, white space at an end) is left out:
    /// a claim is text that somebody else chose, and a line break in it would be a field of its own. So is a second value of a
    /// name.
    pub(crate) fn tell(&mut self, name: &Rc<str>, value: &[u8]) {
        let fits = value.iter().all(|&byte| byte >= b' ' && byte != 0x7f) && value.trim_ascii().len() == value.len();
        let is_told = self.fields.iter().any(|(told, _)| is_same(told.as_bytes(), name.as_bytes()));
        if fits && !value.is_empty() && !is_told {
            self.fields.push((Rc::clone(name), value.into()));
        }
    }

    /// What tells this client from others under its scheme.
    pub(crate) fn subject(&self) -> &str {
        &self.subject
    }

    /// What the upstream is told: names in lower case, values that are legal.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.fields.iter().map(|(name, value)| (name.as_bytes(), &**value))
    }

    /// The claim of this name, if the scheme has claims.
    pub(crate) fn claim(&self, name: &super::ClaimName) -> Option<&serde_json::Value> {
        match &self.claims {
            Claims::None => None,
            Claims::Json(claims) => name.find(claims),
        }
    }
}

/// Says no more than that there is one: claims are personal.
impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_value() {
        let mut identity = Identity::new("s");
        for (name, value) in [("x-user", ""), ("x-user", "ann"), ("x-user", "bob"), ("x_user", "eve")] {
            identity.tell(&name.into(), value.as_bytes());
        }
        assert_eq!(identity.fields().collect::<Vec<_>>(), [(&b"x-user"[..], &b"ann"[..])]);
    }

    #[test]
    fn what_no_field_can_carry_is_left_out() {
        let name: Rc<str> = "x-user".into();
        for (value, told) in [
            ("ann", true),
            ("Ann Ö", true),
            ("", false),
            ("a\r\nx-admin: 1", false),
            ("a\u{7f}", false),
            (" a", false),
            ("a\t", false),
            ("a\0", false),
        ] {
            let mut identity = Identity::new("s");
            identity.tell(&name, value.as_bytes());
            assert_eq!(identity.fields().count() == 1, told, "{value:?}");
        }
    }
}
