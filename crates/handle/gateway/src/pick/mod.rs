//! Which endpoint gets a request: balancing on the core, and what all cores know together of how endpoints are.

mod balancer;
mod clock;
mod fuse;
mod gate;
mod group;
mod held;
mod key;
mod report;
mod start;
mod states;
mod tried;
mod turns;
mod upstream;

pub(crate) use balancer::seed;
pub(crate) use clock::now;
pub(crate) use gate::{Place, Slot};
pub(crate) use group::{Group, HedgeEnd};
pub(crate) use held::Held;
pub(crate) use key::{Asking, cookie};
pub(crate) use report::UpstreamReport;
pub use states::States;
pub(crate) use tried::Tried;
pub(crate) use upstream::{Seat, Upstream, named};
