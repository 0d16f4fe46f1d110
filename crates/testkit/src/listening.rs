use std::net::SocketAddr;

/// The address in a "listening" line of Leat's log, human or JSON; `None` for every other line, and for Unix sockets.
pub(crate) fn address(line: &str) -> Option<SocketAddr> {
    if line.starts_with('{') {
        let record: serde_json::Value = serde_json::from_str(line).ok()?;
        return record.get("event")?.as_str().filter(|&event| event == "listening").and_then(|_| {
            let address = record.get("address")?.as_str()?;
            address.parse().ok()
        });
    }
    let (before, after) = line.split_once("listening")?;
    if before.ends_with("admin ") {
        return None;
    }
    after
        .split(|c: char| c.is_whitespace() || matches!(c, '/' | ',' | '=' | '(' | ')' | '"'))
        .find_map(|word| word.parse().ok())
}

/// The address in an "admin listening" line, as [`address`] finds that of a listener.
pub(crate) fn admin(line: &str) -> Option<SocketAddr> {
    let listener = if line.starts_with('{') {
        line.replace("admin_listening", "listening")
    } else {
        line.replace("admin listening", "listening")
    };
    if listener == line { None } else { address(&listener) }
}

#[cfg(test)]
mod tests {
    use super::{address, admin};

    #[test]
    fn the_admin_address_is_found_in_its_own_lines_alone() {
        let expected = Some("127.0.0.1:9901".parse().expect("an address"));
        for (line, expected) in [
            (r#"{"event":"admin_listening","message":"admin listening","address":"127.0.0.1:9901"}"#, expected),
            ("admin listening address=127.0.0.1:9901", expected),
            ("listening address=127.0.0.1:9901", None),
            (r#"{"event":"listening","address":"127.0.0.1:9901"}"#, None),
        ] {
            assert_eq!(admin(line), expected, "{line}");
        }
    }

    #[test]
    fn addresses_are_found_in_both_forms_of_the_log() {
        for (line, expected) in [
            (r#"{"level":"info","event":"listening","address":"127.0.0.1:8080","tls":false}"#, Some("127.0.0.1:8080")),
            (r#"{"event":"listening","address":"[::1]:8443"}"#, Some("[::1]:8443")),
            (r#"{"event":"listening","address":"/run/leat.sock"}"#, None),
            (r#"{"event":"started","address":"127.0.0.1:8080"}"#, None),
            (r#"{"event":"listening","addr"#, None),
            ("leat: listening on http://127.0.0.1:8080", Some("127.0.0.1:8080")),
            ("12:30:01 info listening on http://127.0.0.1:8080/ (web)", Some("127.0.0.1:8080")),
            ("listening https://[::1]:8443, TLS", Some("[::1]:8443")),
            ("listening address=127.0.0.1:8080", Some("127.0.0.1:8080")),
            ("admin listening address=127.0.0.1:9901", None),
            (r#"{"event":"admin_listening","address":"127.0.0.1:9901"}"#, None),
            ("cannot bind 127.0.0.1:8080", None),
        ] {
            assert_eq!(address(line), expected.map(|text| text.parse().expect("an address")), "{line}");
        }
    }
}
