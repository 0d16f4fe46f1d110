//! How many requests an upstream is given at once, found out from how long it takes for them.

mod gradient;
mod settings;

pub use gradient::Gradient;
pub use settings::{Raw, Settings};

#[cfg(test)]
mod tests;
