use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use leat_policy::Instant;
use leat_policy::breaker::{Answer, Breaker, Ended, Look, Permit, Settings, State};

/// For how long others don't ask after the probes were found to be under way, in nanoseconds: without it every request
/// would take the lock for the same answer.
const PROBES_UNDER_WAY_NS: u64 = 1_000_000;

/// A breaker that all cores share. The lock is held for a few nanoseconds: an answer, or a result. Padded, so that two of
/// them never share a cache line.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Fuse {
    breaker: Mutex<Breaker>,
    /// Until when nobody needs to ask; a shortcut, the breaker decides.
    refusing_until_ns: AtomicU64,
    trips: AtomicU64,
}

impl Fuse {
    pub(super) fn new(settings: &Settings) -> Self {
        let breaker = Mutex::new(Breaker::new(settings.clone()));
        Self { breaker, refusing_until_ns: AtomicU64::new(0), trips: AtomicU64::new(0) }
    }

    /// Whether it is known to refuse, without asking.
    pub(super) fn is_refusing(&self, now: Instant) -> bool {
        self.refusing_until_ns.load(Relaxed) > now.as_nanos()
    }

    /// For how long it is known to refuse, without asking.
    pub(super) fn refuses_for(&self, now: Instant) -> Duration {
        Instant::from_nanos(self.refusing_until_ns.load(Relaxed)).since(now)
    }

    /// Asks for one request to pass. The permit must come back by [`Fuse::record`] or [`Fuse::release`].
    pub(super) fn ask(&self, now: Instant) -> Option<Permit> {
        if self.is_refusing(now) {
            return None;
        }
        match self.lock().ask(now) {
            Answer::Admit(permit) | Answer::Probe(permit) => Some(permit),
            Answer::Refuse { retry_after } => {
                let wait = retry_after.unwrap_or(Duration::from_nanos(PROBES_UNDER_WAY_NS));
                // The next moment at least, or who asked at `now` would ask again.
                let until = now.after(wait.max(Duration::from_nanos(1)));
                self.refusing_until_ns.store(until.as_nanos(), Relaxed);
                None
            }
        }
    }

    pub(super) fn record(&self, permit: Permit, now: Instant, failed: bool, took: Duration) {
        if let Some(change) = self.lock().record(permit, now, Ended { failed, took }) {
            self.refusing_until_ns.store(0, Relaxed);
            if change.to == State::Refuse {
                self.trips.fetch_add(1, Relaxed);
            }
        }
    }

    pub(super) fn release(&self, permit: Permit) {
        self.lock().release(permit);
    }

    /// The state, and how often it stopped everything so far.
    pub(super) fn report(&self) -> (State, u64) {
        (self.lock().state(), self.trips.load(Relaxed))
    }

    /// How it is, with what its window has counted.
    pub(super) fn look(&self, now: Instant) -> Look {
        self.lock().look(now)
    }

    /// Lets everything through again, as at the start.
    pub(super) fn reset(&self, now: Instant) {
        self.lock().reset(now);
        self.refusing_until_ns.store(0, Relaxed);
    }

    /// A breaker is never left half-changed, so a panic elsewhere is no reason to stop.
    fn lock(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use leat_policy::breaker::Raw;

    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_micros(ms * 1_000)
    }

    fn fuse() -> Fuse {
        let raw = Raw { consecutive_failures: Some(2), probes: 1, ..Raw::default() };
        Fuse::new(&Settings::new(&raw).unwrap())
    }

    #[test]
    fn it_opens_refuses_without_the_lock_probes_and_admits_again() {
        let fuse = fuse();
        for _ in 0..2 {
            let permit = fuse.ask(at(1)).unwrap();
            fuse.record(permit, at(1), true, Duration::ZERO);
        }
        assert_eq!(fuse.report(), (State::Refuse, 1));
        assert!(!fuse.is_refusing(at(2)), "nobody has asked yet");
        assert!(fuse.ask(at(2)).is_none());
        assert!(fuse.is_refusing(at(1_000)) && !fuse.is_refusing(at(1_001)));
        assert_eq!([2, 1_000, 1_001].map(|ms| fuse.refuses_for(at(ms)).as_millis()), [999, 1, 0]);
        let probe = fuse.ask(at(1_001)).unwrap();
        assert!(fuse.ask(at(1_001)).is_none(), "one probe at a time");
        assert!(fuse.is_refusing(at(1_001)), "the same moment is not asked about twice");
        fuse.record(probe, at(1_002), false, Duration::ZERO);
        assert_eq!(fuse.report(), (State::Admit, 1));
        assert!(fuse.ask(at(1_002)).is_some(), "nothing of the probes' time is left");
    }

    #[test]
    fn a_probe_that_was_not_used_leaves_its_place_to_another() {
        let fuse = fuse();
        for _ in 0..2 {
            let permit = fuse.ask(at(1)).unwrap();
            fuse.record(permit, at(1), true, Duration::ZERO);
        }
        let probe = fuse.ask(at(1_001)).unwrap();
        fuse.release(probe);
        assert!(fuse.ask(at(1_001)).is_some());
    }
}
