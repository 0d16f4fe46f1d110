use std::time::{Duration, Instant};

/// A part of an exchange's time that has a mark of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Finding the route.
    Route,
    /// Authentication, and who may use the route at all.
    Auth,
    /// Rate limits.
    Limit,
    /// Plug-ins, until they have decided.
    Plugin,
}

/// How many of them there are.
const COUNT: usize = 4;

/// Where an exchange's time goes. Off until [`Phases::begin`], so that an exchange that nobody asks about reads no clock:
/// whoever marks asks [`Phases::is_on`] first.
///
/// Times are kept in tenths of a microsecond, since most of them are shorter than one; the longest is 7 minutes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    began: Option<Instant>,
    /// The last mark.
    marked: u32,
    times: [u32; COUNT],
    /// When the final response's head came from the upstream.
    answered: u32,
}

impl Phases {
    /// Switches them on. `now` is when the handler got the request's head: what was before it is parsing.
    pub fn begin(&mut self, now: Instant) {
        *self = Self { began: Some(now), ..Self::default() };
    }

    /// Whether they are on.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.began.is_some()
    }

    /// Since when.
    pub fn began(&self) -> Option<Instant> {
        self.began
    }

    /// Adds the time since the last mark to `phase`, if they are on.
    pub fn mark(&mut self, phase: Phase, now: Instant) {
        let Some(began) = self.began else { return };
        let at = ticks(now.saturating_duration_since(began));
        if let Some(time) = self.times.get_mut(phase as usize) {
            *time = time.saturating_add(at.saturating_sub(self.marked));
        }
        self.marked = at;
    }

    /// Notes that the head of the final response came at `now`.
    #[inline]
    pub fn answered(&mut self, now: Instant) {
        if let Some(began) = self.began {
            self.answered = ticks(now.saturating_duration_since(began)).max(1);
        }
    }

    /// The time of a phase, in tenths of a microsecond; 0 where it was not gone through.
    pub fn time(&self, phase: Phase) -> u32 {
        self.times.get(phase as usize).copied().unwrap_or_default()
    }

    /// From the final response's head to `end`, in tenths of a microsecond; from the last mark where there was no upstream.
    pub fn send(&self, end: Instant) -> u32 {
        let from = if self.answered > 0 { self.answered } else { self.marked };
        self.began.map_or(0, |began| ticks(end.saturating_duration_since(began)).saturating_sub(from))
    }
}

/// A time in tenths of a microsecond; the longest that there is for what is longer.
#[inline]
pub fn ticks(time: Duration) -> u32 {
    // In 64 bits: a division of 128 is a call.
    let ticks = time.as_secs().saturating_mul(10_000_000).saturating_add(u64::from(time.subsec_nanos() / 100));
    u32::try_from(ticks).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_share_the_time_out_and_sending_is_the_rest() {
        let start = Instant::now();
        let at = |us: u64| start + Duration::from_micros(us);
        let mut phases = Phases::default();
        phases.mark(Phase::Route, start);
        assert_eq!(phases, Phases::default());
        phases.begin(start);
        phases.mark(Phase::Route, at(2));
        phases.mark(Phase::Auth, at(12));
        phases.mark(Phase::Limit, at(13));
        phases.mark(Phase::Auth, at(23));
        assert_eq!([Phase::Route, Phase::Auth, Phase::Limit, Phase::Plugin].map(|p| phases.time(p)), [20, 200, 10, 0]);
        assert_eq!(phases.send(at(30)), 70);
        phases.answered(at(100));
        assert_eq!(phases.send(at(130)), 300);
    }

    #[test]
    fn a_clock_that_stands_still_and_times_beyond_the_longest_do_no_harm() {
        let start = Instant::now();
        let mut phases = Phases::default();
        phases.begin(start);
        phases.mark(Phase::Route, start);
        phases.mark(Phase::Auth, start + Duration::from_secs(3_600));
        assert_eq!((phases.time(Phase::Route), phases.time(Phase::Auth)), (0, u32::MAX));
        assert_eq!(phases.send(start), 0);
        let longest = Duration::from_nanos(u64::from(u32::MAX) * 100 + 99);
        assert_eq!([Duration::from_nanos(99), longest, Duration::MAX].map(ticks), [0, u32::MAX, u32::MAX]);
    }
}
