/// The trace that an exchange belongs to (W3C Trace Context). Plain data; made where the gateway's tracing is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The trace id's two halves, never both 0.
    pub id: [u64; 2],
    /// The caller's span; 0 where the trace begins here.
    pub parent: u64,
    /// This exchange's own span; never 0.
    pub span: u64,
    /// Whether spans are recorded.
    pub sampled: bool,
    /// Whether the trace id is known to be random (level 2's flag).
    pub random: bool,
    /// Whether the caller's `tracestate` is passed on.
    pub keeps_state: bool,
}
