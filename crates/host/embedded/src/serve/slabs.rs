//! The memory that the lane of a world writes records to. Both ends are on one thread, so it is plain memory.
#![allow(unsafe_code, reason = "memory is lent to the lane")]

use std::ptr::NonNull;

use leat_script::{Port, SLAB_BYTES, Slab};

/// Slabs of a world: what waits for JavaScript is bounded by them.
const SLABS: usize = 2;

/// Slabs go round: one that was read to its end is lent again.
pub(super) struct Slabs {
    records: Vec<Box<[u32]>>,
    /// The slab that is read now.
    current: u32,
}

impl Slabs {
    /// Lends the first ones.
    pub(super) fn lend(port: &mut Port) -> Self {
        let mut records = Vec::with_capacity(SLABS);
        for _ in 0..SLABS {
            let mut memory = vec![0; SLAB_BYTES / 4].into_boxed_slice();
            // SAFETY: the memory stays where it is in `records`, which is never shortened, and lives as long as the port: both
            // belong to the world's `Http`, and the lane writes nothing once the port is closed. Nobody reads what was not
            // published.
            let slab = unsafe { Slab::new(start_of(&mut memory), SLAB_BYTES) };
            records.push(memory);
            // As many as may be lent at least.
            let _ = port.supply(slab);
        }
        Self { records, current: 0 }
    }

    /// The words of slab `number`; those before it are lent again.
    pub(super) fn read(&mut self, number: u32, port: &mut Port) -> &[u32] {
        while self.current != number {
            let at = self.current as usize % SLABS;
            if let Some(memory) = self.records.get_mut(at) {
                // SAFETY: as in `lend`; the slab was read to its end, and nobody holds a reference into it.
                let slab = unsafe { Slab::new(start_of(memory), SLAB_BYTES) };
                let _ = port.supply(slab);
            }
            self.current = self.current.wrapping_add(1);
        }
        self.records.get(number as usize % SLABS).map_or(&[], |memory| memory)
    }
}

fn start_of(memory: &mut [u32]) -> NonNull<u8> {
    NonNull::from(memory).cast()
}

/// The same memory as bytes.
pub(super) fn bytes_of(words: &[u32]) -> &[u8] {
    // SAFETY: initialised memory of so many bytes; bytes have no alignment.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), std::mem::size_of_val(words)) }
}
