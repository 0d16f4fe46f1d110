//! How much memory a world holds. QuickJS takes its small blocks from pages of 4 KiB that it asks for here, so counting costs
//! something once a page, and nothing once an object.

use std::cell::Cell;
use std::rc::Rc;

use rquickjs::allocator::{Allocator, RustAllocator};

/// Blocks up to this size are always given: they are the pages of small objects, and QuickJS ends the process where it can't
/// get the few that settling a promise takes.
const PAGE_BYTES_MAX: usize = 8192;

/// The memory of one world.
#[derive(Debug)]
pub(crate) struct Heap {
    used: Cell<usize>,
    /// Beyond this the world is lost, as soon as what runs can be stopped.
    limit: usize,
    /// Beyond this larger blocks are refused, until it is stopped.
    brink: usize,
    full: Cell<bool>,
}

impl Heap {
    pub(crate) fn new(limit: usize) -> Rc<Self> {
        Rc::new(Self { used: Cell::new(0), limit, brink: limit.saturating_add(limit / 4), full: Cell::new(false) })
    }

    /// Bytes in use, with the pages that are not quite full.
    #[inline]
    pub(crate) fn used(&self) -> usize {
        self.used.get()
    }

    /// Whether the world held more than it may.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.full.get()
    }

    /// Whether `more` bytes may be given, all for one block of `size` bytes.
    fn admit(&self, more: usize, size: usize) -> bool {
        let after = self.used.get().saturating_add(more);
        if after <= self.limit {
            return true;
        }
        // What would not fit into an empty world is the mistake of who asks, who gets an error.
        if size > self.limit {
            return false;
        }
        self.full.set(true);
        after <= self.brink || size <= PAGE_BYTES_MAX
    }

    fn took(&self, bytes: usize) {
        self.used.set(self.used.get().saturating_add(bytes));
    }

    fn gave(&self, bytes: usize) {
        self.used.set(self.used.get().saturating_sub(bytes));
    }
}

/// What tests find in memory that was given back: as an address it is none.
#[cfg(test)]
const FREED: u8 = 0xf5;

/// Gives a world its memory, and counts.
pub(crate) struct Counted(pub(crate) Rc<Heap>);

#[allow(unsafe_code, reason = "an allocator")]
// SAFETY: every block comes from `RustAllocator` and goes back to it with the pointer that it gave; this only counts, and
// gives null where it refuses, which an allocator may do.
unsafe impl Allocator for Counted {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        if !self.0.admit(size, size) {
            return std::ptr::null_mut();
        }
        let block = RustAllocator.alloc(size);
        self.count(block)
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        let Some(bytes) = count.checked_mul(size) else { return std::ptr::null_mut() };
        if !self.0.admit(bytes, bytes) {
            return std::ptr::null_mut();
        }
        let block = RustAllocator.calloc(count, size);
        self.count(block)
    }

    unsafe fn dealloc(&mut self, block: *mut u8) {
        // SAFETY: the caller's: `block` came from this allocator, which is to say from `RustAllocator`.
        unsafe {
            let bytes = RustAllocator::usable_size(block);
            self.0.gave(bytes);
            // Whoever still looks there finds no world that seems to be whole.
            #[cfg(test)]
            block.write_bytes(FREED, bytes);
            RustAllocator.dealloc(block);
        }
    }

    unsafe fn realloc(&mut self, block: *mut u8, size: usize) -> *mut u8 {
        if block.is_null() {
            return self.alloc(size);
        }
        // SAFETY: as above; the old block stays valid where null is given.
        unsafe {
            let before = RustAllocator::usable_size(block);
            let more = size.saturating_sub(before);
            if more > 0 && !self.0.admit(more, more) {
                return std::ptr::null_mut();
            }
            let moved = RustAllocator.realloc(block, size);
            if !moved.is_null() {
                self.0.gave(before);
                self.0.took(RustAllocator::usable_size(moved));
            }
            moved
        }
    }

    unsafe fn usable_size(block: *mut u8) -> usize {
        // SAFETY: the caller's, as above.
        unsafe { RustAllocator::usable_size(block) }
    }
}

impl Counted {
    #[allow(unsafe_code, reason = "asks for the size of a block")]
    fn count(&self, block: *mut u8) -> *mut u8 {
        if !block.is_null() {
            // SAFETY: the block was given a moment ago.
            self.0.took(unsafe { RustAllocator::usable_size(block) });
        }
        block
    }
}
