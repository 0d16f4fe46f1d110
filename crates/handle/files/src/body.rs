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

use crate::ranges::Part;

/// Bytes read from a file at a time.
pub const CHUNK_BYTES: usize = 64 * 1024;
/// Up to this size the whole body goes into the outgoing buffer with the head; above it is sent from the chunk.
const SMALL_BYTES: usize = 16 * 1024;
/// Chunks that a core keeps for reuse.
const SPARE_MAX: usize = 16;

/// A stretch of a body.
#[derive(Debug)]
pub(crate) enum Segment {
    /// Bytes of the file.
    Part(Part),
    /// Bytes of our own.
    Bytes(Vec<u8>),
}

impl Segment {
    pub(crate) fn length(&self) -> u64 {
        match self {
            Self::Part(part) => part.length(),
            Self::Bytes(bytes) => bytes.len() as u64,
        }
    }
}

/// Sends a reply. The first bytes of the file are read before `write_head`: a file that cannot be read becomes an error
/// reply instead of a broken one.
///
/// # Errors
/// `file.failed`, also for a file that is shorter than it was; those of the exchange.
pub(crate) async fn send<X: Exchange>(
    x: &mut X,
    mut reader: Reader,
    segments: Vec<Segment>,
    write_head: impl FnOnce(&mut X),
) -> Result<(), Reason> {
    let first_part = segments.iter().find_map(|segment| match segment {
        Segment::Part(part) => Some(*part),
        Segment::Bytes(_) => None,
    });
    if let Some(part) = first_part {
        reader.fill(x, part.first, part.length()).await?;
    }
    write_head(x);
    if let [Segment::Part(part)] = segments[..]
        && part.length() <= SMALL_BYTES as u64
        && reader.bytes(part.first).len() as u64 == part.length()
    {
        x.body(reader.bytes(part.first));
        return Ok(());
    }
    for segment in &segments {
        match segment {
            Segment::Part(part) => send_part(x, &mut reader, *part).await?,
            Segment::Bytes(bytes) => send_bytes(x, bytes).await?,
        }
    }
    x.end(None);
    Ok(())
}

async fn send_part<X: Exchange>(x: &mut X, reader: &mut Reader, part: Part) -> Result<(), Reason> {
    let mut at = part.first;
    while at <= part.last {
        let left = part.last - at + 1;
        if reader.bytes(at).is_empty() {
            reader.fill(x, at, left).await?;
        }
        let bytes = reader.bytes(at);
        let bytes = bytes.get(..usize::try_from(left).unwrap_or(usize::MAX)).unwrap_or(bytes);
        send_bytes(x, bytes).await?;
        at += bytes.len() as u64;
    }
    Ok(())
}

async fn send_bytes<X: Exchange>(x: &mut X, bytes: &[u8]) -> Result<(), Reason> {
    let mut left = bytes;
    while !left.is_empty() {
        let count = poll_fn(|cx| x.poll_send(cx, left)).await?;
        left = left.get(count..).unwrap_or_default();
    }
    Ok(())
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
    fn bytes(&self, offset: u64) -> &[u8] {
        let skip = offset.checked_sub(self.offset).and_then(|skip| usize::try_from(skip).ok());
        skip.and_then(|skip| self.chunk.bytes.get(skip..self.filled)).unwrap_or_default()
    }

    /// Holds bytes from `offset` on: at least one, at most `wanted` and what a chunk takes.
    async fn fill<X: Exchange>(&mut self, x: &mut X, offset: u64, wanted: u64) -> Result<(), Reason> {
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
