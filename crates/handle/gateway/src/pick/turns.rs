use std::cell::Cell;

/// Turns of a whole round, at most: a list of 16 KiB on 64-bit machines.
const TURNS_MAX: u64 = 2_000;

/// Weighted round robin where every endpoint is as good as the other: a step through a list that was laid out once.
pub(super) struct Turns {
    /// Endpoints in the order of their turns: as often as their weights say.
    list: Vec<usize>,
    next: Cell<usize>,
}

impl Turns {
    /// Whether a round of these weights is short enough to be laid out.
    pub(super) fn fits(weights: &[u32]) -> bool {
        let divisor = divisor(weights);
        weights.iter().map(|weight| u64::from(weight / divisor)).sum::<u64>() <= TURNS_MAX
    }

    /// `start` says how many turns have been taken before. The list is as long as the weights, divided by what they have in common,
    /// come to: see [`Turns::fits`].
    pub(super) fn new(weights: &[u32], start: usize) -> Self {
        let list = turns(weights);
        let next = Cell::new(start % list.len().max(1));
        Self { list, next }
    }

    /// The first that is usable from the one whose turn it is.
    pub(super) fn pick(&self, usable: impl Fn(usize) -> bool) -> Option<usize> {
        let turn = self.next.get();
        self.next.set(if turn + 1 < self.list.len() { turn + 1 } else { 0 });
        let (before, behind) = self.list.split_at_checked(turn)?;
        behind.iter().chain(before).copied().find(|at| usable(*at))
    }
}

/// Smooth weighted round robin, laid out once: each seat comes up as often as its weight says, spread over the round (the
/// method that nginx made known: every turn all seats gain their weight, the richest is picked and pays the total).
fn turns(weights: &[u32]) -> Vec<usize> {
    let divisor = divisor(weights);
    let weights: Vec<i64> = weights.iter().map(|weight| i64::from(weight / divisor)).collect();
    let total: i64 = weights.iter().sum();
    let mut credit = vec![0i64; weights.len()];
    let mut turns = Vec::new();
    for _ in 0..total {
        for (credit, weight) in credit.iter_mut().zip(&weights) {
            *credit += weight;
        }
        // The first of the richest, so that equal weights take turns in the order of the file.
        let richest = credit.iter().enumerate().rev().max_by_key(|(_, credit)| **credit).map(|(seat, _)| seat);
        if let Some(seat) = richest {
            turns.push(seat);
            if let Some(credit) = credit.get_mut(seat) {
                *credit -= total;
            }
        }
    }
    turns
}

fn divisor(weights: &[u32]) -> u32 {
    weights.iter().copied().fold(0, gcd).max(1)
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::{Turns, turns};

    #[test]
    fn each_core_begins_with_another_turn() {
        for (start, wanted) in [(0, [0, 1, 0]), (1, [1, 0, 0]), (2, [0, 0, 1]), (7, [0, 0, 0])] {
            let weights: &[u32] = if start == 7 { &[1] } else { &[2, 1] };
            let turns = Turns::new(weights, start);
            assert_eq!([(); 3].map(|()| turns.pick(|_| true)), wanted.map(Some), "{start}");
        }
    }

    #[test]
    fn only_a_short_round_is_laid_out() {
        for (weights, wanted) in [(&[1_000, 1_000][..], true), (&[1_000, 999, 1], true), (&[1_000, 999, 2], false)] {
            assert_eq!(Turns::fits(weights), wanted, "{weights:?}");
        }
        assert!(!Turns::fits(&[u32::MAX, u32::MAX - 1]));
    }

    #[test]
    fn seats_take_turns_as_their_weights_say() {
        for (weights, wanted) in [
            (&[1][..], &[0][..]),
            (&[1, 1, 1], &[0, 1, 2]),
            (&[5, 5], &[0, 1]),
            (&[3, 1], &[0, 0, 1, 0]),
            (&[5, 1, 1], &[0, 0, 1, 0, 2, 0, 0]),
        ] {
            assert_eq!(turns(weights), wanted, "{weights:?}");
        }
    }
}
