use std::cell::Cell;

use leat_message::Record;

/// Which exchanges have a line.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// How many of a million that went well; what was refused, a status from 400 on and what was slow always have one.
    pub per_million: u32,
    /// From which duration on an exchange counts as slow, in microseconds.
    pub slow_us: u64,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { per_million: 1_000_000, slow_us: u64::MAX }
    }
}

/// A core's draws.
#[derive(Debug)]
pub(super) struct Draws {
    sampling: Sampling,
    state: Cell<u64>,
}

impl Draws {
    pub(super) fn new(sampling: Sampling, seed: u64) -> Self {
        Self { sampling, state: Cell::new(seed) }
    }

    /// Whether this exchange has a line. Draws nothing where all have one.
    #[inline]
    pub(super) fn takes(&self, record: &Record, duration_us: u64) -> bool {
        let Sampling { per_million, slow_us } = self.sampling;
        per_million >= 1_000_000
            || record.status >= 400
            || record.status == 0
            || record.reason.is_some()
            || duration_us >= slow_us
            || self.draw() < per_million
    }

    /// Below a million; a linear congruential generator (Knuth's MMIX), of which the high bits are good.
    fn draw(&self) -> u32 {
        let state = self.state.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.state.set(state);
        (((state >> 32) * 1_000_000) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use leat_message::Reason;

    use super::*;

    #[test]
    fn a_share_of_what_went_well_and_all_of_the_rest() {
        let draws = Draws::new(Sampling { per_million: 100_000, slow_us: 1_000 }, 7);
        let count = |record: &Record, us: u64| (0..10_000).filter(|_| draws.takes(record, us)).count();
        let with = |status: u16| Record { status, ..Record::default() };
        assert!((900..1_100).contains(&count(&with(200), 999)));
        assert!((900..1_100).contains(&count(&with(304), 0)));
        let refused = Record { reason: Some(Reason::UpstreamReset), ..with(200) };
        for (record, us) in [(with(200), 1_000), (with(404), 0), (with(503), 0), (with(0), 0), (refused, 0)] {
            assert_eq!(count(&record, us), 10_000, "{record:?}");
        }
        let none = Draws::new(Sampling { per_million: 0, slow_us: u64::MAX }, 7);
        assert!((0..10_000).all(|_| !none.takes(&with(200), u64::MAX - 1)));
    }
}
