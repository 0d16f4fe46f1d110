use leat_h2::FieldList;
use leat_h2::field::{is_line, is_token};
use leat_message::Name;

/// Appends a field of a reply, unless it can be none in HTTP/2: clients take such a reply for malformed. Those are fields
/// of one connection (RFC 9113 section 8.2.2), names that are no names, and values with CR, LF or NUL (section 8.2.1).
/// White space around a value stays behind.
#[inline]
pub(super) fn push(list: &mut FieldList, name: &[u8], value: &[u8]) {
    if is_token(name) && is_line(value) && !is_of_connection(name) {
        list.push(name, trim(value));
    }
}

/// Only names of these lengths that begin so are looked up.
fn is_of_connection(name: &[u8]) -> bool {
    let Some(first) = name.first() else { return false };
    let may_be = matches!(
        (name.len(), first.to_ascii_lowercase()),
        (2 | 17, b't') | (7, b'u') | (10, b'c' | b'k') | (14, b'h') | (16, b'p')
    );
    may_be && Name::from_bytes(name).is_hop_by_hop()
}

fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_one_connection_is_looked_up() {
        for &name in Name::ALL {
            assert_eq!(is_of_connection(name.as_str().as_bytes()), name.is_hop_by_hop(), "{name:?}");
        }
    }

    #[test]
    fn only_fields_of_http_2_are_appended() {
        for (name, value, wanted) in [
            ("x-a", "b", Some("b")),
            ("X-A", "", Some("")),
            ("x-a", " \t b c\t ", Some("b c")),
            ("x-a", " \t", Some("")),
            ("x-a", "a\tb\u{80}\u{1}", Some("a\tb\u{80}\u{1}")),
            ("content-length", "5", Some("5")),
            ("trailer", "x-sum", Some("x-sum")),
            ("set-cookie", "a=b", Some("a=b")),
            ("x-a", "b\r\nx-c: d", None),
            ("x-a", "b\n", None),
            ("x-a", "\r", None),
            ("x-a", "b\0", None),
            ("", "b", None),
            ("x a", "b", None),
            (":status", "b", None),
            ("x-a\n", "b", None),
            ("x-\u{e9}", "b", None),
            ("Connection", "close", None),
            ("connection", "x-a", None),
            ("keep-alive", "timeout=5", None),
            ("proxy-connection", "close", None),
            ("Transfer-Encoding", "chunked", None),
            ("upgrade", "h2c", None),
            ("te", "gzip", None),
            ("http2-settings", "", None),
        ] {
            let mut list = FieldList::default();
            push(&mut list, name.as_bytes(), value.as_bytes());
            let wanted = wanted.map(|value| (name.as_bytes(), value.as_bytes()));
            assert!(list.iter().eq(wanted), "{name:?}: {value:?}");
        }
    }
}
