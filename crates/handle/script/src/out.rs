use std::collections::VecDeque;

use crate::memory::Slab;
use crate::record::to_script;
use crate::ring::Receiver;
use crate::shared::{Shared, add};
use crate::sync::Arc;

/// Writes records into the slabs that the host has lent, one behind the other.
pub(crate) struct Out {
    empties: Receiver<Slab>,
    /// Memory for long pieces of bodies.
    bodies: Receiver<Slab>,
    /// The number of the next of them.
    body_number: u32,
    /// One that was taken and not used.
    unused_body: Option<(Slab, u32)>,
    current: Option<Slab>,
    /// The current slab's number.
    number: u32,
    /// Where the next record begins.
    at: usize,
    /// Records about exchanges and connections that found no room: a few words for each of them, so they are as bounded
    /// as those are. They go out before anything else.
    late: VecDeque<Late>,
    /// Records that were written and are not published, and their bytes.
    records: u64,
    bytes: u64,
}

/// Where a record is written to.
pub(crate) trait Sink {
    /// Writes one word of the record.
    fn word(&mut self, value: u32);
    /// Appends bytes.
    fn bytes(&mut self, bytes: &[u8]);
}

/// A record that is put together before it goes out in parts.
impl Sink for Vec<u8> {
    fn word(&mut self, value: u32) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// A record under construction in a slab: words first, then bytes.
pub(crate) struct Draft<'a> {
    slab: &'a mut Slab,
    at: usize,
}

impl Sink for Draft<'_> {
    #[inline]
    fn word(&mut self, value: u32) {
        self.slab.write(self.at, &value.to_le_bytes());
        self.at += 4;
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        self.slab.write(self.at, bytes);
        self.at += bytes.len();
    }
}

impl Out {
    pub(crate) fn new(empties: Receiver<Slab>, bodies: Receiver<Slab>) -> Self {
        Self {
            empties,
            bodies,
            body_number: 0,
            unused_body: None,
            current: None,
            number: 0,
            at: 0,
            late: VecDeque::new(),
            records: 0,
            bytes: 0,
        }
    }

    /// Bytes that a record may have now; 0 while the host has lent no memory, or while older records wait.
    pub(crate) fn room(&mut self, wanted: usize, shared: &Arc<Shared>) -> usize {
        if !self.late.is_empty() && !self.write_late(shared) {
            return 0;
        }
        self.slab_room(wanted, shared)
    }

    /// Whether a record that waits may have room now: the rest of the slab is worth a try, or there is another one.
    pub(crate) fn may_have_room(&mut self, wanted: usize, shared: &Arc<Shared>) -> bool {
        self.room(wanted, shared) >= wanted || !self.empties.is_empty()
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

    /// Begins a record of `words_len` words and `bytes_len` bytes behind them; `None` where there is no room for it. Gives
    /// the offset of its bytes too. The caller has asked [`Out::room`] and writes exactly what it announces.
    pub(crate) fn begin(
        &mut self,
        kind: u32,
        flags: u32,
        words_len: usize,
        bytes_len: usize,
    ) -> Option<(Draft<'_>, u32)> {
        let len = record_bytes(words_len, bytes_len);
        let slab = self.current.as_mut()?;
        let at = self.at;
        if slab.len().saturating_sub(at) < len {
            return None;
        }
        self.at += len;
        self.records += 1;
        self.bytes += len as u64;
        let mut draft = Draft { slab, at };
        draft.word(kind | flags << 8);
        draft.word((len / 4) as u32);
        Some((draft, (at + words_len * 4) as u32))
    }

    /// Writes a record of a few words now, or as soon as there is room. Where it has bytes, the word that is to tell their
    /// offset is filled in here.
    pub(crate) fn note(&mut self, kind: u32, flags: u32, words: &[u32], bytes: &[u8], shared: &Arc<Shared>) {
        let len = record_bytes(2 + words.len(), bytes.len());
        let offset_at = offset_word(kind);
        if self.room(len, shared) >= len
            && let Some((mut draft, bytes_at)) = self.begin(kind, flags, 2 + words.len(), bytes.len())
        {
            for (index, &word) in words.iter().enumerate() {
                draft.word(if offset_at == Some(index + 2) { bytes_at } else { word });
            }
            draft.bytes(bytes);
            return;
        }
        let mut record = Vec::with_capacity(len);
        record.extend_from_slice(&(kind | flags << 8).to_le_bytes());
        record.extend_from_slice(&((len / 4) as u32).to_le_bytes());
        words.iter().for_each(|word| record.extend_from_slice(&word.to_le_bytes()));
        record.extend_from_slice(bytes);
        record.resize(len, 0);
        self.late.push_back(Late { record, offset: offset_at.map(|word| (word * 4, (2 + words.len()) * 4)) });
    }

    /// Writes what found no room before; says whether all of it did now.
    fn write_late(&mut self, shared: &Arc<Shared>) -> bool {
        while let Some(late) = self.late.pop_front() {
            let len = late.record.len();
            if self.slab_room(len, shared) < len {
                self.late.push_front(late);
                return false;
            }
            let at = self.at;
            let Some(slab) = &mut self.current else { return false };
            slab.write(at, &late.record);
            if let Some((word_at, bytes_at)) = late.offset {
                slab.write(at + word_at, &((at + bytes_at) as u32).to_le_bytes());
            }
            self.at += len;
            self.records += 1;
            self.bytes += len as u64;
        }
        true
    }

    /// Publishes what was written since the last time; says whether there was anything.
    pub(crate) fn publish(&mut self, shared: &Arc<Shared>) {
        if !self.late.is_empty() {
            self.write_late(shared);
        }
        if self.records > 0 {
            add(&shared.counts.records, std::mem::take(&mut self.records));
            add(&shared.counts.published_bytes, std::mem::take(&mut self.bytes));
            shared.publish(self.number, u32::try_from(self.at).unwrap_or(u32::MAX));
        }
    }

    /// Whether a record waits for room.
    #[cfg(all(test, feature = "loom"))]
    pub(crate) fn has_late(&self) -> bool {
        !self.late.is_empty()
    }

    /// The next slab for a long piece of a body, and its number.
    pub(crate) fn take_body(&mut self) -> Option<(Slab, u32)> {
        if let Some(unused) = self.unused_body.take() {
            return Some(unused);
        }
        let slab = self.bodies.pop()?;
        let number = self.body_number;
        self.body_number = number.wrapping_add(1);
        Some((slab, number))
    }

    /// Keeps a slab that was taken and not used for the next one who asks.
    pub(crate) fn put_body_back(&mut self, slab: Slab, number: u32) {
        self.unused_body = Some((slab, number));
    }

    /// Lets go of all lent memory.
    pub(crate) fn detach(&mut self) {
        self.current = None;
        self.unused_body = None;
        self.late.clear();
        (self.records, self.bytes) = (0, 0);
        while self.empties.pop().is_some() {}
        while self.bodies.pop().is_some() {}
    }
}

/// A record that waits for room.
struct Late {
    record: Vec<u8>,
    /// Where its word for the offset of its bytes is, and where these are: bytes from the record's start.
    offset: Option<(usize, usize)>,
}

/// Bytes of a record.
fn record_bytes(words_len: usize, bytes_len: usize) -> usize {
    words_len * 4 + bytes_len.next_multiple_of(4)
}

/// Which word of a note tells the offset of its bytes.
fn offset_word(kind: u32) -> Option<usize> {
    match kind {
        to_script::OPEN => Some(6),
        to_script::FAULT => Some(5),
        to_script::UNSHAKEN => Some(5),
        _ => None,
    }
}
