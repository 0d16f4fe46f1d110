use std::time::Duration;

/// Whether a request may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may, and its cost is debited.
    Admit,
    /// It may not, and nothing is debited.
    Refuse {
        /// The shortest wait after which the same request would be admitted if nobody else came; `None` if it never
        /// will be, as when it costs more than the limit ever has.
        retry_after: Option<Duration>,
    },
}

/// What a limit says of one request, with what the fields `RateLimit` and `Retry-After` tell the client.
///
/// `RateLimit` is from the draft "RateLimit header fields for HTTP" (draft-ietf-httpapi-ratelimit-headers), `Retry-After`
/// from RFC 9110 section 10.2.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the request may pass.
    pub decision: Decision,
    /// The highest cost that would still be admitted now, after this request.
    pub remaining: u64,
    /// The time until the whole limit is there again if nobody else came.
    pub reset: Duration,
}

impl Verdict {
    /// Whether the request may pass.
    #[must_use]
    pub fn is_admitted(&self) -> bool {
        self.decision == Decision::Admit
    }

    /// `reset` in whole seconds, rounded up: the `t` of `RateLimit`.
    #[must_use]
    pub fn reset_seconds(&self) -> u64 {
        seconds_up(self.reset)
    }

    /// The value of `Retry-After` in seconds, rounded up so that a client that obeys isn't refused again; `None` for an
    /// admitted request and for one that never will be.
    #[must_use]
    pub fn retry_after_seconds(&self) -> Option<u64> {
        match self.decision {
            Decision::Admit => None,
            Decision::Refuse { retry_after } => retry_after.map(seconds_up),
        }
    }
}

fn seconds_up(time: Duration) -> u64 {
    time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0))
}
