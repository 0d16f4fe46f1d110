//! What a mock was asked and what it answered: a bounded record of calls, to look at and to verify.
//!
//! Pure: the time is an argument, and messages become JSON by [`Messages`], which the schema's owner provides.

mod entry;
mod filter;
mod ring;
mod shown;
mod verify;

pub use entry::{Begun, Entry, Frame, Unmatched, Way};
pub use filter::{Filter, FilterError};
pub use ring::{Journal, JournalLimits, JournalStats};
pub use shown::{Messages, show, show_status};
pub use verify::{Expected, Verdict};

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests;
