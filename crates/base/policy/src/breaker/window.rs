use super::WindowSize;
use crate::Instant;
use crate::time::nanos;

const SLOTS: u64 = 10;

/// What calls came to over the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) calls: u32,
    pub(super) failures: u32,
    pub(super) slow: u32,
}

/// The calls of a sliding window, and their sum. Recording is a few additions; a step over idle slots is at most ten.
#[derive(Clone, Debug)]
pub(super) struct Window {
    sum: Counts,
    kept: Kept,
}

#[derive(Clone, Debug)]
enum Kept {
    /// The last calls in a ring, and where the oldest is.
    Calls { ring: Box<[Counts]>, next: usize },
    /// Tenths of the time, and the number of the latest.
    Time { slots: [Counts; SLOTS as usize], slot_ns: u64, number: u64 },
}

impl Window {
    /// An empty window.
    pub(super) fn new(size: WindowSize) -> Self {
        let kept = match size {
            WindowSize::Calls(calls) => {
                Kept::Calls { ring: vec![Counts::default(); calls as usize].into_boxed_slice(), next: 0 }
            }
            WindowSize::Time(time) => {
                let slot_ns = nanos(time).div_ceil(SLOTS).max(1);
                Kept::Time { slots: [Counts::default(); SLOTS as usize], slot_ns, number: 0 }
            }
        };
        Self { sum: Counts::default(), kept }
    }

    /// Forgets all calls.
    pub(super) fn clear(&mut self) {
        self.sum = Counts::default();
        match &mut self.kept {
            Kept::Calls { ring, .. } => ring.fill(Counts::default()),
            Kept::Time { slots, .. } => slots.fill(Counts::default()),
        }
    }

    /// Counts a call that ended at `now`, and gives the sum over the window that ends there. A clock that stepped back
    /// counts for the latest slot.
    pub(super) fn record(&mut self, now: Instant, failed: bool, slow: bool) -> Counts {
        let call = Counts { calls: 1, failures: u32::from(failed), slow: u32::from(slow) };
        match &mut self.kept {
            Kept::Calls { ring, next } => {
                if let Some(oldest) = ring.get_mut(*next) {
                    self.sum.subtract(*oldest);
                    *oldest = call;
                }
                *next = (*next + 1) % ring.len().max(1);
            }
            Kept::Time { .. } => {
                self.sum(now);
                if let Kept::Time { slots, number, .. } = &mut self.kept
                    && let Some(slot) = slots.get_mut((*number % SLOTS) as usize)
                {
                    slot.add(call);
                }
            }
        }
        self.sum.add(call);
        self.sum
    }

    /// The sum over the window that ends at `now`.
    pub(super) fn sum(&mut self, now: Instant) -> Counts {
        if let Kept::Time { slots, slot_ns, number } = &mut self.kept {
            let present = (now.as_nanos() / *slot_ns).max(*number);
            for passed in (*number + 1..=present).take(SLOTS as usize) {
                if let Some(slot) = slots.get_mut((passed % SLOTS) as usize) {
                    self.sum.subtract(*slot);
                    *slot = Counts::default();
                }
            }
            *number = present;
        }
        self.sum
    }
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.failures = self.failures.saturating_add(other.failures);
        self.slow = self.slow.saturating_add(other.slow);
    }

    fn subtract(&mut self, other: Self) {
        self.calls = self.calls.saturating_sub(other.calls);
        self.failures = self.failures.saturating_sub(other.failures);
        self.slow = self.slow.saturating_sub(other.slow);
    }
}
