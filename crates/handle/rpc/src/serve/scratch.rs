//! Memory that a core uses again from call to call.

use std::cell::RefCell;

use leat_message::OwnedFields;

/// Longest buffer that is kept, in bytes: what a burst of large messages took goes back.
const KEPT_BYTES_MAX: usize = 128 * 1024;
/// Buffers kept. A call takes at most three at once.
const KEPT_MAX: usize = 4;

thread_local! {
    static BYTES: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
    static FIELDS: RefCell<Vec<OwnedFields>> = const { RefCell::new(Vec::new()) };
}

/// Lends an empty buffer. No allocation once the core is warm.
pub(super) fn with_bytes<T>(use_it: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    let mut bytes = BYTES.with_borrow_mut(Vec::pop).unwrap_or_default();
    let result = use_it(&mut bytes);
    bytes.clear();
    if bytes.capacity() <= KEPT_BYTES_MAX {
        BYTES.with_borrow_mut(|kept| {
            if kept.len() < KEPT_MAX {
                kept.push(bytes);
            }
        });
    }
    result
}

/// Lends an empty list of fields.
pub(super) fn with_fields<T>(use_it: impl FnOnce(&mut OwnedFields) -> T) -> T {
    let mut fields = FIELDS.with_borrow_mut(Vec::pop).unwrap_or_default();
    let result = use_it(&mut fields);
    fields.clear();
    FIELDS.with_borrow_mut(|kept| {
        if kept.len() < KEPT_MAX {
            kept.push(fields);
        }
    });
    result
}
