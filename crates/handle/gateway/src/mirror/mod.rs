//! Copies of requests that go to another upstream too, whose answers nobody waits for.

mod copying;
mod counts;
mod recorded;
mod rule;
mod send;

pub(crate) use copying::Copying;
pub(crate) use counts::{MirrorCounts, write_metrics};
pub(crate) use recorded::Recorded;
pub(crate) use rule::Mirror;

/// The field that says that a request is a copy.
pub(crate) const MIRRORED_FIELD: &[u8] = b"x-mirrored";
