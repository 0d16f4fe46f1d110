use std::collections::VecDeque;

use crate::memory::Slab;
use crate::ring::Receiver;
use crate::shared::{Shared, add};
use crate::sync::Arc;

/// Writes records into the slabs that the host has lent, one behind the other.
pub(crate) struct Out {
    empties: Receiver<Slab>,
    current: Option<Slab>,
    /// The current slab's number.
    number: u32,
    /// Where the next record begins.
    at: usize,
    /// Records about exchanges and connections that found no room: a few words for each of them, so they are as bounded
    /// as those are. They go out before anything else.
    late: VecDeque<Vec<u8>>,
    /// Whether something was written that is not published.
    dirty: bool,
}

/// A record under construction in a slab: words first, then bytes.
pub(crate) struct Draft<'a> {
    slab: &'a mut Slab,
    at: usize,
}

impl Draft<'_> {
    /// Writes one word of the record.
    #[inline]
    pub(crate) fn word(&mut self, value: u32) {
        self.slab.write(self.at, &value.to_le_bytes());
        self.at += 4;
    }

    /// Appends bytes.
    #[inline]
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.slab.write(self.at, bytes);
        self.at += bytes.len();
    }
}

impl Out {
    pub(crate) fn new(empties: Receiver<Slab>) -> Self {
        Self { empties, current: None, number: 0, at: 0, late: VecDeque::new(), dirty: false }
    }

    /// Bytes that a record may have now; 0 while the host has lent no memory, or while older records wait.
    pub(crate) fn room(&mut self, wanted: usize, shared: &Arc<Shared>) -> usize {
        if !self.late.is_empty() && !self.write_late(shared) {
            return 0;
        }
        self.slab_room(wanted, shared)
    }

    fn slab_room(&mut self, wanted: usize, shared: &Arc<Shared>) -> usize {
        let left = self.current.as_ref().map_or(0, |slab| slab.len().saturating_sub(self.at));
        if left >= wanted && left > 0 {
            return left;
        }
        let Some(next) = self.empties.pop() else { return left };
        if self.current.is_some() {
            shared.leave_slab(self.number, u32::try_from(self.at).unwrap_or(u32::MAX));
            self.number = self.number.wrapping_add(1);
        }
        self.at = 0;
        // What was written to the slab before is published with the first record of this one.
        let len = next.len();
        self.current = Some(next);
        len
    }

    /// Begins a record of `words` words in all (`words_len` of them before its bytes) where there is room for it; gives
    /// the byte offset of its bytes too. The caller has asked [`Out::room`] and writes exactly what it announces.
    pub(crate) fn begin(
        &mut self,
        kind: u32,
        flags: u32,
        words_len: usize,
        bytes_len: usize,
    ) -> Option<(Draft<'_>, u32)> {
        let bytes = words_len * 4 + bytes_len.next_multiple_of(4);
        let slab = self.current.as_mut()?;
        let at = self.at;
        if slab.len().saturating_sub(at) < bytes {
            return None;
        }
        self.at += bytes;
        self.dirty = true;
        let mut draft = Draft { slab, at };
        draft.word(kind | flags << 8);
        draft.word((bytes / 4) as u32);
        Some((draft, (at + words_len * 4) as u32))
    }

    /// Writes a record of a few words now, or as soon as there is room.
    pub(crate) fn note(&mut self, kind: u32, flags: u32, words: &[u32], bytes: &[u8], shared: &Arc<Shared>) {
        let len = (2 + words.len()) * 4 + bytes.len().next_multiple_of(4);
        if self.room(len, shared) >= len
            && let Some((mut draft, bytes_at)) = self.begin(kind, flags, 2 + words.len(), bytes.len())
        {
            words.iter().for_each(|&word| draft.word(if word == BYTES_AT { bytes_at } else { word }));
            draft.bytes(bytes);
            return;
        }
        let mut record = Vec::with_capacity(len);
        record.extend_from_slice(&(kind | flags << 8).to_le_bytes());
        record.extend_from_slice(&((len / 4) as u32).to_le_bytes());
        words.iter().for_each(|word| record.extend_from_slice(&word.to_le_bytes()));
        record.extend_from_slice(bytes);
        record.resize(len, 0);
        self.late.push_back(record);
    }

    /// Writes what found no room before; says whether all of it did now.
    fn write_late(&mut self, shared: &Arc<Shared>) -> bool {
        while let Some(record) = self.late.pop_front() {
            if self.slab_room(record.len(), shared) < record.len() {
                self.late.push_front(record);
                return false;
            }
            let bytes_at = self.at;
            let Some(slab) = &mut self.current else { return false };
            write_record(slab, bytes_at, &record);
            self.at += record.len();
            self.dirty = true;
        }
        true
    }

    /// Publishes what was written since the last time; says whether there was anything.
    pub(crate) fn publish(&mut self, shared: &Arc<Shared>) {
        if !self.late.is_empty() {
            self.write_late(shared);
        }
        if std::mem::take(&mut self.dirty) {
            add(&shared.counts.records, 1);
            shared.publish(self.number, u32::try_from(self.at).unwrap_or(u32::MAX));
        }
    }

    /// Lets go of all lent memory.
    pub(crate) fn detach(&mut self) {
        self.current = None;
        self.late.clear();
        self.dirty = false;
        while self.empties.pop().is_some() {}
    }
}

/// Stands in a note's words for the offset of its bytes.
pub(crate) const BYTES_AT: u32 = u32::MAX - 1;

/// Copies a record that was kept, with the offset of its bytes filled in.
fn write_record(slab: &mut Slab, at: usize, record: &[u8]) {
    slab.write(at, record);
    for (index, word) in record.chunks_exact(4).enumerate().skip(2).take(NOTE_WORDS_MAX) {
        if word == BYTES_AT.to_le_bytes() {
            // The bytes are the last thing in a note, so their place follows from the word that tells their length.
            let words = note_words(record);
            slab.write(at + index * 4, &((at + words * 4) as u32).to_le_bytes());
            return;
        }
    }
}

/// Most words that a note has.
const NOTE_WORDS_MAX: usize = 13;

/// How many words a note has before its bytes, by its kind.
fn note_words(record: &[u8]) -> usize {
    use crate::record::to_script::{FAULT, OPEN};
    match record.first().map(|&kind| u32::from(kind)) {
        Some(OPEN) => 15,
        Some(FAULT) => 7,
        _ => 3,
    }
}
