use std::sync::PoisonError;
use std::time::Duration;

use crate::sync::{Condvar, Mutex};

/// Opens once; others wait for it.
pub(crate) struct Latch {
    open: Mutex<bool>,
    on_open: Condvar,
}

impl Latch {
    pub(crate) fn new() -> Self {
        Self { open: Mutex::new(false), on_open: Condvar::new() }
    }

    pub(crate) fn open(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.on_open.notify_all();
    }

    /// Waits until it is open; says whether that came in time.
    #[cfg(not(feature = "loom"))]
    pub(crate) fn wait(&self, within: Duration) -> bool {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.on_open.wait_timeout_while(open, within, |open| !*open);
        waited.is_ok_and(|(open, _)| *open)
    }

    /// A model has no time: it waits until it is open.
    #[cfg(feature = "loom")]
    pub(crate) fn wait(&self, _within: Duration) -> bool {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        while !*open {
            open = self.on_open.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
        true
    }
}
