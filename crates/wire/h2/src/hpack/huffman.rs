//! The Huffman code of strings (RFC 7541, section 5.2 and appendix B).
//!
//! The code is canonical: ordered by length and then by symbol, the codes count upwards. So the lengths alone say it all,
//! and the tables below are made from them by the compiler.

use super::DecodeError;

/// Bytes, and EOS: never sent, its first bits are the padding.
const SYMBOLS: usize = 257;
const CODE_BITS_MAX: usize = 30;
const PADDING_BITS_MAX: u32 = 7;
/// Codes up to this long are found by one look-up.
const SHORT_BITS: usize = 8;

/// The length of each symbol's code, in bits (appendix B); the last is that of EOS.
#[rustfmt::skip]
pub(super) const LENGTHS: [u8; SYMBOLS] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];

struct Code {
    /// By the next eight bits: the symbol in the low byte, the length above it; 0 where the code is longer.
    short: [u16; 1 << SHORT_BITS],
    /// By length: the first value of 32 bits, the code at their top, that belongs to a longer code.
    limits: [u64; CODE_BITS_MAX + 1],
    /// By length: what to add to a code to have its symbol's place in `symbols`, modulo 2^32.
    places: [u32; CODE_BITS_MAX + 1],
    /// All symbols in the order of their codes.
    symbols: [u16; SYMBOLS],
}

static CODE: Code = code();

const fn code() -> Code {
    let mut made = Code {
        short: [0; 1 << SHORT_BITS],
        limits: [0; CODE_BITS_MAX + 1],
        places: [0; CODE_BITS_MAX + 1],
        symbols: [0; SYMBOLS],
    };
    let (mut next, mut place, mut bits) = (0_u64, 0_usize, 1_usize);
    while bits <= CODE_BITS_MAX {
        made.places[bits] = (place as u32).wrapping_sub(next as u32);
        let mut symbol = 0;
        while symbol < SYMBOLS {
            if LENGTHS[symbol] as usize == bits {
                made.symbols[place] = symbol as u16;
                if bits <= SHORT_BITS {
                    let from = (next as usize) << (SHORT_BITS - bits);
                    let mut at = from;
                    while at < from + (1 << (SHORT_BITS - bits)) {
                        made.short[at] = (bits as u16) << 8 | symbol as u16;
                        at += 1;
                    }
                }
                next += 1;
                place += 1;
            }
            symbol += 1;
        }
        made.limits[bits] = next << (32 - bits);
        next <<= 1;
        bits += 1;
    }
    // A slip in the lengths would leave bits without a code, or give some to two.
    assert!(next == 1 << (CODE_BITS_MAX + 1) && place == SYMBOLS);
    made
}

/// Appends what `bytes` stand for to `out`: at most eight bytes for five. No allocation once `out` has grown.
///
/// # Errors
/// [`DecodeError::Huffman`]: EOS, or padding that is longer than seven bits or not all ones. `out` is as it was.
pub(super) fn decode(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), DecodeError> {
    let start = out.len();
    let end = start + bytes.len() * 8 / 5;
    out.resize(end, 0);
    let result = decode_into(bytes, out.get_mut(start..).unwrap_or_default());
    out.truncate(result.map_or(start, |unused| end - unused));
    result.map(|_| ())
}

/// How much of `out` was not used.
fn decode_into(mut bytes: &[u8], out: &mut [u8]) -> Result<usize, DecodeError> {
    let mut free = out.iter_mut();
    // The bits to come, from the top down, each turned over: what follows the last of them reads as ones, like padding.
    let (mut turned, mut bits) = (0_u64, 0_u32);
    loop {
        if let Some(chunk) = bytes.first_chunk::<8>() {
            // Of a byte that is there in part only, the rest of its bits come once more.
            turned |= !u64::from_be_bytes(*chunk) >> bits;
            let read = (63 - bits) / 8;
            bytes = bytes.get(read as usize..).unwrap_or_default();
            bits += 8 * read;
        } else {
            turned &= !(u64::MAX >> bits);
            while bits <= 56
                && let Some((&byte, rest)) = bytes.split_first()
            {
                turned |= u64::from(!byte) << (56 - bits);
                bits += 8;
                bytes = rest;
            }
        }
        // Seven bits that are all ones may be padding, where nothing follows.
        let is_last = bytes.is_empty();
        let bits_min = if is_last { PADDING_BITS_MAX + 1 } else { CODE_BITS_MAX as u32 };
        while bits >= bits_min || (is_last && turned != 0) {
            let (symbol, used) = next(!turned)?;
            bits = bits.checked_sub(used).ok_or(DecodeError::Huffman)?;
            turned <<= used;
            *free.next().ok_or(DecodeError::Huffman)? = symbol;
        }
        if is_last {
            return Ok(free.len());
        }
    }
}

/// The symbol that the top bits are, and the length of its code.
#[inline]
fn next(ahead: u64) -> Result<(u8, u32), DecodeError> {
    let short = CODE.short.get((ahead >> (64 - SHORT_BITS)) as usize).copied().unwrap_or_default();
    if short != 0 { Ok((short as u8, u32::from(short >> 8))) } else { next_long(ahead >> 32) }
}

#[cold]
fn next_long(top: u64) -> Result<(u8, u32), DecodeError> {
    let mut bits = SHORT_BITS + 1;
    while CODE.limits.get(bits).is_some_and(|&limit| top >= limit) {
        bits += 1;
    }
    let place = CODE.places.get(bits).map_or(0, |&place| place.wrapping_add((top >> (32 - bits)) as u32));
    // EOS, the last of all, is no byte.
    let symbol = CODE.symbols.get(place as usize).and_then(|&symbol| u8::try_from(symbol).ok());
    symbol.map(|symbol| (symbol, bits as u32)).ok_or(DecodeError::Huffman)
}
