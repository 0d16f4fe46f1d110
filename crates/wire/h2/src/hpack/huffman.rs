//! The Huffman code of strings (RFC 7541, section 5.2 and appendix B).
//!
//! The code is canonical: ordered by length and then by symbol, the codes count upwards. So the lengths alone say it all,
//! and the tables below are made from them by the compiler.

use super::DecodeError;

const SYMBOLS: usize = 257;
/// Never sent; its first bits are the padding.
const EOS: usize = 256;
const CODE_BITS_MAX: usize = 30;
const PADDING_BITS_MAX: u32 = 7;
/// Codes up to this long are found by one look-up.
const SHORT_BITS: usize = 8;

/// The length of each symbol's code, in bits (appendix B); the last is that of EOS.
#[rustfmt::skip]
const LENGTHS: [u8; SYMBOLS] = [
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
/// [`DecodeError::Huffman`]: EOS, or padding that is longer than seven bits or not all ones.
pub(super) fn decode(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), DecodeError> {
    let start = out.len();
    out.resize(start + bytes.len() * 8 / 5, 0);
    let mut written = 0;
    let result = decode_into(bytes, out.get_mut(start..).unwrap_or_default(), &mut written);
    out.truncate(start + written);
    result
}

fn decode_into(mut bytes: &[u8], out: &mut [u8], written: &mut usize) -> Result<(), DecodeError> {
    let mut free = out.iter_mut();
    // The bits to come, from the top down; those below `bits` may be bytes that are read again.
    let (mut ahead, mut bits) = (0_u64, 0_u32);
    loop {
        if let Some(chunk) = bytes.first_chunk::<8>() {
            ahead |= u64::from_be_bytes(*chunk) >> bits;
            let read = (63 - bits) / 8;
            bytes = bytes.get(read as usize..).unwrap_or_default();
            bits += 8 * read;
        } else {
            // What is left of a last refill's look ahead is cleared, so that it is not there twice.
            ahead &= !(u64::MAX.checked_shr(bits).unwrap_or(0));
            while bits <= 56
                && let Some((&byte, rest)) = bytes.split_first()
            {
                ahead |= u64::from(byte) << (56 - bits);
                bits += 8;
                bytes = rest;
            }
        }
        let is_last = bytes.is_empty();
        if is_last {
            // As if the padding went on for ever.
            ahead |= u64::MAX.checked_shr(bits).unwrap_or(0);
        }
        while bits >= CODE_BITS_MAX as u32 || (is_last && bits > 0) {
            let (symbol, used) = next(ahead);
            if used > bits {
                let is_padding = bits <= PADDING_BITS_MAX && ahead == u64::MAX;
                return if is_padding { Ok(()) } else { Err(DecodeError::Huffman) };
            }
            let symbol = u8::try_from(symbol).map_err(|_| DecodeError::Huffman)?;
            *free.next().ok_or(DecodeError::Huffman)? = symbol;
            *written += 1;
            ahead <<= used;
            bits -= used;
            if is_last {
                ahead |= u64::MAX.checked_shr(bits).unwrap_or(0);
            }
        }
        if is_last {
            return Ok(());
        }
    }
}

/// The symbol that the top bits are, and the length of its code.
#[inline]
fn next(ahead: u64) -> (u16, u32) {
    let short = CODE.short.get((ahead >> (64 - SHORT_BITS)) as usize).copied().unwrap_or_default();
    if short != 0 { (short & 0xff, u32::from(short >> 8)) } else { next_long(ahead) }
}

fn next_long(ahead: u64) -> (u16, u32) {
    let top = ahead >> 32;
    let limits = CODE.limits.iter().enumerate().skip(SHORT_BITS + 1);
    let bits = limits.filter(|&(_, &limit)| top < limit).map(|(bits, _)| bits).next().unwrap_or(CODE_BITS_MAX);
    let place = CODE.places.get(bits).map_or(0, |&place| place.wrapping_add((top >> (32 - bits)) as u32));
    (CODE.symbols.get(place as usize).copied().unwrap_or(EOS as u16), bits as u32)
}
