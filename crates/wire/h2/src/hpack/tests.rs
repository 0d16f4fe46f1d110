#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod corpus;
mod encoding;
mod hostile;
mod huffman;
mod random;

use super::{DecodeError, Decoder, Sensitivity};

type Field = (Vec<u8>, Vec<u8>, Sensitivity);

const NO_LIMIT: usize = usize::MAX;

/// What a block says to a decoder.
fn decode(decoder: &mut Decoder, block: &[u8]) -> Result<Vec<Field>, DecodeError> {
    let mut fields = Vec::new();
    decoder
        .decode(block, NO_LIMIT, &mut |name, value, sensitivity| {
            fields.push((name.to_vec(), value.to_vec(), sensitivity));
        })
        .map(|()| fields)
}

fn open(name: &str, value: &str) -> Field {
    (name.as_bytes().to_vec(), value.as_bytes().to_vec(), Sensitivity::Open)
}

/// Bytes of a text in hexadecimal; spaces are for the eye.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks_exact(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
}

/// SplitMix64 (Steele, Lea, Flood 2014): small, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }
}
