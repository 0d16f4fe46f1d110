use std::sync::Arc;

use bytes::Bytes;
use leat_rpc_wire::{Metadata, Status};

/// What an entry takes beside its own bytes: the structure and its place in the ring.
const ENTRY_BYTES: usize = 256;
/// The same for a frame.
const FRAME_BYTES: usize = 64;

/// One call.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its number; they rise with the order of arrival, over all cores.
    pub number: u64,
    /// What is known from its head.
    pub begun: Begun,
    /// Its messages, both ways, in the order in which they came and went.
    pub frames: Vec<Frame>,
    /// How it ended, and when, in microseconds since it began; `None` while it is under way.
    pub ended: Option<(Status, u64)>,
    /// The trailers of the answer.
    pub trailers: Metadata,
    /// Messages of the caller that there was no room for.
    pub(super) frames_dropped: u64,
    /// Bytes of the frames, about: counted as they come, since a stream may have many.
    pub(super) frames_bytes: usize,
}

/// What is known of a call before its first message.
#[derive(Clone, Debug)]
pub struct Begun {
    /// When its head was complete, in microseconds since 1970.
    pub at_us: u64,
    /// `package.Service/Method`, or the path of a request that asked for no method that there is.
    pub method: Arc<str>,
    /// Its session; empty for calls without one.
    pub session: Box<str>,
    /// `grpc`, `grpc_web`, `connect` or `rest`; `http` for a request that speaks none of them.
    pub protocol: &'static str,
    /// Who called.
    pub peer: Box<str>,
    /// Its metadata, secrets masked.
    pub metadata: Metadata,
    /// How long it was given, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// The rule that answered, or why none did.
    pub rule: Result<Arc<str>, Unmatched>,
}

/// A call that no rule answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// The nearest rule, what failed, and what was seen, in words.
    pub why: Box<str>,
    /// Whether it was answered with a made-up message.
    pub faked: bool,
}

/// Which way a message went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the caller.
    In,
    /// To the caller.
    Out,
}

/// One message.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Which way.
    pub way: Way,
    /// When, in microseconds since the call began.
    pub at_us: u64,
    /// Whether `bytes` are JSON instead of the binary form.
    pub is_json: bool,
    /// The message, without its envelope; `None` where it was too long to be kept.
    pub bytes: Option<Bytes>,
    /// How long it is.
    pub length: usize,
}

impl Entry {
    /// Whether no rule answered.
    pub fn is_unmatched(&self) -> bool {
        self.begun.rule.is_err()
    }

    /// Messages of the caller whose content is not known: there was no room for them, or they were too long.
    pub(super) fn unknown_frames(&self) -> u64 {
        let long = self.frames.iter().filter(|frame| frame.way == Way::In && frame.bytes.is_none());
        self.frames_dropped + long.count() as u64
    }

    /// Memory that it holds, about.
    pub(super) fn cost(&self) -> usize {
        let begun = &self.begun;
        let words = begun.method.len()
            + begun.session.len()
            + begun.peer.len()
            + begun.rule.as_ref().err().map_or(0, |un| un.why.len());
        let told = self.ended.as_ref().map_or(0, |(status, _)| {
            status.message.len()
                + status.details.iter().map(|detail| detail.type_name.len() + detail.value.len()).sum::<usize>()
        });
        ENTRY_BYTES + words + told + self.frames_bytes + cost_of(&begun.metadata) + cost_of(&self.trailers)
    }
}

impl Frame {
    /// A message of this length, kept where it has at most `bytes_max`. One copy.
    pub fn new(way: Way, at_us: u64, is_json: bool, message: &[u8], bytes_max: usize) -> Self {
        let bytes = (message.len() <= bytes_max).then(|| Bytes::copy_from_slice(message));
        Self { way, at_us, is_json, bytes, length: message.len() }
    }

    pub(super) fn cost(&self) -> usize {
        FRAME_BYTES + self.bytes.as_ref().map_or(0, Bytes::len)
    }
}

fn cost_of(metadata: &Metadata) -> usize {
    metadata.iter().map(|(name, value)| name.len() + value.len() + 8).sum()
}
