//! Rate limits. A limit is settings only; its state is one 64-bit word per key, so that a local store is an atomic each
//! and a remote one a number each. Whether a refusal is obeyed or only counted (shadow mode) is the caller's.

mod cell;
mod gcra;
mod law;
mod lease;
mod several;
mod sliding_window;
mod verdict;

pub use cell::Cell;
pub use gcra::Gcra;
pub use law::{Limit, Next};
pub use lease::{Grant, Lease, Leasing, Taken};
pub use several::{Claim, Joint, admit_all};
pub use sliding_window::SlidingWindow;
pub use verdict::{Decision, Verdict};

#[cfg(test)]
mod tests;
