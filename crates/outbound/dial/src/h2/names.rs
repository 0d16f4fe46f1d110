//! Names of fields as the h2 crate wants them. Those with an id are constants: they take no parsing and no memory.

use http::{HeaderName, header};
use leat_message::Name;

/// The name; `None` where it is not legal.
pub(super) fn of(id: Name, name: &[u8]) -> Option<HeaderName> {
    known(id).or_else(|| HeaderName::from_bytes(name).ok())
}

fn known(id: Name) -> Option<HeaderName> {
    Some(match id {
        Name::Accept => header::ACCEPT,
        Name::AcceptEncoding => header::ACCEPT_ENCODING,
        Name::Authorization => header::AUTHORIZATION,
        Name::CacheControl => header::CACHE_CONTROL,
        Name::ContentEncoding => header::CONTENT_ENCODING,
        Name::ContentType => header::CONTENT_TYPE,
        Name::Cookie => header::COOKIE,
        Name::Forwarded => header::FORWARDED,
        Name::IfModifiedSince => header::IF_MODIFIED_SINCE,
        Name::IfNoneMatch => header::IF_NONE_MATCH,
        Name::Origin => header::ORIGIN,
        Name::Range => header::RANGE,
        Name::Referer => header::REFERER,
        Name::Te => header::TE,
        Name::Traceparent => const { HeaderName::from_static("traceparent") },
        Name::UserAgent => header::USER_AGENT,
        Name::Via => header::VIA,
        Name::XForwardedFor => const { HeaderName::from_static("x-forwarded-for") },
        Name::XForwardedHost => const { HeaderName::from_static("x-forwarded-host") },
        Name::XForwardedPort => const { HeaderName::from_static("x-forwarded-port") },
        Name::XForwardedProto => const { HeaderName::from_static("x-forwarded-proto") },
        Name::XRequestId => const { HeaderName::from_static("x-request-id") },
        _ => return None,
    })
}

/// Whether the field has another value in nearly every request. The crate would put each of them into the table of HPACK, in
/// place of those that come again, and compare each with all that are there.
pub(super) fn is_fleeting(id: Name) -> bool {
    matches!(id, Name::Forwarded | Name::Traceparent | Name::XForwardedFor | Name::XRequestId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_an_id_are_the_same_as_parsed_ones() {
        for &id in Name::ALL {
            let text = id.as_str();
            assert_eq!(of(id, text.to_uppercase().as_bytes()), HeaderName::from_bytes(text.as_bytes()).ok(), "{text}");
        }
        assert_eq!(of(Name::Other, b"X-Mine"), HeaderName::from_bytes(b"x-mine").ok());
        assert_eq!(of(Name::Other, b"not legal"), None);
    }
}
