//! Metadata whose values are nobody's business but the caller's.

use std::borrow::Cow;

use aws_lc_rs::digest::{SHA256, digest};
use leat_rpc_wire::Metadata;

/// What stands in the place of a secret.
pub const MASK: &str = "***";

/// Bytes of a hash that are shown.
const HIDDEN_BYTES: usize = 8;

/// Parts of names whose values are likely to be secrets.
const PARTS: [&str; 11] =
    ["auth", "cookie", "credential", "jwt", "api-key", "apikey", "passw", "secret", "session", "signature", "token"];

/// Whether the value of metadata with this name, in lower case, is a secret by the sound of it.
pub fn is_secret_name(name: &str) -> bool {
    PARTS.iter().any(|part| name.contains(part))
}

/// The same, or whether it is one of `more`.
pub fn is_secret(name: &str, more: &[String]) -> bool {
    is_secret_name(name) || more.iter().any(|own| own == name)
}

/// Metadata with its secrets masked; `more` are names beside those that sound secret, in lower case.
pub fn masked<'m>(metadata: impl Iterator<Item = (&'m str, &'m [u8])>, more: &[String]) -> Metadata {
    let mut shown = Metadata::new();
    for (name, value) in metadata {
        shown.push(name, if is_secret(name, more) { MASK.as_bytes() } else { value });
    }
    shown
}

/// What stands in the place of a session whose key is a secret: `#` and the first 64 bits of the key's SHA-256. The same key
/// gives the same text in every process, so that what follows from a seed stays the same.
pub fn hidden(key: &[u8]) -> String {
    let mut shown = String::from("#");
    for byte in digest(&SHA256, key).as_ref().iter().take(HIDDEN_BYTES) {
        shown.push_str(&format!("{byte:02x}"));
    }
    shown
}

/// The session that is meant where keys are hidden: either the key itself or what is shown of it may be said. The empty text is
/// the session of calls without a key.
pub fn hidden_if_open(asked: &str) -> Cow<'_, str> {
    let is_hidden = asked.strip_prefix('#').is_some_and(|digits| {
        digits.len() == 2 * HIDDEN_BYTES && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    });
    if asked.is_empty() || is_hidden { asked.into() } else { hidden(asked.as_bytes()).into() }
}

#[cfg(test)]
mod tests {
    use super::{hidden, hidden_if_open, masked};

    #[test]
    fn what_sounds_secret_is_masked_and_what_is_named() {
        let given: [(&str, &[u8]); 4] =
            [("authorization", b"Bearer x"), ("x-tenant", b"acme"), ("x-api-key", b"k"), ("x-pin", b"1234")];
        let shown = masked(given.into_iter(), &["x-pin".to_owned()]);
        let values: Vec<_> = shown.iter().map(|(_, value)| value).collect();
        assert_eq!(values, [&b"***"[..], b"acme", b"***", b"***"]);
    }

    #[test]
    fn a_session_is_named_by_its_key_or_by_what_is_shown_of_it() {
        // The first digits of the well-known hash of "abc" (FIPS 180-4, example).
        assert_eq!(hidden(b"abc"), "#ba7816bf8f01cfea");
        for asked in ["abc", "#ba7816bf8f01cfea"] {
            assert_eq!(hidden_if_open(asked), "#ba7816bf8f01cfea");
        }
        assert_eq!(hidden_if_open(""), "");
    }
}
