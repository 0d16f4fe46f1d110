/// What was read of a request's body, kept so that another try can send it again. Takes nothing from the heap before the
/// first byte, and nothing where nothing may be kept.
#[derive(Debug)]
pub(super) struct Replay {
    bytes: Vec<u8>,
    bytes_max: usize,
    /// Whether bytes were read that are not here.
    is_lost: bool,
    /// Whether the client has sent all of it.
    is_ended: bool,
}

impl Replay {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { bytes: Vec::new(), bytes_max, is_lost: false, is_ended: false }
    }

    /// Whether nothing of the body was read yet.
    pub(super) fn is_unread(&self) -> bool {
        self.bytes.is_empty() && !self.is_lost && !self.is_ended
    }

    /// Whether all that was read is here.
    pub(super) fn is_whole(&self) -> bool {
        !self.is_lost
    }

    /// What a try has to send before it reads on; it has sent `count` bytes.
    pub(super) fn rest(&self, count: usize) -> &[u8] {
        self.bytes.get(count..).unwrap_or_default()
    }

    /// Whether the end was read: there is nothing behind what is kept.
    pub(super) fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// Bytes were read from the client and are on their way.
    pub(super) fn keep(&mut self, bytes: &[u8]) {
        if self.is_lost || self.bytes.len() + bytes.len() > self.bytes_max {
            self.is_lost = true;
            self.bytes = Vec::new();
            return;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// There will be no other try: what is read from now on is not kept.
    pub(super) fn stop(&mut self) {
        self.bytes_max = 0;
    }

    pub(super) fn end(&mut self) {
        self.is_ended = true;
    }
}

#[cfg(test)]
mod tests {
    use super::Replay;

    #[test]
    fn a_body_is_kept_whole_or_not_at_all() {
        for (bytes_max, whole) in [(5, true), (4, false), (0, false)] {
            let mut replay = Replay::new(bytes_max);
            assert!(replay.is_whole(), "nothing was read yet");
            replay.keep(b"he");
            replay.keep(b"llo");
            assert_eq!(replay.is_whole(), whole, "{bytes_max}");
            assert_eq!(replay.rest(0), if whole { &b"hello"[..] } else { b"" });
            assert_eq!(replay.rest(3), if whole { &b"lo"[..] } else { b"" });
            replay.keep(b"");
            assert_eq!(replay.is_whole(), whole, "what is lost stays lost");
        }
    }
}
