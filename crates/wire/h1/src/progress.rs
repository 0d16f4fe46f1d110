use leat_message::Reason;

/// What a caller keeps between two looks at the same unfinished head, so that a head that trickles in is not parsed from
/// its start for every piece: only the line that is being received is, and the whole once for each line. Make a fresh one
/// (`default`) for each head. It holds no spans: the `lines` of the last call need not be the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Where the unfinished field line starts; 0 while it is the first line of the head.
    line: u32,
    /// Field lines before it.
    fields: u32,
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

    /// The unfinished field line, and how many there are before it.
    #[inline(always)]
    pub(crate) fn field_line(&self) -> Option<(usize, usize)> {
        if self.line == 0 { None } else { Some((self.line as usize, self.fields as usize)) }
    }

    /// Turns a stop into the answer for the caller, and notes where to go on. `start` is where the first line starts,
    /// `fields` how many field lines came before the unfinished one, `full` whether the head may not grow any more.
    pub(crate) fn stopped(
        &mut self,
        stop: Stop,
        start: usize,
        fields: usize,
        full: bool,
    ) -> Result<Option<usize>, Reason> {
        let offset = |number| u32::try_from(number).unwrap_or(u32::MAX);
        match stop {
            Stop::Refuse(reason) => return Err(reason),
            Stop::More(_) if full => return Err(Reason::LimitHeadBytes),
            Stop::More(line) if line == start => self.line = 0,
            Stop::More(line) => *self = Self { line: offset(line), fields: offset(fields), begun: true },
        }
        Ok(None)
    }

    /// Notes whether the first byte of the head is there.
    pub(crate) fn begin(&mut self, begun: bool) {
        self.begun = begun;
    }
}

/// Why a parse stopped before the end of a head.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stop {
    /// The input ended inside the line that starts here.
    More(usize),
    /// The head is refused.
    Refuse(Reason),
}

impl From<Reason> for Stop {
    #[inline(always)]
    fn from(reason: Reason) -> Self {
        Self::Refuse(reason)
    }
}
