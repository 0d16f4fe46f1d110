//! Blocks become fields.

/// Whether a field may be kept in a table by those who pass it on (RFC 7541, section 7.1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sensitivity {
    /// It may.
    Open,
    /// It may not, and stays so on the next hop: see [`Encoder::secret`](super::Encoder::secret).
    NeverIndexed,
}

/// Why a block is refused. All but [`ListTooLong`](Self::ListTooLong) are COMPRESSION_ERROR for the connection (RFC 9113, section 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The block ends within a field.
    Truncated,
    /// An integer of more than five octets after its prefix, or beyond 32 bits (RFC 7541, section 5.1).
    Integer,
    /// An index that neither table has (section 2.3.3).
    Index,
    /// A Huffman code that is EOS, or padding that is not EOS's first bits or longer than seven of them (section 5.2).
    Huffman,
    /// A table size update that is beyond the setting, after a field, or missing where one is owed (section 4.2).
    TableSize,
    /// The fields are more than `list_bytes_max`. The table is in step: only this list is refused.
    ListTooLong,
}

/// The receiving side of a connection's fields.
#[derive(Debug)]
pub struct Decoder {
    table_bytes_max: u32,
}

impl Decoder {
    /// A decoder whose peer may use a table of `table_bytes_max` bytes (our SETTINGS_HEADER_TABLE_SIZE).
    pub fn new(table_bytes_max: u32) -> Self {
        Self { table_bytes_max }
    }

    /// Decodes a whole block (HEADERS and its CONTINUATIONs, joined).
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn decode(
        &mut self,
        block: &[u8],
        list_bytes_max: usize,
        field: &mut impl FnMut(&[u8], &[u8], Sensitivity),
    ) -> Result<(), DecodeError> {
        let _ = (block, list_bytes_max, field, self.table_bytes_max);
        Err(DecodeError::Truncated)
    }
}
