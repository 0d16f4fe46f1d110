//! The requests of a call, as far as its reply looks at them.

use std::cell::OnceCell;

use buffa_descriptor::reflect::DynamicMessage;
use leat_rpc_wire::{Code, Status};
use leat_schema::{DECODED_BYTES_MAX, DecodeProblem, MessageType};

use super::template::Failure;

/// Bytes of requests that are kept for a template that names all of them.
const KEPT_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Memory of a request that is kept beside its bytes, about: an empty one is not free.
const KEPT_OVERHEAD_BYTES: usize = 256;
/// Requests that are kept. All of them become a list for each instruction that names them, so that this bounds its time too.
const KEPT_MAX: usize = 10_000;

/// A request is no larger in memory than so many times its bytes, so that short ones need no look.
const SURE_FACTOR: usize = 1024;

/// What a reply keeps of the requests.
#[derive(Debug)]
pub(super) struct Received {
    input: MessageType,
    /// Whether all are kept, or the first and the last one only.
    all: bool,
    kept: Vec<Kept>,
    kept_bytes: usize,
    /// Memory that those to come may take decoded.
    decodable_bytes: usize,
    count: u64,
    /// How many there were when the last message was sent.
    answered: u64,
    empty: OnceCell<DynamicMessage>,
    /// What is wrong with the first request that is none of its type, once somebody has looked at it.
    malformed: OnceCell<String>,
}

/// A request: decoded when it is first looked at.
#[derive(Debug)]
struct Kept {
    bytes: Vec<u8>,
    decoded: OnceCell<Result<DynamicMessage, Failure>>,
}

impl Kept {
    fn cost(&self) -> usize {
        self.bytes.len() + KEPT_OVERHEAD_BYTES
    }
}

impl Received {
    pub(super) fn new(input: &MessageType, all: bool) -> Self {
        Self {
            input: input.clone(),
            all,
            kept: Vec::new(),
            kept_bytes: 0,
            decodable_bytes: DECODED_BYTES_MAX,
            count: 0,
            answered: 0,
            empty: OnceCell::new(),
            malformed: OnceCell::new(),
        }
    }

    /// What a call ends with that fails: the client's mistake where one of its requests is none of its type.
    pub(super) fn status(&self, failure: Failure) -> Status {
        match self.malformed.get() {
            Some(text) => Status::new(Code::InvalidArgument, text.clone()),
            None => failure.status(),
        }
    }

    /// Takes a request in binary form; `None` where no template looks at it, so that it only counts.
    ///
    /// # Errors
    /// What the client is told: there are more than are kept, or decoded they would take too much memory.
    pub(super) fn push(&mut self, bytes: Option<&[u8]>) -> Result<(), Status> {
        self.count += 1;
        let Some(bytes) = bytes else { return Ok(()) };
        if !self.all && self.kept.len() > 1 {
            let gone = self.kept.pop();
            self.kept_bytes -= gone.map_or(0, |gone| gone.cost());
        }
        if self.kept.len() >= KEPT_MAX {
            let problem = format!("there are more than {KEPT_MAX} requests, and the reply asks for all");
            return Err(Failure(problem).status());
        }
        self.kept_bytes += bytes.len() + KEPT_OVERHEAD_BYTES;
        if self.kept_bytes > KEPT_BYTES_MAX {
            let problem = format!("the requests have more than {KEPT_BYTES_MAX} bytes, and the reply asks for all");
            return Err(Failure(problem).status());
        }
        // Of one alone the decoder sees to it; all together are bounded here, before anything is made of them.
        if self.all || bytes.len() > DECODED_BYTES_MAX / SURE_FACTOR {
            let too_large =
                || Status::new(Code::ResourceExhausted, format!("the request: {}", DecodeProblem::TooLarge));
            let spent = self.input.decoded_bytes(bytes, self.decodable_bytes).ok_or_else(too_large)?;
            self.decodable_bytes -= if self.all { spent } else { 0 };
        }
        self.kept.push(Kept { bytes: bytes.to_vec(), decoded: OnceCell::new() });
        Ok(())
    }

    /// Notes that everything so far has been answered.
    pub(super) fn answer(&mut self) {
        self.answered = self.count;
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The first request; an empty message if there was none.
    pub(super) fn first(&self) -> Result<&DynamicMessage, Failure> {
        self.decoded(self.kept.first())
    }

    /// The last request so far.
    pub(super) fn last(&self) -> Result<&DynamicMessage, Failure> {
        self.decoded(self.kept.last())
    }

    /// All requests so far, or those since the last answer.
    pub(super) fn messages(&self, unanswered: bool) -> Result<Vec<&DynamicMessage>, Failure> {
        let from = if unanswered { usize::try_from(self.answered).unwrap_or(usize::MAX) } else { 0 };
        self.kept.iter().skip(from).map(|kept| self.decoded(Some(kept))).collect()
    }

    fn decoded<'k>(&'k self, kept: Option<&'k Kept>) -> Result<&'k DynamicMessage, Failure> {
        let Some(kept) = kept else { return Ok(self.empty.get_or_init(|| self.input.empty())) };
        let decode = || {
            let malformed = |error| {
                let text = format!("the request is no {}: {error}", self.input.full_name());
                if let DecodeProblem::Malformed(_) = error {
                    let _ = self.malformed.set(text.clone());
                }
                Failure(text)
            };
            self.input.decode(&kept.bytes).map_err(malformed)
        };
        kept.decoded.get_or_init(decode).as_ref().map_err(Clone::clone)
    }
}
