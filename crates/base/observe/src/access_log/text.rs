use super::record::Text;

const HEX: &[u8; 16] = b"0123456789abcdef";

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

/// Appends bytes of a peer so that they can neither end a line nor a value nor steer a terminal: printable ASCII stands
/// as it is, every other byte, the quote and the backslash become `\xHH` (and a space too, between spaces). The form is
/// unambiguous, since a backslash only ever starts one. A text that was cut ends in `...`.
pub(super) fn write(text: Text<'_>, place: Place, out: &mut Vec<u8>) {
    for &byte in text.bytes {
        match byte {
            b'"' | b'\\' => hex(byte, place, out),
            b' ' if place == Place::Word => hex(byte, place, out),
            b' '..=b'~' => out.push(byte),
            _ => hex(byte, place, out),
        }
    }
    if text.cut {
        out.extend_from_slice(b"...");
    }
}

fn hex(byte: u8, place: Place, out: &mut Vec<u8>) {
    out.extend_from_slice(if place == Place::Json { b"\\\\x" } else { b"\\x" });
    for nibble in [byte >> 4, byte & 15] {
        out.extend(HEX.get(usize::from(nibble)));
    }
}

/// Appends a decimal number.
pub(super) fn number(number: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = number;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
        at -= 1;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(at..).unwrap_or_default());
}
