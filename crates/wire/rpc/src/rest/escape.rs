//! Percent escapes (RFC 3986 section 2.1) as `google.api.http` resolves them in paths and queries.

/// Which escapes stay as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// None: a single segment, or a literal.
    Nothing,
    /// Those of slashes: a variable of several segments, where they would look like ends of segments
    /// (google/api/http.proto: "except `%2F` and `%2f`, which are left unchanged").
    Slashes,
    /// None, and `+` is a space: a query.
    NothingPlus,
}

/// Appends the text with its escapes resolved. What looks like an escape and is none stays as it is, as in every server.
pub(crate) fn decode(text: &[u8], keep: Keep, out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after) {
            (b'+', _) if keep == Keep::NothingPlus => out.push(b' '),
            (b'%', [high, low, behind @ ..]) => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) if (high << 4 | low) != b'/' || keep != Keep::Slashes => {
                    out.push(high << 4 | low);
                    rest = behind;
                }
                _ => out.push(byte),
            },
            _ => out.push(byte),
        }
    }
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use super::{Keep, decode};

    #[test]
    fn escapes_are_resolved_but_for_those_that_are_kept() {
        for (text, keep, expected) in [
            ("a%20b", Keep::Nothing, "a b"),
            ("a+b", Keep::Nothing, "a+b"),
            ("a+b%2B", Keep::NothingPlus, "a b+"),
            ("a%2Fb%2fc", Keep::Nothing, "a/b/c"),
            ("a%2Fb%2fc%21", Keep::Slashes, "a%2Fb%2fc!"),
            ("%", Keep::Nothing, "%"),
            ("%4", Keep::Nothing, "%4"),
            ("%4g%41", Keep::Nothing, "%4gA"),
            ("%C3%A4", Keep::Nothing, "ä"),
        ] {
            let mut out = Vec::new();
            decode(text.as_bytes(), keep, &mut out);
            assert_eq!(String::from_utf8_lossy(&out), expected, "{text}");
        }
    }
}
