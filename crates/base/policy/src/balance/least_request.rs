use crate::Random;

/// How busy an endpoint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Requests that it has not answered yet.
    pub in_flight: u32,
    /// What it can take beside the others; 0 counts as 1.
    pub weight: u32,
}

impl Load {
    /// Whether one more request is at most as heavy here as there: `(in flight + 1) / weight`, compared exactly.
    fn is_at_most(self, other: Self) -> bool {
        let here = (u64::from(self.in_flight) + 1) * u64::from(other.weight.max(1));
        here <= (u64::from(other.in_flight) + 1) * u64::from(self.weight.max(1))
    }
}

/// Two different positions below `count`, each pair equally likely; a pair of the same one if there is no other. Two draws,
/// or none for a single one; `None` if there is none.
pub fn two(count: u32, random: &mut impl Random) -> Option<(u32, u32)> {
    match count {
        0 => None,
        1 => Some((0, 0)),
        _ => {
            let first = random.below(count);
            let second = random.below(count - 1);
            Some((first, second + u32::from(second >= first)))
        }
    }
}

/// The less busy of two endpoints that chance names, the first of them if they are equal; `count` is that of the
/// usable ones, and the choice a position among them. Of two idle ones with different weights, one by chance as the weights
/// say, which takes a draw more: compared, the heavier one would get every request for as long as there is little load.
///
/// Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing", IEEE TPDS 2001: nearly as even as to ask all, without
/// sending a whole herd to the one that looks idle.
pub fn least_request(count: u32, load: impl Fn(u32) -> Load, random: &mut impl Random) -> Option<u32> {
    let (first, second) = two(count, random)?;
    let (here, there) = (load(first), load(second));
    let takes_first = match (here.in_flight, there.in_flight) {
        (0, 0) if here.weight.max(1) != there.weight.max(1) => {
            let whole = u64::from(here.weight.max(1)) + u64::from(there.weight.max(1));
            random.part(whole) < u64::from(here.weight.max(1))
        }
        _ => here.is_at_most(there),
    };
    Some(if takes_first { first } else { second })
}
