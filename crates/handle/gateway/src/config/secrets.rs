//! What is taken for a secret by its name, in one place: in the shown configuration, in the log's fields, and in targets.

use leat_message::Name;

/// Parts of names whose values are likely to be secrets. For what is only hidden: a harmless name that has one costs nobody anything.
const PARTS: [&str; 12] =
    ["auth", "code", "cookie", "credential", "jwt", "key", "passw", "pwd", "secret", "session", "sig", "token"];

/// Fields that carry credentials, as far as it is known without the configuration. For what is refused: it has to be right.
const FIELDS: [&str; 4] = ["x-api-key", "x-auth-token", "x-csrf-token", "x-xsrf-token"];

/// Parameters of queries whose values are never written down; `redact` adds to them, and its line in the reference has the same.
pub(in crate::config) const PARAMETERS: [&str; 21] = [
    "access_token",
    "api_key",
    "apikey",
    "auth",
    "client_secret",
    "code",
    "id_token",
    "jwt",
    "key",
    "passwd",
    "password",
    "pwd",
    "refresh_token",
    "secret",
    "sig",
    "signature",
    "token",
    "x-amz-credential",
    "x-amz-security-token",
    "x-amz-signature",
    "x-goog-signature",
];

/// Whether a name sounds as if its value were a secret.
pub(in crate::config) fn sounds_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    PARTS.iter().any(|part| name.contains(part))
}

/// Whether a field is one that clients put credentials into, whatever the configuration says.
pub(in crate::config) fn carries_credentials(field: &str) -> bool {
    let known = matches!(
        Name::from_bytes(field.as_bytes()),
        Name::Authorization | Name::Cookie | Name::ProxyAuthorization | Name::SetCookie
    );
    known || FIELDS.iter().any(|own| field.eq_ignore_ascii_case(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_or_not_written_sounds_secret_as_well() {
        let known = ["Authorization", "Cookie", "proxy-authorization", "Set-Cookie"];
        for name in PARAMETERS.into_iter().chain(FIELDS).chain(known) {
            assert!(sounds_secret(name), "{name}");
        }
        for name in FIELDS.into_iter().chain(known) {
            assert!(carries_credentials(name) && carries_credentials(&name.to_ascii_uppercase()), "{name}");
        }
        for name in ["x-country-code", "referer", "x-design"] {
            assert!(!carries_credentials(name), "{name}");
        }
    }
}
