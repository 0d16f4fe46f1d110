use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Instant, SettingsError};

const BALANCE_BITS: u32 = 24;
const BALANCE_MASK: u64 = (1 << BALANCE_BITS) - 1;
const TIME_MASK: u64 = (1 << (64 - BALANCE_BITS)) - 1;
/// A retry costs a token; balances are in thousandths of it.
const TOKEN: u64 = 1000;

/// How many retries an upstream may get, so that retries never multiply an outage: a bucket of tokens that fills by a
/// fraction of a token with every request and by a few tokens a second, and gives one for every retry.
///
/// **Bound.** In any time T with N requests there are at most `burst + ratio × N + per_second × T` retries (time in whole
/// milliseconds, by the furthest clock that it was told). The idea is that of Finagle's `RetryBudget`; here old deposits don't expire, the burst bounds them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Thousandths of a token a request.
    ratio: u64,
    /// Tokens a second, which are thousandths of a token a millisecond.
    per_second: u64,
    /// Thousandths of a token.
    burst: u64,
}

/// The state of a budget, shared between threads without a lock: balance (24 bits) and time (40 bits, milliseconds).
#[derive(Debug)]
pub struct BudgetCell(AtomicU64);

impl Budget {
    /// The most tokens that can be kept.
    pub const BURST_MAX: u32 = (BALANCE_MASK / TOKEN) as u32;

    /// `ratio` tokens a request (thousandths count), `per_second` tokens whether requests come or not, at most `burst` kept.
    ///
    /// # Errors
    /// `ratio` not from 0 to 1; `burst` zero or above [`Budget::BURST_MAX`].
    pub fn new(ratio: f64, per_second: u32, burst: u32) -> Result<Self, SettingsError> {
        if !(0.0..=1.0).contains(&ratio) {
            return Err(SettingsError::NotAFraction { name: "ratio" });
        }
        if burst == 0 {
            return Err(SettingsError::Zero { name: "burst" });
        }
        if burst > Self::BURST_MAX {
            return Err(SettingsError::TooLarge { name: "burst", max: u64::from(Self::BURST_MAX) });
        }
        let ratio = (ratio * TOKEN as f64).round() as u64;
        Ok(Self { ratio, per_second: u64::from(per_second), burst: u64::from(burst) * TOKEN })
    }

    /// A full bucket.
    #[must_use]
    pub fn cell(&self) -> BudgetCell {
        BudgetCell(AtomicU64::new(self.burst))
    }

    /// A request came (not a retry).
    #[inline]
    pub fn deposit(&self, cell: &BudgetCell, now: Instant) {
        cell.update(|word| Some(self.filled(word, now, self.ratio)));
    }

    /// Takes a token for a retry; false if there is none.
    pub fn withdraw(&self, cell: &BudgetCell, now: Instant) -> bool {
        cell.update(|word| {
            let word = self.filled(word, now, 0);
            (word & BALANCE_MASK >= TOKEN).then(|| word - TOKEN)
        })
    }

    /// Retries that could be made now.
    #[must_use]
    pub fn available(&self, cell: &BudgetCell, now: Instant) -> u64 {
        (self.filled(cell.0.load(Ordering::Relaxed), now, 0) & BALANCE_MASK) / TOKEN
    }

    /// The state at `now` with `extra` more; a clock that stepped back fills nothing and stays where it was.
    fn filled(&self, word: u64, now: Instant, extra: u64) -> u64 {
        let since = word >> BALANCE_BITS;
        // 40 bits of milliseconds are 34 years; then nothing fills by time any more.
        let now_ms = (now.as_nanos() / 1_000_000).min(TIME_MASK).max(since);
        let refill = (now_ms - since).saturating_mul(self.per_second);
        let balance = (word & BALANCE_MASK).saturating_add(refill).saturating_add(extra).min(self.burst);
        (now_ms << BALANCE_BITS) | balance
    }
}

impl BudgetCell {
    /// False if `next` has none.
    #[inline]
    fn update(&self, next: impl Fn(u64) -> Option<u64>) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).is_ok()
    }
}
