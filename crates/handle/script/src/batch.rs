use std::cell::RefCell;
use std::rc::Rc;

use crate::ring::Sender;

/// Replies of one turn of a host's loop: records of [`REPLY_WORDS`](crate::REPLY_WORDS) words, and the bytes they speak of.
#[derive(Debug, Default)]
pub struct Batch {
    /// The records.
    pub words: Vec<u32>,
    /// First the text of all records in their order, then the buffers of all records.
    pub bytes: Vec<u8>,
    /// How many of `bytes` are text.
    pub text_bytes: usize,
    /// The lengths of the buffers.
    pub buffers: Vec<u32>,
}

/// Memory that a batch may keep when it is used again.
const KEPT_BYTES_MAX: usize = 1024 * 1024;

impl Batch {
    /// Makes it ready for the next turn; keeps its memory, unless one turn needed very much.
    fn clear(&mut self) {
        self.words.clear();
        self.bytes.clear();
        if self.bytes.capacity() > KEPT_BYTES_MAX {
            self.bytes.shrink_to(KEPT_BYTES_MAX);
        }
        self.text_bytes = 0;
        self.buffers.clear();
    }
}

/// A batch that exchanges read from; goes back to the host when the last of them is done with it.
#[derive(Clone)]
pub(crate) struct Held(Rc<Inner>);

struct Inner {
    batch: Batch,
    recycled: Rc<RefCell<Sender<Batch>>>,
}

impl Held {
    pub(crate) fn new(batch: Batch, recycled: &Rc<RefCell<Sender<Batch>>>) -> Self {
        Self(Rc::new(Inner { batch, recycled: Rc::clone(recycled) }))
    }

    pub(crate) fn batch(&self) -> &Batch {
        &self.0.batch
    }

    /// Bytes from `start` to `end`; empty where there are none, which would be a bug of the host.
    pub(crate) fn bytes(&self, start: usize, end: usize) -> &[u8] {
        self.0.batch.bytes.get(start..end).unwrap_or_default()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let mut batch = std::mem::take(&mut self.batch);
        batch.clear();
        // Where the host has enough of them, this one is freed.
        let _ = self.recycled.borrow_mut().push(batch);
    }
}
