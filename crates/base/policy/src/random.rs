/// Where random numbers come from: in production a generator per core, in a test a list.
///
/// A draw has 32 bits, so that JavaScript's numbers and Rust's make the same choice of it: `draw / 2^32` is a fraction
/// in [0, 1) that a double holds exactly.
pub trait Random {
    /// The next number, each of 2^32 equally likely.
    fn draw(&mut self) -> u32;

    /// A number below `n`, or 0 if `n` is 0: `floor(draw × n / 2^32)`. Above 2^16 the least likely number comes at most
    /// one part in `2^32 / n` less often than the most likely one.
    fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.draw()) * u64::from(n)) >> 32) as u32
    }

    /// A part of `whole`: `floor(draw × whole / 2^32)`, so always less than `whole` unless that is 0.
    fn part(&mut self, whole: u64) -> u64 {
        ((u128::from(self.draw()) * u128::from(whole)) >> 32) as u64
    }
}

/// A generator of 8 bytes and about a nanosecond a draw; not for secrets.
///
/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The same numbers for the same seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }
}

impl Random for SplitMix64 {
    fn draw(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (mix(self.0) >> 32) as u32
    }
}

/// The finaliser of SplitMix64: a bijection in which each bit of the input moves half the bits of the output.
pub(crate) const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
