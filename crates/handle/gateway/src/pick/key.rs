use leat_message::{Exchange, Fields, Head, Name};
use leat_policy::balance::hash;

use crate::admit::{Admitted, ClientAddress, FieldLines, OwnFields};
use crate::config::HashBy;

/// A request that asks for a place, and what is known of its client.
pub(crate) struct Asking<'a, X> {
    x: &'a X,
    /// Names of fields that are the authentication's, and what it says in them.
    known: Option<(&'a OwnFields, &'a FieldLines)>,
}

impl<X> Clone for Asking<'_, X> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<X> Copy for Asking<'_, X> {}

impl<'a, X: Exchange> Asking<'a, X> {
    #[inline]
    pub(crate) fn new(x: &'a X, own: &'a OwnFields, admitted: Option<&'a Admitted>) -> Self {
        let known = admitted.filter(|_| !own.is_empty()).map(|admitted| (own, &admitted.upstream));
        Self { x, known }
    }

    pub(crate) fn request(&self) -> Head<'a> {
        self.x.request()
    }

    /// The first value of a field, as the upstream will get it where it is the authentication's: a client's own word would let it
    /// choose where it goes.
    pub(crate) fn field(&self, name: &str) -> Option<&'a [u8]> {
        let name = name.as_bytes();
        match self.known.filter(|(own, _)| own.tells(name)) {
            Some((_, told)) => told.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value),
            None => self.x.request().fields().get_named(name),
        }
    }
}

/// The hash of the part of a request that decides where it goes; `None` where it has no such part. `client` says whose it is.
/// No allocation.
pub(super) fn key<X: Exchange>(asking: Asking<'_, X>, by: &HashBy, client: ClientAddress) -> Option<u64> {
    let (x, request) = (asking.x, asking.request());
    match by {
        HashBy::Header(name) => asking.field(name).map(hash),
        HashBy::Cookie(name) => cookie(request.fields(), name).map(hash),
        HashBy::Address => client.of(request, x.peer()).map(|ip| match ip {
            std::net::IpAddr::V4(ip) => hash(&ip.octets()),
            std::net::IpAddr::V6(ip) => hash(&ip.octets()),
        }),
        HashBy::Path => Some(hash(request.path())),
    }
}

/// The value of the first cookie of this name (RFC 6265 section 4.2.1), also over several fields (RFC 9113 section 8.2.3).
pub(crate) fn cookie<'a>(fields: Fields<'a>, name: &str) -> Option<&'a [u8]> {
    fields.get_all(Name::Cookie).find_map(|list| in_list(list, name.as_bytes()))
}

fn in_list<'a>(list: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    list.split(|&byte| byte == b';')
        .find_map(|pair| pair.trim_ascii().strip_prefix(name).and_then(|rest| rest.strip_prefix(b"=")))
}

#[cfg(test)]
mod tests {
    use super::in_list;

    #[test]
    fn a_cookie_is_found_by_its_whole_name() {
        for (list, wanted) in [
            ("sid=1", Some("1")),
            ("a=b; sid=2;c=d", Some("2")),
            ("xsid=1; sid2=2", None),
            ("SID=1", None),
            ("sid=; sid=3", Some("")),
            ("sid", None),
            ("", None),
        ] {
            assert_eq!(in_list(list.as_bytes(), b"sid"), wanted.map(str::as_bytes), "{list}");
        }
    }
}
