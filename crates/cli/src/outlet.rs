//! Standard output and error of a process that serves: written by a thread each, so that a reader who has stopped to read keeps no
//! request, no signal and no reload waiting. What finds no room is dropped and counted.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::event;

/// Pieces that wait to be written.
const PIECES_MAX: usize = 4 * 1024;
/// Bytes of them.
const BYTES_MAX: usize = 4 * 1024 * 1024;
/// How long the end of the process waits for what is left.
const END: Duration = Duration::from_secs(1);
/// How often it looks meanwhile whether there is room for the last word.
const LOOK: Duration = Duration::from_millis(10);

/// Whether threads write.
static IS_SERVING: AtomicBool = AtomicBool::new(false);
static OUTPUT: OnceLock<Option<Outlet>> = OnceLock::new();
static ERROR: OnceLock<Option<Outlet>> = OnceLock::new();

/// One of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum To {
    Output,
    Error,
}

struct Outlet {
    pieces: SyncSender<Piece>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    waiting_bytes: AtomicUsize,
    dropped: AtomicU64,
}

enum Piece {
    Bytes(Vec<u8>),
    /// All before it was written.
    End(SyncSender<()>),
}

/// From now on nobody waits who writes.
pub(crate) fn serve() {
    IS_SERVING.store(true, Ordering::Relaxed);
}

/// Writes what plug-ins print: it is theirs, and goes where they say.
pub(crate) fn print(to: i32, bytes: &[u8]) {
    write(if to == 1 { To::Output } else { To::Error }, bytes.to_vec());
}

/// Writes these bytes in one piece, or has them written.
pub(crate) fn write(to: To, bytes: Vec<u8>) {
    let outlet = if IS_SERVING.load(Ordering::Relaxed) { to.outlet() } else { None };
    match outlet {
        Some(outlet) => outlet.put(bytes),
        None => to.write(&bytes),
    }
}

/// Waits a moment for what is left. To be called before the process ends.
pub(crate) fn finish() {
    let end = Instant::now() + END;
    for outlet in [&OUTPUT, &ERROR].into_iter().filter_map(|outlet| outlet.get()?.as_ref()) {
        outlet.finish(end);
    }
}

impl To {
    fn outlet(self) -> Option<&'static Outlet> {
        let outlet = if self == Self::Output { &OUTPUT } else { &ERROR };
        // Without a thread it is written as before.
        outlet.get_or_init(|| Outlet::start(self).ok()).as_ref()
    }

    /// Nobody is left to be told that it is gone.
    fn write(self, bytes: &[u8]) {
        let _ = match self {
            Self::Output => {
                let mut out = std::io::stdout().lock();
                out.write_all(bytes).and_then(|()| out.flush())
            }
            Self::Error => std::io::stderr().lock().write_all(bytes),
        };
    }
}

impl Outlet {
    fn start(to: To) -> std::io::Result<Self> {
        let (pieces, waiting) = sync_channel(PIECES_MAX);
        let shared = Arc::<Shared>::default();
        let own = Arc::clone(&shared);
        let name = if to == To::Output { "leat-stdout" } else { "leat-stderr" };
        std::thread::Builder::new().name(name.into()).spawn(move || work(to, &waiting, &own))?;
        Ok(Self { pieces, shared })
    }

    fn put(&self, bytes: Vec<u8>) {
        let length = bytes.len();
        let before = self.shared.waiting_bytes.fetch_add(length, Ordering::Relaxed);
        let has_room = before == 0 || before.saturating_add(length) <= BYTES_MAX;
        if !has_room || self.pieces.try_send(Piece::Bytes(bytes)).is_err() {
            self.shared.waiting_bytes.fetch_sub(length, Ordering::Relaxed);
            self.shared.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn finish(&self, end: Instant) {
        let (done, is_done) = sync_channel(1);
        let mut piece = Piece::End(done);
        while let Err(TrySendError::Full(back)) = self.pieces.try_send(piece) {
            if Instant::now() >= end {
                return;
            }
            piece = back;
            std::thread::sleep(LOOK);
        }
        let _ = is_done.recv_timeout(end.saturating_duration_since(Instant::now()));
    }
}

fn work(to: To, waiting: &Receiver<Piece>, shared: &Shared) {
    for piece in waiting {
        match piece {
            Piece::Bytes(bytes) => {
                to.write(&bytes);
                shared.waiting_bytes.fetch_sub(bytes.len(), Ordering::Relaxed);
                let dropped = shared.dropped.swap(0, Ordering::Relaxed);
                match (dropped, to) {
                    (0, _) => {}
                    (_, To::Output) => write(To::Error, event::dropped(dropped, "standard output").into_bytes()),
                    (_, To::Error) => to.write(event::dropped(dropped, "standard error").as_bytes()),
                }
            }
            Piece::End(done) => {
                let _ = done.try_send(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An outlet whose thread does not run.
    fn stuck() -> (Outlet, Receiver<Piece>) {
        let (pieces, waiting) = sync_channel(PIECES_MAX);
        (Outlet { pieces, shared: Arc::default() }, waiting)
    }

    #[test]
    fn what_finds_no_room_is_dropped_and_nobody_waits() {
        let (outlet, waiting) = stuck();
        for _ in 0..PIECES_MAX + 3 {
            outlet.put(vec![b'x']);
        }
        assert_eq!(outlet.shared.dropped.load(Ordering::Relaxed), 3);
        outlet.finish(Instant::now() + Duration::from_millis(30));
        drop(waiting);
        let (outlet, waiting) = stuck();
        for _ in 0..6 {
            outlet.put(vec![b'x'; BYTES_MAX / 4]);
        }
        assert_eq!(outlet.shared.dropped.load(Ordering::Relaxed), 2);
        assert_eq!(outlet.shared.waiting_bytes.load(Ordering::Relaxed), BYTES_MAX);
        drop(waiting);
    }
}
