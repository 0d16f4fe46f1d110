//! Copies of requests that go to another upstream too, whose answers nobody waits for.

mod copying;
mod counts;
mod mirror;
mod recorded;
mod send;

pub(crate) use copying::Copying;
pub(crate) use counts::{MirrorCounts, write_metrics};
pub(crate) use mirror::Mirror;
pub(crate) use recorded::Recorded;

/// The field that says that a request is a copy.
pub(crate) const MIRRORED_FIELD: &[u8] = b"x-mirrored";
