use bytes::Bytes;
use leat_rpc_wire::{Metadata, Status};

/// Memory of a message or a field of metadata beside its bytes, about.
const PART_BYTES: usize = 64;

/// A call to a backend, as it went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// `package.Service/Method`.
    pub method: String,
    /// What the client sent, without secrets.
    pub metadata: Metadata,
    /// The client's messages, in binary form.
    pub requests: Vec<Bytes>,
    /// What came back.
    pub answer: Answered,
}

/// What a backend, or a rule, answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The headers, without secrets.
    pub headers: Metadata,
    /// The messages in binary form, each with the milliseconds since what was before it.
    pub messages: Vec<(Bytes, u64)>,
    /// How it ended.
    pub status: Status,
    /// Milliseconds from the last message (or the request) to the end.
    pub end_ms: u64,
    /// The trailers, without secrets.
    pub trailers: Metadata,
}

impl Recorded {
    /// Memory that it takes, in bytes, about.
    pub fn cost(&self) -> usize {
        let answer = &self.answer;
        let metadata = [&self.metadata, &answer.headers, &answer.trailers];
        let metadata = metadata.iter().flat_map(|of| of.iter()).map(|(name, value)| name.len() + value.len());
        let messages = self.requests.iter().chain(answer.messages.iter().map(|(bytes, _)| bytes)).map(Bytes::len);
        let details = answer.status.details.iter().map(|detail| detail.type_name.len() + detail.value.len());
        let parts = metadata.chain(messages).chain(details).map(|bytes| bytes + PART_BYTES);
        parts.sum::<usize>() + answer.status.message.len() + size_of::<Self>()
    }
}

impl Answered {
    /// Whether two answers say the same, whatever time they took.
    pub fn says_the_same(&self, other: &Self) -> bool {
        self.headers == other.headers
            && self.status == other.status
            && self.trailers == other.trailers
            && self.messages.iter().map(|(bytes, _)| bytes).eq(other.messages.iter().map(|(bytes, _)| bytes))
    }
}
