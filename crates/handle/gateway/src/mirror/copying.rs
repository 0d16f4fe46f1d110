use std::rc::Rc;

use super::counts::{End, InFlight};
use super::send::send;
use super::{Mirror, Recorded};

/// A copy whose request is still being read. Dropped, it is given up.
pub(crate) struct Copying {
    pub(super) mirror: Rc<Mirror>,
    /// The number of its endpoint.
    pub(super) at: usize,
    pub(super) head: Recorded,
    pub(super) body: Vec<u8>,
    has_body: bool,
    /// What is counted when it is dropped.
    pub(super) end: End,
    #[expect(dead_code, reason = "its end is what counts")]
    in_flight: InFlight,
}

impl Copying {
    pub(super) fn new(mirror: Rc<Mirror>, at: usize, head: Recorded, has_body: bool, in_flight: InFlight) -> Self {
        Self { mirror, at, head, body: Vec::new(), has_body, end: End::Incomplete, in_flight }
    }

    /// Whether the head is all there is.
    pub(crate) fn is_whole(&self) -> bool {
        !self.has_body
    }

    /// Takes bytes of the body; `false` where it becomes too long to be copied.
    pub(crate) fn keep(&mut self, bytes: &[u8]) -> bool {
        if self.body.len() + bytes.len() > self.mirror.settings.body_bytes_max() {
            self.end = End::Large;
            return false;
        }
        self.body.extend_from_slice(bytes);
        true
    }

    /// The request is whole: its copy goes on its way, in a task of its own.
    pub(crate) fn send(self: Box<Self>) {
        tokio::task::spawn_local(send(self));
    }
}

impl Drop for Copying {
    fn drop(&mut self) {
        self.mirror.counts.count(self.end);
    }
}
