use std::task::{Context, Poll, ready};

use leat_message::{Exchange, Piece, Reason};
use leat_rpc_wire::compression::CompressionError;
use leat_rpc_wire::envelope::{self, COMPRESSED, Found, Reader};
use leat_rpc_wire::grpc_web::text::Decoder;
use leat_rpc_wire::{Code, Coding, MediaType, Opening, Status};

use crate::call::Message;

/// Makes messages of a request's body, one at a time.
pub(super) struct Receiving {
    opening: Opening,
    bytes_max: usize,
    reader: Reader,
    /// The text form: its decoder, and what was decoded and not read yet from `plain_at` on.
    text: Option<Decoder>,
    plain: Vec<u8>,
    plain_at: usize,
    message: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// More may come.
    Open,
    /// The only message was received ahead, and is to be handed out.
    Ahead,
    /// There is nothing more.
    Ended,
}

/// Why there is no message.
#[derive(Debug)]
pub(super) enum Bad {
    /// The client has broken the protocol or a limit, and is to be told.
    Status(Status),
    /// The body ended with its stream or connection.
    Transport(Reason),
}

impl From<Status> for Bad {
    fn from(status: Status) -> Self {
        Self::Status(status)
    }
}

impl Receiving {
    pub(super) fn new(opening: Opening, bytes_max: usize) -> Self {
        Self {
            opening,
            bytes_max,
            reader: Reader::default(),
            text: matches!(opening.media, MediaType::GrpcWebText(_)).then(Decoder::default),
            plain: Vec::new(),
            plain_at: 0,
            message: Vec::new(),
            state: State::Open,
        }
    }

    /// The only message of a call, which was read elsewhere.
    pub(super) fn put_only(&mut self, message: Vec<u8>) {
        self.message = message;
        self.state = State::Ahead;
    }

    /// Hands the only message out again.
    pub(super) fn again(&mut self) {
        self.state = State::Ahead;
    }

    /// The message that was received last.
    pub(super) fn message(&self) -> Message<'_> {
        Message { form: self.opening.form(), bytes: &self.message }
    }

    /// Whether the body was read to its end.
    pub(super) fn is_at_end(&self) -> bool {
        self.state != State::Open
    }

    /// Receives the one message of a call whose client streams nothing, and the end behind it.
    pub(super) fn poll_only<X: Exchange>(&mut self, exchange: &mut X, cx: &mut Context<'_>) -> Poll<Result<(), Bad>> {
        if !self.opening.is_enveloped() {
            ready!(self.poll_body(exchange, cx))?;
            self.state = State::Ended;
            return Poll::Ready(Ok(()));
        }
        if self.state == State::Open {
            if !ready!(self.poll_next(exchange, cx))? {
                return Poll::Ready(Err(zero().into()));
            }
            self.state = State::Ahead;
        }
        let message = std::mem::take(&mut self.message);
        let more = self.poll_next(exchange, cx);
        self.message = message;
        match ready!(more)? {
            false => Poll::Ready(Ok(())),
            true => Poll::Ready(Err(several().into())),
        }
    }

    /// Receives the next message; `false` at the end.
    pub(super) fn poll_message<X: Exchange>(
        &mut self,
        exchange: &mut X,
        cx: &mut Context<'_>,
    ) -> Poll<Result<bool, Bad>> {
        match self.state {
            State::Ahead => {
                self.state = State::Ended;
                Poll::Ready(Ok(true))
            }
            State::Ended => {
                self.message.clear();
                Poll::Ready(Ok(false))
            }
            State::Open => self.poll_next(exchange, cx),
        }
    }

    /// The whole body as the message: Connect's unary calls.
    fn poll_body<X: Exchange>(&mut self, exchange: &mut X, cx: &mut Context<'_>) -> Poll<Result<(), Bad>> {
        loop {
            match ready!(exchange.poll_body(cx)).map_err(Bad::Transport)? {
                Piece::End => break,
                Piece::Data(bytes) => {
                    if self.plain.len() + bytes.len() > self.bytes_max {
                        return Poll::Ready(Err(too_large(self.bytes_max).into()));
                    }
                    self.plain.extend_from_slice(bytes);
                    let count = bytes.len();
                    exchange.consume(count);
                }
            }
        }
        let mut body = std::mem::take(&mut self.plain);
        if self.opening.received == Coding::Identity {
            std::mem::swap(&mut self.message, &mut body);
        } else {
            unpack(self.opening.received, &body, self.bytes_max, &mut self.message)?;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_next<X: Exchange>(&mut self, exchange: &mut X, cx: &mut Context<'_>) -> Poll<Result<bool, Bad>> {
        loop {
            let found = if self.text.is_some() && self.plain_at < self.plain.len() {
                let (used, found) =
                    self.reader.read(self.plain.get(self.plain_at..).unwrap_or_default(), self.bytes_max);
                self.plain_at += used;
                found
            } else {
                match ready!(exchange.poll_body(cx)).map_err(Bad::Transport)? {
                    Piece::End => return Poll::Ready(self.end().map_err(Bad::Status)),
                    Piece::Data(bytes) => {
                        let (used, found) = match &mut self.text {
                            None => self.reader.read(bytes, self.bytes_max),
                            Some(decoder) => {
                                self.plain.clear();
                                self.plain_at = 0;
                                decoder
                                    .decode(bytes, &mut self.plain)
                                    .map_err(|_| protocol("the body is not Base64"))?;
                                (bytes.len(), Found::More)
                            }
                        };
                        exchange.consume(used);
                        found
                    }
                }
            };
            match found {
                Found::More => {}
                Found::TooLarge { .. } => return Poll::Ready(Err(too_large(self.bytes_max).into())),
                Found::Whole { flags } => {
                    self.take(flags)?;
                    return Poll::Ready(Ok(true));
                }
            }
        }
    }

    fn take(&mut self, flags: u8) -> Result<(), Status> {
        self.message.clear();
        match flags {
            0 => {
                let content = self.reader.take();
                self.reader.give_back(std::mem::replace(&mut self.message, content));
                Ok(())
            }
            COMPRESSED => {
                unpack_envelope(self.opening.received, self.reader.content(), self.bytes_max, &mut self.message)
            }
            flags => Err(invalid_flags(flags)),
        }
    }

    fn end(&mut self) -> Result<bool, Status> {
        if self.reader.is_inside() || self.text.as_ref().is_some_and(|decoder| !decoder.is_complete()) {
            return Err(protocol("the body ends inside an envelope"));
        }
        self.message.clear();
        self.state = State::Ended;
        Ok(false)
    }
}

/// Reads off a body that was answered, or is known.
pub(super) fn poll_skip<X: Exchange>(exchange: &mut X, cx: &mut Context<'_>) -> Poll<Result<(), Reason>> {
    loop {
        match ready!(exchange.poll_body(cx))? {
            Piece::End => return Poll::Ready(Ok(())),
            Piece::Data(bytes) => {
                let count = bytes.len();
                exchange.consume(count);
            }
        }
    }
}

/// The one message of a body that is whole: by reference, where it is neither compressed nor text.
pub(super) fn only_message<'b>(
    opening: Opening,
    body: &'b [u8],
    bytes_max: usize,
    room: &'b mut Vec<u8>,
) -> Result<&'b [u8], Status> {
    if !opening.is_enveloped() {
        if opening.received != Coding::Identity {
            unpack(opening.received, body, bytes_max, room)?;
            return Ok(room);
        }
        return if body.len() > bytes_max { Err(too_large(bytes_max)) } else { Ok(body) };
    }
    if matches!(opening.media, MediaType::GrpcWebText(_)) {
        return super::scratch::with_bytes(|plain| {
            let mut decoder = Decoder::default();
            decoder.decode(body, plain).map_err(|_| protocol("the body is not Base64"))?;
            if !decoder.is_complete() {
                return Err(protocol("the body ends inside an envelope"));
            }
            match only_envelope(plain, bytes_max)? {
                (0, message) => room.extend_from_slice(message),
                (_, message) => unpack_envelope(opening.received, message, bytes_max, room)?,
            }
            Ok(())
        })
        .map(|()| &**room);
    }
    match only_envelope(body, bytes_max)? {
        (0, message) => Ok(message),
        (_, message) => {
            unpack_envelope(opening.received, message, bytes_max, room)?;
            Ok(room)
        }
    }
}

