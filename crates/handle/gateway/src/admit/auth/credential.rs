use leat_message::{Head, Name};

/// What a request shows of itself in one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Credential<'h> {
    /// Nothing of the kind that is asked for.
    Absent,
    /// This.
    Shown(&'h [u8]),
    /// The field stands more than once. Which one would an upstream believe? Nobody is guessed at.
    Repeated,
}

/// What stands behind a scheme in `Authorization` (RFC 9110 section 11.6.2); the case of the scheme does not count. The
/// credential of another scheme is none of this one.
pub(crate) fn authorization<'h>(head: &Head<'h>, scheme: &str) -> Credential<'h> {
    let mut fields = head.fields().get_all(Name::Authorization);
    let Some(value) = fields.next() else { return Credential::Absent };
    let Some((said, rest)) = value.split_at_checked(scheme.len()) else { return Credential::Absent };
    if !said.eq_ignore_ascii_case(scheme.as_bytes()) || rest.first().is_some_and(|&byte| byte != b' ') {
        return Credential::Absent;
    }
    if fields.next().is_some() {
        return Credential::Repeated;
    }
    Credential::Shown(rest.trim_ascii())
}

/// The value of a field that carries a credential and nothing else.
pub(crate) fn field<'h>(head: &Head<'h>, name: &str) -> Credential<'h> {
    let mut found = Credential::Absent;
    for (_, held, value) in head.fields() {
        if held.eq_ignore_ascii_case(name.as_bytes()) {
            match found {
                Credential::Absent => found = Credential::Shown(value.trim_ascii()),
                _ => return Credential::Repeated,
            }
        }
    }
    found
}
