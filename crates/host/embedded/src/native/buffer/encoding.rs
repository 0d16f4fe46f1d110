//! The encodings of Node's buffers, both ways.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use crate::native::direct::{Call, Given};

const HEX: &[u8; 16] = b"0123456789abcdef";

/// By their numbers in node:buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Encoding {
    Utf8,
    Utf16,
    Latin1,
    Ascii,
    Base64,
    Base64Url,
    Hex,
}

impl Encoding {
    pub(super) fn of(number: usize) -> Self {
        match number {
            1 => Self::Utf16,
            2 => Self::Latin1,
            3 => Self::Ascii,
            4 => Self::Base64,
            5 => Self::Base64Url,
            6 => Self::Hex,
            _ => Self::Utf8,
        }
    }

    /// Gives `take` the bytes that the string at `at` stands for.
    pub(super) fn with_bytes(self, call: &Call<'_>, at: usize, take: impl FnOnce(&[u8]) -> Given) -> Given {
        if self == Self::Utf16 {
            let Some(units) = call.units(at) else { return Given::UNDEFINED };
            let bytes: Vec<u8> = units.units().iter().flat_map(|unit| unit.to_le_bytes()).collect();
            return take(&bytes);
        }
        let Some(text) = call.text(at) else { return Given::UNDEFINED };
        let bytes = text.bytes();
        match self {
            Self::Utf8 => take(&well_formed(bytes)),
            _ if bytes.is_ascii() => take(&self.meaning(bytes)),
            // The low byte of each unit counts, as on Node.
            _ => {
                let Some(units) = call.units(at) else { return Given::UNDEFINED };
                let bytes: Vec<u8> = units.units().iter().map(|unit| *unit as u8).collect();
                take(&self.meaning(&bytes))
            }
        }
    }

    /// What digits and letters stand for.
    fn meaning(self, bytes: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::Hex => Cow::Owned(from_hex(bytes)),
            Self::Base64 | Self::Base64Url => Cow::Owned(from_base64(bytes)),
            _ => Cow::Borrowed(bytes),
        }
    }

    /// As much of encoded bytes as `room` has place for, without half of a character.
    pub(super) fn cut(self, bytes: &[u8], room: usize) -> &[u8] {
        if bytes.len() <= room {
            return bytes;
        }
        let mut end = room;
        match self {
            Self::Utf8 => {
                while end > 0 && bytes.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
                    end -= 1;
                }
            }
            Self::Utf16 => end &= !1,
            _ => {}
        }
        bytes.get(..end).unwrap_or(&[])
    }

    /// The string that bytes stand for.
    pub(super) fn decode(self, call: &Call<'_>, bytes: &[u8]) -> Given {
        match self {
            Self::Utf8 => call.string(String::from_utf8_lossy(bytes).as_bytes()),
            Self::Utf16 => {
                let units: Vec<u16> = bytes.as_chunks::<2>().0.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
                call.string_of_units(&units)
            }
            Self::Latin1 | Self::Ascii if bytes.is_ascii() => call.string(bytes),
            Self::Latin1 => call.string(bytes.iter().map(|byte| char::from(*byte)).collect::<String>().as_bytes()),
            Self::Ascii => call.string(&bytes.iter().map(|byte| byte & 0x7f).collect::<Vec<u8>>()),
            Self::Base64 => call.string(STANDARD.encode(bytes).as_bytes()),
            Self::Base64Url => call.string(URL_SAFE_NO_PAD.encode(bytes).as_bytes()),
            Self::Hex => {
                let digit = |half: u8| HEX.get(usize::from(half)).copied().unwrap_or_default();
                let text: Vec<u8> = bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect();
                call.string(&text)
            }
        }
    }
}

/// QuickJS writes a lone surrogate as three bytes, which are not UTF-8; programs get U+FFFD for it, three bytes as well.
fn well_formed(bytes: &[u8]) -> Cow<'_, [u8]> {
    let is_lone = |at: usize| bytes.get(at + 1).is_some_and(|next| *next >= 0xa0);
    let mut lone = memchr::memchr_iter(0xed, bytes).filter(|at| is_lone(*at)).peekable();
    if lone.peek().is_none() {
        return Cow::Borrowed(bytes);
    }
    let mut fixed = bytes.to_vec();
    for at in lone {
        if let Some(three) = fixed.get_mut(at..at + 3) {
            three.copy_from_slice("\u{fffd}".as_bytes());
        }
    }
    Cow::Owned(fixed)
}

/// Pairs of digits up to the first that is none.
fn from_hex(text: &[u8]) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    text.as_chunks::<2>().0.iter().map_while(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}

/// Both alphabets at once; what belongs to neither is passed over, and `=` ends it.
fn from_base64(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 3);
    // Four letters at once, up to the first that is none.
    let mut quick = 0;
    for four in text.as_chunks::<4>().0 {
        let [a, b, c, d] = four.map(|byte| SIX_BITS.get(usize::from(byte)).copied().unwrap_or(NO_LETTER));
        if (a | b | c | d) == NO_LETTER {
            break;
        }
        let bits = u32::from(a) << 18 | u32::from(b) << 12 | u32::from(c) << 6 | u32::from(d);
        let [_, first, second, third] = bits.to_be_bytes();
        out.extend_from_slice(&[first, second, third]);
        quick += 4;
    }
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.get(quick..).unwrap_or(&[]) {
        let Some(six) = six_bits(*byte) else {
            if *byte == b'=' {
                break;
            }
            continue;
        };
        bits = bits << 6 | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    out
}

/// What each letter of both alphabets stands for; the others are `NO_LETTER`.
static SIX_BITS: [u8; 256] = letters();
const NO_LETTER: u8 = 0xff;

#[allow(clippy::indexing_slicing, reason = "constant, so an index out of bounds does not compile")]
const fn letters() -> [u8; 256] {
    let mut table = [NO_LETTER; 256];
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut at = 0;
    while at < alphabet.len() {
        table[alphabet[at] as usize] = at as u8;
        at += 1;
    }
    table[b'-' as usize] = 62;
    table[b'_' as usize] = 63;
    table
}

fn six_bits(byte: u8) -> Option<u8> {
    SIX_BITS.get(usize::from(byte)).copied().filter(|bits| *bits != NO_LETTER)
}
