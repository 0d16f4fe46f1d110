use leat_h2::FieldList;
use leat_message::Name;

/// Appends a field of a reply, unless it can be none in HTTP/2: clients take such a reply for malformed. Those are fields
/// of one connection (RFC 9113 section 8.2.2), names that are no names, and values with CR, LF or NUL (section 8.2.1).
/// White space around a value stays behind.
#[inline]
pub(super) fn push(list: &mut FieldList, name: &[u8], value: &[u8]) {
    if is_name(name) && is_value(value) && !is_of_connection(name) {
        list.push(name, trim(value));
    }
}

/// Only names of these lengths are looked up.
fn is_of_connection(name: &[u8]) -> bool {
    matches!(name.len(), 2 | 7 | 10 | 14 | 16 | 17) && Name::from_bytes(name).is_hop_by_hop()
}

/// Visible ASCII without a colon.
fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && none(name, |word| below(word, 0x21) | (word & HIGHS) | any(word, b':') | any(word, 0x7f))
}

fn is_value(value: &[u8]) -> bool {
    none(value, |word| any(word, b'\r') | any(word, b'\n') | any(word, 0))
}

/// The highest bit of each byte.
const HIGHS: u64 = each(0x80);

/// A word of eight such bytes.
const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Whether `find` says nothing of any byte. It is asked about eight at once: names and values are of our own process nearly
/// always, so that all of them are looked at, and byte by byte that was most of what a field costs.
#[inline]
fn none(bytes: &[u8], find: impl Fn(u64) -> u64) -> bool {
    let (words, rest) = bytes.as_chunks::<8>();
    let found = words.iter().fold(0, |found, word| found | find(u64::from_le_bytes(*word)));
    // What fills the last word up is fine everywhere.
    let mut last = [b'x'; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    (found | find(u64::from_le_bytes(last))) & HIGHS == 0
}

/// Not zero, in the highest bits of bytes, exactly if some byte of the word is this one.
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
    fn every_byte_is_judged_in_every_place() {
        for len in 1..20 {
            for at in 0..len {
                for byte in 0..=255_u8 {
                    for filling in [b'a', 0xff, b'!', b'~'] {
                        let mut text = vec![filling; len];
                        text[at] = byte;
                        let is_fine = |byte: u8| matches!(byte, 0x21..=0x7e) && byte != b':';
                        assert_eq!(is_name(&text), text.iter().all(|byte| is_fine(*byte)), "{text:?}");
                        assert_eq!(is_value(&text), !matches!(byte, b'\r' | b'\n' | 0), "{text:?}");
                    }
                }
            }
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
