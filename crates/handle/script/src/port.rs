use std::collections::VecDeque;
use std::time::Duration;

use crate::batch::Batch;
use crate::call::{Destinations, Given};
use crate::memory::Slab;
use crate::record::{SLAB_BYTES, SLABS_MAX};
use crate::ring::{Receiver, Sender};
use crate::shared::{Counts, Shared, add};
use crate::sync::Arc;

/// After how long a host that ends, and still waits for the engine to let go of its memory, says so.
const LATE_TIME: Duration = Duration::from_secs(10);

/// The host's side of a lane. Belongs to the JavaScript thread.
pub struct Port {
    pub(crate) shared: Arc<Shared>,
    pub(crate) empties: Sender<Slab>,
    pub(crate) bodies: Sender<Slab>,
    pub(crate) replies: Sender<Batch>,
    pub(crate) recycled: Receiver<Batch>,
    pub(crate) destinations: Destinations,
    /// Destinations named so far.
    pub(crate) destinations_made: u32,
    /// Slabs lent so far.
    pub(crate) lent: u32,
    /// What is to be taken next: a slab's number and the first byte.
    pub(crate) taken: (u32, u32),
    /// Batches that found no place in the queue. Their bytes are what JavaScript has written beyond what it was told to
    /// wait for, as in a socket's own queue on Node.
    pub(crate) waiting: VecDeque<Batch>,
    /// Whether the host was woken and has not ended that turn.
    pub(crate) in_turn: bool,
}

/// A part of a slab that was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// The slab's number, counted from 0 in the order in which they were lent.
    pub slab: u32,
    /// First byte.
    pub from: u32,
    /// One past the last byte.
    pub to: u32,
}

impl Port {
    /// Lends a slab of at least [`SLAB_BYTES`]. Gives it back where it is smaller, or where [`SLABS_MAX`] are lent that
    /// were not taken to their end.
    ///
    /// # Errors
    /// The slab.
    pub fn supply(&mut self, slab: Slab) -> Result<(), Slab> {
        // Beyond that the engine would overwrite how far a slab was filled that is still to be taken.
        if self.lent.wrapping_sub(self.taken.0) as usize >= SLABS_MAX || slab.len() < SLAB_BYTES {
            return Err(slab);
        }
        self.empties.push(slab)?;
        self.lent = self.lent.wrapping_add(1);
        self.shared.ask_engine();
        Ok(())
    }

    /// Lends a slab for a long piece of a body; once a record tells that it was filled it belongs to JavaScript. Gives it
    /// back where as many as may be are lent already.
    ///
    /// # Errors
    /// The slab.
    pub fn supply_body(&mut self, slab: Slab) -> Result<(), Slab> {
        self.bodies.push(slab)
    }

    /// Names a place that calls may go to; gives its number. It is forgotten when its client is closed, by a record.
    pub fn name_destination(&mut self, given: Given) -> u32 {
        let number = self.destinations_made;
        self.destinations_made = number.wrapping_add(1);
        self.destinations.put(number, given);
        number
    }

    /// Begins the turn that a wake-up asked for; says how far everything was published now, to be given to
    /// [`Port::take`]. What comes later belongs to the next turn.
    pub fn begin_turn(&mut self) -> (u32, u32) {
        self.in_turn = true;
        self.shared.note_delay();
        self.shared.published()
    }

    /// The next part before `until`; `None` once all was taken. Copies nothing. A turn of which nothing was taken must be
    /// ended nevertheless.
    pub fn take(&mut self, until: (u32, u32)) -> Option<Published> {
        // Slabs are counted on without end; of two numbers the later one is less than half of them ahead.
        while until.0.wrapping_sub(self.taken.0) < u32::MAX / 2 {
            let (slab, from) = self.taken;
            let is_last = until.0 == slab;
            let to = if is_last { until.1 } else { self.shared.filled(slab) };
            self.taken = if is_last { (slab, to.max(from)) } else { (slab.wrapping_add(1), 0) };
            if to > from {
                add(&self.shared.counts.taken_bytes, u64::from(to - from));
                return Some(Published { slab, from, to });
            }
            if is_last {
                return None;
            }
        }
        None
    }

    /// A batch to write replies to: one that the engine is done with, or a new one.
    pub fn batch(&mut self) -> Batch {
        self.recycled.pop().unwrap_or_default()
    }

    /// Sends replies, and wakes the engine if it sleeps.
    pub fn send(&mut self, batch: Batch) {
        add(&self.shared.counts.flushes, 1);
        self.waiting.push_back(batch);
        self.push_on();
    }

    /// Puts what waits into the queue, and wakes the engine for it.
    fn push_on(&mut self) {
        let before = self.waiting.len();
        while let Some(batch) = self.waiting.pop_front() {
            if let Err(batch) = self.replies.push(batch) {
                self.waiting.push_front(batch);
                break;
            }
        }
        if self.waiting.len() < before {
            self.shared.ask_engine();
        }
    }

    /// Ends the turn: what was published meanwhile, and what will be, wakes the host again. Outside of a turn it changes
    /// nothing, since a wake-up may be on its way and there must not be two.
    pub fn end_turn(&mut self) {
        self.push_on();
        if std::mem::take(&mut self.in_turn) {
            self.shared.rearm();
            if self.shared.published() != self.taken {
                self.shared.schedule();
            }
        }
        if !self.waiting.is_empty() {
            // The host comes back until the engine has made room.
            self.shared.schedule();
        }
    }

    /// The tokens of lent buffers that the engine needs no more, since the last call. To be asked once a turn.
    pub fn returned(&self) -> Vec<usize> {
        self.shared.take_back()
    }

    /// What is counted of this lane.
    pub fn counts(&self) -> &Counts {
        &self.shared.counts
    }

    /// Ends the lane: its exchanges are answered by the engine. Returns once the engine touches no lent memory any more,
    /// however long that takes, since that memory is freed next. It takes a turn of the engine's; `late` is called after
    /// every ten seconds of it.
    pub fn close(&self, late: impl FnMut()) {
        self.close_every(LATE_TIME, late);
    }

    /// Begins to end the lane, for a host on the engine's thread: its exchanges are answered by the engine when that has its
    /// turn. What is lent must stay until the engine's tasks have ended.
    pub fn end(&self) {
        self.shared.close();
    }

    pub(crate) fn close_every(&self, time: Duration, mut late: impl FnMut()) {
        self.shared.close();
        while !self.shared.wait_detached(time) {
            late();
        }
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        self.shared.close();
    }
}
