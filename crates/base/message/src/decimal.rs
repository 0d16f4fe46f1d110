/// The least number that has more than eight digits.
const EIGHT_DIGITS: u64 = 100_000_000;
const ASCII_ZEROS: u64 = 0x3030_3030_3030_3030;

/// The digits of the smallest numbers, which most of those in fields and logs are: the first in the lowest byte, and in the highest how many
/// there are. What is reckoned for all others takes some thirty instructions, and each waits for the one before it.
static SMALL: [u32; 1_000] = small();

const fn small() -> [u32; 1_000] {
    let mut all = [0; 1_000];
    let mut number = 0;
    while number < all.len() {
        let (hundreds, tens, ones) = (number / 100, number / 10 % 10, number % 10);
        let (digits, count) = match number {
            0..10 => (ones, 1),
            10..100 => (tens | ones << 8, 2),
            _ => (hundreds | tens << 8 | ones << 16, 3),
        };
        all[number] = digits as u32 | 0x0030_3030 | count << 24;
        number += 1;
    }
    all
}

/// Appends a number in decimal digits. No loop for numbers of eight digits, and no call: fields and logs are full of them, and the
/// formatter's machinery is not cheap. Allocates where `out` has no room for eight digits more.
#[inline]
pub fn decimal(number: u64, out: &mut Vec<u8>) {
    match decimal_word(number) {
        Some((digits, count)) => {
            // All eight, so that the length of the copy is known when this is compiled.
            let length = out.len() + count;
            out.extend_from_slice(&digits.to_le_bytes());
            out.truncate(length);
        }
        None => long(number, out),
    }
}

#[cold]
fn long(number: u64, out: &mut Vec<u8>) {
    decimal(number / EIGHT_DIGITS, out);
    out.extend_from_slice(&(digits((number % EIGHT_DIGITS) as u32) | ASCII_ZEROS).to_le_bytes());
}

/// The decimal digits of a number that has at most eight, in the bytes of a word, the first digit in the lowest, and how many there are.
/// What is behind them in the word is no digit.
#[inline]
pub fn decimal_word(number: u64) -> Option<(u64, usize)> {
    if let Some(small) = usize::try_from(number).ok().and_then(|number| SMALL.get(number)) {
        return Some((u64::from(*small), (*small >> 24) as usize));
    }
    if number >= EIGHT_DIGITS {
        return None;
    }
    let digits = digits(number as u32);
    // The last digit stands, also where it is zero.
    let zeros = (digits | 1 << 56).trailing_zeros() & !7;
    Some(((digits | ASCII_ZEROS) >> zeros, 8 - zeros as usize / 8))
}

/// The eight decimal digits of a number below [`EIGHT_DIGITS`], each in a byte, the first in the lowest: halves of four, then of two,
/// then single digits, of all of them at once. The factors are those of division by 100 and 10, exact for what they meet.
#[inline]
fn digits(number: u32) -> u64 {
    let fours = u64::from(number / 10_000) | u64::from(number % 10_000) << 32;
    let hundreds = (fours * 10_486) >> 20 & 0x0000_007f_0000_007f;
    let twos = hundreds | (fours - 100 * hundreds) << 16;
    let tens = (twos * 103) >> 10 & 0x000f_000f_000f_000f;
    tens | (twos - 10 * tens) << 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        let powers = (0..20).flat_map(|power| [10_u64.pow(power) - 1, 10_u64.pow(power), 10_u64.pow(power) + 1]);
        let spread = (0..200_000_u64).map(|at| at * at * 7);
        let mut out = b"x".to_vec();
        for number in powers.chain(spread).chain(0..=10_000).chain([u64::MAX, u64::from(u32::MAX)]) {
            out.truncate(1);
            decimal(number, &mut out);
            assert_eq!(String::from_utf8_lossy(&out), format!("x{number}"));
        }
        for four in 0..10_000_u32 {
            let expected = format!("{four:04}{:04}", 9_999 - four);
            let digits = digits(four * 10_000 + 9_999 - four) | ASCII_ZEROS;
            assert_eq!(String::from_utf8_lossy(&digits.to_le_bytes()), expected);
        }
    }
}
