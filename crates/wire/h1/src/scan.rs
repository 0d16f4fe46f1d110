pub(crate) mod lanes;

use std::marker::PhantomData;

use crate::class::{TARGET, TOKEN, VALUE};

use self::lanes::{LANES, Lanes};

/// Finds the next byte that does not belong to a class, for a parser that only moves forward.
///
/// The input is classified block by block, every byte once and for all classes of field lines together. Blocks follow
/// each other without regard to what the parser finds in them, so that the processor can work ahead.
pub(crate) struct Scan<'a, L> {
    bytes: &'a [u8],
    /// Where the block starts that the masks are of.
    base: usize,
    /// A set bit is a byte outside of the class, or behind the end of the input.
    tokens: u64,
    values: u64,
    /// The same for the first block only, and where that starts.
    targets: u64,
    first: usize,
    lanes: PhantomData<L>,
}

impl<'a, L: Lanes> Scan<'a, L> {
    /// A scanner for searches from `at` on.
    #[inline(always)]
    pub(crate) fn new(bytes: &'a [u8], at: usize) -> Self {
        let [tokens, values, targets] = L::outside([&TOKEN, &VALUE, &TARGET], bytes, at);
        Self { bytes, base: at, tokens, values, targets, first: at, lanes: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The first byte at or after `from` that is not a token character; the length of the input if there is none.
    #[inline(always)]
    pub(crate) fn token_end(&mut self, from: usize) -> usize {
        loop {
            if let Some(end) = find(self.tokens, self.base, from.max(self.base)) {
                return end;
            }
            if self.base + LANES >= self.bytes.len() {
                return self.bytes.len();
            }
            self.advance();
        }
    }

    /// The same for bytes that a value may hold.
    #[inline(always)]
    pub(crate) fn value_end(&mut self, from: usize) -> usize {
        loop {
            if let Some(end) = find(self.values, self.base, from.max(self.base)) {
                return end;
            }
            if self.base + LANES >= self.bytes.len() {
                return self.bytes.len();
            }
            self.advance();
        }
    }

    /// The same for bytes inside the path or the query of a target. Leaves the scanner where it is.
    #[inline(always)]
    pub(crate) fn target_end(&mut self, from: usize) -> usize {
        match find(self.targets, self.first, from) {
            Some(end) => end,
            None => long_target_end::<L>(self.bytes, from.max(self.first + LANES)),
        }
    }

    #[inline(always)]
    fn advance(&mut self) {
        self.base += LANES;
        [self.tokens, self.values] = L::outside([&TOKEN, &VALUE], self.bytes, self.base);
    }
}

/// The first byte at or after `from`, in the block at `base`, whose bit is set.
#[inline(always)]
fn find(mask: u64, base: usize, from: usize) -> Option<usize> {
    let into = from.wrapping_sub(base);
    if into >= LANES {
        return None;
    }
    match mask >> into {
        0 => None,
        left => Some(from + left.trailing_zeros() as usize),
    }
}

/// The end of a target that goes on behind the first block.
#[inline(always)]
fn long_target_end<L: Lanes>(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while at < bytes.len() {
        let [outside] = L::outside([&TARGET], bytes, at);
        if outside != 0 {
            return at + outside.trailing_zeros() as usize;
        }
        at += LANES;
    }
    bytes.len()
}
