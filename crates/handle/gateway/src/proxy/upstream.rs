use std::cell::{Cell, RefCell};
use std::rc::Rc;

use leat_dial::{Endpoint, EndpointStats, Pools};
use leat_observe::Core;

/// A group of servers that answer the same requests, on one core.
pub(crate) struct Upstream {
    seats: Vec<Seat>,
    /// Endpoints in the order of their turns: as often as their weights say.
    turns: Vec<usize>,
    turn: Cell<usize>,
    pub(super) pools: Rc<Pools>,
    /// Where values are built while a request's head is written.
    pub(super) scratch: RefCell<Vec<u8>>,
}

/// One server of an upstream.
pub(crate) struct Seat {
    /// Index among all endpoints of the configuration.
    pub(crate) index: u32,
    /// Where and how to connect.
    pub(crate) endpoint: Rc<Endpoint>,
    /// Its own host and port.
    pub(crate) authority: Box<str>,
    /// That of the connection to it, whatever the client's is: servers compare the two (RFC 9113 section 8.3.1).
    pub(crate) scheme: &'static str,
    /// Whether the connections are counted here: upstreams that name the same endpoint share them, and the first counts.
    pub(crate) counts: bool,
    /// What the counters were told last.
    pub(crate) told: Cell<EndpointStats>,
}

impl Upstream {
    /// `weights` has one weight for each seat, at least 1.
    pub(crate) fn new(seats: Vec<Seat>, weights: &[u32], pools: Rc<Pools>) -> Self {
        let turns = turns(weights);
        for seat in &seats {
            // What happened before a reload was told under the old configuration.
            seat.told.set(pools.stats_of(&seat.endpoint));
        }
        Self { seats, turns, turn: Cell::new(0), pools, scratch: RefCell::new(Vec::new()) }
    }

    /// Whether one of the servers has this identity.
    pub(crate) fn has(&self, identity: &str) -> bool {
        self.seats.iter().any(|seat| &**seat.endpoint.identity() == identity)
    }

    /// Brings the counters of the connections to these servers up to date.
    pub(crate) fn publish(&self, core: &Core) {
        for seat in self.seats.iter().filter(|seat| seat.counts) {
            let (now, mut told) = (self.pools.stats_of(&seat.endpoint), seat.told.get());
            let Some(cells) = core.endpoint(seat.index) else { continue };
            cells.connections_opened.add(now.connects.saturating_sub(told.connects));
            cells.connections_reused.add(now.reuses.saturating_sub(told.reuses));
            let closed = |stats: &EndpointStats| stats.connects.saturating_sub(stats.open as u64);
            cells.connections_closed.add(closed(&now).saturating_sub(closed(&told)));
            while told.idle < now.idle {
                told.idle += 1;
                cells.connections_idle.up();
            }
            while told.idle > now.idle {
                told.idle -= 1;
                cells.connections_idle.down();
            }
            seat.told.set(now);
        }
    }

    /// The server whose turn it is.
    pub(super) fn pick(&self) -> Option<&Seat> {
        let turn = self.turn.get();
        self.turn.set(if turn + 1 < self.turns.len() { turn + 1 } else { 0 });
        self.turns.get(turn).and_then(|seat| self.seats.get(*seat))
    }

    /// Another server than `seat`, for another try; none where it is the only one.
    pub(super) fn other(&self, seat: &Seat) -> Option<&Seat> {
        let at = self.seats.iter().position(|own| own.index == seat.index)?;
        let (before, after) = self.seats.split_at_checked(at + 1)?;
        after.first().or(before.first()).filter(|other| other.index != seat.index)
    }
}

/// Turns of a whole round, at most; larger weights are scaled down.
const TURNS_MAX: u32 = 1_000;

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
    use super::turns;

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
