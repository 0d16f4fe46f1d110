use std::time::Duration;

use super::ENDPOINTS_MAX;
use crate::time::nanos;
use crate::{Instant, SettingsError};

/// When an endpoint is put aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlierSettings {
    consecutive_failures: u32,
    ejection_ns: u64,
    ejection_max_ns: u64,
    /// Millionths of all endpoints.
    ejected_max: u32,
}

/// Which endpoints of an upstream are put aside for failures in a row, without ever putting aside too many: where most
/// fail, it's the upstream that is ill, and the rest would drown.
#[derive(Clone, Debug)]
pub struct Outliers {
    settings: OutlierSettings,
    endpoints: Box<[Health]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Health {
    failures: u32,
    /// Of the present series: how often it was put aside.
    times: u32,
    until: Option<Instant>,
}

impl OutlierSettings {
    /// The longest time aside: a day.
    pub const EJECTION_MAX: Duration = Duration::from_secs(86_400);

    /// Aside after so many failures in a row, for `ejection` times the number of times it was in the present series, at most
    /// `ejection_max`. At most `floor(part_max × endpoints)` are aside at once. A series ends once an endpoint was back for as long as it
    /// had been aside.
    ///
    /// # Errors
    /// A zero; `part_max` no fraction (0 is right, and means none); `ejection` above `ejection_max`, or that above a day.
    pub fn new(
        consecutive_failures: u32,
        ejection: Duration,
        ejection_max: Duration,
        part_max: f64,
    ) -> Result<Self, SettingsError> {
        if consecutive_failures == 0 {
            return Err(SettingsError::Zero { name: "consecutive_failures" });
        }
        if ejection.is_zero() {
            return Err(SettingsError::Zero { name: "ejection" });
        }
        if ejection_max > Self::EJECTION_MAX {
            return Err(SettingsError::TooLarge { name: "ejection_max", max: nanos(Self::EJECTION_MAX) });
        }
        if ejection > ejection_max {
            return Err(SettingsError::Above { name: "ejection", bound: "ejection_max" });
        }
        if !(0.0..=1.0).contains(&part_max) {
            return Err(SettingsError::NotAFraction { name: "part_max" });
        }
        Ok(Self {
            consecutive_failures,
            ejection_ns: nanos(ejection),
            ejection_max_ns: nanos(ejection_max),
            ejected_max: (part_max * 1e6).round() as u32,
        })
    }

    fn time(&self, times: u32) -> Duration {
        Duration::from_nanos(self.ejection_ns.saturating_mul(u64::from(times)).min(self.ejection_max_ns))
    }
}

impl Outliers {
    /// For so many endpoints, all of which are used.
    ///
    /// # Errors
    /// None, or more than [`ENDPOINTS_MAX`].
    pub fn new(settings: OutlierSettings, count: usize) -> Result<Self, SettingsError> {
        match count {
            0 => Err(SettingsError::Empty { name: "endpoints" }),
            1..=ENDPOINTS_MAX => Ok(Self { settings, endpoints: vec![Health::default(); count].into_boxed_slice() }),
            _ => Err(SettingsError::TooLarge { name: "endpoints", max: ENDPOINTS_MAX as u64 }),
        }
    }

    /// As [`Outliers::new`], where endpoints take over what is known of them: `before` gives an endpoint's number among
    /// those of `other`. For a list that has changed; times aside that were set stand, whatever the settings are now.
    ///
    /// # Errors
    /// As [`Outliers::new`].
    pub fn after(
        settings: OutlierSettings,
        count: usize,
        other: &Self,
        before: impl Fn(usize) -> Option<usize>,
    ) -> Result<Self, SettingsError> {
        let mut made = Self::new(settings, count)?;
        for (number, health) in made.endpoints.iter_mut().enumerate() {
            *health = before(number).and_then(|old| other.endpoints.get(old)).copied().unwrap_or_default();
        }
        Ok(made)
    }

    /// Whether the endpoint is aside at `now`; one that does not exist is not.
    #[must_use]
    pub fn is_ejected(&self, endpoint: usize, now: Instant) -> bool {
        self.endpoints.get(endpoint).is_some_and(|health| health.is_ejected(now))
    }

    /// Takes the result of a request to an endpoint; gives the time for which that puts it aside. Results that come while it is
    /// aside are of requests sent before, and say nothing. Where too many are aside, it stays, and the next failure tries again.
    pub fn record(&mut self, endpoint: usize, failed: bool, now: Instant) -> Option<Duration> {
        let count = self.endpoints.len() as u64;
        let health = self.endpoints.get_mut(endpoint)?;
        if health.is_ejected(now) {
            return None;
        }
        if !failed {
            health.failures = 0;
            return None;
        }
        health.failures = health.failures.saturating_add(1);
        if health.failures < self.settings.consecutive_failures {
            return None;
        }
        let ejected = self.endpoints.iter().filter(|other| other.is_ejected(now)).count() as u64;
        if (ejected + 1) * 1_000_000 > count * u64::from(self.settings.ejected_max) {
            return None;
        }
        let health = self.endpoints.get_mut(endpoint)?;
        let is_new_series = health.until.is_none_or(|until| now.since(until) >= self.settings.time(health.times));
        health.times = if is_new_series { 1 } else { health.times.saturating_add(1) };
        health.failures = 0;
        let time = self.settings.time(health.times);
        health.until = Some(now.after(time));
        Some(time)
    }
}

impl Health {
    fn is_ejected(self, now: Instant) -> bool {
        self.until.is_some_and(|until| now < until)
    }
}
