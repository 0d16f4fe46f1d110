use std::cell::Cell;

/// Turns of a whole round, at most; larger weights are scaled down.
const TURNS_MAX: u32 = 1_000;

/// Weighted round robin where every endpoint is as good as the other: a step through a list that was laid out once.
pub(super) struct Turns {
    /// Endpoints in the order of their turns: as often as their weights say.
    list: Vec<usize>,
    next: Cell<usize>,
}

impl Turns {
    /// `start` says how many turns have been taken before.
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
    let divisor = weights.iter().copied().fold(0, gcd).max(1);
    let total: u64 = weights.iter().map(|weight| u64::from(weight / divisor)).sum();
    let scale = total.div_ceil(u64::from(TURNS_MAX)).max(1);
    let weights: Vec<i64> = weights.iter().map(|weight| (u64::from(weight / divisor) / scale).max(1) as i64).collect();
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
        assert!(turns(&[u32::MAX, 1]).len() <= 1_002);
    }
}
