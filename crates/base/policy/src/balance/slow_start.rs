use std::time::Duration;

use crate::time::nanos;
use crate::{Instant, SettingsError};

/// Lets an endpoint that has just come (or come back) grow into its weight, so that cold caches and compilers don't make it
/// slow for everybody: its share grows evenly with time from a least one to the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowStart {
    window_ns: u64,
    /// Parts of [`SlowStart::UNIT`].
    least: u32,
}

impl SlowStart {
    /// The parts of a weight: weights are multiplied by it, so that a weight of 1 can be divided.
    pub const UNIT: u32 = 256;
    /// The highest weight.
    pub const WEIGHT_MAX: u32 = u32::MAX / Self::UNIT;
    /// The longest window: a day.
    pub const WINDOW_MAX: Duration = Duration::from_secs(86_400);

    /// The whole weight after `window`, at first `least` of it (0 to 1).
    ///
    /// # Errors
    /// `window` zero or above [`SlowStart::WINDOW_MAX`]; `least` no fraction.
    pub fn new(window: Duration, least: f64) -> Result<Self, SettingsError> {
        if window.is_zero() {
            return Err(SettingsError::Zero { name: "window" });
        }
        if window > Self::WINDOW_MAX {
            return Err(SettingsError::TooLarge { name: "window", max: nanos(Self::WINDOW_MAX) });
        }
        if !(0.0..=1.0).contains(&least) {
            return Err(SettingsError::NotAFraction { name: "least" });
        }
        Ok(Self { window_ns: nanos(window), least: (least * f64::from(Self::UNIT)).ceil() as u32 })
    }

    /// The weight at `now` of an endpoint that came at `since`, times [`SlowStart::UNIT`], rounded down; at least 1 unless the
    /// weight is 0. Weights above [`SlowStart::WEIGHT_MAX`] count as that. A clock before `since` gives the least.
    #[must_use]
    pub fn weight(&self, weight: u32, since: Instant, now: Instant) -> u32 {
        let whole = weight.min(Self::WEIGHT_MAX) * Self::UNIT;
        let age_ns = nanos(now.since(since)).min(self.window_ns);
        let grown = (u128::from(whole) * u128::from(age_ns) / u128::from(self.window_ns)) as u32;
        let least = (u64::from(whole) * u64::from(self.least) / u64::from(Self::UNIT)) as u32;
        grown.max(least).max(u32::from(weight > 0))
    }
}
