//! HPACK (RFC 7541): lists of fields become blocks of bytes and back, with a table on each side that the two keep in step.

mod decoder;
mod dynamic_table;
mod encoder;
mod hash;
mod huffman;
mod integer;
mod sightings;
mod static_table;
#[cfg(test)]
mod tests;

pub use decoder::{DecodeError, Decoder, Sensitivity};
pub use encoder::Encoder;

/// The size of a dynamic table until a setting says otherwise, in bytes as RFC 7541, section 4.1 counts them
/// (RFC 9113, section 6.5.2).
pub const TABLE_BYTES_INITIAL: u32 = 4_096;
/// What a field costs in a table and in the size of a list, beside its name and value (RFC 7541, section 4.1).
pub const FIELD_OVERHEAD_BYTES: usize = 32;
