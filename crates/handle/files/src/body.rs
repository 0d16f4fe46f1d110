use std::future::poll_fn;

use leat_message::{Exchange, Reason};

use crate::ranges::Part;
use crate::reader::Reader;

/// Up to this size the whole body goes into the outgoing buffer with the head; above it is sent from the reader.
const SMALL_BYTES: usize = 16 * 1024;

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

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::fd::OwnedFd;
    use std::sync::Arc;

    use leat_message::{Length, Reply};
    use leat_testkit::RecordedExchange;

    use super::*;
    use crate::reader::{CHUNK_BYTES, on_blocking_thread, spare_count};

    const READERS: [fn(Arc<OwnedFd>) -> Reader; 2] = [Reader::new, Reader::waiting];

    fn write_head(length: u64) -> impl FnOnce(&mut RecordedExchange) {
        move |x| {
            Reply::status(x, 200);
            Reply::length(x, Length::Known(length));
        }
    }

    fn file_of(name: &str, content: &[u8]) -> Arc<OwnedFd> {
        let path = std::env::temp_dir().join(format!("leat-body-{}-{name}", std::process::id()));
        fs::write(&path, content).unwrap();
        let file = File::open(&path).unwrap();
        fs::remove_file(path).unwrap();
        Arc::new(file.into())
    }

    #[tokio::test]
    async fn reading_on_a_blocking_thread_gives_the_same_bytes() {
        let content: Vec<u8> = (0..=255).cycle().take(3 * CHUNK_BYTES + 9).collect();
        let file = file_of("same", &content);
        for reader in READERS {
            let mut x = RecordedExchange::new("GET", "/").with_slow_client(10_000);
            let parts = [Part { first: 3, last: content.len() as u64 - 1 }, Part { first: 0, last: 2 }];
            send(&mut x, reader(Arc::clone(&file)), parts.map(Segment::Part).into(), write_head(content.len() as u64))
                .await
                .unwrap();
            assert!(x.is_complete());
            assert!(x.reply_body() == [&content[3..], &content[..3]].concat());
        }
    }

    #[tokio::test]
    async fn a_file_that_ends_early_is_an_error_before_the_head() {
        let file = file_of("early", b"abc");
        for reader in READERS {
            let mut x = RecordedExchange::new("GET", "/");
            let segments = vec![Segment::Part(Part { first: 3, last: 5 })];
            let result =
                send(&mut x, reader(Arc::clone(&file)), segments, |_| unreachable!("no head is written")).await;
            assert_eq!((result, x.status()), (Err(Reason::FileFailed), 0));
        }
    }

    #[tokio::test]
    async fn a_client_that_left_is_noticed_while_a_thread_reads() {
        let mut x = RecordedExchange::new("GET", "/").with_client_gone_after(0);
        let (release, wait) = std::sync::mpsc::channel::<()>();
        let result = on_blocking_thread(&mut x, move || wait.recv()).await;
        assert_eq!(result.err(), Some(Reason::PeerReset));
        drop(release);
    }

    #[tokio::test]
    async fn memory_is_one_block_which_is_used_again() {
        let content = vec![1; 5 * CHUNK_BYTES];
        let file = file_of("memory", &content);
        for _ in 0..50 {
            for reader in READERS {
                let mut x = RecordedExchange::new("GET", "/");
                let segments = vec![Segment::Part(Part { first: 0, last: content.len() as u64 - 1 })];
                send(&mut x, reader(Arc::clone(&file)), segments, write_head(content.len() as u64)).await.unwrap();
                assert_eq!(spare_count(), 1);
            }
        }
    }
}
