/// Which of the traces that begin here are recorded: a share of all ids, decided by the id alone, so that everyone with the
/// same share or a larger one takes the same traces (W3C level 2: the last 56 bits of an id are random).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampler {
    /// Ids whose last 56 bits are below it are not taken.
    rejects_below: u64,
}

const RANGE: u64 = 1 << 56;

impl Sampler {
    /// Takes so many of a million.
    pub const fn per_million(count: u32) -> Self {
        let count = if count > 1_000_000 { 1_000_000 } else { count };
        Self { rejects_below: RANGE - ((RANGE as u128 * count as u128) / 1_000_000) as u64 }
    }

    /// Whether this id's trace is recorded. One comparison.
    #[inline]
    pub fn takes(self, id: [u64; 2]) -> bool {
        id[1] & (RANGE - 1) >= self.rejects_below
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_everything_and_a_share_are_taken() {
        let mut taken = [0; 3];
        for n in 0..100_000_u64 {
            let id = [n, n.wrapping_mul(0x9e37_79b9_7f4a_7c15)];
            for (count, share) in taken.iter_mut().zip([0, 1_000_000, 10_000]) {
                *count += u32::from(Sampler::per_million(share).takes(id));
            }
        }
        assert_eq!(taken[..2], [0, 100_000]);
        assert!((900..1_100).contains(&taken[2]), "{}", taken[2]);
    }

    #[test]
    fn a_larger_share_takes_all_of_a_smaller_one() {
        for n in 0..10_000_u64 {
            let id = [0, n.wrapping_mul(0xd134_2543_de82_ef95)];
            assert!(!Sampler::per_million(1_000).takes(id) || Sampler::per_million(2_000).takes(id), "{n}");
        }
    }
}
