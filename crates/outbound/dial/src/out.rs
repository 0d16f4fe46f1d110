use std::cell::RefCell;

use leat_stream::memory;

/// Capacity of an outgoing buffer, in bytes: a head with a small body. A larger one is freed after use.
const OUT_BYTES: usize = 16 * 1024;
/// Outgoing buffers that a core keeps for reuse.
const KEPT_MAX: usize = 64;

thread_local! {
    static KEPT: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Bytes that wait to be written. Empty it holds no memory.
#[derive(Debug, Default)]
pub(crate) struct Out {
    data: Vec<u8>,
    written: usize,
}

impl Out {
    /// What waits.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        self.data.get(self.written..).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.written >= self.data.len()
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.data.len() - self.written
    }

    /// Where to append to.
    #[inline]
    pub(crate) fn tail(&mut self) -> &mut Vec<u8> {
        if self.data.capacity() == 0 {
            self.data = KEPT.with_borrow_mut(Vec::pop).unwrap_or_else(|| Vec::with_capacity(OUT_BYTES));
            memory::add(OUT_BYTES as i64);
        }
        &mut self.data
    }

    /// Notes that `count` bytes were written.
    #[inline]
    pub(crate) fn consume(&mut self, count: usize) {
        self.written += count;
        if self.is_empty() {
            self.data.clear();
            self.written = 0;
        }
    }

    /// Takes back what was appended, so that `len` bytes wait as before.
    pub(crate) fn shorten(&mut self, len: usize) {
        self.data.truncate(self.written + len);
        self.consume(0);
    }

    /// Gives the memory back to the core. What waits is lost.
    pub(crate) fn release(&mut self) {
        self.written = 0;
        let mut data = std::mem::take(&mut self.data);
        if data.capacity() == 0 {
            return;
        }
        memory::add(-(OUT_BYTES as i64));
        if data.capacity() > OUT_BYTES {
            return;
        }
        data.clear();
        // The thread may be ending, what it kept gone: then the block is simply freed.
        let _ = KEPT.try_with(|kept| {
            if let Ok(mut kept) = kept.try_borrow_mut()
                && kept.len() < KEPT_MAX
            {
                kept.push(data);
            }
        });
    }
}

impl Drop for Out {
    fn drop(&mut self) {
        self.release();
    }
}
