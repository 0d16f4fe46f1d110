//! Names of hosts, and hosts with ports.

use super::ip::{Version, is_ip};

/// The longest name, in characters.
const HOSTNAME_MAX: usize = 253;

/// Whether the text is a name by RFC 1034 with digits first allowed: labels of 1 to 63 letters, digits and inner hyphens,
/// a dot at the end if one likes, and a last label that is no number.
pub fn is_hostname(text: &str) -> bool {
    if text.len() > HOSTNAME_MAX {
        return false;
    }
    let text = text.strip_suffix('.').unwrap_or(text);
    let mut digits_only = false;
    for label in text.split('.') {
        let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let valid = (1..=63).contains(&label.len())
            && label.bytes().all(inner)
            && !label.starts_with('-')
            && !label.ends_with('-');
        if !valid {
            return false;
        }
        digits_only = label.bytes().all(|byte| byte.is_ascii_digit());
    }
    !digits_only
}

/// Whether the text is a name or an address, with a port behind a colon; IPv6 in brackets.
pub fn is_host_and_port(text: &str, port_required: bool) -> bool {
    if let Some(rest) = text.strip_prefix('[') {
        let Some((host, port)) = rest.rsplit_once(']') else { return false };
        return is_ip(host, Version::V6)
            && match port.strip_prefix(':') {
                Some(port) => is_port(port),
                None => port.is_empty() && !port_required,
            };
    }
    let named = |host: &str| is_hostname(host) || is_ip(host, Version::V4);
    match text.rsplit_once(':') {
        Some((host, port)) => named(host) && is_port(port),
        None => !port_required && named(text),
    }
}

fn is_port(text: &str) -> bool {
    let plain = text == "0" || !text.starts_with('0');
    plain
        && (1..=5).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && text.parse::<u16>().is_ok()
}
