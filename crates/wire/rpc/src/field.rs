//! Metadata as header fields.

use crate::{Metadata, binary_value};

/// Whether an application may send a field of this name (any case): a token that neither frames, nor belongs to a
/// connection, nor to the protocols themselves.
pub fn may_send(name: &str) -> bool {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(token) && !is_reserved(name)
}

fn is_reserved(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "host",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "http2-settings",
    ];
    const PREFIXES: &[&str] = &["grpc-", "connect-"];
    let starts = |prefix: &&str| name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    PREFIXES.iter().any(starts) || NAMES.iter().any(|reserved| reserved.eq_ignore_ascii_case(name))
}

/// Whether these bytes can be a value of a name that does not end in `-bin`: printable ASCII (gRPC over HTTP/2, "ASCII-Value").
pub fn is_text(value: &[u8]) -> bool {
    value.iter().all(|byte| (0x20..0x7f).contains(byte))
}

/// Gives every field that may be sent to `put`, with `prefix` before its name; the values of `-bin` names as Base64.
pub fn write(metadata: &Metadata, prefix: &str, mut put: impl FnMut(&[u8], &[u8])) {
    let (mut long, mut text) = (String::new(), String::new());
    for (name, value) in metadata.iter().filter(|(name, _)| may_send(name)) {
        let wire_name = if prefix.is_empty() {
            name
        } else {
            long.clear();
            long.push_str(prefix);
            long.push_str(name);
            &long
        };
        if Metadata::is_binary(name) {
            text.clear();
            binary_value::encode(value, &mut text);
            put(wire_name.as_bytes(), text.as_bytes());
        } else if is_text(value) {
            put(wire_name.as_bytes(), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_applications_own_fields_are_sent() {
        let mut metadata = Metadata::new();
        for (name, value) in [
            ("x-a", &b"1"[..]),
            ("x-bin", &[255]),
            ("content-length", b"7"),
            ("grpc-status", b"0"),
            ("connect-protocol-version", b"1"),
            ("x b", b"1"),
            ("", b"1"),
            ("x-b", b"a\r\nb"),
            ("x-c", "é".as_bytes()),
        ] {
            metadata.push(name, value);
        }
        let mut sent = Vec::new();
        write(&metadata, "trailer-", |name, value| {
            sent.push((String::from_utf8_lossy(name).into_owned(), String::from_utf8_lossy(value).into_owned()));
        });
        assert_eq!(sent, [("trailer-x-a".into(), "1".into()), ("trailer-x-bin".into(), "/w".into())]);
    }
}
