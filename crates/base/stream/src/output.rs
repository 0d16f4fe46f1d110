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
