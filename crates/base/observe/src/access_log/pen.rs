use std::fmt;

use leat_message::{decimal, decimal_word};

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
        match decimal_word(number) {
            Some((digits, count)) => self.first(digits.to_le_bytes(), count),
            None => self.long(number),
        }
    }

    /// A decimal number behind bytes whose number is known when this is compiled: one comparison for both.
    #[inline]
    pub(super) fn fixed_number<const N: usize>(&mut self, bytes: &[u8; N], number: u64) {
        match (decimal_word(number), self.rest.split_first_chunk_mut::<N>()) {
            (Some((digits, count)), Some((place, behind))) if behind.len() >= 8 => {
                *place = *bytes;
                if let Some(place) = behind.first_chunk_mut() {
                    *place = digits.to_le_bytes();
                }
                self.rest = std::mem::take(&mut self.rest).get_mut(N + count..).unwrap_or_default();
            }
            _ => {
                self.fixed(bytes);
                self.number(number);
            }
        }
    }

    #[cold]
    fn long(&mut self, number: u64) {
        let mut digits = Vec::with_capacity(20);
        decimal(number, &mut digits);
        self.bytes(&digits);
    }
}

impl fmt::Write for Pen<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn numbers_of_any_length() {
        for number in [0, 7, 99_999_999, 100_000_000, u64::MAX] {
            let mut buffer = [0; 40];
            let mut pen = Pen::new(&mut buffer);
            pen.number(number);
            let length = 40 - pen.room();
            assert_eq!(buffer.get(..length), Some(number.to_string().as_bytes()));
        }
    }
}
