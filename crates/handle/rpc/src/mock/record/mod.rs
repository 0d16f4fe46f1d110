//! From a live backend to rules, and back: what it answered becomes rules, and rules are held against what it answers now.

mod difference;
mod drift;
mod forward;
mod recorded;
mod recorder;
mod taken;
mod write;

pub use difference::{Difference, compare};
pub use drift::{Compared, Drift};
pub use forward::{Forward, Seen};
pub use recorded::{Answered, Recorded};
pub use recorder::Recorder;
pub(crate) use write::json;
pub use write::{file_name, rules};

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
