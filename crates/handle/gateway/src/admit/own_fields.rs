use crate::config::{AuthScheme, Route};

/// Names of fields that are a route's authentication's. What clients send under them goes no further.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnFields {
    /// What its schemes tell of a client.
    told: Box<[Box<[u8]>]>,
    /// Credentials.
    hidden: Box<[Box<[u8]>]>,
}

impl OwnFields {
    /// Those of all schemes that the route names, whichever of them knows the client.
    pub(crate) fn of(route: &Route, schemes: &[AuthScheme]) -> Self {
        let named = || route.auth().into_iter().flat_map(|auth| &auth.schemes).filter_map(|&index| schemes.get(index));
        let told = named().flat_map(AuthScheme::told_fields).map(|name| name.as_bytes().into());
        let hidden = named().filter_map(AuthScheme::hidden_field).map(|name| name.as_bytes().into());
        Self { told: told.collect(), hidden: hidden.collect() }
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.told.is_empty() && self.hidden.is_empty()
    }

    /// Whether the name is one of them. `_` is read as `-`: to servers that turn fields into variables (RFC 3875 section 4.1.18)
    /// both are the same.
    #[inline]
    pub(crate) fn has(&self, name: &[u8]) -> bool {
        self.tells(name) || is_among(&self.hidden, name)
    }

    /// The names by which the upstream is told of the client.
    pub(crate) fn told(&self) -> impl Iterator<Item = &[u8]> {
        self.told.iter().map(|name| &**name)
    }

    /// Whether it is one by which the upstream is told of the client.
    #[inline]
    pub(crate) fn tells(&self, name: &[u8]) -> bool {
        is_among(&self.told, name)
    }
}

fn is_among(names: &[Box<[u8]>], name: &[u8]) -> bool {
    names.iter().any(|own| is_same(own, name))
}

/// Whether two names are the same to a server behind: see [`OwnFields::has`].
#[inline]
pub(super) fn is_same(one: &[u8], other: &[u8]) -> bool {
    let plain = |byte: u8| if byte == b'_' { b'-' } else { byte.to_ascii_lowercase() };
    one.len() == other.len() && one.iter().zip(other).all(|(a, b)| plain(*a) == plain(*b))
}
