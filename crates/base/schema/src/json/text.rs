//! Strings and bytes as JSON writes them.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

use super::quick::{Irregular, Quick};

/// Writes padding, reads with and without it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// How each byte stands in a JSON string: 0 as itself, 1 as `\u00xx`, others behind a backslash as the letter that is here.
const ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = 1;
        byte += 1;
    }
    table[0x08] = b'b';
    table[0x09] = b't';
    table[0x0a] = b'n';
    table[0x0c] = b'f';
    table[0x0d] = b'r';
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table
};

/// Appends a string in quotes.
pub(crate) fn put_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|&byte| ESCAPES[usize::from(byte)] != 0) {
        let (plain, special) = rest.split_at(at);
        out.extend_from_slice(plain);
        let Some((&byte, behind)) = special.split_first() else { break };
        match ESCAPES[usize::from(byte)] {
            1 => {
                out.extend_from_slice(b"\\u00");
                out.extend([byte >> 4, byte & 15].map(|digit| b"0123456789abcdef"[usize::from(digit)]));
            }
            letter => out.extend_from_slice(&[b'\\', letter]),
        }
        rest = behind;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// Appends bytes as Base64 in quotes.
pub(super) fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let start = out.len();
    let Some(length) = base64::encoded_len(bytes.len(), true) else { return };
    out.resize(start + length, 0);
    // It fits: this is the length that was asked for.
    let _ = BASE64.encode_slice(bytes, out.get_mut(start..).unwrap_or_default());
    out.push(b'"');
}

/// Appends the bytes that Base64 in the standard alphabet stands for.
pub(super) fn take_bytes(text: &str, out: &mut Vec<u8>) -> Quick<()> {
    BASE64.decode_vec(text, out).map_err(|_| Irregular)
}

/// Undoes the escapes of a string into `out`, which is emptied. `raw` is what stands between the quotes.
pub(super) fn unescape(raw: &str, out: &mut Vec<u8>) -> Quick<()> {
    out.clear();
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        let (plain, escape) = rest.split_at(at);
        out.extend_from_slice(plain.as_bytes());
        let mut chars = escape.chars();
        chars.next();
        let letter = match chars.next().ok_or(Irregular)? {
            c @ ('"' | '\\' | '/') => c,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let first = unit(&mut chars)?;
                // Half of a pair is followed by the other half.
                let second = if (0xd800..0xdc00).contains(&first) {
                    if chars.next() != Some('\\') || chars.next() != Some('u') {
                        return Err(Irregular);
                    }
                    Some(unit(&mut chars)?)
                } else {
                    None
                };
                let mut decoded = char::decode_utf16(std::iter::once(first).chain(second));
                decoded.next().and_then(Result::ok).ok_or(Irregular)?
            }
            _ => return Err(Irregular),
        };
        out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
        rest = chars.as_str();
    }
    out.extend_from_slice(rest.as_bytes());
    Ok(())
}

fn unit(chars: &mut std::str::Chars<'_>) -> Quick<u16> {
    let digits = chars.as_str().get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let value = u16::from_str_radix(digits.ok_or(Irregular)?, 16).map_err(|_| Irregular)?;
    chars.nth(3);
    Ok(value)
}
