use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::io::IoSliceMut;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use leat_message::{Exchange, Reason};
use leat_stream::memory;
use rustix::io::{Errno, ReadWriteFlags, pread, preadv2};

/// Bytes read from a file at a time.
pub const CHUNK_BYTES: usize = 64 * 1024;
/// Chunks that a core keeps for reuse.
const SPARE_MAX: usize = 16;

/// Reads a file a chunk at a time: what is in the page cache at once on this thread, the rest on a blocking one.
#[derive(Debug)]
pub(crate) struct Reader {
    file: Arc<OwnedFd>,
    chunk: Chunk,
    /// Where in the file the chunk's bytes are from.
    offset: u64,
    /// How many of the chunk's bytes are filled.
    filled: usize,
    /// False once the file system has said that it cannot read without waiting.
    is_cache_readable: bool,
}

impl Reader {
    pub(crate) fn new(file: Arc<OwnedFd>) -> Self {
        Self { file, chunk: Chunk::default(), offset: 0, filled: 0, is_cache_readable: true }
    }

    /// The bytes held from `offset` on; empty if there are none.
    pub(crate) fn bytes(&self, offset: u64) -> &[u8] {
        let skip = offset.checked_sub(self.offset).and_then(|skip| usize::try_from(skip).ok());
        skip.and_then(|skip| self.chunk.bytes.get(skip..self.filled)).unwrap_or_default()
    }

    /// Holds bytes from `offset` on: at least one, at most `wanted` and what a chunk takes.
    ///
    /// # Errors
    /// `file.failed` where the file cannot be read or has no byte there; those of a client that goes away.
    pub(crate) async fn fill<X: Exchange>(&mut self, x: &mut X, offset: u64, wanted: u64) -> Result<(), Reason> {
        let wanted = usize::try_from(wanted).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES);
        if self.chunk.bytes.is_empty() {
            self.chunk = Chunk::take();
        }
        self.filled = 0;
        self.offset = offset;
        self.filled = match self.read_cached(wanted)? {
            Some(count) => count,
            None => self.read_waiting(x, wanted).await?,
        };
        // The file became shorter: what was announced cannot be sent.
        if self.filled == 0 { Err(Reason::FileFailed) } else { Ok(()) }
    }

    fn read_cached(&mut self, wanted: usize) -> Result<Option<usize>, Reason> {
        if !self.is_cache_readable {
            return Ok(None);
        }
        let into = self.chunk.bytes.get_mut(..wanted).unwrap_or_default();
        match preadv2(&self.file, &mut [IoSliceMut::new(into)], self.offset, ReadWriteFlags::NOWAIT) {
            Ok(count) => Ok(Some(count)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
                self.is_cache_readable = false;
                Ok(None)
            }
            Err(_) => Err(Reason::FileFailed),
        }
    }

    async fn read_waiting<X: Exchange>(&mut self, x: &mut X, wanted: usize) -> Result<usize, Reason> {
        let (file, offset, mut chunk) = (Arc::clone(&self.file), self.offset, std::mem::take(&mut self.chunk));
        let read = move || {
            let count = read_full(&file, offset, chunk.bytes.get_mut(..wanted).unwrap_or_default());
            (chunk, count)
        };
        let (chunk, count) = on_blocking_thread(x, read).await?;
        self.chunk = chunk;
        count.map_err(|_| Reason::FileFailed)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        std::mem::take(&mut self.chunk).give_back();
    }
}

fn read_full(file: &OwnedFd, offset: u64, into: &mut [u8]) -> Result<usize, Errno> {
    let mut filled = 0;
    while let Some(rest) = into.get_mut(filled..)
        && !rest.is_empty()
    {
        match pread(file, rest, offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Runs `work` where it may block, and waits for it or for the client to go away. Work that was begun is finished
/// either way.
pub(crate) async fn on_blocking_thread<X: Exchange, T: Send + 'static>(
    x: &mut X,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Reason> {
    let mut task = tokio::task::spawn_blocking(work);
    poll_fn(|cx| match Pin::new(&mut task).poll(cx) {
        Poll::Ready(done) => Poll::Ready(done.map_err(|_| Reason::FileFailed)),
        Poll::Pending => x.poll_gone(cx).map(Err),
    })
    .await
}

/// A block of [`CHUNK_BYTES`], counted as memory in use; empty while it is lent to a blocking thread.
#[derive(Debug, Default)]
struct Chunk {
    bytes: Vec<u8>,
}

thread_local! {
    static SPARE: RefCell<Vec<Chunk>> = const { RefCell::new(Vec::new()) };
}

impl Chunk {
    fn take() -> Self {
        SPARE.with_borrow_mut(Vec::pop).unwrap_or_else(|| {
            memory::add(CHUNK_BYTES as i64);
            Self { bytes: vec![0; CHUNK_BYTES] }
        })
    }

    /// Keeps the block for the next file of this core.
    fn give_back(self) {
        // The thread may be ending, its spare blocks gone: then the block is simply freed.
        let _ = SPARE.try_with(|spare| {
            if let Ok(mut spare) = spare.try_borrow_mut()
                && spare.len() < SPARE_MAX
                && !self.bytes.is_empty()
            {
                spare.push(self);
            }
        });
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        memory::add(-(self.bytes.len() as i64));
    }
}

#[cfg(test)]
impl Reader {
    /// A reader that always asks a blocking thread.
    pub(crate) fn waiting(file: Arc<OwnedFd>) -> Self {
        let mut reader = Self::new(file);
        reader.is_cache_readable = false;
        reader
    }
}

/// Blocks that this core keeps for reuse.
#[cfg(test)]
pub(crate) fn spare_count() -> usize {
    SPARE.with_borrow(Vec::len)
}
