/// An error code (RFC 9113 section 7). Any number is one: those that nobody knows mean no more than INTERNAL_ERROR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code(pub u32);

impl Code {
    /// Not an error: a graceful end.
    pub const NO_ERROR: Self = Self(0x0);
    /// Whatever breaks the rules and has no code of its own.
    pub const PROTOCOL_ERROR: Self = Self(0x1);
    /// We failed.
    pub const INTERNAL_ERROR: Self = Self(0x2);
    /// More was sent than the window allows, or a window was opened too far.
    pub const FLOW_CONTROL_ERROR: Self = Self(0x3);
    /// A frame for a stream whose sender has ended it.
    pub const STREAM_CLOSED: Self = Self(0x5);
    /// A frame of a length that it can't have.
    pub const FRAME_SIZE_ERROR: Self = Self(0x6);
    /// The stream was not looked at: the request may be sent again.
    pub const REFUSED_STREAM: Self = Self(0x7);
    /// The stream is of no use any more.
    pub const CANCEL: Self = Self(0x8);
    /// A field block that can't be decoded.
    pub const COMPRESSION_ERROR: Self = Self(0x9);
    /// The peer behaves as an attacker does.
    pub const ENHANCE_YOUR_CALM: Self = Self(0xb);
}

/// What is wrong with something that the peer sent, and how far the harm goes (RFC 9113 section 5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// This stream ends; the others go on.
    Stream(u32, Code),
    /// The connection ends.
    Connection(Code),
}

impl From<Code> for Fault {
    fn from(code: Code) -> Self {
        Self::Connection(code)
    }
}
