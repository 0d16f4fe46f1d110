//! Names of hosts, and hosts with ports.

use super::ip::{Version, is_ip};

/// The longest name, in characters.
const HOSTNAME_MAX: usize = 253;
/// The longest label.
const LABEL_MAX: usize = 63;

/// Whether the text is a name by RFC 1034 with digits first allowed: labels of 1 to 63 letters, digits and inner hyphens,
/// a dot at the end if one likes, and a last label that is no number.
pub fn is_hostname(text: &str) -> bool {
    if text.len() > HOSTNAME_MAX {
        return false;
    }
    let text = text.strip_suffix('.').unwrap_or(text);
    let last = text.rsplit('.').next().unwrap_or_default();
    is_label_list(text.as_bytes()) && !last.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether the bytes are labels with dots between them: 1 to 63 letters, digits and inner hyphens each.
pub(super) fn is_label_list(bytes: &[u8]) -> bool {
    let (mut length, mut before) = (0, b'.');
    for byte in bytes.iter().copied() {
        match byte {
            b'.' if length == 0 || before == b'-' => return false,
            b'.' => length = 0,
            b'-' if length == 0 => return false,
            b'-' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => length += 1,
            _ => return false,
        }
        if length > LABEL_MAX {
            return false;
        }
        before = byte;
    }
    length > 0 && before != b'-'
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
