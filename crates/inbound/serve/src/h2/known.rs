//! Names and values that many replies have. As constants they take no parsing, no check and no memory.

use http::{HeaderName, HeaderValue, header};

/// The name, if it is one of them.
pub(super) fn name(name: &[u8]) -> Option<HeaderName> {
    Some(match name {
        b"content-type" => header::CONTENT_TYPE,
        b"content-encoding" => header::CONTENT_ENCODING,
        b"cache-control" => header::CACHE_CONTROL,
        b"etag" => header::ETAG,
        b"vary" => header::VARY,
        b"access-control-allow-origin" => header::ACCESS_CONTROL_ALLOW_ORIGIN,
        b"grpc-status" => const { HeaderName::from_static("grpc-status") },
        b"grpc-message" => const { HeaderName::from_static("grpc-message") },
        b"grpc-encoding" => const { HeaderName::from_static("grpc-encoding") },
        _ => return None,
    })
}

/// The value, if it is one of them.
pub(super) fn value(value: &[u8]) -> Option<HeaderValue> {
    Some(match value {
        b"0" => const { HeaderValue::from_static("0") },
        b"*" => const { HeaderValue::from_static("*") },
        b"gzip" => const { HeaderValue::from_static("gzip") },
        b"application/grpc" => const { HeaderValue::from_static("application/grpc") },
        b"application/grpc+proto" => const { HeaderValue::from_static("application/grpc+proto") },
        b"application/grpc-web+proto" => const { HeaderValue::from_static("application/grpc-web+proto") },
        b"application/json" => const { HeaderValue::from_static("application/json") },
        b"application/proto" => const { HeaderValue::from_static("application/proto") },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_known_is_the_same_as_what_is_parsed() {
        const NAMES: [&str; 9] = [
            "content-type",
            "content-encoding",
            "cache-control",
            "etag",
            "vary",
            "access-control-allow-origin",
            "grpc-status",
            "grpc-message",
            "grpc-encoding",
        ];
        for text in NAMES {
            let name = super::name(text.as_bytes());
            assert_eq!(name, Some(http::HeaderName::from_bytes(text.as_bytes()).unwrap()), "{text}");
            assert_eq!(super::name(text.to_uppercase().as_bytes()), None, "{text}");
        }
        const VALUES: [&str; 8] = [
            "0",
            "*",
            "gzip",
            "application/grpc",
            "application/grpc+proto",
            "application/grpc-web+proto",
            "application/json",
            "application/proto",
        ];
        for text in VALUES {
            assert_eq!(super::value(text.as_bytes()), Some(http::HeaderValue::from_str(text).unwrap()), "{text}");
        }
    }
}
