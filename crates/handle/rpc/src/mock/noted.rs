use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use leat_message::{Address, Peer};
use leat_rpc_wire::{Code, Metadata, Status};

use super::Mock;
use super::counts::Block;
use super::journal::{Begun, Frame, Unmatched, Way};
use super::reply::WallTime;
use super::secret::masked;
use crate::call::{Call, Form, Message, Outcome, Protocol, Refusal};
use crate::cel::Timestamp;
use crate::metadata::CallMetadata;

/// A call in the counts, and in the journal where one is kept. Dropped before its end, it was given up.
pub(super) struct Noted<'n> {
    mock: &'n Mock,
    block: &'n Block,
    method: usize,
    protocol: Protocol,
    began: Instant,
    timeout: Option<Duration>,
    /// Its number in the journal.
    number: Option<u64>,
    is_ended: bool,
}

impl<'n> Noted<'n> {
    pub(super) fn new(mock: &'n Mock, block: &'n Block, call: &Call<'_>) -> Self {
        let (method, timeout) = (call.method.id(), call.timeout);
        Self {
            mock,
            block,
            method,
            protocol: call.protocol,
            began: Instant::now(),
            timeout,
            number: None,
            is_ended: false,
        }
    }

    /// Leaves it uncounted: it is noted elsewhere.
    pub(super) fn forget(mut self) {
        self.is_ended = true;
    }

    /// Puts it into the journal.
    pub(super) fn begin(&mut self, begun: Begun) {
        self.number = Some(self.mock.journal.begin(begun));
    }

    /// Notes a message.
    pub(super) fn message(&self, way: Way, message: Message<'_>) {
        if let Some(number) = self.number {
            let is_json = message.form == Form::Json;
            let frame =
                Frame::new(way, self.elapsed_us(), is_json, message.bytes, self.mock.journal.message_bytes_max());
            self.mock.journal.frame(number, frame);
        }
    }

    /// Notes how it ended.
    pub(super) fn end(mut self, outcome: &Outcome, redact: &[String]) {
        let trailers = if self.number.is_some() { masked(outcome.trailers.iter(), redact) } else { Metadata::new() };
        self.ended(&outcome.status, trailers);
    }

    /// The same without trailers.
    pub(super) fn end_with(mut self, status: &Status) {
        self.ended(status, Metadata::new());
    }

    fn ended(&mut self, status: &Status, trailers: Metadata) {
        self.is_ended = true;
        let us = self.elapsed_us();
        self.block.ended(self.method, self.protocol, status.code, us);
        if let Some(number) = self.number {
            self.mock.journal.end(number, status.clone(), trailers, us);
        }
    }

    fn elapsed_us(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        if !self.is_ended {
            let is_late = self.timeout.is_some_and(|timeout| self.began.elapsed() >= timeout);
            let status = match is_late {
                true => Status::new(Code::DeadlineExceeded, "the deadline passed"),
                false => Status::new(Code::Canceled, "the client gave up"),
            };
            self.ended(&status, Metadata::new());
        }
    }
}

/// A call as the journal has it.
pub(super) fn begun(
    call: &Call<'_>,
    session: Option<&[u8]>,
    rule: Result<Arc<str>, Unmatched>,
    redact: &[String],
) -> Begun {
    Begun {
        timeout_ms: call.timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
        ..seen(call.method.full_name(), call.protocol.name(), &call.metadata, call.peer, session, rule, redact)
    }
}

/// A request that became no call, as the journal has it.
pub(super) fn refused(refused: &Refusal<'_>, session: Option<&[u8]>, redact: &[String]) -> Begun {
    let mut why = refused.status.message.clone();
    // Of the others it is always the same.
    if matches!(refused.protocol, None | Some(Protocol::Rest)) {
        why = format!("{}: {why}", refused.head.method_bytes().escape_ascii());
    }
    let rule = Err(Unmatched { why: why.into(), faked: false });
    let protocol = refused.protocol.map_or("http", Protocol::name);
    let metadata = CallMetadata::new(refused.head.fields());
    seen(refused.method, protocol, &metadata, refused.peer, session, rule, redact)
}

fn seen(
    method: &str,
    protocol: &'static str,
    metadata: &CallMetadata<'_>,
    from: &Peer,
    session: Option<&[u8]>,
    rule: Result<Arc<str>, Unmatched>,
    redact: &[String],
) -> Begun {
    Begun {
        at_us: u64::try_from(since_1970().as_micros()).unwrap_or(u64::MAX),
        method: method.into(),
        session: String::from_utf8_lossy(session.unwrap_or_default()).into(),
        protocol,
        peer: peer(from).into(),
        metadata: masked(metadata.to_owned().iter().filter(|(name, _)| !name.starts_with(':')), redact),
        timeout_ms: None,
        rule,
    }
}

/// Who calls, in words.
pub(super) fn peer(peer: &Peer) -> String {
    match &peer.remote {
        Address::Ip(address) => address.to_string(),
        Address::Unix => "unix".to_owned(),
    }
}

/// The time that templates see.
pub(super) fn wall_time() -> WallTime {
    let since = since_1970();
    WallTime { seconds: i64::try_from(since.as_secs()).unwrap_or(i64::MAX), nanos: since.subsec_nanos() }
}

/// The time that constraints of the schema compare with.
pub(super) fn timestamp() -> Timestamp {
    Timestamp(i128::try_from(since_1970().as_nanos()).unwrap_or(i128::MAX))
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
