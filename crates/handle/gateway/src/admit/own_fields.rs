use crate::config::{AuthScheme, Route};

/// Names of fields that are a route's authentication's: what its schemes tell of a client, and credentials that go no further. What
/// clients send under these names is taken out.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnFields(Box<[Box<[u8]>]>);

impl OwnFields {
    /// Those of all schemes that the route names, whichever of them knows the client.
    pub(crate) fn of(route: &Route, schemes: &[AuthScheme]) -> Self {
        let named = route.auth().into_iter().flat_map(|auth| &auth.schemes).filter_map(|&index| schemes.get(index));
        Self(named.flat_map(AuthScheme::own_fields).map(|name| name.as_bytes().into()).collect())
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the name is one of them. `_` is read as `-`: to servers that turn fields into variables (RFC 3875 section 4.1.18)
    /// both are the same.
    #[inline]
    pub(crate) fn has(&self, name: &[u8]) -> bool {
        let plain = |byte: u8| if byte == b'_' { b'-' } else { byte.to_ascii_lowercase() };
        let is_same = |own: &[u8]| own.len() == name.len() && own.iter().zip(name).all(|(a, b)| plain(*a) == plain(*b));
        self.0.iter().any(|own| is_same(own))
    }
}
