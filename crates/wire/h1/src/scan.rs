use std::marker::PhantomData;

use crate::class::{self, Class};
use crate::lanes::{LANES, Lanes};

/// Finds the next byte that does not belong to a class, for a parser that only moves forward: each byte is classified
/// once for each class that is asked for.
pub(crate) struct Scan<'a, L> {
    bytes: &'a [u8],
    tokens: Window,
    values: Window,
    targets: Window,
    lanes: PhantomData<L>,
}

/// A mask over the bytes from `base`: a set bit is a byte outside of the class, or behind the end of the input.
#[derive(Clone, Copy)]
struct Window {
    base: usize,
    mask: u64,
}

impl<'a, L: Lanes> Scan<'a, L> {
    /// A scanner for searches from `at` on.
    #[inline(always)]
    pub(crate) fn new(bytes: &'a [u8], at: usize) -> Self {
        let window = |class| Window { base: at, mask: L::outside(class, bytes, at) };
        Self {
            bytes,
            tokens: window(&class::TOKEN),
            values: window(&class::VALUE),
            targets: window(&class::TARGET),
            lanes: PhantomData,
        }
    }

    #[inline(always)]
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The first byte at or after `from` that is not a token character; the length of the input if there is none.
    #[inline(always)]
    pub(crate) fn token_end(&mut self, from: usize) -> usize {
        find::<L>(&class::TOKEN, self.bytes, &mut self.tokens, from)
    }

    /// The same for bytes that a value may hold.
    #[inline(always)]
    pub(crate) fn value_end(&mut self, from: usize) -> usize {
        find::<L>(&class::VALUE, self.bytes, &mut self.values, from)
    }

    /// The same for bytes inside the path or the query of a target.
    #[inline(always)]
    pub(crate) fn target_end(&mut self, from: usize) -> usize {
        find::<L>(&class::TARGET, self.bytes, &mut self.targets, from)
    }
}

#[inline(always)]
fn find<L: Lanes>(class: &'static Class, bytes: &[u8], window: &mut Window, from: usize) -> usize {
    let into = from.wrapping_sub(window.base);
    if into < LANES {
        let left = window.mask >> into;
        if left != 0 {
            return from + left.trailing_zeros() as usize;
        }
    }
    find_further::<L>(class, bytes, window, from)
}

#[inline(always)]
fn find_further<L: Lanes>(class: &'static Class, bytes: &[u8], window: &mut Window, from: usize) -> usize {
    // Bytes up to the end of the window were seen.
    let mut at = from.max(window.base + LANES);
    while at < bytes.len() {
        *window = Window { base: at, mask: L::outside(class, bytes, at) };
        if window.mask != 0 {
            return at + window.mask.trailing_zeros() as usize;
        }
        at += LANES;
    }
    bytes.len()
}
