use std::task::{Context, Poll, ready};

use leat_message::{Exchange, Head, Name, Piece, Reason};
use leat_rpc_wire::compression::CompressionError;
use leat_rpc_wire::connect::query::Query;
use leat_rpc_wire::envelope::{self, Found};
use leat_rpc_wire::grpc_web::text::Decoder;
use leat_rpc_wire::rest::{Binding, ElementError, Elements};
use leat_rpc_wire::{Code, Coding, Form};

use super::dialect::{Dialect, Tongue};
use super::failure::Failure;
use super::transcoder::Transcoder;

/// The way of the messages to the upstream: what the client's protocol sends becomes envelopes of gRPC, none of them
/// compressed: the upstream has not said what it knows.
#[derive(Debug)]
pub(super) struct Upload {
    source: Source,
    /// Envelopes, of which those from `lent` on have not been taken yet.
    made: Vec<u8>,
    lent: usize,
    is_ended: bool,
    /// Envelopes so far.
    count: u64,
    plain: Vec<u8>,
}

#[derive(Debug)]
enum Source {
    /// Nothing more comes: the message is in `made`.
    Whole,
    Envelopes(envelope::Reader),
    /// The same in Base64; what has been decoded, and how much of that has been read.
    Text(envelope::Reader, Decoder, Vec<u8>, usize),
    /// JSON values; what the path and the query say belongs to the first.
    Elements(Elements, Option<Vec<u8>>),
    /// Bytes as they are; each piece is a message.
    Bytes(Vec<u8>, Option<Vec<u8>>),
}

/// What a call is made by.
#[derive(Clone, Copy)]
pub(super) struct By<'c, 't> {
    pub(super) transcoder: &'t Transcoder,
    pub(super) dialect: &'c Dialect<'t>,
}

impl By<'_, '_> {
    fn bytes_max(&self) -> usize {
        self.transcoder.settings().message_bytes_max
    }

    /// Appends what a message of this coding is, within the limit.
    pub(super) fn decompress(
        &self,
        coding: Coding,
        message: &[u8],
        bytes_max: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        coding.decompress(message, bytes_max, out).map_err(|error| match error {
            CompressionError::TooLarge => Failure::too_long(bytes_max),
            CompressionError::Invalid => {
                Failure::request(Code::InvalidArgument, format!("a message is not what {} makes", coding.name()))
            }
        })
    }
}

impl Upload {
    /// Of envelopes, unless [`Upload::begin`] or [`Upload::whole`] says otherwise.
    pub(super) fn new(tongue: Tongue) -> Self {
        let reader = envelope::Reader::default();
        let source = match tongue {
            Tongue::GrpcWebText(_) => Source::Text(reader, Decoder::default(), Vec::new(), 0),
            _ => Source::Envelopes(reader),
        };
        Self { source, made: Vec::new(), lent: 0, is_ended: false, count: 0, plain: Vec::new() }
    }

    /// Begins a client's stream by REST.
    pub(super) fn begin(&mut self, by: By<'_, '_>, binding: &Binding, head: Head<'_>) -> Result<(), Failure> {
        let parameters = parameters(by, binding, head)?;
        self.source = if binding.takes_bytes() {
            Source::Bytes(content_type(head), Some(parameters))
        } else {
            Source::Elements(Elements::new(by.bytes_max()), Some(parameters))
        };
        Ok(())
    }

    /// Takes the body of a request that is one message.
    pub(super) fn whole(&mut self, by: By<'_, '_>, head: Head<'_>, body: &[u8]) -> Result<(), Failure> {
        let mut query = Vec::new();
        let body = match by.dialect.is_get {
            true => {
                let read = Query::read(head.query().unwrap_or_default()).decode(&mut query);
                read.map_err(|_| Failure::request(Code::InvalidArgument, "the message in the query is malformed"))?;
                &query
            }
            false => body,
        };
        let mut plain = Vec::new();
        let body = match by.dialect.received {
            Coding::Identity if body.len() > by.bytes_max() => return Err(Failure::too_long(by.bytes_max())),
            Coding::Identity => body,
            coding => {
                by.decompress(coding, body, by.bytes_max(), &mut plain)?;
                &plain
            }
        };
        self.source = Source::Whole;
        let Some(binding) = by.dialect.binding else { return self.put(by, body) };
        let parameters = parameters(by, binding, head)?;
        let mut message = Vec::new();
        if binding.takes_bytes() {
            binding.request_bytes(&content_type(head), body, &parameters, &mut message);
        } else {
            let unknown = by.transcoder.settings().unknown;
            binding.request(body, unknown, &parameters, &mut message).map_err(request)?;
        }
        envelope::write(0, &message, &mut self.made);
        Ok(())
    }

