//! Blocks become fields.

use super::dynamic_table::{DynamicTable, Name};
use super::{FIELD_OVERHEAD_BYTES, TABLE_BYTES_INITIAL, huffman, integer, static_table};

/// Decoded strings of a block are kept no longer than the block where they took more than this.
const SCRATCH_KEPT_BYTES_MAX: usize = 4_096;

/// Whether a field may be kept in a table by those who pass it on (RFC 7541, section 7.1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sensitivity {
    /// It may.
    Open,
    /// It may not, and stays so on the next hop: see [`Encoder::secret`](super::Encoder::secret).
    NeverIndexed,
}

/// Why a block is refused. All but [`ListTooLong`](Self::ListTooLong) are COMPRESSION_ERROR for the whole connection
/// (RFC 9113, section 4.3): afterwards the tables are not the same.
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
    table: DynamicTable,
    /// The setting: no update may go beyond.
    table_bytes_max: u32,
    /// The peer's table is larger than the setting that it knows of, so its next block begins with an update.
    is_update_owed: bool,
    /// Strings that came Huffman-coded, of one field.
    scratch: Vec<u8>,
}

/// A string of a field, before its field is told.
#[derive(Clone, Copy)]
enum Text<'a> {
    Plain(&'a [u8]),
    /// The bytes of the scratch from the first place to the second.
    Decoded(usize, usize),
}

impl<'a> Text<'a> {
    fn of<'b>(self, scratch: &'b [u8]) -> &'b [u8]
    where
        'a: 'b,
    {
        match self {
            Text::Plain(bytes) => bytes,
            Text::Decoded(start, end) => scratch.get(start..end).unwrap_or_default(),
        }
    }
}

/// What the fields of a list have taken, and who is told of them.
struct List<'f, F> {
    bytes: usize,
    bytes_max: usize,
    field: &'f mut F,
}

impl<F: FnMut(&[u8], &[u8], Sensitivity)> List<'_, F> {
    #[inline]
    fn add(&mut self, name: &[u8], value: &[u8], sensitivity: Sensitivity) {
        self.bytes = self.bytes.saturating_add(name.len() + value.len() + FIELD_OVERHEAD_BYTES);
        if self.bytes <= self.bytes_max {
            (self.field)(name, value, sensitivity);
        }
    }
}

impl Decoder {
    /// A decoder whose peer may use a table of `table_bytes_max` bytes, our SETTINGS_HEADER_TABLE_SIZE.
    ///
    /// Below [`TABLE_BYTES_INITIAL`] the peer may use that much until it has acknowledged the setting: give
    /// `TABLE_BYTES_INITIAL` here then, and the setting to [`set_table_bytes_max`](Self::set_table_bytes_max).
    /// Memory: none before the peer indexes a field, then at most about four times the table.
    pub fn new(table_bytes_max: u32) -> Self {
        Self {
            table: DynamicTable::new(TABLE_BYTES_INITIAL.min(table_bytes_max)),
            table_bytes_max,
            is_update_owed: false,
            scratch: Vec::new(),
        }
    }

    /// Makes a setting count that the peer has acknowledged. A peer whose table is larger owes an update with its next
    /// block (RFC 7541, section 4.2).
    pub fn set_table_bytes_max(&mut self, table_bytes_max: u32) {
        self.table_bytes_max = table_bytes_max;
        self.is_update_owed = self.table.size_max() > table_bytes_max as usize;
    }

    #[cfg(test)]
    pub(super) fn table(&self) -> &DynamicTable {
        &self.table
    }

    /// Decodes a whole block (HEADERS and its CONTINUATIONs, joined) and tells `field` of each field in order.
    ///
    /// Names and values are as the peer sent them: neither their characters nor their order are checked here. They are
    /// lent for the call, and not copied but for Huffman's sake. No field is told of once all together take more than
    /// `list_bytes_max` (name, value and 32 each, as SETTINGS_MAX_HEADER_LIST_SIZE counts); the block is then decoded to
    /// its end, so that the table stays in step. Work is bounded by the block's length. No allocation in the steady state.
    ///
    /// # Errors
    /// [`DecodeError::ListTooLong`] refuses this list; every other error ends the connection. Fields that came before
    /// have been told.
    pub fn decode(
        &mut self,
        block: &[u8],
        list_bytes_max: usize,
        field: &mut impl FnMut(&[u8], &[u8], Sensitivity),
    ) -> Result<(), DecodeError> {
        let mut list = List { bytes: 0, bytes_max: list_bytes_max, field };
        let mut rest = self.updates(block)?;
        while let Some(&first) = rest.first() {
            rest = if first & 0x80 != 0 {
                self.indexed(rest, &mut list)?
            } else if first & 0x40 != 0 {
                self.inserted(rest, &mut list)?
            } else if first & 0x20 == 0 {
                let sensitivity = if first & 0x10 == 0 { Sensitivity::Open } else { Sensitivity::NeverIndexed };
                self.passing(rest, sensitivity, &mut list)?
            } else {
                return Err(DecodeError::TableSize);
            };
        }
        if self.scratch.capacity() > SCRATCH_KEPT_BYTES_MAX {
            self.scratch = Vec::new();
        }
        if list.bytes <= list_bytes_max { Ok(()) } else { Err(DecodeError::ListTooLong) }
    }

