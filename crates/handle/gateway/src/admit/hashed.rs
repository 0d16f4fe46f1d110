use std::hash::{BuildHasherDefault, Hasher};

/// How maps find keys that are hashes already, each one word.
pub(super) type Hashed = BuildHasherDefault<Same>;

/// The word itself.
#[derive(Default)]
pub(super) struct Same(u64);

impl Hasher for Same {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    #[inline]
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
