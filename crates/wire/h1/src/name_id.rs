//! Finds the id of a field name with one multiplication and two or three comparisons of whole words.

use leat_message::Name;

/// A name folded into words: setting bit 5 of every byte makes letters lower-case and maps no other token character onto
/// a byte of a known name (letters, digits, `-`), so that equal words mean equal names.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Words {
    /// The first eight bytes, or all of a shorter name followed by zeros.
    first: u64,
    /// The last eight bytes; zero for a shorter name.
    last: u64,
    /// The second eight bytes of a name longer than sixteen; else zero.
    middle: u64,
}

const CASE: u64 = 0x2020_2020_2020_2020;
/// Longer names are not covered by three words.
const LEN_MAX: usize = 24;

#[derive(Clone, Copy)]
struct Known {
    words: Words,
    len: usize,
    id: Name,
}

const SLOT_BITS: u32 = 9;
const COUNT: usize = Name::ALL.len();
const KNOWN: [Known; COUNT] = known();
const MULTIPLIER: u64 = multiplier();

/// For each slot the index of a known name, plus one.
static SLOTS: [u8; 1 << SLOT_BITS] = slots();
static NAMES: [Known; COUNT] = KNOWN;

/// The id of the field name `bytes[start..end]`, which consists of token characters.
#[inline(always)]
pub(crate) fn lookup(bytes: &[u8], start: usize, end: usize) -> Name {
    let len = end - start;
    if len > LEN_MAX {
        return Name::Other;
    }
    let words = if len >= 8 {
        let middle = if len > 16 { word(bytes, start + 8) } else { 0 };
        Words { first: word(bytes, start), last: word(bytes, end - 8), middle }
    } else {
        Words { first: word(bytes, start) & ((1 << (8 * len)) - 1), last: 0, middle: 0 }
    };
    let slot = SLOTS.get(slot(&words, len, MULTIPLIER)).copied().unwrap_or(0);
    match NAMES.get(usize::from(slot).wrapping_sub(1)) {
        Some(known) if known.words == words && known.len == len => known.id,
        _ => Name::Other,
    }
}

/// Eight folded bytes from `at`.
#[inline(always)]
fn word(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..at + 8) {
        Some(&[a, b, c, d, e, f, g, h]) => u64::from_le_bytes([a, b, c, d, e, f, g, h]) | CASE,
        _ => short_word(bytes, at),
    }
}

/// The same near the end of the input.
#[cold]
#[inline(never)]
fn short_word(bytes: &[u8], at: usize) -> u64 {
    bytes.iter().skip(at).take(8).rev().fold(0, |word, &byte| word << 8 | u64::from(byte)) | CASE
}

#[inline(always)]
const fn slot(words: &Words, len: usize, multiplier: u64) -> usize {
    let mixed = words.first ^ words.last.rotate_left(23) ^ len as u64;
    (mixed.wrapping_mul(multiplier) >> (64 - SLOT_BITS)) as usize
}

const fn known() -> [Known; COUNT] {
    let mut all = [Known { words: Words { first: 0, last: 0, middle: 0 }, len: 0, id: Name::Other }; COUNT];
    let mut i = 0;
    while i < COUNT {
        let id = Name::ALL[i];
        let text = id.as_str().as_bytes();
        let len = text.len();
        assert!(len > 0 && len <= LEN_MAX, "a known name is longer than three words");
        let words = if len >= 8 {
            let middle = if len > 16 { const_word(text, 8, 8) } else { 0 };
            Words { first: const_word(text, 0, 8), last: const_word(text, len - 8, 8), middle }
        } else {
            Words { first: const_word(text, 0, len), last: 0, middle: 0 }
        };
        all[i] = Known { words, len, id };
        i += 1;
    }
    all
}

const fn const_word(text: &[u8], at: usize, len: usize) -> u64 {
    let mut word = 0;
    let mut i = 0;
    while i < len {
        word |= ((text[at + i] | 0x20) as u64) << (8 * i);
        i += 1;
    }
    word
}

/// The first of a fixed sequence of odd numbers that gives every known name a slot of its own.
const fn multiplier() -> u64 {
    let mut candidate = 0x9e37_79b9_7f4a_7c15u64;
    loop {
        let mut taken = [false; 1 << SLOT_BITS];
        let mut i = 0;
        while i < COUNT {
            let slot = slot(&KNOWN[i].words, KNOWN[i].len, candidate);
            if taken[slot] {
                break;
            }
            taken[slot] = true;
            i += 1;
        }
        if i == COUNT {
            return candidate;
        }
        candidate = candidate.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_406) | 1;
    }
}

const fn slots() -> [u8; 1 << SLOT_BITS] {
    let mut slots = [0; 1 << SLOT_BITS];
    let mut i = 0;
    while i < COUNT {
        slots[slot(&KNOWN[i].words, KNOWN[i].len, MULTIPLIER)] = i as u8 + 1;
        i += 1;
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::TOKEN;

    fn find(name: &[u8], behind: &[u8]) -> Name {
        let bytes = [b"\r\n", name, behind].concat();
        lookup(&bytes, 2, 2 + name.len())
    }

    #[test]
    fn every_known_name_is_found_in_any_case_and_near_the_end_of_the_input() {
        for &name in Name::ALL {
            for text in [name.as_str().to_owned(), name.as_str().to_ascii_uppercase()] {
                for behind in [&b""[..], b":", b": value\r\n\r\n"] {
                    assert_eq!(find(text.as_bytes(), behind), name, "{text}");
                }
            }
        }
    }

    #[test]
    fn a_name_that_differs_in_one_byte_is_found_only_if_it_is_known() {
        for &name in Name::ALL {
            let text = name.as_str().as_bytes();
            for position in 0..text.len() {
                for byte in (0..=255).filter(|&byte| TOKEN.has(byte)) {
                    let mut other = text.to_vec();
                    other[position] = byte;
                    assert_eq!(find(&other, b": value"), Name::from_bytes(&other), "{:?}", other.escape_ascii());
                }
            }
            for longer in [[text, b"x"].concat(), [b"x", text].concat(), text[1..].to_vec()] {
                assert_eq!(find(&longer, b": value"), Name::from_bytes(&longer));
            }
        }
        assert_eq!(find(&[b'a'; 100], b": value"), Name::Other);
        assert_eq!(find(b"", b": value"), Name::Other);
    }
}
