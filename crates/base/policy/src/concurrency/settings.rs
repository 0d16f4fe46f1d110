use std::time::Duration;

use crate::SettingsError;
use crate::time::nanos;

/// What [`Settings::new`] checks. The defaults are those of a gateway in front of a web service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw {
    /// The limit never goes below this, and begins here. What is measured with so few under way counts as ease, so
    /// it should be no more than what the upstream surely does at once.
    pub min: u32,
    /// The limit never goes above this.
    pub max: u32,
    /// Latencies of this time make one average, and the limit moves once in it: long enough to have some.
    pub window: Duration,
    /// So many latencies make an average, however long they take to come.
    pub samples_min: u32,
    /// How much slower than at ease the upstream may be before the limit goes down, in percent.
    pub tolerance_percent: u32,
    /// How far the limit goes towards what a window asks for, in percent.
    pub smoothing_percent: u32,
}

impl Default for Raw {
    fn default() -> Self {
        Self {
            min: 4,
            max: 1_000,
            window: Duration::from_millis(100),
            samples_min: 10,
            tolerance_percent: 150,
            smoothing_percent: 20,
        }
    }
}

/// Settings of a [`super::Gradient`] that go together.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) window_ns: u64,
    pub(super) samples_min: u32,
    pub(super) tolerance: f64,
    pub(super) smoothing: f64,
}

impl Settings {
    /// The highest limit that may be set.
    pub const LIMIT_MAX: u32 = 1_000_000;
    /// The longest window that may be set: a minute.
    pub const WINDOW_MAX: Duration = Duration::from_secs(60);
    /// The most that an upstream may become slower, in percent.
    pub const TOLERANCE_PERCENT_MAX: u32 = 1_000;

    /// Checks the settings.
    ///
    /// # Errors
    /// A zero; `min` above `max`; above the bounds of this type; a tolerance below 100 percent, with which the limit would
    /// fall for ever; a smoothing above 100.
    pub fn new(raw: &Raw) -> Result<Self, SettingsError> {
        let numbers =
            [("limit_min", raw.min), ("samples_min", raw.samples_min), ("smoothing_percent", raw.smoothing_percent)];
        for (name, number) in numbers {
            if number == 0 {
                return Err(SettingsError::Zero { name });
            }
        }
        if raw.window.is_zero() {
            return Err(SettingsError::Zero { name: "window" });
        }
        if raw.min > raw.max {
            return Err(SettingsError::Above { name: "limit_min", bound: "limit_max" });
        }
        for (name, number, max) in [
            ("limit_max", u64::from(raw.max), u64::from(Self::LIMIT_MAX)),
            ("window", nanos(raw.window), nanos(Self::WINDOW_MAX)),
            ("tolerance_percent", u64::from(raw.tolerance_percent), u64::from(Self::TOLERANCE_PERCENT_MAX)),
            ("smoothing_percent", u64::from(raw.smoothing_percent), 100),
        ] {
            if number > max {
                return Err(SettingsError::TooLarge { name, max });
            }
        }
        if raw.tolerance_percent < 100 {
            return Err(SettingsError::TooSmall { name: "tolerance_percent", min: 100 });
        }
        Ok(Self {
            min: f64::from(raw.min),
            max: f64::from(raw.max),
            window_ns: nanos(raw.window),
            samples_min: raw.samples_min,
            tolerance: f64::from(raw.tolerance_percent) / 100.0,
            smoothing: f64::from(raw.smoothing_percent) / 100.0,
        })
    }
}
