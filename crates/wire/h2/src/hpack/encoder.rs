//! Fields become blocks.

use super::dynamic_table::{DynamicTable, Name};
use super::sightings::{Sighting, Sightings};
use super::{FIELD_OVERHEAD_BYTES, TABLE_BYTES_INITIAL, hash, integer, static_table};

/// How much of a peer's table is used, however much it offers: what repeats in replies is far less.
const TABLE_BYTES_MAX: u32 = TABLE_BYTES_INITIAL;
/// A field that would take more than this part of the table is not put there: it would push out too many others.
const TABLE_PART: usize = 4;
/// Names whose values nobody may keep in a table: authorization, cookie, proxy-authorization and set-cookie, by their
/// indices. A value that can be guessed could be found by whoever else uses the connection and sees the sizes of
/// blocks (RFC 7541, section 7.1).
const SECRET: [usize; 4] = [23, 32, 49, 55];
const STATUS: usize = 8;

const INDEXED: u8 = 0x80;
const INSERTED: u8 = 0x40;
const UPDATE: u8 = 0x20;
const NEVER_INDEXED: u8 = 0x10;
const NOT_INDEXED: u8 = 0;

/// The sending side of a connection's fields.
///
/// What to put into the table is not decided by name: a field goes there when it is seen a second time. So what is the
/// same in each reply (content-type, server, vary, even a content-length, and the date for its second) costs one byte
/// from its third time on, and what differs each time (an etag, an identifier) never pushes out anything.
///
/// Strings go out as they are, without Huffman's code: see docs/design/hpack.md.
///
/// Blocks must be sent in the order in which they were made, each whole, since the peer's table follows them.
#[derive(Debug)]
pub struct Encoder {
    table: DynamicTable,
    sightings: Sightings,
    /// Set between blocks: what the next one begins with.
    update: Option<Update>,
}

/// Sizes of the table that the peer must hear of (RFC 7541, section 4.2).
#[derive(Clone, Copy, Debug)]
struct Update {
    smallest: u32,
    last: u32,
}

impl Default for Encoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Encoder {
    /// An encoder for a peer whose table has the initial size.
    ///
    /// Memory: 1 KiB with the first field, and up to about 16 KiB as fields repeat.
    pub fn new() -> Self {
        Self { table: DynamicTable::new(TABLE_BYTES_MAX), sightings: Sightings::default(), update: None }
    }

    /// Takes over the peer's SETTINGS_HEADER_TABLE_SIZE, of which no more than 4,096 bytes are used.
    ///
    /// Call it between blocks only: the next field begins with telling the peer so.
    pub fn set_table_bytes_max(&mut self, table_bytes_max: u32) {
        let last = table_bytes_max.min(TABLE_BYTES_MAX);
        if last as usize != self.table.size_max() {
            let smallest = self.update.map_or(last, |update| update.smallest.min(last));
            self.update = Some(Update { smallest, last });
            self.table.set_size_max(last);
        }
    }

    /// Appends `:status`, a number of three digits, with which a reply's block begins.
    pub fn status(&mut self, out: &mut Vec<u8>, status: u16) {
        let offset = match status {
            200 => 0,
            204 => 1,
            206 => 2,
            304 => 3,
            400 => 4,
            404 => 5,
            500 => 6,
            _ => {
                let digit = |unit: u16| b'0' + (status / unit % 10) as u8;
                return self.field(out, b":status", &[digit(100), digit(10), digit(1)]);
            }
        };
        self.begin(out);
        out.push(INDEXED | (STATUS + offset) as u8);
    }

    /// Appends a pseudo-header field of a request, as [`field`](Self::field) does; those that most requests have take no look-up.
    #[inline]
    pub fn pseudo(&mut self, out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
        let index = match (name, value) {
            (b":method", b"GET") => 2,
            (b":method", b"POST") => 3,
            (b":scheme", b"http") => 6,
            (b":scheme", b"https") => 7,
            _ => return self.field(out, name, value),
        };
        self.begin(out);
        out.push(INDEXED | index);
    }

