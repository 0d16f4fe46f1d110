use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use leat_rpc_wire::{Metadata, Status};

use super::{Begun, Entry, Frame, Way};

/// How much a journal keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalLimits {
    /// Calls.
    pub entries_max: usize,
    /// Bytes, of all of them together.
    pub bytes_max: usize,
}

impl Default for JournalLimits {
    /// Ten thousand calls and 16 MiB: what a run of tests makes, and less than a page of a browser.
    fn default() -> Self {
        Self { entries_max: 10_000, bytes_max: 16 * 1024 * 1024 }
    }
}

/// What a journal holds, and what it does not hold any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JournalStats {
    /// Calls in it.
    pub entries: usize,
    /// Bytes that they take, about.
    pub bytes: usize,
    /// Calls that were dropped for later ones, since the last reset.
    pub dropped: u64,
    /// Frames that came when their call had been dropped, or that its call had no room for, since the last reset.
    pub frames_dropped: u64,
}

/// The last calls of a mock, of all cores. The oldest go when there is no more room; how many is counted.
///
/// A call costs one or two turns of a lock and a copy of its messages: a mock keeps a journal only where somebody can read it.
#[derive(Debug)]
pub struct Journal {
    limits: JournalLimits,
    ring: Mutex<Ring>,
}

#[derive(Debug, Default)]
struct Ring {
    /// The number of the next call; numbers go on over resets.
    next: u64,
    /// In the order of their numbers, which may have gaps behind a reset of a session.
    entries: VecDeque<Entry>,
    bytes: usize,
    dropped: u64,
    frames_dropped: u64,
}

impl Journal {
    /// An empty journal.
    pub fn new(limits: JournalLimits) -> Self {
        Self { limits, ring: Mutex::default() }
    }

    /// The longest message that is kept, in bytes: a quarter of the journal, so that none empties it.
    pub fn message_bytes_max(&self) -> usize {
        self.limits.bytes_max / 4
    }

    /// Notes a call that is whole. One turn of the lock.
    pub fn add(&self, begun: Begun, frames: Vec<Frame>, status: Status, trailers: Metadata, took_us: u64) -> u64 {
        let frames_bytes = frames.iter().map(Frame::cost).sum();
        let mut entry = Entry {
            number: 0,
            begun,
            frames,
            ended: Some((status, took_us)),
            trailers,
            frames_dropped: 0,
            frames_bytes,
        };
        let cost = entry.cost();
        let mut ring = self.ring();
        entry.number = ring.next;
        ring.push(entry, cost, self.limits)
    }

    /// Notes a call that begins; its number.
    pub fn begin(&self, begun: Begun) -> u64 {
        let mut entry = Entry {
            number: 0,
            begun,
            frames: Vec::new(),
            ended: None,
            trailers: Metadata::new(),
            frames_dropped: 0,
            frames_bytes: 0,
        };
        let cost = entry.cost();
        let mut ring = self.ring();
        entry.number = ring.next;
        ring.push(entry, cost, self.limits)
    }

    /// Notes a message of a call that is under way. A call keeps at most half of the journal's bytes.
    pub fn frame(&self, number: u64, frame: Frame) {
        let cost = frame.cost();
        let mut ring = self.ring();
        let bytes_max = self.limits.bytes_max;
        match ring.entry(number) {
            Some(entry) if entry.cost() + cost <= bytes_max / 2 => {
                entry.frames.push(frame);
                entry.frames_bytes += cost;
                ring.bytes += cost;
                ring.make_room(self.limits);
            }
            entry => {
                if let Some(entry) = entry
                    && frame.way == Way::In
                {
                    entry.frames_dropped += 1;
                }
                ring.frames_dropped += 1;
            }
        }
    }

    /// Notes what a call comes to be answered by, once its first message is known.
    pub fn matched(&self, number: u64, rule: Result<std::sync::Arc<str>, super::Unmatched>) {
        let mut ring = self.ring();
        if let Some(entry) = ring.entry(number) {
            let before = entry.cost();
            entry.begun.rule = rule;
            let after = entry.cost();
            ring.bytes = (ring.bytes + after).saturating_sub(before);
        }
    }

    /// Notes how a call ended.
    pub fn end(&self, number: u64, status: Status, trailers: Metadata, took_us: u64) {
        let mut ring = self.ring();
        if let Some(entry) = ring.entry(number) {
            let before = entry.cost();
            entry.ended = Some((status, took_us));
            entry.trailers = trailers;
            let after = entry.cost();
            ring.bytes = (ring.bytes + after).saturating_sub(before);
            ring.make_room(self.limits);
        }
    }

    /// Looks at the calls from number `from` on, in order, until `look` says `false`. The journal is locked meanwhile.
    pub fn each(&self, from: u64, mut look: impl FnMut(&Entry) -> bool) {
        let ring = self.ring();
        let start = ring.entries.partition_point(|entry| entry.number < from);
        for entry in ring.entries.range(start..) {
            if !look(entry) {
                break;
            }
        }
    }

    /// The calls that `wanted` takes, copied (messages are shared): to be looked at without the lock.
    pub fn copy(&self, wanted: impl Fn(&Entry) -> bool) -> Vec<Entry> {
        self.ring().entries.iter().filter(|entry| wanted(entry)).cloned().collect()
    }

    /// Forgets all calls, or those of one session; says how many. Numbers go on.
    pub fn reset(&self, session: Option<&str>) -> usize {
        let mut ring = self.ring();
        let before = ring.entries.len();
        match session {
            None => {
                ring.entries.clear();
                (ring.dropped, ring.frames_dropped) = (0, 0);
            }
            Some(session) => ring.entries.retain(|entry| &*entry.begun.session != session),
        }
        ring.bytes = ring.entries.iter().map(Entry::cost).sum();
        before - ring.entries.len()
    }

    /// What it holds.
    pub fn stats(&self) -> JournalStats {
        let ring = self.ring();
        JournalStats {
            entries: ring.entries.len(),
            bytes: ring.bytes,
            dropped: ring.dropped,
            frames_dropped: ring.frames_dropped,
        }
    }

    /// A core that panicked leaves the ring whole: every change is one step.
    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
    fn push(&mut self, entry: Entry, cost: usize, limits: JournalLimits) -> u64 {
        let number = self.next;
        self.next += 1;
        self.bytes += cost;
        self.entries.push_back(entry);
        self.make_room(limits);
        number
    }

    fn entry(&mut self, number: u64) -> Option<&mut Entry> {
        let at = self.entries.binary_search_by_key(&number, |entry| entry.number).ok()?;
        self.entries.get_mut(at)
    }

    fn make_room(&mut self, limits: JournalLimits) {
        while self.entries.len() > limits.entries_max || self.bytes > limits.bytes_max {
            let Some(gone) = self.entries.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(gone.cost());
            self.dropped += 1;
        }
    }
}

impl Entry {
    /// The messages of one way, in order.
    pub fn messages(&self, way: Way) -> impl Iterator<Item = &Frame> {
        self.frames.iter().filter(move |frame| frame.way == way)
    }
}
