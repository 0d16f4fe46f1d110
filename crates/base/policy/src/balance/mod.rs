//! Which endpoint of an upstream gets a request. A choice never waits and, where an endpoint may be used at all, always
//! finds one.

mod hash;
mod least_request;
mod maglev;
mod outliers;
mod peak_ewma;
mod priorities;
mod ring;
mod round_robin;
mod slow_start;
mod weighted;

pub use hash::hash;
pub use least_request::{Load, least_request, two};
pub use maglev::{Maglev, Preference};
pub use outliers::{OutlierSettings, Outliers};
pub use peak_ewma::{Latency, PeakEwma};
pub use priorities::{Priorities, Tier};
pub use ring::Ring;
pub use round_robin::RoundRobin;
pub use slow_start::SlowStart;
pub use weighted::Weighted;

/// The most endpoints of one upstream that a balancer takes.
pub const ENDPOINTS_MAX: usize = 4096;

#[cfg(test)]
mod tests;
