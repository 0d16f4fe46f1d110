use leat_h1::{BodyDecoder, Decoded, DecoderLimits};
use leat_message::{Length, Limits, Profile, Reason};
use leat_stream::Buffer;

/// The request body that is being read: the decoder and how much of it is lent to the handler.
#[derive(Debug)]
pub(super) struct IncomingBody {
    decoder: BodyDecoder,
    limits: DecoderLimits,
    length: Length,
    lent: usize,
    done: bool,
    /// Whether the client still waits for 100 (Continue).
    pub(super) continue_owed: bool,
    /// When the whole body must be here, on the core's clock.
    pub(super) deadline_ms: u64,
    /// Whether a pause in the body is normal (a stream) or means a slow sender.
    pub(super) timed: bool,
}

/// What [`IncomingBody::next`] found in the buffer.
pub(super) enum Next {
    /// So many bytes at the front of the buffer are body.
    Data(usize),
    /// The body is complete.
    End,
    /// More bytes must be read first.
    Read,
}

impl IncomingBody {
    pub(super) fn new() -> Self {
        let limits = DecoderLimits::default();
        Self {
            decoder: BodyDecoder::new(Length::None, limits),
            limits,
            length: Length::None,
            lent: 0,
            done: true,
            continue_owed: false,
            deadline_ms: u64::MAX,
            timed: true,
        }
    }

    /// Gets ready for a body of `length`.
    pub(super) fn begin(
        &mut self,
        length: Length,
        limits: &Limits,
        profile: Profile,
        continue_owed: bool,
        now_ms: u64,
    ) {
        self.limits = DecoderLimits::new(limits, profile);
        self.length = length;
        self.decoder = BodyDecoder::new(length, self.limits);
        self.lent = 0;
        self.done = matches!(length, Length::None | Length::Known(0));
        self.continue_owed = continue_owed && !self.done;
        self.limit_time(limits.body_time_ms, now_ms);
    }

    /// Replaces the limits before anything was read.
    pub(super) fn limit(&mut self, bytes_max: u64, time_ms: Option<u64>, now_ms: u64) {
        if self.done {
            return;
        }
        self.limits.body_bytes_max = bytes_max;
        self.decoder = BodyDecoder::new(self.length, self.limits);
        self.limit_time(time_ms, now_ms);
    }

    fn limit_time(&mut self, time_ms: Option<u64>, now_ms: u64) {
        self.timed = time_ms.is_some();
        self.deadline_ms = time_ms.map_or(u64::MAX, |ms| now_ms.saturating_add(ms));
    }

    /// Turns the body into the raw bytes of a tunnel.
    pub(super) fn become_tunnel(&mut self) {
        self.length = Length::Tunnel;
        self.decoder = BodyDecoder::new(Length::Tunnel, self.limits);
        self.lent = 0;
        self.done = false;
        self.continue_owed = false;
        self.timed = false;
        self.deadline_ms = u64::MAX;
    }

    pub(super) fn is_tunnel(&self) -> bool {
        self.length == Length::Tunnel
    }

    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Looks at what is in the buffer; consumes framing, never body bytes.
    pub(super) fn next(&mut self, input: &mut Buffer) -> Result<Next, Reason> {
        if self.lent > 0 {
            return Ok(Next::Data(self.lent));
        }
        if self.done {
            return Ok(Next::End);
        }
        match self.decoder.decode(input.bytes())? {
            Decoded::Data { skip, data } => {
                input.consume(skip);
                self.lent = data;
                Ok(Next::Data(data))
            }
            Decoded::End { skip } => {
                input.consume(skip);
                self.done = true;
                Ok(Next::End)
            }
            Decoded::More { skip } => {
                input.consume(skip);
                Ok(Next::Read)
            }
        }
    }

    /// Gives back lent bytes; says how many.
    pub(super) fn consume(&mut self, input: &mut Buffer, count: usize) -> usize {
        let count = count.min(self.lent);
        input.consume(count);
        self.decoder.consumed(count);
        self.lent -= count;
        count
    }

    /// The peer ended its direction.
    pub(super) fn end_of_input(&mut self) -> Result<(), Reason> {
        self.decoder.end_of_input()?;
        self.done = true;
        Ok(())
    }

    pub(super) fn trailers(&self) -> Option<leat_message::Fields<'_>> {
        if self.done { self.decoder.trailers() } else { None }
    }
}
