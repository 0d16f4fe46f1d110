//! What a call is to those who answer it: the same for every protocol.
//!
//! [`serve`](crate::serve) makes a [`Call`] of a request and the protocol's reply of what a [`Service`] says. It also keeps
//! the deadline and the limits, and notices a client that has gone: a service is dropped then, and need not look.

use std::future::{Future, poll_fn};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
pub use leat_message::RpcProtocol as Protocol;
use leat_message::{Head, Peer, Step};
pub use leat_rpc_wire::Form;
use leat_rpc_wire::{Metadata, Status};
use leat_schema::Method;

use crate::metadata::CallMetadata;

/// The head of a call: what is known before the first message.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// What is called.
    pub method: &'a Method,
    /// The request's fields; those of the protocol and of HTTP are among them.
    pub metadata: CallMetadata<'a>,
    /// What the client said that it would wait at most; serve keeps it.
    pub timeout: Option<Duration>,
    /// Who calls.
    pub peer: &'a Peer,
    /// By which protocol. For records: an answer must not depend on it.
    pub protocol: Protocol,
    /// The query of a GET, which Connect has for methods without side effects; `None` for a POST.
    pub get_query: Option<&'a [u8]>,
}

/// One message, without envelope and compression, in the form that one side speaks. It was not looked into: the bytes may
/// be no message of the type at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// Its form.
    pub form: Form,
    /// The message.
    pub bytes: &'a [u8],
}

impl<'a> Message<'a> {
    /// A message in binary form.
    pub const fn binary(bytes: &'a [u8]) -> Self {
        Self { form: Form::Binary, bytes }
    }

    /// A message in JSON form.
    pub const fn json(bytes: &'a [u8]) -> Self {
        Self { form: Form::Json, bytes }
    }

    /// The message of `method`'s input in binary form: itself, or made in `room`, whose content is replaced.
    ///
    /// # Errors
    /// `invalid_argument` where it is JSON that is no message of the type.
    pub fn request_binary<'b>(&self, method: &Method, room: &'b mut Vec<u8>) -> Result<&'b [u8], Status>
    where
        'a: 'b,
    {
        match self.form {
            Form::Binary => Ok(self.bytes),
            Form::Json => {
                crate::transcribe::request_to_binary(method, self.bytes, room)?;
                Ok(room)
            }
        }
    }
}

/// A message that was made ahead in both forms: what a client speaks is there without a conversion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prepared {
    /// In binary form.
    pub binary: Bytes,
    /// In JSON form.
    pub json: Bytes,
}

impl Prepared {
    /// The message in `form`.
    #[inline]
    pub fn message(&self, form: Form) -> Message<'_> {
        match form {
            Form::Binary => Message::binary(&self.binary),
            Form::Json => Message::json(&self.json),
        }
    }
}

/// Answers calls. One for a listener's or a route's life: what a reload replaces besides the schema stands behind it.
pub trait Service: 'static {
    /// What [`Service::whole`] found out and [`Service::converse`] needs, so that nothing is done twice.
    type Plan: 'static;

    /// The method of this path (`/package.Service/Method`); one map access. `None`: the client is told in its protocol's way
    /// that there is no such method, unless [`Service::unknown`] says more.
    fn method(&self, path: &str) -> Option<&Method>;

    /// What to tell a client that calls `path`, which is no method.
    fn unknown(&self, path: &str) -> Option<Status> {
        let _ = path;
        None
    }

    /// A request that speaks an RPC protocol, or goes to the path of a method, was refused before it became a call: for who keeps
    /// a record of all that clients tried.
    fn refused(&self, refused: &Refusal<'_>) {
        let _ = refused;
    }

    /// A unary call with its whole request: answered at once, without a future, a task or an allocation. [`Step::Done`]: one
    /// of the three that end `answer` was called. [`Step::Exchange`]: nothing was written, and `converse` goes on.
    fn whole<A: Answer>(&self, call: &Call<'_>, request: Message<'_>, answer: &mut A) -> Step<Self::Plan>;

    /// Every other call: streams, and what waits. `plan` is what `whole` gave, if it was asked. The future is dropped when the
    /// deadline passes or the client goes.
    fn converse<C: Conversation>(
        &self,
        plan: Option<Self::Plan>,
        conversation: &mut C,
    ) -> impl Future<Output = Outcome>;
}

/// A request that was refused before it became a call.
#[derive(Clone, Copy, Debug)]
pub struct Refusal<'a> {
    /// The method as `package.Service/Method` where there is one, else the path without its first slash.
    pub method: &'a str,
    /// What the client speaks; `None` where that is HTTP alone.
    pub protocol: Option<Protocol>,
    /// The request.
    pub head: Head<'a>,
    /// Who sent it.
    pub peer: &'a Peer,
    /// What the client was told, or would have been in a protocol of RPC.
    pub status: &'a Status,
}

