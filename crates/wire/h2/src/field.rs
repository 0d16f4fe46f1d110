//! What the fields of HTTP/2 may hold (RFC 9113 section 8.2.1): one judge for what is received and for what is sent, in both
//! roles. Names are tokens, since in HTTP/1 they would be something else otherwise (RFC 9110 section 5.6.2).
//!
//! Eight bytes are looked at as one word. What is nearly always there passes by a few sums; only what does not is looked at
//! byte by byte.

/// Whether this is a field's name as it must come: a token without upper case. Pseudo-header fields have none.
#[inline]
pub fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && (none(name, not_usual) || name.iter().all(|&byte| is_tchar(byte) && !byte.is_ascii_uppercase()))
}

/// Whether this is a token in any case: a method, or a field's name that becomes lower case where it is encoded.
#[inline]
pub fn is_token(text: &[u8]) -> bool {
    // What is below a space would become one of the usual bytes with the bit of lower case.
    let found = |word: u64| below(word, b' ') | not_usual(word | each(0x20));
    !text.is_empty() && (none(text, found) || text.iter().all(|&byte| is_tchar(byte)))
}

/// Whether this is a field's value in HTTP: no control characters but tabs (RFC 9110 section 5.5). White space around it is for
/// [`is_trimmed`].
#[inline]
pub fn is_value(value: &[u8]) -> bool {
    none(value, |word| below(word, b' ') | any(word, 0x7f))
        || value.iter().all(|&byte| byte == b'\t' || byte >= b' ' && byte != 0x7f)
}

/// Whether the line that it stands in stays one: no NUL, CR or LF, which is all that RFC 9113 section 8.2.1 asks of a value.
#[inline]
pub fn is_line(value: &[u8]) -> bool {
    none(value, |word| below(word, b' ')) || value.iter().all(|&byte| !matches!(byte, 0 | b'\r' | b'\n'))
}

/// Whether there is no white space around a value.
#[inline]
pub fn is_trimmed(value: &[u8]) -> bool {
    let is_space = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    !is_space(value.first()) && !is_space(value.last())
}

/// Neither empty nor with white space or control characters: what a pseudo-header field has.
#[inline]
pub(crate) fn is_visible(value: &[u8]) -> bool {
    !value.is_empty() && none(value, |word| below(word, b'!') | any(word, 0x7f))
}

/// RFC 9110 section 5.6.2.
fn is_tchar(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'^'..=b'`'
        | b'|' | b'~')
}

/// The highest bit of each byte.
const HIGHS: u64 = each(0x80);

/// A word of eight such bytes.
const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Not zero, in the highest bits of bytes, exactly if some byte is neither a lower-case letter nor a hyphen.
#[inline]
const fn not_usual(word: u64) -> u64 {
    // The highest bit of each sum says whether the byte, without its own, is at least so much; where an odd number of them
    // does, it is in one of the ranges.
    let low = word & !HIGHS;
    let is_in = (low + each(0x80 - b'-'))
        ^ (low + each(0x80 - (b'-' + 1)))
        ^ (low + each(0x80 - b'a'))
        ^ (low + each(0x80 - (b'z' + 1)));
    (!is_in | word) & HIGHS
}

/// The same, if some byte of the word is this one.
#[inline]
const fn any(word: u64, byte: u8) -> u64 {
    let word = word ^ each(byte);
    word.wrapping_sub(each(1)) & !word & HIGHS
}

/// The same, if some byte is below `least`, which is at most 128.
#[inline]
const fn below(word: u64, least: u8) -> u64 {
    word.wrapping_sub(each(least)) & !word & HIGHS
}

/// Whether `find` says nothing of any byte. All of them are looked at: it is nearly always so. The last word overlaps the one
/// before it, and short texts fill one up with bytes of their own.
#[inline]
fn none(bytes: &[u8], find: impl Fn(u64) -> u64) -> bool {
    let found = match (bytes, bytes.last_chunk::<8>()) {
        ([head @ .., _], Some(last)) => {
            let words = head.as_chunks::<8>().0.iter();
            words.fold(find(u64::from_le_bytes(*last)), |found, word| found | find(u64::from_le_bytes(*word)))
        }
        _ => match (bytes, bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
            (_, Some(first), Some(last)) => {
                find(u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32)
            }
            (&[first, .., last], ..) => {
                let middle = bytes.get(1).copied().unwrap_or(last);
                find(u64::from_le_bytes([first, middle, last, last, last, last, last, last]))
            }
            (&[only], ..) => find(each(only)),
            _ => 0,
        },
    };
    found == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    type Judge = fn(&[u8]) -> bool;
    /// What it says of a byte, wherever that stands.
    type Rule = fn(u8) -> bool;

    const TCHARS: &[u8] = b"!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

    /// With what each says of nothing.
    const JUDGES: [(&str, Judge, Rule, bool); 5] = [
        ("name", is_name, |byte| TCHARS.contains(&byte) && !byte.is_ascii_uppercase(), false),
        ("token", is_token, |byte| TCHARS.contains(&byte), false),
        ("value", is_value, |byte| byte == b'\t' || !byte.is_ascii_control(), true),
        ("line", is_line, |byte| !matches!(byte, b'\0' | b'\r' | b'\n'), true),
        ("visible", is_visible, |byte| byte != b' ' && !byte.is_ascii_control(), false),
    ];

    #[test]
    fn every_byte_is_judged_in_every_place() {
        // What stands around it: usual, unusual, and what borrows from its neighbours in the sums, if anything does.
        let fillings = [b'a', b'-', b'z', b'A', b'0', b'~', b'!', b'\t', 0x7f, 0x80, 0xff];
        for (what, judge, rule, of_nothing) in JUDGES {
            assert_eq!(judge(b""), of_nothing, "{what}");
            for filling in fillings {
                let others = rule(filling);
                for len in 1..=24 {
                    let mut text = vec![filling; len];
                    for at in 0..len {
                        for byte in 0..=255 {
                            text[at] = byte;
                            let expected = rule(byte) && (others || len == 1);
                            assert_eq!(judge(&text), expected, "{what}: {}", text.escape_ascii());
                        }
                        text[at] = filling;
                    }
                }
            }
        }
    }

    #[test]
    fn every_pair_of_neighbours_is_judged() {
        for (what, judge, rule, _) in JUDGES {
            for first in 0..=255 {
                for second in 0..=255 {
                    // In the first word, over the border of two, and in the short forms.
                    for (len, at) in [(2, 0), (3, 1), (5, 3), (8, 6), (12, 7)] {
                        let mut text = [b'a'; 12];
                        [text[at], text[at + 1]] = [first, second];
                        let text = &text[..len];
                        assert_eq!(judge(text), rule(first) && rule(second), "{what}: {}", text.escape_ascii());
                    }
                }
            }
        }
    }

    #[test]
    fn white_space_is_found_at_both_ends_only() {
        for (value, expected) in
            [("", true), ("a", true), ("a b\tc", true), (" ", false), ("a ", false), ("\ta", false)]
        {
            assert_eq!(is_trimmed(value.as_bytes()), expected, "{value:?}");
        }
    }
}
