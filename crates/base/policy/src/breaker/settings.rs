use std::time::Duration;

use crate::SettingsError;
use crate::time::nanos;

/// Over what the rates are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowSize {
    /// The last so many calls, at most [`Settings::CALLS_MAX`].
    Calls(u32),
    /// The calls of the last so long: the present tenth of the time and the nine before it.
    Time(Duration),
}

/// What a breaker is made with, as a person writes it.
#[derive(Clone, Copy, Debug)]
pub struct Raw {
    /// Over what rates are taken.
    pub window: WindowSize,
    /// The least calls in the window for a rate to count.
    pub calls_min: u32,
    /// The part of failed calls (0 to 1, not 0) at which it trips; `None`: failures are not rated.
    pub failure_rate: Option<f64>,
    /// The part of slow calls (0 to 1, not 0) at which it trips; `None`: slowness does not matter.
    pub slow_rate: Option<f64>,
    /// A call that takes at least so long is slow.
    pub slow_call: Duration,
    /// Failures in a row at which it trips, however few calls there were; `None`: they are not counted.
    pub consecutive_failures: Option<u32>,
    /// The calls that are let through to try the upstream, all of which must succeed.
    pub probes: u32,
    /// For how long nothing is let through after the first trip. Doubles with each trip that follows on another.
    pub open: Duration,
    /// The longest such time.
    pub open_max: Duration,
}

impl Default for Raw {
    /// Half of the calls of the last 10 s fail (of 20 at least), or ten in a row; closed for 1 s, up to 60 s; three probes.
    fn default() -> Self {
        Self {
            window: WindowSize::Time(Duration::from_secs(10)),
            calls_min: 20,
            failure_rate: Some(0.5),
            slow_rate: None,
            slow_call: Duration::from_secs(1),
            consecutive_failures: Some(10),
            probes: 3,
            open: Duration::from_secs(1),
            open_max: Duration::from_secs(60),
        }
    }
}

/// What a breaker is made with, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub(super) window: WindowSize,
    pub(super) calls_min: u32,
    pub(super) failure_rate: Option<Rate>,
    pub(super) slow_rate: Option<Rate>,
    pub(super) slow_call: Duration,
    pub(super) consecutive_failures: Option<u32>,
    pub(super) probes: u32,
    open_ns: u64,
    open_max_ns: u64,
}

/// A fraction in parts per million, so that a comparison is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rate(u32);

impl Settings {
    /// The most calls that a window can hold.
    pub const CALLS_MAX: u32 = 4096;
    /// The longest window, and the longest time closed: a day.
    pub const TIME_MAX: Duration = Duration::from_secs(86_400);

    /// Checks the settings.
    ///
    /// # Errors
    /// A zero; a rate that is no fraction; a window, `open_max` or `calls_min` that is too large; `open` above `open_max`.
    pub fn new(raw: &Raw) -> Result<Self, SettingsError> {
        let not_zero = |name, is_zero| if is_zero { Err(SettingsError::Zero { name }) } else { Ok(()) };
        let at_most_day = |name, time: Duration| {
            let too_large = SettingsError::TooLarge { name, max: nanos(Self::TIME_MAX) };
            if time > Self::TIME_MAX { Err(too_large) } else { Ok(()) }
        };
        match raw.window {
            WindowSize::Calls(calls) => {
                not_zero("window", calls == 0)?;
                if calls > Self::CALLS_MAX {
                    return Err(SettingsError::TooLarge { name: "window", max: u64::from(Self::CALLS_MAX) });
                }
                if raw.calls_min > calls {
                    return Err(SettingsError::Above { name: "calls_min", bound: "window" });
                }
            }
            WindowSize::Time(time) => {
                not_zero("window", nanos(time) < 10)?;
                at_most_day("window", time)?;
            }
        }
        not_zero("calls_min", raw.calls_min == 0)?;
        not_zero("consecutive_failures", raw.consecutive_failures == Some(0))?;
        not_zero("probes", raw.probes == 0)?;
        not_zero("open", raw.open.is_zero())?;
        at_most_day("open_max", raw.open_max)?;
        if raw.open > raw.open_max {
            return Err(SettingsError::Above { name: "open", bound: "open_max" });
        }
        Ok(Self {
            window: raw.window,
            calls_min: raw.calls_min,
            failure_rate: raw.failure_rate.map(|rate| Rate::new("failure_rate", rate)).transpose()?,
            slow_rate: raw.slow_rate.map(|rate| Rate::new("slow_rate", rate)).transpose()?,
            slow_call: raw.slow_call,
            consecutive_failures: raw.consecutive_failures,
            probes: raw.probes,
            open_ns: nanos(raw.open),
            open_max_ns: nanos(raw.open_max),
        })
    }

    /// For how long it is closed at trip `number` of a series (from 0): `min(open_max, open × 2^number)`.
    pub(super) fn open_time(&self, number: u32) -> Duration {
        let factor = 1_u64.checked_shl(number).unwrap_or(u64::MAX);
        Duration::from_nanos(self.open_ns.saturating_mul(factor).min(self.open_max_ns))
    }
}

impl Rate {
    fn new(name: &'static str, rate: f64) -> Result<Self, SettingsError> {
        if !(0.0..=1.0).contains(&rate) {
            return Err(SettingsError::NotAFraction { name });
        }
        match (rate * 1e6).round() as u32 {
            0 => Err(SettingsError::Zero { name }),
            millionths => Ok(Self(millionths)),
        }
    }

    /// Whether `part` of `whole` is this rate or more.
    pub(super) fn is_reached(self, part: u32, whole: u32) -> bool {
        u64::from(part) * 1_000_000 >= u64::from(self.0) * u64::from(whole)
    }
}
