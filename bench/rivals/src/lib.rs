//! What the rivals share: one accept loop on one current-thread runtime, the fastest ordinary set-up for a single core.
//! Empty without the feature `rivals`.

#[cfg(feature = "rivals")]
mod accept;

#[cfg(feature = "rivals")]
pub use accept::{PLAIN, serve};
