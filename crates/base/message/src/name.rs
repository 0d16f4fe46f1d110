/// Field names that the engine itself looks up, as a small id: a look-up compares integers, not strings.
macro_rules! names {
    ($($variant:ident => $text:literal,)+) => {
        /// The id of a known field name; every other name is `Other` and is compared by its bytes.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Name {
            /// A name without an id.
            #[default]
            Other,
            $(#[doc = concat!("`", $text, "`")] $variant,)+
        }

        impl Name {
            /// Every known name.
            pub const ALL: &'static [Name] = &[$(Name::$variant),+];

            /// The name in lower case; empty for `Other`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    Self::Other => "",
                    $(Self::$variant => $text,)+
                }
            }
        }
    };
}

names! {
    Accept => "accept",
    AcceptEncoding => "accept-encoding",
    Age => "age",
    Authorization => "authorization",
    CacheControl => "cache-control",
    Connection => "connection",
    ContentEncoding => "content-encoding",
    ContentLength => "content-length",
    ContentRange => "content-range",
    ContentType => "content-type",
    Cookie => "cookie",
    Date => "date",
    Etag => "etag",
    Expect => "expect",
    Forwarded => "forwarded",
    Host => "host",
    Http2Settings => "http2-settings",
    IfMatch => "if-match",
    IfModifiedSince => "if-modified-since",
    IfNoneMatch => "if-none-match",
    IfRange => "if-range",
    IfUnmodifiedSince => "if-unmodified-since",
    KeepAlive => "keep-alive",
    LastModified => "last-modified",
    Location => "location",
    Origin => "origin",
    ProxyAuthenticate => "proxy-authenticate",
    ProxyAuthorization => "proxy-authorization",
    ProxyConnection => "proxy-connection",
    Range => "range",
    Referer => "referer",
    RetryAfter => "retry-after",
    Server => "server",
    SetCookie => "set-cookie",
    Te => "te",
    Traceparent => "traceparent",
    Trailer => "trailer",
    TransferEncoding => "transfer-encoding",
    Upgrade => "upgrade",
    UserAgent => "user-agent",
    Vary => "vary",
    Via => "via",
    XForwardedFor => "x-forwarded-for",
    XForwardedHost => "x-forwarded-host",
    XForwardedPort => "x-forwarded-port",
    XForwardedProto => "x-forwarded-proto",
    XRequestId => "x-request-id",
}

/// The longest known name, in bytes.
const LEN_MAX: usize = 20;

/// Known names by length, so that a look-up compares at most a handful of strings.
const BY_LEN: [&[Name]; LEN_MAX] = [
    &[],
    &[],
    &[Name::Te],
    &[Name::Age, Name::Via],
    &[Name::Host, Name::Date, Name::Etag, Name::Vary],
    &[Name::Range],
    &[Name::Accept, Name::Cookie, Name::Expect, Name::Origin, Name::Server],
    &[Name::Upgrade, Name::Referer, Name::Trailer],
    &[Name::IfMatch, Name::IfRange, Name::Location],
    &[Name::Forwarded],
    &[Name::Connection, Name::UserAgent, Name::KeepAlive, Name::SetCookie],
    &[Name::RetryAfter, Name::Traceparent],
    &[Name::ContentType, Name::XRequestId],
    &[Name::Authorization, Name::CacheControl, Name::ContentRange, Name::IfNoneMatch, Name::LastModified],
    &[Name::ContentLength, Name::Http2Settings],
    &[Name::AcceptEncoding, Name::XForwardedFor],
    &[Name::ContentEncoding, Name::ProxyConnection, Name::XForwardedHost, Name::XForwardedPort],
    &[Name::TransferEncoding, Name::IfModifiedSince, Name::XForwardedProto],
    &[Name::ProxyAuthenticate],
    &[Name::IfUnmodifiedSince, Name::ProxyAuthorization],
];

impl Name {
    /// Finds the id of a name in any case. Allocates nothing; compares at most five strings.
    #[inline]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let Some(candidates) = BY_LEN.get(bytes.len()) else {
            return Self::Other;
        };
        for &name in *candidates {
            if name.as_str().as_bytes().eq_ignore_ascii_case(bytes) {
                return name;
            }
        }
        Self::Other
    }

    /// Whether the field concerns one connection only and never crosses a proxy (RFC 9110 section 7.6.1), besides what
    /// `Connection` itself names. `Trailer` and `TE: trailers` are for the proxy to decide and are not in this list.
    pub fn is_hop_by_hop(self) -> bool {
        matches!(
            self,
            Self::Connection
                | Self::KeepAlive
                | Self::ProxyConnection
                | Self::Te
                | Self::TransferEncoding
                | Self::Upgrade
                | Self::Http2Settings
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_name_is_found_in_any_case() {
        for &name in Name::ALL {
            assert_eq!(Name::from_bytes(name.as_str().as_bytes()), name);
            assert_eq!(Name::from_bytes(name.as_str().to_ascii_uppercase().as_bytes()), name);
        }
        assert_eq!(Name::from_bytes(b"x-other"), Name::Other);
        assert_eq!(Name::from_bytes(b""), Name::Other);
    }
}
