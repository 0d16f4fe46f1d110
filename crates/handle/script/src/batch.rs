use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use crate::memory::Lent;
use crate::ring::Sender;
use crate::shared::Shared;
use crate::sync::Arc;

/// Replies of one turn of a host's loop: records of [`REPLY_WORDS`](crate::REPLY_WORDS) words, and the bytes they speak of.
#[derive(Debug, Default)]
pub struct Batch {
    /// The records.
    pub words: Vec<u32>,
    /// First the text of all records in their order, then the buffers of all records.
    pub bytes: Vec<u8>,
    /// How many of `bytes` are text.
    pub text_bytes: usize,
    /// The buffers, in the order of the records.
    pub buffers: Vec<Buffer>,
}

/// The bytes of one buffer.
#[derive(Debug)]
pub enum Buffer {
    /// So many of the batch's bytes.
    Copied(usize),
    /// Bytes that are still where the host has them.
    Lent(Lent),
}

impl Buffer {
    fn len(&self) -> usize {
        match self {
            Self::Copied(len) => *len,
            Self::Lent(lent) => lent.len(),
        }
    }
}

/// Memory that a batch may keep when it is used again.
const KEPT_BYTES_MAX: usize = 1024 * 1024;

impl Batch {
    /// The tokens of the lent buffers: a batch that is not sent is its maker's to give back.
    pub fn tokens(&self) -> impl Iterator<Item = usize> {
        self.buffers.iter().filter_map(|buffer| match buffer {
            Buffer::Lent(lent) => Some(lent.token()),
            Buffer::Copied(_) => None,
        })
    }

    /// How many of some buffers' bytes were copied.
    pub(crate) fn copied_bytes(&self, buffers: Range<usize>) -> usize {
        let copied = |buffer: &Buffer| match buffer {
            Buffer::Copied(len) => *len,
            Buffer::Lent(_) => 0,
        };
        self.buffers.get(buffers).unwrap_or_default().iter().map(copied).sum()
    }

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
    shared: Arc<Shared>,
}

impl Held {
    pub(crate) fn new(batch: Batch, recycled: &Rc<RefCell<Sender<Batch>>>, shared: &Arc<Shared>) -> Self {
        Self(Rc::new(Inner { batch, recycled: Rc::clone(recycled), shared: Arc::clone(shared) }))
    }

    pub(crate) fn batch(&self) -> &Batch {
        &self.0.batch
    }

    /// The rest of a record's buffers from byte `at` of them on, as far as it lies in one piece; empty at their end, and
    /// `None` where it was lent by a host that has ended, whose memory is gone. `buffers` are the record's, `start` is where
    /// their copied bytes begin.
    pub(crate) fn rest(&self, buffers: Range<usize>, mut start: usize, mut at: usize) -> Option<&[u8]> {
        for buffer in self.0.batch.buffers.get(buffers).unwrap_or_default() {
            let len = buffer.len();
            if at < len {
                return match buffer {
                    Buffer::Copied(_) => Some(self.bytes(start + at, start + len)),
                    // The host waits for this thread before its memory goes, so it stays for as long as this turn.
                    Buffer::Lent(_) if self.0.shared.is_closed() => None,
                    Buffer::Lent(lent) => lent.bytes().get(at..),
                };
            }
            at -= len;
            if let Buffer::Copied(len) = buffer {
                start += len;
            }
        }
        Some(&[])
    }

    /// How many bytes some buffers have.
    pub(crate) fn len_of(&self, buffers: Range<usize>) -> usize {
        self.0.batch.buffers.get(buffers).unwrap_or_default().iter().map(Buffer::len).sum()
    }

    /// Bytes from `start` to `end`; empty where there are none, which would be a bug of the host.
    pub(crate) fn bytes(&self, start: usize, end: usize) -> &[u8] {
        self.0.batch.bytes.get(start..end).unwrap_or_default()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let mut batch = std::mem::take(&mut self.batch);
        self.shared.give_back(batch.tokens());
        batch.clear();
        // Where the host has enough of them, this one is freed.
        let _ = self.recycled.borrow_mut().push(batch);
    }
}
