use leat_message::{Exchange, Fields, Name};
use leat_policy::balance::hash;

use crate::admit::ClientAddress;
use crate::config::HashBy;

/// The hash of the part of a request that decides where it goes; `None` where it has no such part. `client` says whose it is.
/// No allocation.
pub(super) fn key<X: Exchange>(x: &X, by: &HashBy, client: ClientAddress) -> Option<u64> {
    let request = x.request();
    match by {
        HashBy::Header(name) => request.fields().get_named(name.as_bytes()).map(hash),
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
