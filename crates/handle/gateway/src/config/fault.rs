/// A failure that is wished for, to see how clients take it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub(super) share: u32,
    pub(super) field: Option<String>,
    pub(super) delay_ms: u64,
    pub(super) end: FaultEnd,
}

/// What becomes of a request after the delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultEnd {
    /// It goes on.
    GoesOn,
    /// It is answered with this status.
    Status(u16),
    /// Its connection is reset.
    Reset,
}

impl Fault {
    /// How many of a million requests.
    pub fn share(&self) -> u32 {
        self.share
    }

    /// The field that a request must have; `None` for every request.
    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }

    /// How long the request is held, in milliseconds.
    pub fn delay_ms(&self) -> u64 {
        self.delay_ms
    }

    /// What follows.
    pub fn end(&self) -> FaultEnd {
        self.end
    }
}
