//! The dynamic table (RFC 7541, section 2.3.2): fields in the order of their arrival, the oldest leave first.

use std::collections::VecDeque;

use super::FIELD_OVERHEAD_BYTES;

/// Bytes of fields that left are given back when there are this many of them, and more than of those that stay.
const GONE_BYTES_MIN: usize = 512;

/// A table of at most `size_max` bytes, an overhead of 32 for each field included.
///
/// All names and values stand one after the other in one buffer, so that each is one slice; what left is cut off the
/// front from time to time, which moves a byte once on average. Both lists grow as they are used: memory is at most
/// about four times the size, and none for a peer that indexes nothing.
#[derive(Debug)]
pub(super) struct DynamicTable {
    bytes: Vec<u8>,
    /// Where `bytes` begins in all that was ever inserted, modulo 2^32.
    base: u32,
    /// The newest is last.
    entries: VecDeque<Entry>,
    size: usize,
    size_max: usize,
    /// How many were ever inserted, modulo 2^32.
    inserted: u32,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// In all that was ever inserted, modulo 2^32.
    start: u32,
    name_len: u32,
    value_len: u32,
}

/// Where an inserted field's name comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Name<'a> {
    /// As it stands.
    Exact(&'a [u8]),
    /// In lower case.
    Lower(&'a [u8]),
    /// That of a field of the table, which may leave for the new one (section 4.4).
    OfField(usize),
}

impl DynamicTable {
    pub(super) fn new(size_max: u32) -> Self {
        Self { bytes: Vec::new(), base: 0, entries: VecDeque::new(), size: 0, size_max: size_max as usize, inserted: 0 }
    }

    pub(super) fn size_max(&self) -> usize {
        self.size_max
    }

    /// A table that has taken `number` fields and bytes already.
    #[cfg(test)]
    pub(super) fn starting_at(size_max: u32, number: u32) -> Self {
        Self { base: number, inserted: number, ..Self::new(size_max) }
    }

    /// Bytes of all fields, with their overhead.
    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Bytes of memory behind names and values.
    #[cfg(test)]
    pub(super) fn buffer_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// How many were ever inserted, modulo 2^32: the number that the next one gets.
    pub(super) fn inserted(&self) -> u32 {
        self.inserted
    }

    /// The place of what was inserted as number `number`, which is beyond the last where it is gone.
    #[inline]
    pub(super) fn place_of(&self, number: u32) -> usize {
        self.inserted.wrapping_sub(1).wrapping_sub(number) as usize
    }

    /// Whether the table still has what was inserted as number `number`.
    pub(super) fn has(&self, number: u32) -> bool {
        self.place_of(number) < self.entries.len()
    }

    /// Lets fields go until no more than `size_max` bytes are left (section 4.3).
    pub(super) fn set_size_max(&mut self, size_max: u32) {
        self.size_max = size_max as usize;
        self.make_room(0);
        self.give_back();
    }

    /// The field at a place; the newest is at 0.
    #[inline]
    pub(super) fn get(&self, place: usize) -> Option<(&[u8], &[u8])> {
        let entry = self.entry(place)?;
        let start = entry.start.wrapping_sub(self.base) as usize;
        self.bytes
            .get(start..)?
            .get(..(entry.name_len + entry.value_len) as usize)?
            .split_at_checked(entry.name_len as usize)
    }

    #[inline]
    fn entry(&self, place: usize) -> Option<&Entry> {
        self.entries.get(self.entries.len().checked_sub(place)?.checked_sub(1)?)
    }

    /// Inserts a field, for which the oldest leave; one that is larger than the table leaves it empty (section 4.4).
    pub(super) fn insert(&mut self, name: Name<'_>, value: &[u8]) {
        let named = match name {
            Name::Exact(name) | Name::Lower(name) => Some((0, name.len())),
            Name::OfField(place) => {
                self.entry(place).map(|entry| (entry.start.wrapping_sub(self.base) as usize, entry.name_len as usize))
            }
        };
        let Some((name_start, name_len)) = named else { return };
        let size = name_len.saturating_add(value.len()).saturating_add(FIELD_OVERHEAD_BYTES);
        if self.make_room(size) {
            let at = self.bytes.len();
            match name {
                Name::Exact(name) => self.bytes.extend_from_slice(name),
                Name::Lower(name) => {
                    self.bytes.extend_from_slice(name);
                    self.bytes.get_mut(at..).unwrap_or_default().make_ascii_lowercase();
                }
                // Its bytes are still there, even if it just left.
                Name::OfField(_) => self.bytes.extend_from_within(name_start..name_start + name_len),
            }
            self.bytes.extend_from_slice(value);
            let start = self.base.wrapping_add(at as u32);
            self.entries.push_back(Entry { start, name_len: name_len as u32, value_len: value.len() as u32 });
            self.size += size;
            self.inserted = self.inserted.wrapping_add(1);
        }
        self.give_back();
    }

    /// Whether there is room for `size` now.
    fn make_room(&mut self, size: usize) -> bool {
        while self.size.saturating_add(size) > self.size_max {
            let Some(gone) = self.entries.pop_front() else { return false };
            self.size -= (gone.name_len + gone.value_len) as usize + FIELD_OVERHEAD_BYTES;
        }
        true
    }

    fn give_back(&mut self) {
        let Some(oldest) = self.entries.front() else {
            self.bytes.clear();
            return;
        };
        let gone = oldest.start.wrapping_sub(self.base) as usize;
        if gone >= GONE_BYTES_MIN && gone * 2 >= self.bytes.len() {
            self.bytes.copy_within(gone.., 0);
            self.bytes.truncate(self.bytes.len() - gone);
            self.base = oldest.start;
        }
    }
}
