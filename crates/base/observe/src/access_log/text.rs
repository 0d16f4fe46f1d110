use std::sync::atomic::{AtomicU64, Ordering};

use super::pen::Pen;
use super::words::last_word;

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Bytes that came from a peer or from a configuration, as they stand in a ring: in words, the last one filled up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Text<'a> {
    pub(super) words: &'a [AtomicU64],
    /// In bytes.
    pub(super) length: usize,
    /// Whether there was more.
    pub(super) cut: bool,
}

impl Text<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Its words, and how many bytes of each are the text's.
    #[inline]
    fn chunks(&self) -> impl Iterator<Item = (u64, usize)> {
        let mut left = self.length;
        self.words.iter().map(move |word| {
            let count = left.min(8);
            left -= count;
            (word.load(Ordering::Relaxed), count)
        })
    }

    /// Whether it has this byte, which is not zero.
    #[inline]
    pub(super) fn has(&self, wanted: u8) -> bool {
        let all = ONES * u64::from(wanted);
        self.words.iter().any(|word| zeros(word.load(Ordering::Relaxed) ^ all) & HIGHS != 0)
    }

    /// Appends its bytes.
    pub(super) fn copy_to(&self, out: &mut Vec<u8>) {
        self.chunks().for_each(|(word, count)| out.extend(word.to_le_bytes().iter().take(count)));
    }
}

/// What a text stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Between spaces.
    Word,
    /// Between quotes.
    Quoted,
    /// In a JSON string, where a backslash is written twice.
    Json,
}

/// What is written in place of what was cut off.
pub(super) const CUT: &[u8; 3] = b"...";

/// Appends bytes of a peer so that they can neither end a line nor a value nor steer a terminal: printable ASCII stands
/// as it is, every other byte, the quote and the backslash become `\xHH` (and a space too, between spaces). The form is
/// unambiguous, since a backslash only ever starts one. A text that was cut ends in `...`.
#[inline]
pub(super) fn write(text: Text<'_>, place: Place, out: &mut Pen<'_>) {
    text.chunks().for_each(|(word, count)| chunk(word, count, place, out));
    if text.cut {
        out.fixed(CUT);
    }
}

/// Appends bytes in the same way.
pub(super) fn write_bytes(bytes: &[u8], place: Place, out: &mut Pen<'_>) {
    let (words, rest) = bytes.as_chunks::<8>();
    words.iter().for_each(|&word| chunk(u64::from_le_bytes(word), 8, place, out));
    if !rest.is_empty() {
        chunk(last_word(bytes), rest.len(), place, out);
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The first `count` bytes of `word`, which is 1 to 8: looked at together, and one by one where any of them can't stand as it is.
#[inline(always)]
fn chunk(word: u64, count: usize, place: Place, out: &mut Pen<'_>) {
    let least = if place == Place::Word { b'!' } else { b' ' };
    // A byte's high bit is set where it is special. A borrow or a carry goes from a special byte to those above it only, which are then
    // taken for special as well: that costs time and is not wrong.
    let low = word.wrapping_sub(ONES * u64::from(least)) & !word;
    let high = word.wrapping_add(ONES) | word;
    let quote = zeros(word ^ (ONES * u64::from(b'"')));
    let backslash = zeros(word ^ (ONES * u64::from(b'\\')));
    // What is behind the end is no matter.
    if ((low | high | quote | backslash) & HIGHS) << (8 * (8 - count)) == 0 {
        out.first(word.to_le_bytes(), count);
    } else {
        one_by_one(word, count, least, place, out);
    }
}

/// A high bit for each byte that is zero, and perhaps for some above it.
#[inline(always)]
fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word
}

#[cold]
fn one_by_one(word: u64, count: usize, least: u8, place: Place, out: &mut Pen<'_>) {
    for byte in word.to_le_bytes().into_iter().take(count) {
        match byte {
            b'"' | b'\\' => hex(byte, place, out),
            _ if (least..=b'~').contains(&byte) => out.fixed(&[byte]),
            _ => hex(byte, place, out),
        }
    }
}

fn hex(byte: u8, place: Place, out: &mut Pen<'_>) {
    let [high, low] = [byte >> 4, byte & 15].map(|nibble| HEX.get(usize::from(nibble)).copied().unwrap_or_default());
    match place {
        Place::Json => out.fixed(&[b'\\', b'\\', b'x', high, low]),
        Place::Word | Place::Quoted => out.fixed(&[b'\\', b'x', high, low]),
    }
}

/// The most bytes that one of a peer's becomes.
pub(super) const GROWTH_MAX: usize = 5;

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The words that bytes are in a ring.
    pub(in super::super) fn words(bytes: &[u8]) -> Vec<AtomicU64> {
        let (words, rest) = bytes.as_chunks::<8>();
        let last = (!rest.is_empty()).then(|| last_word(bytes));
        words.iter().map(|&word| u64::from_le_bytes(word)).chain(last).map(AtomicU64::new).collect()
    }

    fn written(write: impl FnOnce(&mut Pen<'_>)) -> Vec<u8> {
        let mut buffer = vec![0; 1_024];
        let mut pen = Pen::new(&mut buffer);
        write(&mut pen);
        let length = 1_024 - pen.room();
        buffer.truncate(length);
        buffer
    }

    /// The rule, byte by byte.
    fn expected(bytes: &[u8], place: Place) -> Vec<u8> {
        let mut out = Vec::new();
        for &byte in bytes {
            let is_plain = byte.is_ascii_graphic() && !b"\"\\".contains(&byte) || byte == b' ' && place != Place::Word;
            match (is_plain, place) {
                (true, _) => out.push(byte),
                (false, Place::Json) => out.extend(format!("\\\\x{byte:02x}").as_bytes()),
                (false, _) => out.extend(format!("\\x{byte:02x}").as_bytes()),
            }
        }
        out
    }

    #[test]
    fn every_byte_at_every_place_of_every_length_is_written_by_the_rule() {
        for place in [Place::Word, Place::Quoted, Place::Json] {
            for byte in 0..=255_u8 {
                for length in 1..=35 {
                    let mut bytes = vec![b'a'; length];
                    bytes[usize::from(byte) % length] = byte;
                    bytes[length - 1] = if byte % 3 == 0 { byte } else { b'~' };
                    let text = Text { words: &words(&bytes), length, cut: false };
                    assert_eq!(written(|pen| write(text, place, pen)), expected(&bytes, place), "{bytes:?}");
                    assert_eq!(written(|pen| write_bytes(&bytes, place, pen)), expected(&bytes, place));
                    let mut copy = Vec::new();
                    text.copy_to(&mut copy);
                    assert_eq!(copy, bytes);
                    assert!(byte == 0 || text.has(byte) == bytes.contains(&byte));
                }
            }
        }
    }

    #[test]
    fn a_text_that_was_cut_says_so() {
        let text = Text { words: &words(b"abc"), length: 3, cut: true };
        assert_eq!(written(|pen| write(text, Place::Json, pen)), b"abc...");
    }
}
