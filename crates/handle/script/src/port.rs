use std::collections::VecDeque;
use std::time::Duration;

use crate::batch::Batch;
use crate::memory::Slab;
use crate::ring::{Receiver, Sender};
use crate::shared::{Counts, Shared, add};
use crate::sync::Arc;

/// How long the host waits for the engine to let go of its memory.
const DETACH_TIME: Duration = Duration::from_secs(10);

/// The host's side of a lane. Belongs to the JavaScript thread.
pub struct Port {
    pub(crate) shared: Arc<Shared>,
    pub(crate) empties: Sender<Slab>,
    pub(crate) replies: Sender<Batch>,
    pub(crate) recycled: Receiver<Batch>,
    /// What is to be taken next: a slab's number and the first byte.
    pub(crate) taken: (u32, u32),
    /// Batches that found no place in the queue. Their bytes are what JavaScript has written beyond what it was told to
    /// wait for, as in a socket's own queue on Node.
    pub(crate) waiting: VecDeque<Batch>,
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
    /// Lends a slab. Gives it back where as many as may be are lent already.
    ///
    /// # Errors
    /// The slab.
    pub fn supply(&mut self, slab: Slab) -> Result<(), Slab> {
        self.empties.push(slab)?;
        self.shared.engine.wake();
        Ok(())
    }

    /// How far everything was published when it is called; what comes later belongs to the next turn. To be given to
    /// [`Port::take`].
    pub fn begin_turn(&mut self) -> (u32, u32) {
        self.shared.note_delay();
        self.shared.published()
    }

    /// The next part before `until`; `None` once all was taken. Copies nothing.
    pub fn take(&mut self, until: (u32, u32)) -> Option<Published> {
        loop {
            let (slab, from) = self.taken;
            let to = match until {
                (last, bytes) if last == slab => bytes,
                (last, _) if last > slab => self.shared.filled(slab),
                _ => return None,
            };
            self.taken = if until.0 == slab { (slab, to) } else { (slab + 1, 0) };
            if to > from {
                add(&self.shared.counts.taken_bytes, u64::from(to - from));
                return Some(Published { slab, from, to });
            }
            if until.0 == slab {
                return None;
            }
        }
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
        self.shared.engine.wake();
    }

    fn push_on(&mut self) {
        while let Some(batch) = self.waiting.pop_front() {
            if let Err(batch) = self.replies.push(batch) {
                self.waiting.push_front(batch);
                return;
            }
        }
    }

    /// Ends a turn: what was published meanwhile, and what will be, wakes the host again.
    pub fn end_turn(&mut self) {
        self.push_on();
        self.shared.rearm();
        if self.shared.published() != self.taken || !self.waiting.is_empty() {
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
    /// or `false` after ten seconds without its word: then the memory must stay.
    pub fn close(&self) -> bool {
        self.shared.close();
        self.shared.wait_detached(DETACH_TIME)
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        self.shared.close();
    }
}
