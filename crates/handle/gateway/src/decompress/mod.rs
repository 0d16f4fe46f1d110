//! Bodies of requests, decoded on their way to upstreams that want them plain.
//!
//! [`Decompressed`] stands around the exchange: whoever reads the request behind it sees one without a coding.

mod codings;
mod decoder;
mod decompressed;

pub(crate) use codings::coding_of;
pub(crate) use decompressed::Decompressed;
