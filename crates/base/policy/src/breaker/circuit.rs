use std::time::Duration;

use super::Settings;
use super::window::{Counts, Window};
use crate::Instant;

/// What a breaker does with calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// All may pass.
    Admit,
    /// None may pass.
    Refuse,
    /// A few may pass, to see whether the upstream is well again.
    Probe,
}

/// The answer to a call that wants to pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It may.
    Admit(Permit),
    /// It may not.
    Refuse {
        /// When another may be let through; `None` while that depends on the calls that are trying the upstream.
        retry_after: Option<Duration>,
    },
    /// It may, and its outcome decides.
    Probe(Permit),
}

/// The right to one call. It must come back by [`Breaker::record`] or [`Breaker::release`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permit {
    /// Which stay in a state it was given in: what it reports later says nothing of another one.
    pub(super) era: u64,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// It failed; what counts as that is the caller's.
    pub failed: bool,
    /// How long it took.
    pub took: Duration,
}

/// A step from one state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The state that was left.
    pub from: State,
    /// The state since then.
    pub to: State,
}

/// The breaker of one upstream or endpoint. It is changed through `&mut`: who shares it between threads locks it for the
/// few nanoseconds of a call, or has one a core.
///
/// `Admit` to `Refuse` when a rate or a number of failures in a row is reached; `Refuse` to `Probe` with the first call
/// after the time closed; `Probe` to `Admit` when every probe has succeeded, to `Refuse` with the first that fails (or is slow,
/// where slowness counts). The time closed doubles with each trip that follows a failed probe, or a time in
/// `Admit` that was shorter than the last time closed. Results of calls that began in an earlier state are ignored.
#[derive(Clone, Debug)]
pub struct Breaker {
    settings: Settings,
    window: Window,
    consecutive_failures: u32,
    pub(super) era: u64,
    /// Trips before the next one in the present series.
    trips: u32,
    phase: Phase,
}

/// How a breaker is at one moment, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// What it does with calls.
    pub state: State,
    /// Calls of the window.
    pub calls: u32,
    /// Those of them that failed.
    pub failures: u32,
    /// Those of them that were slow.
    pub slow: u32,
    /// Failures in a row.
    pub consecutive_failures: u32,
    /// Until the next call may pass; zero in other states than `Refuse`.
    pub retry_after: Duration,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Admit { since: Instant },
    Refuse { until: Instant },
    Probe { granted: u32, succeeded: u32, last_grant: Instant },
}

impl Breaker {
    /// A breaker that admits.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let window = Window::new(settings.window);
        let phase = Phase::Admit { since: Instant::ZERO };
        Self { settings, window, consecutive_failures: 0, era: 0, trips: 0, phase }
    }

    /// What it does with calls. `Refuse` lasts until a call comes after its time.
    #[must_use]
    pub const fn state(&self) -> State {
        match self.phase {
            Phase::Admit { .. } => State::Admit,
            Phase::Refuse { .. } => State::Refuse,
            Phase::Probe { .. } => State::Probe,
        }
    }

    /// How it is at `now`.
    pub fn look(&mut self, now: Instant) -> Look {
        let Counts { calls, failures, slow } = self.window.sum(now);
        let retry_after = if let Phase::Refuse { until } = self.phase { until.since(now) } else { Duration::ZERO };
        let consecutive_failures = self.consecutive_failures;
        Look { state: self.state(), calls, failures, slow, consecutive_failures, retry_after }
    }

    /// Begins anew, as if no call had been made. Results of calls that are under way are ignored.
    pub fn reset(&mut self, now: Instant) {
        self.window.clear();
        self.consecutive_failures = 0;
        self.trips = 0;
        self.enter(Phase::Admit { since: now });
    }

    /// Asks for a call to pass at `now`; may step from `Refuse` to `Probe`.
    ///
    /// Probes that never come back would keep it closed for ever: once the last was given as long ago as the time
    /// closed was, they count as lost, and as many others are let through.
    #[inline]
    pub fn ask(&mut self, now: Instant) -> Answer {
        match self.phase {
            Phase::Admit { .. } => Answer::Admit(Permit { era: self.era }),
            Phase::Refuse { until } if now < until => Answer::Refuse { retry_after: Some(until.since(now)) },
            Phase::Refuse { .. } => self.probe(now),
            Phase::Probe { granted, succeeded, .. } if granted < self.settings.probes => {
                self.phase = Phase::Probe { granted: granted + 1, succeeded, last_grant: now };
                Answer::Probe(Permit { era: self.era })
            }
            Phase::Probe { last_grant, .. } if now >= last_grant.after(self.last_open_time()) => self.probe(now),
            Phase::Probe { .. } => Answer::Refuse { retry_after: None },
        }
    }

    /// Takes the result of a call that ended at `now`; gives the step that it causes.
    pub fn record(&mut self, permit: Permit, now: Instant, result: Ended) -> Option<Change> {
        if permit.era != self.era {
            return None;
        }
        let slow = self.settings.slow_rate.is_some() && result.took >= self.settings.slow_call;
        match self.phase {
            Phase::Admit { since } => {
                self.consecutive_failures = if result.failed { self.consecutive_failures.saturating_add(1) } else { 0 };
                let counts = self.window.record(now, result.failed, slow);
                if !self.trips_at(counts) {
                    return None;
                }
                let is_new_series = now.since(since) >= self.last_open_time();
                if is_new_series {
                    self.trips = 0;
                }
                Some(self.trip(State::Admit, now))
            }
            Phase::Probe { .. } if result.failed || slow => Some(self.trip(State::Probe, now)),
            Phase::Probe { granted, succeeded, last_grant } => {
                if succeeded + 1 < self.settings.probes {
                    self.phase = Phase::Probe { granted, succeeded: succeeded + 1, last_grant };
                    return None;
                }
                self.window.clear();
                self.consecutive_failures = 0;
                self.enter(Phase::Admit { since: now });
                Some(Change { from: State::Probe, to: State::Admit })
            }
            // No permit is of an era in which none is given.
            Phase::Refuse { .. } => None,
        }
    }

    /// Gives a permit back for a call that says nothing of the upstream, as one that was cancelled or never made.
    pub fn release(&mut self, permit: Permit) {
        if let Phase::Probe { granted, .. } = &mut self.phase
            && permit.era == self.era
        {
            *granted = granted.saturating_sub(1);
        }
    }

    fn trips_at(&self, counts: Counts) -> bool {
        let Settings { calls_min, failure_rate, slow_rate, consecutive_failures, .. } = self.settings;
        if consecutive_failures.is_some_and(|most| self.consecutive_failures >= most) {
            return true;
        }
        counts.calls >= calls_min
            && (failure_rate.is_some_and(|rate| rate.is_reached(counts.failures, counts.calls))
                || slow_rate.is_some_and(|rate| rate.is_reached(counts.slow, counts.calls)))
    }

    fn trip(&mut self, from: State, now: Instant) -> Change {
        let until = now.after(self.settings.open_time(self.trips));
        self.trips = self.trips.saturating_add(1);
        self.enter(Phase::Refuse { until });
        Change { from, to: State::Refuse }
    }

    fn probe(&mut self, now: Instant) -> Answer {
        self.enter(Phase::Probe { granted: 1, succeeded: 0, last_grant: now });
        Answer::Probe(Permit { era: self.era })
    }

    fn enter(&mut self, phase: Phase) {
        self.era = self.era.wrapping_add(1);
        self.phase = phase;
    }

    /// The time closed after the latest trip; that of the first one if there was none.
    fn last_open_time(&self) -> Duration {
        self.settings.open_time(self.trips.saturating_sub(1))
    }
}
