use leat_message::{Fields, Name};

/// The fields that the sender's `Connection` names as meant for one connection only (RFC 9110 section 7.6.1).
#[derive(Clone, Copy)]
pub(super) struct ConnectionTokens<'a> {
    fields: Fields<'a>,
    present: bool,
}

impl<'a> ConnectionTokens<'a> {
    /// Looks whether there is any `Connection` field; nothing is copied.
    pub(super) fn of(fields: Fields<'a>) -> Self {
        let names_a_field = |value: &[u8]| {
            tokens(value)
                .any(|token| !token.eq_ignore_ascii_case(b"close") && !token.eq_ignore_ascii_case(b"keep-alive"))
        };
        Self { fields, present: fields.get_all(Name::Connection).any(names_a_field) }
    }

    /// Whether `name` is among them.
    #[inline]
    pub(super) fn contain(&self, name: &[u8]) -> bool {
        self.present
            && self.fields.get_all(Name::Connection).any(|value| tokens(value).any(|t| t.eq_ignore_ascii_case(name)))
    }
}

fn tokens(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&b| b == b',').map(<[u8]>::trim_ascii).filter(|token| !token.is_empty())
}
