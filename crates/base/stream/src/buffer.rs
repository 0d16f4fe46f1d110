use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncRead;
use tokio_util::io::poll_read_buf;

use crate::memory;

/// Size of a fresh buffer, in bytes: a head and a small body in one read.
pub const BUFFER_BYTES: usize = 16 * 1024;
/// Size of the block that a short head is kept in while its exchange waits, in bytes: most heads fit.
const HEAD_BYTES: usize = 2 * 1024;
/// Size that a buffer grows to while reads keep filling it, in bytes: bulk bodies take few system calls.
pub const BULK_BYTES: usize = 128 * 1024;
/// Blocks that a core keeps for reuse, by size: 2 MiB of heads, 1 MiB of reads, 8 MiB of bulk.
const KEPT_MAX: [usize; 3] = [1_024, 64, 64];

thread_local! {
    static POOL: RefCell<[Vec<Vec<u8>>; 3]> = const { RefCell::new([const { Vec::new() }; 3]) };
}

/// Received bytes that were not consumed yet, with an optional prefix that stays (a head whose body is being read).
///
/// An empty buffer holds no memory: it takes a recycled block from the core's pool when bytes arrive and gives it back
/// with [`Buffer::release`] or on drop.
#[derive(Debug, Default)]
pub struct Buffer {
    data: Vec<u8>,
    /// First byte that was not consumed.
    start: usize,
    /// Length of the prefix that stays in place; `start` is never below it.
    pinned: usize,
    /// Whether the last read took all the room there was: then the next one gets more.
    crowded: bool,
}

impl Buffer {
    /// The bytes that wait to be consumed.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.data.get(self.start..).unwrap_or_default()
    }

    /// Whether no byte waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.start >= self.data.len()
    }

    /// Consumes `count` bytes (at most what is there).
    #[inline]
    pub fn consume(&mut self, count: usize) {
        self.start = self.start.saturating_add(count).min(self.data.len());
        if self.start == self.data.len() {
            self.data.truncate(self.pinned);
            self.start = self.pinned;
        }
    }

    /// Consumes `count` bytes but keeps them in place until [`Buffer::unpin`]; they are the [`Buffer::pinned`] prefix.
    /// What was consumed before is moved out of the way, so this costs a copy of the waiting bytes unless they start
    /// at the front of the buffer, as they do without pipelining.
    pub fn pin(&mut self, count: usize) {
        if self.start > 0 {
            self.data.drain(..self.start);
            self.start = 0;
        }
        self.pinned = count.min(self.data.len());
        self.start = self.pinned;
    }

    /// Moves a short pinned prefix with nothing behind it into a block of its size, so that whoever waits with it holds
    /// [`HEAD_BYTES`], and all that read take turns with few blocks. Costs a copy of the prefix.
    pub fn shrink(&mut self) {
        // Room is left behind it, since a next read must not find the block full.
        if self.data.capacity() > HEAD_BYTES && self.is_empty() && self.pinned <= HEAD_BYTES / 4 * 3 {
            let mut small = take(HEAD_BYTES);
            small.extend_from_slice(&self.data);
            give_back(std::mem::replace(&mut self.data, small));
            self.crowded = false;
        }
    }

    /// The pinned prefix.
    #[inline]
    pub fn pinned(&self) -> &[u8] {
        self.data.get(..self.pinned).unwrap_or_default()
    }

    /// Lets the pinned prefix go.
    pub fn unpin(&mut self) {
        self.pinned = 0;
        self.consume(0);
    }

    /// Puts bytes behind those that wait.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.reserve(bytes.len());
        self.data.extend_from_slice(bytes);
    }

    /// Reads once from `io`. Ready with the number of bytes read, 0 at the end of the stream; grows up to `bytes_max`
    /// (waiting bytes and pinned prefix together) while reads fill it.
    ///
    /// # Errors
    /// Those of the socket, and `OutOfMemory` where `bytes_max` is already reached: the caller checks its limits first.
    pub fn poll_fill<R: AsyncRead + Unpin>(
        &mut self,
        io: &mut R,
        cx: &mut Context<'_>,
        bytes_max: usize,
    ) -> Poll<io::Result<usize>> {
        let held = self.data.len() - self.start + self.pinned;
        if held >= bytes_max {
            return Poll::Ready(Err(io::ErrorKind::OutOfMemory.into()));
        }
        if self.crowded || self.data.capacity() == self.data.len() {
            self.make_room(bytes_max);
        }
        let count = ready!(poll_read_buf(Pin::new(io), cx, &mut self.data))?;
        self.crowded = self.data.len() == self.data.capacity();
        Poll::Ready(Ok(count))
    }

    /// Bulk is read past this buffer: that the last read filled it is no reason to make it larger.
    #[inline]
    pub fn calm(&mut self) {
        self.crowded = false;
    }

    /// Gives the memory back to the core's pool. Waiting and pinned bytes are lost.
    pub fn release(&mut self) {
        self.start = 0;
        self.pinned = 0;
        self.crowded = false;
        give_back(std::mem::take(&mut self.data));
    }

    fn make_room(&mut self, bytes_max: usize) {
        if self.data.capacity() == 0 {
            self.data = take(BUFFER_BYTES);
            return;
        }
        if self.start > self.pinned {
            self.data.drain(self.pinned..self.start);
            self.start = self.pinned;
        }
        if self.data.capacity() < BUFFER_BYTES {
            self.reserve_to(BUFFER_BYTES);
        } else if self.data.capacity() < BULK_BYTES {
            self.reserve_to(BULK_BYTES);
        } else if self.data.capacity() - self.data.len() < self.data.capacity() / 2 {
            self.reserve_to((self.data.capacity() * 2).min(bytes_max.max(BULK_BYTES)));
        }
    }

    fn reserve(&mut self, more: usize) {
        let wanted = self.data.len() + more;
        if wanted > self.data.capacity() {
            self.reserve_to(wanted.max(BUFFER_BYTES));
        }
    }

    fn reserve_to(&mut self, capacity: usize) {
        if capacity <= self.data.capacity() {
            return;
        }
        let mut larger = take(capacity);
        larger.extend_from_slice(&self.data);
        give_back(std::mem::replace(&mut self.data, larger));
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.release();
    }
}