/// Where the answer to a unary call is written to. Headers and trailers first, in any order, then one of the other three,
/// which ends it.
pub trait Answer {
    /// A field of the reply's head; see [`Conversation::header`].
    fn header(&mut self, name: &str, value: &[u8]);

    /// A trailer, by the same rules.
    fn trailer(&mut self, name: &str, value: &[u8]);

    /// The reply's message, in either form.
    fn message(&mut self, message: Message<'_>);

    /// The reply's message, made ahead.
    fn prepared(&mut self, message: &Prepared);

    /// The call failed. Nothing but headers and trailers goes with it.
    fn fail(&mut self, status: &Status);
}

/// A call that is under way, in both directions at once. Everything is polled by the one task that runs it.
///
/// What was sent leaves whenever the service waits for something; back pressure is in `poll_room`.
pub trait Conversation {
    /// The head of the call.
    fn call(&self) -> Call<'_>;

    /// Takes the next message of the client, which [`Conversation::message`] then lends until the next one is asked for.
    /// `false`: the client has sent all (half close). A unary or server streaming call has exactly one message.
    ///
    /// # Errors
    /// What ends the call: a malformed or oversize message, or a client that went. To be returned as the outcome.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, Status>>;

    /// The message that was received last; empty before the first and after the last.
    fn message(&self) -> Message<'_>;

    /// A field of the reply's head. Names in any case; the value of a name that ends in `-bin` is any bytes, of others
    /// printable ASCII. A field that no reply may have, or that is the protocol's own, is left out. Without effect once the
    /// first message was sent.
    fn header(&mut self, name: &str, value: &[u8]);

    /// Ready when a message may be sent: what was sent before has left, but for a bounded rest.
    ///
    /// # Errors
    /// As for [`Conversation::poll_receive`].
    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Status>>;

    /// Sends a message in either form; the first one takes the headers with it. Encoded and held at once, whether there is
    /// room or not.
    ///
    /// # Errors
    /// `internal` where the message is none of the method's output type and had to be put into the client's form.
    fn send(&mut self, message: Message<'_>) -> Result<(), Status>;

    /// Sends a message made ahead.
    fn send_prepared(&mut self, message: &Prepared);

    /// Sends the headers now, before there is a message.
    fn send_headers(&mut self);

    /// Breaks what follows below RPC; see [`Fault`]. For those that end the call, return any outcome then.
    fn fault(&mut self, fault: Fault);

    /// [`Conversation::poll_receive`] as a future.
    fn receive(&mut self) -> impl Future<Output = Result<bool, Status>> {
        poll_fn(|cx| self.poll_receive(cx))
    }

    /// Waits until there is room.
    fn room(&mut self) -> impl Future<Output = Result<(), Status>> {
        poll_fn(|cx| self.poll_room(cx))
    }
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Success, or what went wrong.
    pub status: Status,
    /// Trailers, by the rules of [`Conversation::header`].
    pub trailers: Metadata,
}

impl Outcome {
    /// Success without trailers. No allocation.
    pub const OK: Self = Self { status: Status::OK, trailers: Metadata::new() };
}

impl From<Status> for Outcome {
    fn from(status: Status) -> Self {
        Self { status, trailers: Metadata::new() }
    }
}

impl From<Result<(), Status>> for Outcome {
    fn from(result: Result<(), Status>) -> Self {
        Self::from(result.err().unwrap_or(Status::OK))
    }
}

/// A break below RPC, for tests of clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The stream is reset with this HTTP/2 error code when the call ends; HTTP/1 resets its connection (RST).
    Reset {
        /// RFC 9113 section 7.
        code: u32,
    },
    /// The connection says GOAWAY with this HTTP/2 error code and ends; on HTTP/1 it ends without a reply.
    GoAway {
        /// RFC 9113 section 7.
        code: u32,
    },
    /// The reply's body stops after so many bytes (of envelopes and messages), and then the stream is reset.
    Cut {
        /// Body bytes that still go out.
        after_bytes: u64,
    },
    /// The reply ends without its trailers, or without the protocol's end of a stream.
    NoTrailers,
    /// The messages to come say that they are compressed, and are not what their coding makes.
    BadCompression,
    /// The body leaves in pieces.
    Trickle {
        /// Length of a piece.
        bytes: u32,
        /// Between two pieces.
        every_ms: u32,
    },
    /// The connection ends without another byte.
    Close,
}
