use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;

use crate::buffer::{give_back, take};
use crate::{BUFFER_BYTES, Socket, memory};

/// Bytes that wait to be written to a connection. Appending never writes; [`Output::poll_flush`] writes all of it in one
/// call where the socket takes it. Holds no memory while empty, once [`Output::release`] was called.
#[derive(Debug, Default)]
pub struct Output {
    data: Vec<u8>,
    /// Bytes at the front that were written already.
    written: usize,
    /// Capacity of the block as the memory in use knows it: appending may have grown it since.
    counted: usize,
}

impl Output {
    /// The block to append to. Starts with a recycled block of [`BUFFER_BYTES`].
    #[inline]
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        if self.data.capacity() == 0 {
            self.data = take(BUFFER_BYTES);
            self.counted = self.data.capacity();
        }
        &mut self.data
    }

    /// Bytes that wait.
    #[inline]
    pub fn len(&self) -> usize {
        self.data.len() - self.written
    }

    /// Whether none waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A position to [`Output::truncate`] back to, as long as nothing is flushed in between.
    #[inline]
    pub fn mark(&self) -> usize {
        self.data.len()
    }

    /// Takes back everything appended after `mark`.
    pub fn truncate(&mut self, mark: usize) {
        self.data.truncate(mark.max(self.written));
    }

    /// Writes until nothing waits. Ready once empty.
    ///
    /// # Errors
    /// Those of the socket; a socket that takes no byte is `WriteZero`.
    #[inline]
    pub fn poll_flush(&mut self, socket: &mut Socket, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(waiting) = self.data.get(self.written..)
            && !waiting.is_empty()
        {
            let Poll::Ready(written) = Pin::new(&mut *socket).poll_write(cx, waiting) else {
                self.settle();
                return Poll::Pending;
            };
            let count = written?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.written += count;
        }
        self.data.clear();
        self.written = 0;
        // A plain socket has nothing to flush; TLS may hold sealed records.
        match socket {
            Socket::Plain(_) => Poll::Ready(Ok(())),
            Socket::Tls(_) => Pin::new(socket).poll_flush(cx),
        }
    }

    /// Drops bytes that were written already from the front of the block, where that is at least half of it: a reader that
    /// takes what comes but never all of it would make the block grow by all that it ever read. Not part of
    /// [`Output::poll_flush`], since it makes every [`Output::mark`] void. Costs a move of what waits, at most as many bytes
    /// as were written since.
    pub fn drop_written(&mut self) {
        if self.written > 0 && self.written >= self.len() {
            self.data.drain(..self.written);
            self.written = 0;
        }
    }

    /// Writes what waits and then `parts`, in one vectored call and without copying `parts`. Ready with the number of
    /// bytes of `parts` that were taken, which is 0 while older bytes still wait.
    ///
    /// # Errors
    /// Those of the socket; a socket that takes no byte is `WriteZero`.
    pub fn poll_write_with(
        &mut self,
        socket: &mut Socket,
        cx: &mut Context<'_>,
        parts: [&[u8]; 3],
    ) -> Poll<io::Result<usize>> {
        let [first, second, third] = parts;
        let waiting = self.data.get(self.written..).unwrap_or_default();
        let waited = waiting.len();
        let slices = [IoSlice::new(waiting), IoSlice::new(first), IoSlice::new(second), IoSlice::new(third)];
        let slices = if waited == 0 { slices.get(1..).unwrap_or_default() } else { &slices[..] };
        let Poll::Ready(written) = Pin::new(socket).poll_write_vectored(cx, slices) else {
            self.settle();
            return Poll::Pending;
        };
        let count = written?;
        if count == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        if count < waited {
            self.written += count;
            return Poll::Ready(Ok(0));
        }
        self.data.clear();
        self.written = 0;
        Poll::Ready(Ok(count - waited))
    }

    /// Gives the memory back to the core's pool. What waits is lost.
    pub fn release(&mut self) {
        self.written = 0;
        self.settle();
        self.counted = 0;
        give_back(std::mem::take(&mut self.data));
    }

    /// Counts what appending has added to the block. Done where a reader keeps it full, so that the memory that slow
    /// readers cost is seen, and quick ones cost no count.
    fn settle(&mut self) {
        if self.counted != self.data.capacity() {
            memory::add(self.data.capacity() as i64 - self.counted as i64);
            self.counted = self.data.capacity();
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use tokio::io::AsyncReadExt;
    use tokio::net::UnixStream;

    use super::*;

    const BLOCK_BYTES: usize = 32 * 1024;

    /// Appends so much that something waits always, to a reader that takes as much each time. Says how large the block is
    /// at last.
    async fn capacity_after(blocks: u8, drops_written: bool) -> usize {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut socket = Socket::from(ours);
        let mut output = Output::default();
        let mut cx = Context::from_waker(Waker::noop());
        // What the socket itself holds.
        while output.poll_flush(&mut socket, &mut cx).is_ready() {
            output.buffer().extend_from_slice(&[0; BLOCK_BYTES]);
        }
        let before = output.len();
        let mut read = vec![0; BLOCK_BYTES];
        for block in 1..=blocks {
            output.buffer().extend_from_slice(&[block; BLOCK_BYTES]);
            theirs.read_exact(&mut read).await.unwrap();
            // The socket has room again once the runtime has looked.
            tokio::task::yield_now().await;
            let len = output.len();
            assert!(output.poll_flush(&mut socket, &mut cx).is_pending());
            if drops_written {
                output.drop_written();
            }
            assert!(output.len() <= len);
        }
        let capacity = output.data.capacity();
        // Nothing was lost, and all is in order.
        let mut left = output.len();
        assert!(left <= before + usize::from(blocks) * BLOCK_BYTES);
        let mut received = Vec::new();
        while left > 0 || received.last() != Some(&blocks) {
            let count = theirs.read(&mut read).await.unwrap();
            received.extend_from_slice(&read[..count]);
            tokio::task::yield_now().await;
            let _ = output.poll_flush(&mut socket, &mut cx);
            left = output.len();
        }
        assert!(received.is_sorted());
        capacity
    }

    #[tokio::test]
    async fn a_reader_that_never_takes_all_need_not_make_the_block_grow() {
        let (dropping, keeping) = (capacity_after(200, true).await, capacity_after(200, false).await);
        assert!(dropping <= 1 << 20, "{dropping}");
        assert!(keeping >= 4 << 20, "{keeping}");
    }
}
