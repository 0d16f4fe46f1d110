use crate::class;

/// Bytes that one mask covers.
const LANES: usize = 64;

/// Finds the next byte that does not belong to a class, for callers that only move forward.
pub(crate) struct Scan<'a> {
    bytes: &'a [u8],
    names: Window,
    values: Window,
    targets: Window,
}

/// A mask over up to 64 bytes from `base`: a set bit is a byte outside of the class, or behind the end of the input.
#[derive(Clone, Copy)]
struct Window {
    base: usize,
    mask: u64,
}

impl<'a> Scan<'a> {
    #[inline(always)]
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let none = Window { base: 0, mask: 0 };
        let mut scan = Self { bytes, names: none, values: none, targets: none };
        scan.names = Window { base: 0, mask: mask(bytes, 0, |b| class::TOKEN.has(b)) };
        scan.values = Window { base: 0, mask: mask(bytes, 0, class::in_value) };
        scan.targets = Window { base: 0, mask: mask(bytes, 0, class::in_target) };
        scan
    }

    #[inline(always)]
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The first byte at or after `from` that is not a token character; the length of the input if there is none.
    #[inline(always)]
    pub(crate) fn name_end(&mut self, from: usize) -> usize {
        find(self.bytes, &mut self.names, from, |b| class::TOKEN.has(b))
    }

    /// The same for bytes that a value may hold.
    #[inline(always)]
    pub(crate) fn value_end(&mut self, from: usize) -> usize {
        find(self.bytes, &mut self.values, from, class::in_value)
    }

    /// The same for bytes inside the path or the query of a target.
    #[inline(always)]
    pub(crate) fn target_end(&mut self, from: usize) -> usize {
        find(self.bytes, &mut self.targets, from, class::in_target)
    }
}

#[inline(always)]
fn find(bytes: &[u8], window: &mut Window, from: usize, member: impl Fn(u8) -> bool + Copy) -> usize {
    let mut from = from;
    let into = from.wrapping_sub(window.base);
    if into < LANES {
        let left = window.mask >> into;
        if left != 0 {
            return from + left.trailing_zeros() as usize;
        }
        from = window.base + LANES;
    }
    while from < bytes.len() {
        *window = Window { base: from, mask: mask(bytes, from, member) };
        if window.mask != 0 {
            return from + window.mask.trailing_zeros() as usize;
        }
        from += LANES;
    }
    bytes.len()
}

fn mask(bytes: &[u8], at: usize, member: impl Fn(u8) -> bool) -> u64 {
    let rest = bytes.get(at..).unwrap_or_default();
    let mut mask = if rest.len() < LANES { u64::MAX << rest.len() } else { 0 };
    for (i, &byte) in rest.iter().take(LANES).enumerate() {
        mask |= u64::from(!member(byte)) << i;
    }
    mask
}
