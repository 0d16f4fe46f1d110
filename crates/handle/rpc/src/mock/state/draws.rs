use leat_policy::{Random, SplitMix64};

/// Random numbers of one call: the same for the same seed and circumstances. Not for secrets.
#[derive(Clone, Debug)]
pub struct Draws(SplitMix64);

impl Draws {
    /// Numbers that follow from a seed and what else tells this use from others.
    #[must_use]
    pub fn new(seed: u64, parts: &[u64]) -> Self {
        let mut mixed = wide(&mut SplitMix64::new(seed));
        for part in parts {
            mixed = wide(&mut SplitMix64::new(mixed ^ part));
        }
        Self(SplitMix64::new(mixed))
    }

    /// 64 bits, each combination equally likely.
    pub fn wide(&mut self) -> u64 {
        wide(&mut self.0)
    }

    /// A number in [0, 1), of 2^53 equally likely ones.
    pub fn fraction(&mut self) -> f64 {
        (self.wide() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number from `min` to `max`, both included; `min` if that is not below `max`.
    pub fn between(&mut self, min: i64, max: i64) -> i64 {
        if min >= max {
            return min;
        }
        let width = i128::from(max) - i128::from(min) + 1;
        let part = (u128::from(self.wide()) * width.unsigned_abs()) >> 64;
        (i128::from(min) + part as i128) as i64
    }

    /// A place in a list of so many; 0 if there are none.
    pub fn index(&mut self, length: usize) -> usize {
        self.0.part(length as u64) as usize
    }

    /// The index of a weight, as likely as that weight's share of the whole; 0 if all are 0.
    pub fn weighted(&mut self, weights: impl IntoIterator<Item = u32, IntoIter: Clone>) -> usize {
        let weights = weights.into_iter();
        let whole: u64 = weights.clone().map(u64::from).sum();
        let mut left = ((u128::from(self.wide()) * u128::from(whole)) >> 64) as u64;
        for (index, weight) in weights.enumerate() {
            match left.checked_sub(weight.into()) {
                Some(rest) => left = rest,
                None => return index,
            }
        }
        0
    }

    /// Brings a list into an order that is any of its orders equally likely (Fisher and Yates).
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            let other = self.index(last + 1);
            list.swap(last, other);
        }
    }
}

impl Random for Draws {
    fn draw(&mut self) -> u32 {
        self.0.draw()
    }
}

fn wide(random: &mut SplitMix64) -> u64 {
    u64::from(random.draw()) << 32 | u64::from(random.draw())
}

/// FNV-1a: to tell names apart where nobody picks them to collide.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
