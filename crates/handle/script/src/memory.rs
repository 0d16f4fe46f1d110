//! Memory that a host lends to the lane.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::ptr::NonNull;

/// A piece of memory that a host has allocated and lends to the engine until it has been filled. The engine writes each
/// byte at most once and reads none; the host reads only what was published.
#[derive(Debug)]
pub struct Slab {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: whoever made it promised that the memory may be written from the engine's thread.
unsafe impl Send for Slab {}

impl Slab {
    /// Lends `len` bytes from `start` on.
    ///
    /// # Safety
    /// The memory stays where it is and valid for writes from another thread until the lane has published its last byte,
    /// or until [`Port::close`](crate::Port::close) has returned; until published nobody else touches it.
    pub unsafe fn new(start: NonNull<u8>, len: usize) -> Self {
        // Offsets are words, and records begin at multiples of four.
        Self { start, len: len.min(u32::MAX as usize) & !3 }
    }

    /// Its size, in bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Copies `bytes` to `at`; says whether they fit (they do, wherever the lane asks first).
    pub(crate) fn write(&mut self, at: usize, bytes: &[u8]) -> bool {
        let Some(end) = at.checked_add(bytes.len()) else { return false };
        if end > self.len {
            return false;
        }
        // SAFETY: the range lies inside of the lent memory, which nobody else touches (see `new`), and `bytes` can't
        // overlap it, since nobody has a reference into lent memory.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.as_ptr().add(at), bytes.len()) };
        true
    }

    /// Room for at most `max` bytes from `from` on.
    pub(crate) fn room(&mut self, from: usize, max: usize) -> &mut [MaybeUninit<u8>] {
        let from = from.min(self.len);
        let len = (self.len - from).min(max);
        // SAFETY: inside of the lent memory, which nobody else touches until it is published (see `new`), which the borrow
        // of this slab prevents; what may be in it is not looked at.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().add(from).cast(), len) }
    }
}

/// Bytes of a reply that stay where the host has them until the engine has sent them.
#[derive(Debug)]
pub struct Lent {
    start: NonNull<u8>,
    len: usize,
    /// What the host calls it; given back once the bytes are not needed any more.
    token: usize,
}

// SAFETY: whoever made it promised that the memory may be read from the engine's thread.
unsafe impl Send for Lent {}

impl Lent {
    /// Lends `len` bytes from `start` on.
    ///
    /// # Safety
    /// The memory stays where it is and valid for reads from another thread until `token` came back through
    /// [`Port::returned`](crate::Port::returned), or until [`Port::close`](crate::Port::close) has returned. Whoever writes to
    /// it meanwhile changes what is sent, as with any buffer that is given to a socket.
    pub unsafe fn new(start: NonNull<u8>, len: usize, token: usize) -> Self {
        Self { start, len, token }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn token(&self) -> usize {
        self.token
    }

    /// The bytes. To be looked at only while the lane is open, which every exchange asks before it goes on.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: valid for reads as long as the lane is open, which the one caller asks first, and the token was not given
        // back, which happens when the batch that owns this value is dropped.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}
