/// How much that has been sent is kept before it is forgotten, in bytes, so that little is moved often.
const SENT_BYTES: usize = 32 * 1024;

/// Bytes on their way to a connection, of which the first have left. Holds what waits, and no more than about as much again,
/// or 32 KiB, of what has left: a peer that is always a little behind does not make it grow.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    bytes: Vec<u8>,
    sent: usize,
}

impl Outgoing {
    /// Where to append. Moves what waits to the front where as much has left: constant cost per byte over a stream.
    pub(crate) fn tail(&mut self) -> &mut Vec<u8> {
        if self.sent >= SENT_BYTES && self.sent >= self.waiting_bytes() {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
        &mut self.bytes
    }

    /// What has not left.
    pub(crate) fn waiting(&self) -> &[u8] {
        self.bytes.get(self.sent..).unwrap_or_default()
    }

    pub(crate) fn waiting_bytes(&self) -> usize {
        self.bytes.len().saturating_sub(self.sent)
    }

    /// Says that the first `count` of what waits have left.
    pub(crate) fn sent(&mut self, count: usize) {
        self.sent = self.sent.saturating_add(count).min(self.bytes.len());
        if self.sent == self.bytes.len() {
            self.bytes.clear();
            self.sent = 0;
        }
    }
}

impl From<Vec<u8>> for Outgoing {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, sent: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_left_is_not_kept_while_something_always_waits() {
        // All but a few bytes leave each time, so the queue is never empty.
        for (message, left) in [(1_000, 10), (20_000, 30_000), (100_000, 1)] {
            let mut outgoing = Outgoing::default();
            for turn in 0..16_000_000 / message {
                outgoing.tail().extend(std::iter::repeat_n(turn as u8, message));
                outgoing.sent(outgoing.waiting_bytes().saturating_sub(left));
                assert_eq!(outgoing.waiting().last(), Some(&(turn as u8)), "{message}");
                assert!(outgoing.bytes.len() <= 3 * (message + left) + SENT_BYTES, "{message}: turn {turn}");
            }
            outgoing.sent(usize::MAX);
            assert_eq!((outgoing.waiting(), outgoing.bytes.len()), (&[][..], 0));
        }
    }
}
