use std::fmt;

/// Appends to a buffer that does not grow: a comparison and a store each, no call. Made for one line at a time, for which there is room
/// (see `Look::line_bytes_max`); what finds none is left out.
#[derive(Debug)]
pub(super) struct Pen<'b> {
    rest: &'b mut [u8],
}

impl<'b> Pen<'b> {
    pub(super) fn new(rest: &'b mut [u8]) -> Self {
        Self { rest }
    }

    /// How much room is left, in bytes.
    pub(super) fn room(&self) -> usize {
        self.rest.len()
    }

    /// Bytes whose number is known when this is compiled.
    #[inline(always)]
    pub(super) fn fixed<const N: usize>(&mut self, bytes: &[u8; N]) {
        self.first(*bytes, N);
    }

    /// The first `length` of `bytes`. All of them are stored, so that the number of instructions is always the same.
    #[inline(always)]
    pub(super) fn first<const N: usize>(&mut self, bytes: [u8; N], length: usize) {
        if let Some(place) = self.rest.first_chunk_mut::<N>() {
            *place = bytes;
            self.rest = std::mem::take(&mut self.rest).get_mut(length..).unwrap_or_default();
        }
    }

    /// Any bytes.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        if let Some((place, rest)) = std::mem::take(&mut self.rest).split_at_mut_checked(bytes.len()) {
            place.copy_from_slice(bytes);
            self.rest = rest;
        }
    }

    /// A decimal number.
    #[inline]
    pub(super) fn number(&mut self, number: u64) {
        match u32::try_from(number) {
            Ok(below) if below < EIGHT_DIGITS => self.below_eight_digits(below),
            _ => self.long(number),
        }
    }

    #[inline(always)]
    fn below_eight_digits(&mut self, number: u32) {
        let digits = digits(number);
        // The last digit stands, also where it is zero.
        let zeros = (digits | 1 << 56).trailing_zeros() & !7;
        self.first(((digits | ASCII_ZEROS) >> zeros).to_le_bytes(), 8 - zeros as usize / 8);
    }

    #[cold]
    fn long(&mut self, number: u64) {
        let unit = u64::from(EIGHT_DIGITS);
        self.number(number / unit);
        self.first((digits((number % unit) as u32) | ASCII_ZEROS).to_le_bytes(), 8);
    }
}

impl fmt::Write for Pen<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes(text.as_bytes());
        Ok(())
    }
}

/// The least number that has more than eight digits.
const EIGHT_DIGITS: u32 = 100_000_000;
const ASCII_ZEROS: u64 = 0x3030_3030_3030_3030;

/// The eight decimal digits of a number below [`EIGHT_DIGITS`], each in a byte, the first in the lowest: halves of four, then of two,
/// then single digits, of all of them at once. The factors are those of division by 100 and 10, exact for what they meet.
#[inline(always)]
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

    fn written(write: impl Fn(&mut Pen<'_>)) -> String {
        let mut buffer = [0; 64];
        let mut pen = Pen::new(&mut buffer);
        write(&mut pen);
        let length = 64 - pen.room();
        String::from_utf8_lossy(buffer.get(..length).unwrap()).into_owned()
    }

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        let powers = (0..20).flat_map(|power| [10_u64.pow(power) - 1, 10_u64.pow(power), 10_u64.pow(power) + 1]);
        let spread = (0..200_000_u64).map(|at| at * at * 7);
        for number in powers.chain(spread).chain(0..=10_000).chain([u64::MAX, u64::from(u32::MAX)]) {
            assert_eq!(written(|pen| pen.number(number)), number.to_string());
        }
        for four in 0..10_000_u32 {
            let expected = format!("{four:04}{:04}", 9_999 - four);
            let digits = digits(four * 10_000 + 9_999 - four) | ASCII_ZEROS;
            assert_eq!(String::from_utf8_lossy(&digits.to_le_bytes()), expected);
        }
    }

    #[test]
    fn what_finds_no_room_is_left_out() {
        let mut buffer = [b'_'; 9];
        let mut pen = Pen::new(&mut buffer);
        pen.fixed(b"abc");
        pen.bytes(b"longer than that");
        assert_eq!(pen.room(), 0);
        pen.number(1);
        pen.fixed(b"x");
        assert_eq!(&buffer, b"abc______");
    }
}