/// Takes a block of at least `capacity` bytes; from the pool if one of that class is kept there.
pub(crate) fn take(capacity: usize) -> Vec<u8> {
    let (class, bytes) = match capacity {
        0..=HEAD_BYTES => (0, HEAD_BYTES),
        _ if capacity <= BUFFER_BYTES => (1, BUFFER_BYTES),
        _ if capacity <= BULK_BYTES => (2, BULK_BYTES),
        _ => (3, capacity),
    };
    memory::add(bytes as i64);
    let kept = POOL.with_borrow_mut(|pool| pool.get_mut(class).and_then(Vec::pop));
    kept.unwrap_or_else(|| Vec::with_capacity(bytes))
}

pub(crate) fn give_back(mut block: Vec<u8>) {
    let class = match block.capacity() {
        0 => return,
        HEAD_BYTES => 0,
        BUFFER_BYTES => 1,
        BULK_BYTES => 2,
        _ => 3,
    };
    memory::add(-(block.capacity() as i64));
    block.clear();
    // The thread may be ending, its pool gone: then the block is simply freed.
    let _ = POOL.try_with(|pool| {
        if let Ok(mut pool) = pool.try_borrow_mut()
            && let (Some(kept), Some(kept_max)) = (pool.get_mut(class), KEPT_MAX.get(class))
            && kept.len() < *kept_max
        {
            kept.push(block);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consuming_everything_resets_to_the_pinned_prefix() {
        let mut buffer = Buffer::default();
        buffer.extend(b"HEADbody");
        buffer.pin(4);
        assert_eq!(buffer.pinned(), b"HEAD");
        assert_eq!(buffer.bytes(), b"body");
        buffer.consume(4);
        assert!(buffer.is_empty());
        buffer.extend(b"more");
        assert_eq!((buffer.pinned(), buffer.bytes()), (&b"HEAD"[..], &b"more"[..]));
        buffer.unpin();
        assert_eq!(buffer.bytes(), b"more");
    }

    #[test]
    fn pinning_in_the_middle_drops_what_was_consumed() {
        let mut buffer = Buffer::default();
        buffer.extend(b"oldHEADnext");
        buffer.consume(3);
        buffer.pin(4);
        assert_eq!((buffer.pinned(), buffer.bytes()), (&b"HEAD"[..], &b"next"[..]));
    }

    #[tokio::test]
    async fn a_short_head_moves_to_a_block_of_its_size_which_grows_as_needed() {
        let mut input = &[b'n'; 4 * HEAD_BYTES][..];
        for (head, waiting, wanted) in [
            (HEAD_BYTES / 4 * 3, 0, HEAD_BYTES),
            (HEAD_BYTES / 4 * 3 + 1, 0, BUFFER_BYTES),
            (HEAD_BYTES / 2, 1, BUFFER_BYTES),
        ] {
            let mut buffer = Buffer::default();
            buffer.extend(&vec![b'h'; head + waiting]);
            buffer.pin(head);
            buffer.shrink();
            assert_eq!(buffer.data.capacity(), wanted, "{head} and {waiting}");
            assert_eq!((buffer.pinned().len(), buffer.bytes().len()), (head, waiting));
        }
        let mut buffer = Buffer::default();
        buffer.extend(&[b'h'; HEAD_BYTES / 2]);
        buffer.pin(HEAD_BYTES / 2);
        buffer.shrink();
        let mut capacities = Vec::new();
        while !input.is_empty() {
            std::future::poll_fn(|cx| buffer.poll_fill(&mut input, cx, BULK_BYTES)).await.unwrap();
            capacities.push(buffer.data.capacity());
        }
        assert_eq!(capacities, [HEAD_BYTES, BUFFER_BYTES], "the second read has the usual room");
        assert!(buffer.pinned().iter().all(|&byte| byte == b'h') && buffer.bytes().len() == 4 * HEAD_BYTES);
        assert!(buffer.bytes().iter().all(|&byte| byte == b'n'));
    }

    #[tokio::test]
    async fn reads_fill_and_grow_up_to_the_limit() {
        let input = vec![7u8; 1 << 20];
        let mut io = &input[..];
        let mut buffer = Buffer::default();
        let limit = 300 * 1024;
        let error = loop {
            match std::future::poll_fn(|cx| buffer.poll_fill(&mut io, cx, limit)).await {
                Ok(_) => {}
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
        assert!(buffer.bytes().len() >= limit && buffer.bytes().len() <= limit + BULK_BYTES);
    }
}