    /// Table size updates, which stand before the first field (sections 4.2 and 6.3).
    fn updates<'b>(&mut self, mut rest: &'b [u8]) -> Result<&'b [u8], DecodeError> {
        while let Some(0x20..=0x3f) = rest.first() {
            let (size_max, after) = integer::decode(rest, 5)?;
            if size_max > self.table_bytes_max {
                return Err(DecodeError::TableSize);
            }
            self.table.set_size_max(size_max);
            self.is_update_owed = false;
            rest = after;
        }
        if self.is_update_owed && !rest.is_empty() { Err(DecodeError::TableSize) } else { Ok(rest) }
    }

    /// An indexed field (section 6.1).
    #[inline]
    fn indexed<'b, F: FnMut(&[u8], &[u8], Sensitivity)>(
        &self,
        rest: &'b [u8],
        list: &mut List<'_, F>,
    ) -> Result<&'b [u8], DecodeError> {
        let (index, rest) = integer::decode(rest, 7)?;
        let (name, value) = self.at(index)?;
        list.add(name, value, Sensitivity::Open);
        Ok(rest)
    }

    /// A literal field that becomes the newest of the table (section 6.2.1).
    fn inserted<'b, F: FnMut(&[u8], &[u8], Sensitivity)>(
        &mut self,
        rest: &'b [u8],
        list: &mut List<'_, F>,
    ) -> Result<&'b [u8], DecodeError> {
        let (index, rest) = integer::decode(rest, 6)?;
        self.scratch.clear();
        if index == 0 {
            let (name, rest) = self.text(rest)?;
            let (value, rest) = self.text(rest)?;
            let (name, value) = (name.of(&self.scratch), value.of(&self.scratch));
            list.add(name, value, Sensitivity::Open);
            self.table.insert(Name::Exact(name), value);
            return Ok(rest);
        }
        let (value, rest) = self.text(rest)?;
        let (name, value) = (self.at(index)?.0, value.of(&self.scratch));
        list.add(name, value, Sensitivity::Open);
        let place = (index as usize).wrapping_sub(static_table::LEN + 1);
        match static_table::get(index as usize) {
            Some((name, _)) => self.table.insert(Name::Exact(name), value),
            None => self.table.insert(Name::OfField(place), value),
        }
        Ok(rest)
    }

    /// A literal field that leaves the table as it is (sections 6.2.2 and 6.2.3).
    fn passing<'b, F: FnMut(&[u8], &[u8], Sensitivity)>(
        &mut self,
        rest: &'b [u8],
        sensitivity: Sensitivity,
        list: &mut List<'_, F>,
    ) -> Result<&'b [u8], DecodeError> {
        let (index, rest) = integer::decode(rest, 4)?;
        self.scratch.clear();
        let (name, rest) = if index == 0 { self.text(rest)? } else { (Text::Plain(&[]), rest) };
        let (value, rest) = self.text(rest)?;
        let name = if index == 0 { name.of(&self.scratch) } else { self.at(index)?.0 };
        list.add(name, value.of(&self.scratch), sensitivity);
        Ok(rest)
    }

    /// The field of an index of either table (section 2.3.3); index 0 is none.
    #[inline]
    fn at(&self, index: u32) -> Result<(&[u8], &[u8]), DecodeError> {
        let place = (index as usize).wrapping_sub(static_table::LEN + 1);
        static_table::get(index as usize).or_else(|| self.table.get(place)).ok_or(DecodeError::Index)
    }

    /// A string (section 5.2).
    fn text<'b>(&mut self, rest: &'b [u8]) -> Result<(Text<'b>, &'b [u8]), DecodeError> {
        let is_coded = rest.first().is_some_and(|first| first & 0x80 != 0);
        let (len, rest) = integer::decode(rest, 7)?;
        let (bytes, rest) = rest.split_at_checked(len as usize).ok_or(DecodeError::Truncated)?;
        if !is_coded {
            return Ok((Text::Plain(bytes), rest));
        }
        let start = self.scratch.len();
        huffman::decode(bytes, &mut self.scratch)?;
        Ok((Text::Decoded(start, self.scratch.len()), rest))
    }
}
