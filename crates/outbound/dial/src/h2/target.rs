//! What `:authority` and `:path` may be: what every server takes, and nothing that changes its meaning on the way.

/// A byte may stand in a path, in a query.
const PATH: u8 = 1;
const QUERY: u8 = 2;
/// In the part of an authority that names a host, in brackets or not.
const HOST: u8 = 4;

const CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        // RFC 3986 section 3.3, and beyond it what clients send as it is: some do not encode JSON, nor UTF-8.
        table[byte] = match byte as u8 {
            b'<' | b'>' | b'#' | 0..=b' ' | 0x7f => 0,
            b'"' => PATH,
            b'?' | b'`' => QUERY,
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => PATH | QUERY | HOST,
            b'!' | b'$' | b'&'..=b'.' | b':' | b';' | b'=' | b'[' | b']' | b'_' | b'~' => PATH | QUERY | HOST,
            _ => PATH | QUERY,
        };
        byte += 1;
    }
    table
};

/// Longest path with its query, in bytes.
const PATH_BYTES_MAX: usize = 65_534;

fn is_all(bytes: &[u8], class: u8) -> bool {
    bytes.iter().all(|&byte| CLASS[usize::from(byte)] & class != 0)
}

/// The path that is sent for a target: without a fragment, which is no part of a request. `None` where it is not legal.
pub(super) fn path(target: &[u8]) -> Option<&[u8]> {
    let end = target.iter().position(|&byte| byte == b'#').unwrap_or(target.len());
    let target = target.get(..end)?;
    if target == b"*" {
        return Some(target);
    }
    let at = target.iter().position(|&byte| byte == b'?').unwrap_or(target.len());
    let (path, query) = target.split_at_checked(at)?;
    let is_legal = path.first() == Some(&b'/')
        && target.len() <= PATH_BYTES_MAX
        && is_all(path, PATH)
        && is_all(query, QUERY)
        && (target.is_ascii() || std::str::from_utf8(target).is_ok());
    is_legal.then_some(target)
}

/// Whether it names a host, with a port or without.
pub(super) fn is_authority(authority: &[u8]) -> bool {
    let host = match authority.iter().rposition(|&byte| byte == b'@') {
        Some(at) => {
            let (user, host) = authority.split_at(at);
            if !user.iter().all(|&byte| byte == b'%' || CLASS[usize::from(byte)] & HOST != 0) {
                return false;
            }
            host.get(1..).unwrap_or_default()
        }
        None => authority,
    };
    let after = match host {
        [] => return false,
        [b'[', rest @ ..] => {
            let Some(end) = rest.iter().position(|&byte| byte == b']') else { return false };
            let (address, after) = rest.split_at(end);
            // The name of a zone may be encoded (RFC 6874).
            if !address.iter().all(|&byte| byte == b'%' || byte != b'[' && CLASS[usize::from(byte)] & HOST != 0) {
                return false;
            }
            after.get(1..).unwrap_or_default()
        }
        name => name,
    };
    is_all(after, HOST)
        && !after.iter().any(|byte| matches!(byte, b'[' | b']'))
        && after.iter().filter(|&&byte| byte == b':').count() <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_judged() {
        for target in ["/", "*", "/a/b;c?d=e&f", "/%41{\"a\":[1]}|~^", "/?`{}|\\", "/\u{e9}?\u{e9}", "/a??b"] {
            assert_eq!(path(target.as_bytes()), Some(target.as_bytes()), "{target}");
        }
        assert_eq!((path(b"/a#b"), path(b"/?a#b#c")), (Some(&b"/a"[..]), Some(&b"/?a"[..])));
        for target in ["", "a", "?a", "#a", "/<", "/>", "/`", "/a b", "/\t", "/a?\"", "/a?<", "/\x7f", "**"] {
            assert_eq!(path(target.as_bytes()), None, "{target}");
        }
        assert_eq!((path(b"/\xff"), path(b"/?\xc3")), (None, None));
        let long = [b'/'; PATH_BYTES_MAX + 1];
        assert!(path(&long).is_none() && path(&long[1..]).is_some());
    }

    #[test]
    fn authorities_are_judged() {
        for authority in [
            "a",
            "up.example",
            "a:80",
            "127.0.0.1:1",
            "[::1]",
            "[::1]:443",
            "[fe80::1%25eth0]:1",
            "a_b~c",
            "me:p%40@a:1",
        ] {
            assert!(is_authority(authority.as_bytes()), "{authority}");
        }
        for authority in [
            "", "a b", "a/b", "a?b", "a#b", "a@", "a:1:2", "[::1", "::1]", "[::1]]", "[[::1]", "a%b", "a\r\nb",
            "\u{e9}", "<",
        ] {
            assert!(!is_authority(authority.as_bytes()), "{authority}");
        }
    }
}
