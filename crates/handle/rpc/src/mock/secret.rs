//! Metadata whose values are nobody's business but the caller's.

use leat_rpc_wire::Metadata;

/// What stands in the place of a secret.
pub const MASK: &str = "***";

/// Parts of names whose values are likely to be secrets.
const PARTS: [&str; 10] =
    ["auth", "cookie", "credential", "jwt", "api-key", "apikey", "passw", "secret", "signature", "token"];

/// Whether the value of metadata with this name, in lower case, is a secret by the sound of it.
pub fn is_secret_name(name: &str) -> bool {
    PARTS.iter().any(|part| name.contains(part))
}

/// Metadata with its secrets masked; `more` are names beside those that sound secret, in lower case.
pub fn masked<'m>(metadata: impl Iterator<Item = (&'m str, &'m [u8])>, more: &[String]) -> Metadata {
    let mut shown = Metadata::new();
    for (name, value) in metadata {
        let is_secret = is_secret_name(name) || more.iter().any(|own| own == name);
        shown.push(name, if is_secret { MASK.as_bytes() } else { value });
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn what_sounds_secret_is_masked_and_what_is_named() {
        let given: [(&str, &[u8]); 4] =
            [("authorization", b"Bearer x"), ("x-tenant", b"acme"), ("x-api-key", b"k"), ("x-pin", b"1234")];
        let shown = masked(given.into_iter(), &["x-pin".to_owned()]);
        let values: Vec<_> = shown.iter().map(|(_, value)| value).collect();
        assert_eq!(values, [&b"***"[..], b"acme", b"***", b"***"]);
    }
}
