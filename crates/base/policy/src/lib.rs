//! What decides about a request besides its route: limits, retries, breakers, balancing, deadlines. Every policy is a
//! pure state machine: the time and random numbers are arguments, so that a test, a gateway and a mock drive the same
//! code. `corpus/policy/` holds what each must decide; the TypeScript of the transport passes the same vectors.

pub mod balance;
pub mod breaker;
pub mod concurrency;
mod deadline;
pub mod hedge;
pub mod limit;
mod random;
pub mod retry;
mod settings;
mod time;

pub use deadline::Deadline;
pub use random::{Random, SplitMix64};
pub use settings::SettingsError;
pub use time::Instant;
