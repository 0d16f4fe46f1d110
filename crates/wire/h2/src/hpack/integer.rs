//! Integers with a prefix (RFC 7541, section 5.1).

use super::DecodeError;

/// Octets after the prefix: five carry 35 bits, and nothing here is larger than 32.
const CONTINUATION_OCTETS_MAX: u32 = 5;

/// Reads the integer whose first octet's lowest `prefix_bits` bits begin it; the rest of the bytes come back with it.
///
/// # Errors
/// [`DecodeError::Truncated`], and [`DecodeError::Integer`] beyond 32 bits or five further octets.
#[inline]
pub(super) fn decode(bytes: &[u8], prefix_bits: u32) -> Result<(u32, &[u8]), DecodeError> {
    let (&first, rest) = bytes.split_first().ok_or(DecodeError::Truncated)?;
    let prefix_max = (1 << prefix_bits) - 1;
    let prefix = u32::from(first) & prefix_max;
    if prefix < prefix_max { Ok((prefix, rest)) } else { decode_long(prefix, rest) }
}

fn decode_long(prefix: u32, mut rest: &[u8]) -> Result<(u32, &[u8]), DecodeError> {
    let mut value = u64::from(prefix);
    for octet in 0..CONTINUATION_OCTETS_MAX {
        let (&byte, after) = rest.split_first().ok_or(DecodeError::Truncated)?;
        rest = after;
        value += u64::from(byte & 0x7f) << (7 * octet);
        if byte & 0x80 == 0 {
            return u32::try_from(value).map(|value| (value, rest)).map_err(|_| DecodeError::Integer);
        }
    }
    Err(DecodeError::Integer)
}

/// Appends an integer; `pattern` has the bits of the first octet above the prefix.
#[inline]
pub(super) fn encode(out: &mut Vec<u8>, pattern: u8, prefix_bits: u32, value: usize) {
    let prefix_max = (1 << prefix_bits) - 1;
    if value < prefix_max {
        out.push(pattern | value as u8);
    } else {
        out.push(pattern | prefix_max as u8);
        encode_long(out, value - prefix_max);
    }
}

fn encode_long(out: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
