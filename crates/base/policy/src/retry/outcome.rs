/// How an attempt ended, as far as a retry is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// No byte of the request was sent: the name wasn't found, the connection was refused or not made in time, no TLS.
    NotSent,
    /// The peer says that it did not process the request: RST_STREAM with REFUSED_STREAM, or GOAWAY with a lower stream
    /// (RFC 9113 section 8.7).
    NotProcessed,
    /// The connection broke before the head of a response was complete; nobody knows what was done.
    Broken,
    /// No response came within the time of the attempt; nobody knows what was done.
    TimedOut,
    /// The head of a response with this status came, and nothing of it was passed on yet.
    Status(u16),
    /// It broke behind the head; part of the response was passed on.
    PassedOn,
    /// The caller does not want it any more.
    Cancelled,
}

/// Whether doing it twice is the same as doing it once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idempotency {
    /// It is.
    Idempotent,
    /// It may not be.
    NotIdempotent,
}

impl Idempotency {
    /// What the method says (RFC 9110 section 9.2.2). Methods are case-sensitive, and unknown ones are not idempotent.
    /// The caller may know better, as of a POST with a key that the server honours.
    #[must_use]
    pub fn of_method(method: &[u8]) -> Self {
        match method {
            b"GET" | b"HEAD" | b"OPTIONS" | b"TRACE" | b"PUT" | b"DELETE" => Self::Idempotent,
            _ => Self::NotIdempotent,
        }
    }
}

/// Whether the request's body can be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// There is none, none of it was read yet, or all that was read is kept.
    Whole,
    /// Some of it was read and is gone.
    Consumed,
}