fn only_envelope(body: &[u8], bytes_max: usize) -> Result<(u8, &[u8]), Status> {
    let Some((flags, message)) = envelope::only(body) else {
        let mut reader = Reader::default();
        return Err(match reader.read(body, bytes_max) {
            (0, _) => zero(),
            (_, Found::More) => protocol("the body ends inside an envelope"),
            (_, Found::TooLarge { .. }) => too_large(bytes_max),
            (_, Found::Whole { .. }) => several(),
        });
    };
    match flags {
        0 | COMPRESSED if message.len() > bytes_max => Err(too_large(bytes_max)),
        0 | COMPRESSED => Ok((flags, message)),
        flags => Err(invalid_flags(flags)),
    }
}

fn unpack_envelope(coding: Coding, message: &[u8], bytes_max: usize, out: &mut Vec<u8>) -> Result<(), Status> {
    if coding == Coding::Identity {
        let text = "protocol error: a message says that it is compressed, and the request does not say how";
        return Err(Status::new(Code::Internal, text));
    }
    unpack(coding, message, bytes_max, out)
}

fn unpack(coding: Coding, message: &[u8], bytes_max: usize, out: &mut Vec<u8>) -> Result<(), Status> {
    out.clear();
    coding.decompress(message, bytes_max, out).map_err(|error| match error {
        CompressionError::TooLarge => too_large(bytes_max),
        CompressionError::Invalid => {
            Status::new(Code::InvalidArgument, format!("a message is not valid {}", coding.name()))
        }
    })
}

fn protocol(what: &str) -> Status {
    Status::new(Code::InvalidArgument, format!("protocol error: {what}"))
}

fn invalid_flags(flags: u8) -> Status {
    Status::new(Code::Internal, format!("protocol error: invalid envelope flags {flags:#010b}"))
}

fn too_large(bytes_max: usize) -> Status {
    Status::new(
        Code::ResourceExhausted,
        format!("a message is larger than the {bytes_max} bytes that are received at most"),
    )
}

fn zero() -> Status {
    Status::new(Code::Unimplemented, "the request has no message")
}

fn several() -> Status {
    Status::new(Code::Unimplemented, "the request has more than one message")
}
