//! URIs and references to them, by RFC 3986.

use std::net::Ipv6Addr;

/// Whether the text is a URI with a scheme (section 3).
pub fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    is_scheme(scheme) && tail(rest, false)
}

/// Whether the text is a URI or a relative reference (section 4.1).
pub fn is_uri_reference(text: &str) -> bool {
    is_uri(text) || tail(text, true)
}

/// Section 3.1.
fn is_scheme(text: &str) -> bool {
    text.starts_with(|each: char| each.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

/// What follows the scheme: authority or path, query, fragment.
fn tail(text: &str, relative: bool) -> bool {
    let (text, fragment) = split_off(text, '#');
    let (text, query) = split_off(text, '?');
    let extra = |part: Option<&str>| {
        part.is_none_or(|part| encoded(part, |byte| is_pchar(byte) || matches!(byte, b'/' | b'?')))
    };
    if !extra(fragment) || !extra(query) {
        return false;
    }
    match text.strip_prefix("//") {
        Some(rest) => {
            let end = rest.find('/').unwrap_or(rest.len());
            let (authority, path) = rest.split_at(end);
            is_authority(authority) && is_path(path)
        }
        // Section 3.3: a relative path has no colon in its first segment, which would be a scheme.
        None => is_path(text) && !(relative && text.split('/').next().is_some_and(|first| first.contains(':'))),
    }
}

fn split_off(text: &str, mark: char) -> (&str, Option<&str>) {
    text.split_once(mark).map_or((text, None), |(before, after)| (before, Some(after)))
}

fn is_path(path: &str) -> bool {
    encoded(path, |byte| is_pchar(byte) || byte == b'/')
}

/// Section 3.2.
fn is_authority(text: &str) -> bool {
    let (user, host) = text.rsplit_once('@').map_or((None, text), |(user, host)| (Some(user), host));
    let user_fits =
        user.is_none_or(|user| encoded(user, |byte| is_unreserved(byte) || is_sub_delimiter(byte) || byte == b':'));
    if !user_fits {
        return false;
    }
    if let Some(rest) = host.strip_prefix('[') {
        let Some((literal, port)) = rest.split_once(']') else { return false };
        return is_literal(literal) && port.strip_prefix(':').map_or(port.is_empty(), is_port);
    }
    let (name, port) = host.split_once(':').map_or((host, None), |(name, port)| (name, Some(port)));
    port.is_none_or(is_port) && encoded(name, |byte| is_unreserved(byte) || is_sub_delimiter(byte)) && decodes(name)
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Section 3.2.2, with the zones of RFC 6874.
fn is_literal(text: &str) -> bool {
    if let Some(future) = text.strip_prefix(['v', 'V']) {
        let Some((version, rest)) = future.split_once('.') else { return false };
        let fits = |byte: u8| is_unreserved(byte) || is_sub_delimiter(byte) || byte == b':';
        return !version.is_empty()
            && version.bytes().all(|byte| byte.is_ascii_hexdigit())
            && !rest.is_empty()
            && rest.bytes().all(fits);
    }
    match text.split_once("%25") {
        Some((address, zone)) => {
            !zone.is_empty() && encoded(zone, is_unreserved) && decodes(zone) && address.parse::<Ipv6Addr>().is_ok()
        }
        None => text.parse::<Ipv6Addr>().is_ok(),
    }
}

/// Whether each byte is allowed or part of an encoded one (section 2.1).
fn encoded(text: &str, allowed: impl Fn(u8) -> bool) -> bool {
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let hex = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_hexdigit());
            if !hex(rest.next()) || !hex(rest.next()) {
                return false;
            }
        } else if !allowed(byte) {
            return false;
        }
    }
    true
}

/// Whether what is encoded is UTF-8, as section 3.2.2 asks of names.
fn decodes(text: &str) -> bool {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    let digit = |byte: Option<u8>| {
        byte.and_then(|byte| char::from(byte).to_digit(16)).and_then(|digit| u8::try_from(digit).ok()).unwrap_or(0)
    };
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let high = digit(rest.next());
            out.push(high * 16 + digit(rest.next()));
        } else {
            out.push(byte);
        }
    }
    std::str::from_utf8(&out).is_ok()
}

fn is_pchar(byte: u8) -> bool {
    is_unreserved(byte) || is_sub_delimiter(byte) || matches!(byte, b':' | b'@')
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

fn is_sub_delimiter(byte: u8) -> bool {
    matches!(byte, b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=')
}