    /// Appends a field; its name's letters become lower case (RFC 9113, section 8.2.1). What a name and a value may
    /// consist of is the caller's to see to.
    ///
    /// Cost: for a field of the table two hashes and a comparison. The first field that comes, and those that are put
    /// into the table, may allocate.
    #[inline]
    pub fn field(&mut self, out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
        self.begin(out);
        let name_hash = hash::of_name(name);
        // What could not be in the table need not be hashed.
        if !self.is_worth_keeping(name, value) {
            return self.literal(out, name, name_hash, value);
        }
        let field_hash = hash::of_field(name_hash, value);
        for number in self.sightings.numbers(field_hash) {
            let place = self.table.place_of(number);
            let Some((kept_name, kept_value)) = self.table.get(place) else { continue };
            if kept_value == value && hash::is_lower_of(kept_name, name) {
                return integer::encode(out, INDEXED, 7, static_table::LEN + 1 + place);
            }
        }
        self.unknown(out, name, name_hash, value, field_hash);
    }

    /// Appends a field that nobody on the way may keep in a table (RFC 7541, section 6.2.3), as
    /// [`field`](Self::field) does with credentials and cookies of its own accord.
    pub fn secret(&mut self, out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
        self.begin(out);
        let index = static_table::index_of_name(name, hash::of_name(name));
        literal(out, NEVER_INDEXED, 4, index, name, value);
    }

    #[inline]
    fn begin(&mut self, out: &mut Vec<u8>) {
        if self.update.is_some() {
            self.tell_update(out);
        }
    }

    #[cold]
    fn tell_update(&mut self, out: &mut Vec<u8>) {
        let Some(update) = self.update.take() else { return };
        if update.smallest < update.last {
            integer::encode(out, UPDATE, 5, update.smallest as usize);
        }
        integer::encode(out, UPDATE, 5, update.last as usize);
    }

    #[inline]
    fn is_worth_keeping(&self, name: &[u8], value: &[u8]) -> bool {
        name.len() + value.len() + FIELD_OVERHEAD_BYTES <= self.table.size_max() / TABLE_PART
    }

    /// A field that is in neither table as far as is known.
    fn unknown(&mut self, out: &mut Vec<u8>, name: &[u8], name_hash: u64, value: &[u8], field_hash: u64) {
        let index = static_table::index_of_name(name, name_hash);
        if let Some(whole) = index.and_then(|index| static_table::index_of_field(index, value)) {
            return integer::encode(out, INDEXED, 7, whole);
        }
        if index.is_some_and(|index| SECRET.contains(&index)) {
            return literal(out, NEVER_INDEXED, 4, index, name, value);
        }
        let table = &self.table;
        match self.sightings.note(field_hash, |number| table.has(number)) {
            Sighting::First => literal(out, NOT_INDEXED, 4, index, name, value),
            Sighting::Again => {
                literal(out, INSERTED, 6, index, name, value);
                self.sightings.insert(field_hash, self.table.inserted());
                self.table.insert(Name::Lower(name), value);
            }
        }
    }

    /// A field that is too large for the table.
    #[cold]
    fn literal(&mut self, out: &mut Vec<u8>, name: &[u8], name_hash: u64, value: &[u8]) {
        let index = static_table::index_of_name(name, name_hash);
        let is_secret = index.is_some_and(|index| SECRET.contains(&index));
        literal(out, if is_secret { NEVER_INDEXED } else { NOT_INDEXED }, 4, index, name, value);
    }
}

/// A literal field (section 6.2), its name by its index where it has one.
fn literal(out: &mut Vec<u8>, pattern: u8, prefix_bits: u32, index: Option<usize>, name: &[u8], value: &[u8]) {
    integer::encode(out, pattern, prefix_bits, index.unwrap_or(0));
    if index.is_none() {
        integer::encode(out, 0, 7, name.len());
        let at = out.len();
        out.extend_from_slice(name);
        out.get_mut(at..).unwrap_or_default().make_ascii_lowercase();
    }
    integer::encode(out, 0, 7, value.len());
    out.extend_from_slice(value);
}
