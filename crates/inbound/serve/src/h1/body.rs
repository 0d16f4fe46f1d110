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
    pub(super) expect: Expect,
}

/// Whether the client holds its body back until it sees 100 (RFC 9110 section 10.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expect {
    /// It does not, or no longer.
    Nothing,
    /// It does.
    Owed,
    /// It does, and whether it is asked is the handler's matter.
    Waived,
    /// 100 is in the output and has not left whole.
    Leaving,
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
            expect: Expect::Nothing,
        }
    }

    /// Gets ready for a body of `length`.
    pub(super) fn begin(&mut self, length: Length, limits: &Limits, profile: Profile, expect_continue: bool) {
        self.limits = DecoderLimits::new(limits, profile);
        self.length = length;
        self.decoder = BodyDecoder::new(length, self.limits);
        self.lent = 0;
        self.done = matches!(length, Length::None | Length::Known(0));
        self.expect = if expect_continue && !self.done { Expect::Owed } else { Expect::Nothing };
    }

    /// Replaces the limit before anything was read.
    pub(super) fn limit(&mut self, bytes_max: u64) {
        self.limits.body_bytes_max = bytes_max;
        self.decoder.limit(bytes_max);
    }

    /// Turns the body into the raw bytes of a tunnel.
    pub(super) fn become_tunnel(&mut self) {
        self.length = Length::Tunnel;
        self.decoder = BodyDecoder::new(Length::Tunnel, self.limits);
        self.lent = 0;
        self.done = false;
        self.expect = Expect::Nothing;
    }

    pub(super) fn is_tunnel(&self) -> bool {
        self.length == Length::Tunnel
    }

    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Whether every byte of the body was taken, though its end may not have been asked for.
    pub(super) fn is_consumed(&self) -> bool {
        self.done || self.decoder.is_done()
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

    /// How many bytes of body the socket is certain to give next: after [`Next::Read`] nothing of it is buffered.
    pub(super) fn unframed(&self) -> usize {
        usize::try_from(self.decoder.unframed()).unwrap_or(usize::MAX)
    }

    /// Notes that `count` bytes went past the buffer.
    pub(super) fn passed(&mut self, count: usize) {
        self.decoder.consumed(count);
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
