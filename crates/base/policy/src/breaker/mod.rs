//! A circuit breaker: it stops calls to an upstream that fails or is slow, and lets a few through to see whether it is
//! well again.

mod circuit;
mod settings;
mod window;

pub use circuit::{Answer, Breaker, Change, Ended, Look, Permit, State};
pub use settings::{Raw, Settings, WindowSize};

#[cfg(test)]
mod tests;
