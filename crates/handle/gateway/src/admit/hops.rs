//! What the proxies in front of this one have written of a request's way, from the last of them on.

use leat_message::{Fields, Name};

/// The elements of `X-Forwarded-For` or `Forwarded`, those of the last proxy first; empty ones are none (RFC 9110 section 5.6.1).
/// Allocates nothing.
///
/// They are told apart from the end: what the last proxies wrote is well-formed, and what stands before it is anybody's, an open
/// quotation mark among it. A comma in a quoted string (RFC 7239 section 4) parts nothing: it may be of a host that a client chose.
pub(crate) fn hops_from_end(fields: Fields<'_>, field: Name) -> impl Iterator<Item = &[u8]> {
    fields
        .get_all(field)
        .rev()
        .flat_map(move |value| FromEnd { rest: Some(value), is_quoted: field == Name::Forwarded })
}

/// The pairs of one element of `Forwarded`: a semicolon in a quoted string parts nothing.
pub(crate) fn pairs(element: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (mut in_quotes, mut escaped) = (false, false);
    let split = element.split(move |&byte| {
        let was_escaped = std::mem::take(&mut escaped);
        match byte {
            b'\\' if in_quotes && !was_escaped => escaped = true,
            b'"' if !was_escaped => in_quotes = !in_quotes,
            _ => {}
        }
        byte == b';' && !in_quotes
    });
    split.map(<[u8]>::trim_ascii)
}

struct FromEnd<'a> {
    rest: Option<&'a [u8]>,
    is_quoted: bool,
}

impl<'a> Iterator for FromEnd<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            let rest = self.rest?;
            let comma = if self.is_quoted { last_comma(rest) } else { rest.iter().rposition(|&byte| byte == b',') };
            let (before, element) = match comma.and_then(|at| rest.split_at_checked(at)) {
                Some((before, element)) => (Some(before), element.get(1..).unwrap_or_default()),
                None => (None, rest),
            };
            self.rest = before;
            let element = element.trim_ascii();
            if !element.is_empty() {
                return Some(element);
            }
        }
    }
}

/// The last comma that is in no quoted string.
fn last_comma(text: &[u8]) -> Option<usize> {
    let mut in_quotes = false;
    let mut rest = text;
    while let Some((&byte, before)) = rest.split_last() {
        match byte {
            b',' if !in_quotes => return Some(before.len()),
            b'"' if before.iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 0 => in_quotes = !in_quotes,
            _ => {}
        }
        rest = before;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_end(value: &str, is_quoted: bool) -> Vec<&str> {
        let found = FromEnd { rest: Some(value.as_bytes()), is_quoted };
        found.map(|element| std::str::from_utf8(element).unwrap()).collect()
    }

    #[test]
    fn elements_come_from_the_end_and_quoted_commas_part_nothing() {
        for (value, plain, quoted) in [
            ("a, b ,c", vec!["c", "b", "a"], vec!["c", "b", "a"]),
            (",a,, b,", vec!["b", "a"], vec!["b", "a"]),
            ("", vec![], vec![]),
            ("a;h=\"x,y\", b", vec!["b", "y\"", "a;h=\"x"], vec!["b", "a;h=\"x,y\""]),
            ("h=\"a\\\",b\\\\\", c", vec!["c", "b\\\\\"", "h=\"a\\\""], vec!["c", "h=\"a\\\",b\\\\\""]),
            // What a client left open takes nothing of the proxy's behind it.
            ("for=\"x, for=1", vec!["for=1", "for=\"x"], vec!["for=1", "for=\"x"]),
            ("x\", h=\"a,b\"", vec!["b\"", "h=\"a", "x\""], vec!["h=\"a,b\"", "x\""]),
        ] {
            assert_eq!(from_end(value, false), plain, "{value}");
            assert_eq!(from_end(value, true), quoted, "{value}");
        }
    }

    #[test]
    fn quoted_semicolons_part_no_pairs() {
        for (element, wanted) in [
            ("for=a; host=\"b;for=c\" ;proto=http", vec!["for=a", "host=\"b;for=c\"", "proto=http"]),
            ("host=\"\\\";for=a\";for=b", vec!["host=\"\\\";for=a\"", "for=b"]),
            ("host=\"\\\\\";for=a", vec!["host=\"\\\\\"", "for=a"]),
        ] {
            let found: Vec<_> = pairs(element.as_bytes()).map(|pair| std::str::from_utf8(pair).unwrap()).collect();
            assert_eq!(found, wanted, "{element}");
        }
    }
}
