//! A second try beside one that takes long: when it begins, and whether it may.

mod latencies;
mod policy;

pub use latencies::Latencies;
pub use policy::{After, Asked, Hedge};

#[cfg(test)]
mod tests;
