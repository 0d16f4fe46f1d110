use std::time::Duration;

use crate::time::nanos;
use crate::{Instant, Random, SettingsError};

use super::least_request::two;

/// Balancing by latency: of two endpoints that chance names, the one whose next answer is expected sooner.
///
/// The cost of an endpoint jumps up to a latency above it at once, and goes down by a moving average: fast to flee, slow to
/// return. It also halves with every half-life in which nothing came, so that an endpoint that was slow is tried again.
/// Twitter's Finagle has it as "Peak EWMA"; there the average has a time constant, which is the half-life divided by ln 2.
#[derive(Clone, Debug)]
pub struct PeakEwma {
    half_life_ns: f64,
    first_ns: f64,
}

/// The cost of one endpoint. 16 bytes, one owner: each core measures for itself.
#[derive(Clone, Copy, Debug)]
pub struct Latency {
    cost_ns: f64,
    at: Instant,
}

impl PeakEwma {
    /// The longest of either time: a day.
    pub const TIME_MAX: Duration = Duration::from_secs(86_400);

    /// `half_life` is the time in which old latency loses half its weight; `first` what is expected of an endpoint that
    /// was never measured.
    ///
    /// # Errors
    /// A zero, or above [`PeakEwma::TIME_MAX`].
    pub fn new(half_life: Duration, first: Duration) -> Result<Self, SettingsError> {
        for (name, time) in [("half_life", half_life), ("first", first)] {
            if time.is_zero() {
                return Err(SettingsError::Zero { name });
            }
            if time > Self::TIME_MAX {
                return Err(SettingsError::TooLarge { name, max: nanos(Self::TIME_MAX) });
            }
        }
        Ok(Self { half_life_ns: nanos(half_life) as f64, first_ns: nanos(first) as f64 })
    }

    /// An endpoint that is new at `now`.
    #[must_use]
    pub fn endpoint(&self, now: Instant) -> Latency {
        Latency { cost_ns: self.first_ns, at: now }
    }

    /// Takes the latency of a request that was answered at `now`. A clock that stepped back lets nothing decay.
    pub fn record(&self, endpoint: &mut Latency, now: Instant, latency: Duration) {
        let latency_ns = nanos(latency) as f64;
        let kept = self.kept(endpoint, now);
        endpoint.cost_ns = latency_ns.max(endpoint.cost_ns * kept + latency_ns * (1.0 - kept));
        endpoint.at = endpoint.at.max(now);
    }

    /// What the endpoint would cost one more request: its decayed cost times the requests it would then have, in
    /// nanoseconds.
    #[must_use]
    pub fn load(&self, endpoint: &Latency, now: Instant, in_flight: u32) -> f64 {
        endpoint.cost_ns * self.kept(endpoint, now) * (f64::from(in_flight) + 1.0)
    }

    /// The better of two among `count` usable endpoints, the first of them if they are equal; `load` is that of
    /// [`PeakEwma::load`].
    pub fn pick(count: u32, load: impl Fn(u32) -> f64, random: &mut impl Random) -> Option<u32> {
        let (first, second) = two(count, random)?;
        Some(if load(first) <= load(second) { first } else { second })
    }

    fn kept(&self, endpoint: &Latency, now: Instant) -> f64 {
        (-(nanos(now.since(endpoint.at)) as f64) / self.half_life_ns).exp2()
    }
}
