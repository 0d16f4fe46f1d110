//! Rate limits: what a route's requests are counted by, where the counts are, and what clients are told of them. What a
//! limit decides is `base/policy`'s.

mod asking;
mod cells;
mod check;
mod counted;
mod key;
mod leased;
mod leases;
mod ledger;
mod look;
mod redis;
mod told;

pub(crate) use check::LimitCheck;
pub(crate) use counted::{Counted, compile};
pub(crate) use key::Asker;
pub(crate) use leased::LeasedCheck;
pub use ledger::Ledger;
pub(crate) use look::{Left, look_at};
pub(crate) use redis::RedisCheck;
pub(crate) use told::policies as limit_policies;