    /// Lends what is made, and makes more where there is none.
    pub(super) fn poll<X: Exchange>(
        &mut self,
        cx: &mut Context<'_>,
        by: By<'_, '_>,
        inner: &mut X,
    ) -> Poll<Result<Piece<'_>, Stopped>> {
        while self.lent >= self.made.len() && !self.is_ended {
            self.made.clear();
            self.lent = 0;
            if let Source::Whole = self.source {
                self.is_ended = true;
                break;
            }
            if let Source::Text(reader, _, bytes, at) = &mut self.source
                && !bytes.is_empty()
            {
                let (mut reader, mut bytes, at) = (std::mem::take(reader), std::mem::take(bytes), *at);
                let at = at + self.envelope(by, &mut reader, bytes.get(at..).unwrap_or_default())?;
                // Moving what is left for each envelope would cost the square of their number.
                let at = if at < bytes.len() { at } else { 0 };
                if at == 0 {
                    bytes.clear();
                }
                if let Source::Text(place, _, left, left_at) = &mut self.source {
                    (*place, *left, *left_at) = (reader, bytes, at);
                }
                continue;
            }
            match ready!(inner.poll_body(cx)).map_err(Stopped::Broken)? {
                Piece::Data(bytes) => {
                    let used = self.take(by, bytes)?;
                    inner.consume(used);
                }
                Piece::End => self.end(by)?,
            }
        }
        Poll::Ready(Ok(match self.made.get(self.lent..) {
            Some(bytes) if !bytes.is_empty() => Piece::Data(bytes),
            _ => Piece::End,
        }))
    }

    /// Whether the client's body was read to its end.
    pub(super) fn has_all(&self) -> bool {
        self.is_ended || matches!(self.source, Source::Whole)
    }

    /// Gives back what was lent.
    pub(super) fn consume(&mut self, count: usize) {
        self.lent = self.lent.saturating_add(count).min(self.made.len());
    }

    /// Takes bytes of the client's body up to the end of a message; says how many.
    fn take(&mut self, by: By<'_, '_>, bytes: &[u8]) -> Result<usize, Failure> {
        match &mut self.source {
            Source::Whole => Ok(bytes.len()),
            Source::Envelopes(reader) => {
                let mut reader = std::mem::take(reader);
                let used = self.envelope(by, &mut reader, bytes)?;
                self.source = Source::Envelopes(reader);
                Ok(used)
            }
            Source::Text(_, decoder, decoded, _) => {
                let read = decoder.decode(bytes, decoded);
                read.map_err(|_| Failure::request(Code::InvalidArgument, "the body is not Base64"))?;
                Ok(bytes.len())
            }
            Source::Elements(elements, parameters) => {
                let (used, is_whole) = elements.take(bytes).map_err(|error| element(error, by))?;
                if is_whole {
                    let parameters = parameters.take().unwrap_or_default();
                    write_element(by, elements.value(), &parameters, &mut self.made)?;
                }
                Ok(used)
            }
            Source::Bytes(content_type, parameters) => {
                let bytes = bytes.get(..bytes.len().min(by.bytes_max())).unwrap_or_default();
                write_bytes(by, content_type, bytes, parameters, &mut self.made);
                Ok(bytes.len())
            }
        }
    }

    fn end(&mut self, by: By<'_, '_>) -> Result<(), Failure> {
        self.is_ended = true;
        let cut_off = || Failure::request(Code::InvalidArgument, "the body ends inside a message");
        match &mut self.source {
            Source::Whole => {}
            Source::Envelopes(reader) if reader.is_inside() => return Err(cut_off()),
            Source::Envelopes(_) => self.check_count(by)?,
            Source::Text(reader, decoder, ..) if reader.is_inside() || !decoder.is_complete() => return Err(cut_off()),
            Source::Text(..) => self.check_count(by)?,
            Source::Elements(elements, parameters) => {
                if elements.end().map_err(|error| element(error, by))? {
                    let parameters = parameters.take().unwrap_or_default();
                    write_element(by, elements.value(), &parameters, &mut self.made)?;
                }
            }
            // An empty body is one message as well.
            Source::Bytes(content_type, parameters) if parameters.is_some() => {
                write_bytes(by, content_type, &[], parameters, &mut self.made);
            }
            Source::Bytes(..) => {}
        }
        Ok(())
    }

    fn check_count(&self, by: By<'_, '_>) -> Result<(), Failure> {
        if self.count == 0 && !by.dialect.method.client_streams() {
            return Err(Failure::request(Code::Unimplemented, "the method takes a message, and there is none"));
        }
        Ok(())
    }

    fn envelope(&mut self, by: By<'_, '_>, reader: &mut envelope::Reader, bytes: &[u8]) -> Result<usize, Failure> {
        let bytes_max = match by.dialect.received {
            Coding::Identity => by.bytes_max(),
            _ => with_overhead(by.bytes_max()),
        };
        let (used, found) = reader.read(bytes, bytes_max);
        if let Found::Whole { .. } = found {
            self.count += 1;
            if self.count > 1 && !by.dialect.method.client_streams() {
                return Err(Failure::request(Code::Unimplemented, "the method takes one message, and there are more"));
            }
        }
        match found {
            Found::More => {}
            Found::Whole { flags: 0 } if reader.content().len() > by.bytes_max() => {
                return Err(Failure::too_long(by.bytes_max()));
            }
            Found::TooLarge { .. } => return Err(Failure::too_long(by.bytes_max())),
            Found::Whole { flags: 0 } => self.put(by, reader.content())?,
            Found::Whole { flags: envelope::COMPRESSED } => match by.dialect.received {
                Coding::Identity => {
                    return Err(Failure::request(Code::Internal, "a message is compressed, and no coding was named"));
                }
                coding => {
                    let mut plain = std::mem::take(&mut self.plain);
                    plain.clear();
                    by.decompress(coding, reader.content(), by.bytes_max(), &mut plain)?;
                    self.put(by, &plain)?;
                    self.plain = plain;
                }
            },
            Found::Whole { flags } => {
                return Err(Failure::request(
                    Code::InvalidArgument,
                    format!("an envelope has the unknown flags {flags:#04x}"),
                ));
            }
        }
        Ok(used)
    }

    /// Appends the envelope of a message in the client's form.
    fn put(&mut self, by: By<'_, '_>, message: &[u8]) -> Result<(), Failure> {
        if by.dialect.tongue.form() == Form::Binary {
            envelope::write(0, message, &mut self.made);
            return Ok(());
        }
        let input = by.dialect.method.input();
        let mut result = Ok(());
        envelope::write_with(0, &mut self.made, |out| result = input.to_binary(message, out));
        result.map_err(|error| {
            Failure::request(
                Code::InvalidArgument,
                format!("the message is not a {} in JSON: {error}", input.full_name()),
            )
        })
    }
}

