//! Wakes a JavaScript thread: one byte on a socket that Node reads, through `net.Socket`, with everything else that it waits
//! for. A thread-safe function of Node-API does the same, but writes its event while it holds the function's lock: on one
//! core the woken thread runs at once, into that lock, and each wake-up costs two switches and three calls of futex more.

use std::io;
use std::os::fd::{IntoRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use leat_script::Wake;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, send, socketpair};

/// The way to a JavaScript thread. Outlives it: once the thread has ended, a wake-up goes nowhere.
pub(crate) struct Bell {
    rope: OwnedFd,
    ended: AtomicBool,
}

impl Bell {
    /// Makes a bell and the descriptor that becomes readable when it is rung, which is the caller's to close.
    pub(crate) fn new() -> io::Result<(Arc<Self>, RawFd)> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (rope, heard) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        Ok((Arc::new(Self { rope, ended: AtomicBool::new(false) }), heard.into_raw_fd()))
    }

    /// No wake-up from now on. The thread is ending.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
    }
}

/// A lane's wake-up.
pub(crate) struct Ring(pub(crate) Arc<Bell>);

impl Wake for Ring {
    fn wake(&self) {
        if !self.0.ended.load(Ordering::SeqCst) {
            // There is one byte on its way at most, so it finds room; and where nobody reads any more, nobody needs it.
            let _ = send(&self.0.rope, &[1], SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
        }
    }
}
