//! Which fields an encoder has seen, and which of them are in its table.

/// Sets of slots; a power of two.
const SETS: usize = 32;
/// What can be kept of fields whose hashes choose the same set.
const SET_SLOTS: usize = 4;
/// The number of a field that was seen and not inserted. If a table ever comes to this number, comparing tells.
const NOT_INSERTED: u32 = u32::MAX;

/// A memory of the hashes of 128 fields, 1 KiB once the first came.
///
/// A set that is full forgets, so that there is nothing to grow and no chain to search: fields that somebody made to
/// collide are sent as literals, which is all that they can do.
#[derive(Debug, Default)]
pub(super) struct Sightings {
    sets: Vec<[Slot; SET_SLOTS]>,
    /// Which slot of a full set is the next to be used anew: all take turns, so that one sighting does not wipe out the
    /// one before.
    turn: usize,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The upper half of the hash.
    tag: u32,
    /// What the table numbered the field.
    number: u32,
}

/// A field that was not found in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sighting {
    /// It was not seen lately.
    First,
    /// It was, and is worth a place in the table.
    Again,
}

impl Sightings {
    /// The numbers of the fields that may be this one, by its hash.
    #[inline]
    pub(super) fn numbers(&self, hash: u64) -> impl Iterator<Item = u32> + '_ {
        let set = self.sets.get(set_of(hash)).map(<[Slot; SET_SLOTS]>::as_slice).unwrap_or_default();
        set.iter().filter(move |slot| slot.tag == tag_of(hash)).map(|slot| slot.number)
    }

    /// Takes note of a field that is not in the table; `is_kept` tells of a number whether the table still has it.
    pub(super) fn note(&mut self, hash: u64, is_kept: impl Fn(u32) -> bool) -> Sighting {
        if self.sets.is_empty() {
            self.sets = vec![[Slot { tag: 0, number: NOT_INSERTED }; SET_SLOTS]; SETS];
        }
        let tag = tag_of(hash);
        let Some(set) = self.sets.get_mut(set_of(hash)) else { return Sighting::First };
        if set.iter().any(|slot| slot.tag == tag) {
            return Sighting::Again;
        }
        self.turn = (self.turn + 1) % SET_SLOTS;
        let turns = || (self.turn..self.turn + SET_SLOTS).map(|at| at % SET_SLOTS);
        let is_seen_only = |at: usize| set.get(at).is_some_and(|slot| slot.tag != 0 && slot.number == NOT_INSERTED);
        let is_unused = |at: usize| set.get(at).is_some_and(|slot| !is_kept(slot.number)) && !is_seen_only(at);
        let free = turns().find(|&at| is_unused(at)).or_else(|| turns().find(|&at| is_seen_only(at)));
        if let Some(slot) = free.and_then(|at| set.get_mut(at)) {
            *slot = Slot { tag, number: NOT_INSERTED };
        }
        Sighting::First
    }

    /// Remembers the number of a field that was seen again.
    pub(super) fn insert(&mut self, hash: u64, number: u32) {
        let set = self.sets.get_mut(set_of(hash)).map(<[Slot; SET_SLOTS]>::as_mut_slice).unwrap_or_default();
        if let Some(slot) = set.iter_mut().find(|slot| slot.tag == tag_of(hash)) {
            slot.number = number;
        }
    }
}

#[inline]
fn set_of(hash: u64) -> usize {
    (hash >> 13) as usize % SETS
}

#[inline]
fn tag_of(hash: u64) -> u32 {
    (hash >> 32) as u32
}