/// The longest that a message of so many bytes may be as its coding makes it: what can't be compressed becomes a little longer.
pub(super) const fn with_overhead(bytes_max: usize) -> usize {
    bytes_max.saturating_add(bytes_max / 64).saturating_add(1024)
}

/// Why the body can't be read on.
#[derive(Debug)]
pub(super) enum Stopped {
    /// The connection or a limit.
    Broken(Reason),
    /// What it says.
    Wrong(Failure),
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self::Wrong(failure)
    }
}

fn request(status: leat_rpc_wire::Status) -> Failure {
    Failure { reason: Reason::RpcProtocol, status }
}

fn element(error: ElementError, by: By<'_, '_>) -> Failure {
    match error {
        ElementError::TooLong => Failure::too_long(by.bytes_max()),
        ElementError::Malformed => Failure::request(Code::InvalidArgument, error.to_string()),
    }
}

fn parameters(by: By<'_, '_>, binding: &Binding, head: Head<'_>) -> Result<Vec<u8>, Failure> {
    let mut out = Vec::new();
    let unknown = by.transcoder.settings().unknown;
    binding.parameters(head.path(), head.query(), unknown, &mut out).map_err(request)?;
    Ok(out)
}

fn content_type(head: Head<'_>) -> Vec<u8> {
    head.fields().get(Name::ContentType).unwrap_or_default().to_vec()
}

fn write_element(by: By<'_, '_>, value: &[u8], parameters: &[u8], out: &mut Vec<u8>) -> Result<(), Failure> {
    let Some(binding) = by.dialect.binding else { return Ok(()) };
    let mut result = Ok(());
    let unknown = by.transcoder.settings().unknown;
    envelope::write_with(0, out, |out| result = binding.request(value, unknown, parameters, out));
    result.map_err(request)
}

fn write_bytes(
    by: By<'_, '_>,
    content_type: &mut Vec<u8>,
    bytes: &[u8],
    parameters: &mut Option<Vec<u8>>,
    out: &mut Vec<u8>,
) {
    let Some(binding) = by.dialect.binding else { return };
    let parameters = parameters.take().unwrap_or_default();
    // The type is told with the first piece only.
    let content_type = std::mem::take(content_type);
    envelope::write_with(0, out, |out| binding.request_bytes(&content_type, bytes, &parameters, out));
}
