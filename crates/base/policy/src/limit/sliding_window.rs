use std::time::Duration;

use super::{Decision, Next, Verdict};
use crate::time::nanos;
use crate::{Instant, SettingsError};

const COUNT_BITS: u32 = 22;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;
const NUMBER_MASK: u64 = (1 << (64 - 2 * COUNT_BITS)) - 1;
/// A window so many before the state's is one of a clock that stepped back; all others before it are far ahead.
const BACK_MAX: u64 = 16;

/// So much per window, where the window slides: the counts of this window and the one before, of which the part counts
/// that the sliding window still covers.
///
/// A request of cost `c` at a fraction `f` of the present window is admitted if
/// `previous × (1 - f) + current + c <= limit`, computed exactly in integers. Windows are counted from [`Instant::ZERO`].
///
/// **Bound.** In any time T at most `limit + limit / window × T`: a window holds at most the limit, and what two
/// neighbours hold at the fraction `f` of the second is at most `limit + previous × f`. So at worst nearly twice
/// the limit falls in one sliding window, where a fixed window allows that too, and a log of all times would not.
///
/// A time before the present window (a clock that stepped back by up to 16 windows) counts as the window's start. The word
/// holds 20 bits of the window's number: a key that rested for a multiple of 2^20 windows, or up to 16 less, may find its
/// old counts, and is admitted less, never more, until they are two windows old.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlidingWindow {
    limit: u64,
    window_ns: u64,
}

/// What the word holds: the window's number in the highest 20 bits, the previous count, the current count.
#[derive(Clone, Copy)]
struct Counts {
    number: u64,
    previous: u64,
    current: u64,
}

/// The counts as they are at some time, and where in the window that is.
struct Seen {
    counts: Counts,
    /// Since the start of the window.
    offset_ns: u64,
    /// Until the start of the window, if the clock stepped back.
    lag_ns: u64,
}

impl SlidingWindow {
    /// The highest limit, 4,194,303 per window; above it, use [`super::Gcra`].
    pub const LIMIT_MAX: u64 = COUNT_MASK;
    /// The longest window, 2^58 ns (9 years).
    pub const WINDOW_MAX: Duration = Duration::from_nanos(1 << 58);

    /// A limit of `limit` units in each `window`.
    ///
    /// # Errors
    /// A zero; above [`Self::LIMIT_MAX`] or [`Self::WINDOW_MAX`].
    pub fn new(limit: u64, window: Duration) -> Result<Self, SettingsError> {
        if limit == 0 {
            return Err(SettingsError::Zero { name: "limit" });
        }
        if limit > Self::LIMIT_MAX {
            return Err(SettingsError::TooLarge { name: "limit", max: Self::LIMIT_MAX });
        }
        if window.is_zero() {
            return Err(SettingsError::Zero { name: "window" });
        }
        if window > Self::WINDOW_MAX {
            return Err(SettingsError::TooLarge { name: "window", max: nanos(Self::WINDOW_MAX) });
        }
        Ok(Self { limit, window_ns: nanos(window) })
    }

    /// Units per window: the `q` of `RateLimit-Policy`.
    #[must_use]
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// The window: the `w` of `RateLimit-Policy`.
    #[must_use]
    pub const fn window(&self) -> Duration {
        Duration::from_nanos(self.window_ns)
    }

    /// See [`super::Limit::next`].
    #[must_use]
    pub fn next(&self, state: u64, now: Instant, cost: u64) -> Next {
        let mut seen = self.seen(Counts::of(state), now);
        let free = self.free(&seen);
        if cost == 0 {
            return Next { verdict: self.verdict(Decision::Admit, &seen), state };
        }
        if cost > free {
            let retry_after = (cost <= self.limit).then(|| self.wait(&seen, cost));
            return Next { verdict: self.verdict(Decision::Refuse { retry_after }, &seen), state };
        }
        seen.counts.current += cost;
        Next { verdict: self.verdict(Decision::Admit, &seen), state: seen.counts.word() }
    }

    fn seen(&self, kept: Counts, now: Instant) -> Seen {
        let number = (now.as_nanos() / self.window_ns) & NUMBER_MASK;
        let offset_ns = now.as_nanos() % self.window_ns;
        let fresh = |previous| Seen { counts: Counts { number, previous, current: 0 }, offset_ns, lag_ns: 0 };
        if kept.previous == 0 && kept.current == 0 {
            return fresh(0);
        }
        match number.wrapping_sub(kept.number) & NUMBER_MASK {
            0 => Seen { counts: kept, offset_ns, lag_ns: 0 },
            1 => fresh(kept.current),
            ahead if ahead > NUMBER_MASK - BACK_MAX => {
                let back = NUMBER_MASK + 1 - ahead;
                Seen { counts: kept, offset_ns: 0, lag_ns: back * self.window_ns - offset_ns }
            }
            _ => fresh(0),
        }
    }

    /// The highest cost that would be admitted.
    fn free(&self, seen: &Seen) -> u64 {
        let window = u128::from(self.window_ns);
        let covered = u128::from(seen.counts.previous) * u128::from(self.window_ns - seen.offset_ns);
        let used = covered + u128::from(seen.counts.current) * window;
        let free = (u128::from(self.limit) * window).saturating_sub(used) / window;
        u64::try_from(free).unwrap_or(0)
    }

    /// How long until `cost`, at most the limit, fits.
    fn wait(&self, seen: &Seen, cost: u64) -> Duration {
        let Counts { previous, current, .. } = seen.counts;
        let ns = match self.limit.checked_sub(current + cost) {
            Some(spare) => self.fits_at(previous, spare).saturating_sub(seen.offset_ns),
            None => self.window_ns - seen.offset_ns + self.fits_at(current, self.limit - cost),
        };
        Duration::from_nanos(ns + seen.lag_ns)
    }

    /// Where in a window no more than `spare` of the previous count is covered; at the latest at its end.
    fn fits_at(&self, previous: u64, spare: u64) -> u64 {
        if previous <= spare {
            return 0;
        }
        let covered = u128::from(spare) * u128::from(self.window_ns) / u128::from(previous);
        self.window_ns - u64::try_from(covered).unwrap_or(self.window_ns)
    }

    fn verdict(&self, decision: Decision, seen: &Seen) -> Verdict {
        let reset_ns = match seen.counts {
            Counts { current: 0, previous: 0, .. } => 0,
            Counts { current: 0, .. } => self.window_ns - seen.offset_ns + seen.lag_ns,
            _ => 2 * self.window_ns - seen.offset_ns + seen.lag_ns,
        };
        Verdict { decision, remaining: self.free(seen), reset: Duration::from_nanos(reset_ns) }
    }
}

impl Counts {
    const fn of(word: u64) -> Self {
        Self {
            number: word >> (2 * COUNT_BITS),
            previous: (word >> COUNT_BITS) & COUNT_MASK,
            current: word & COUNT_MASK,
        }
    }

    const fn word(self) -> u64 {
        (self.number << (2 * COUNT_BITS)) | (self.previous << COUNT_BITS) | self.current
    }
}
