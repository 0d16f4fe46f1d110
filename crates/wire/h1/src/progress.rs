/// What a caller keeps between two looks at the same unfinished head, so that a head that trickles in byte by byte costs
/// time linear in its length. Make a fresh one (`default`) for each head. It holds no spans: the `lines` of the last
/// call need not be the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes that were seen to hold no complete head.
    scanned: u32,
    /// Input length at which a limit may be passed, so that it is worth parsing again even without a new line end.
    look_at: u32,
    /// Whether a byte of the head itself was seen, not only empty lines before it.
    begun: bool,
}

impl Progress {
    /// Whether a head has begun. False while only empty lines came, as some clients send after a body (RFC 9112
    /// section 2.2): such a connection is still idle, and owes nothing.
    #[inline]
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// Whether parsing `bytes` again could find more than the last time.
    #[inline]
    pub(crate) fn worth_parsing(&mut self, bytes: &[u8]) -> bool {
        let scanned = self.scanned as usize;
        if scanned == 0 || bytes.len() >= self.look_at as usize {
            return true;
        }
        // A head ends at a line end, and every line is judged once it is whole.
        let new = bytes.get(scanned..).unwrap_or_default();
        if memchr::memchr(b'\n', new).is_some() {
            return true;
        }
        self.scanned = offset(bytes.len());
        false
    }

    /// Notes that a parse of `len` bytes found no end of a head.
    #[inline]
    pub(crate) fn pause(&mut self, len: usize, look_at: usize, begun: bool) {
        self.scanned = offset(len);
        self.look_at = offset(look_at);
        self.begun = begun;
    }
}

fn offset(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// Why a parse stopped before the end of a head.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stop {
    /// The input ended. With fewer bytes than this in total and no further line end, the next try would end the same.
    More(usize),
    /// The head is refused.
    Refuse(leat_message::Reason),
}

impl From<leat_message::Reason> for Stop {
    #[inline]
    fn from(reason: leat_message::Reason) -> Self {
        Self::Refuse(reason)
    }
}
