use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys come from the configuration. A peer chooses what is looked up but never what is stored, so it cannot
/// grow a bucket, and a fast unkeyed hash is safe.
pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Fold>>;

/// Multiplies and folds eight bytes at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fold(u64);

const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

impl Fold {
    #[inline]
    fn mix(&mut self, word: u64) {
        let wide = u128::from(self.0 ^ word ^ SPREAD) * u128::from(SPREAD | 1 << 63);
        self.0 = (wide as u64) ^ (wide >> 64) as u64;
    }
}

impl Hasher for Fold {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        for (slot, &byte) in last.iter_mut().zip(rest) {
            *slot = byte;
        }
        self.mix(u64::from_le_bytes(last) ^ (bytes.len() as u64) << 56);
    }

    #[inline]
    fn write_usize(&mut self, _length: usize) {
        // The length prefix of a slice: `write` mixes it in already.
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
