use leat_message::{Fields, Length, Name, OwnedFields, Reason};
use leat_rpc_wire::envelope::{self, Found};
use leat_rpc_wire::grpc_web::text;
use leat_rpc_wire::{Code, Coding, Form, Metadata, Status, grpc};

use super::compressing::shorter;
use super::dialect::Tongue;
use super::failure::Failure;
use super::upload::{By, with_overhead};
use crate::CallMetadata;

/// The way of the messages from the upstream: a gRPC response becomes what the client's protocol makes of it. Unary replies are
/// held until their status is known; of a stream at most one message.
#[derive(Debug)]
pub(super) struct Download {
    pub(super) phase: Phase,
    /// The HTTP status.
    http_status: u16,
    /// The upstream's fields, with those that the gateway adds.
    pub(super) fields: OwnedFields,
    /// How its messages are compressed.
    pub(super) coding: Coding,
    /// How those are compressed here that are not.
    own: Option<Coding>,
    /// Whether a message was long enough for that, whatever this client takes.
    pub(super) is_worth: bool,
    reader: envelope::Reader,
    /// Messages so far.
    pub(super) count: u64,
    /// How the call ended, once that is known.
    pub(super) status: Option<Status>,
    pub(super) trailers: Metadata,
    /// A unary reply's message in the client's form, its coding, and where it is bytes as they are, their type.
    pub(super) message: Vec<u8>,
    pub(super) message_coding: Coding,
    pub(super) bytes_type: Vec<u8>,
    /// Bytes for the client that have not gone out from `sent` on.
    pub(super) out: Vec<u8>,
    pub(super) sent: usize,
    /// What the reply's body ends with, where HTTP carries it.
    pub(super) http_trailers: Option<OwnedFields>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The head is being written.
    Head,
    /// Envelopes come.
    Body,
    /// The body is none of gRPC, and is thrown away.
    Foreign,
    /// All is here.
    Ended,
}

impl Download {
    /// `own`: how messages are compressed that come as they are.
    pub(super) fn new(own: Option<Coding>) -> Self {
        Self {
            phase: Phase::Head,
            http_status: 0,
            fields: OwnedFields::default(),
            coding: Coding::Identity,
            own,
            is_worth: false,
            reader: envelope::Reader::default(),
            count: 0,
            status: None,
            trailers: Metadata::new(),
            message: Vec::new(),
            message_coding: Coding::Identity,
            bytes_type: Vec::new(),
            out: Vec::new(),
            sent: 0,
            http_trailers: None,
        }
    }

    pub(super) fn begin(&mut self, http_status: u16) {
        self.http_status = http_status;
        self.fields.clear();
        self.phase = Phase::Head;
    }

    /// The head is complete. Says why, where it is none of gRPC.
    pub(super) fn head(&mut self, length: Length) -> Result<(), Reason> {
        let fields = self.fields.fields();
        let is_grpc = fields
            .get(Name::ContentType)
            .is_some_and(|value| value.get(..16).is_some_and(|start| start.eq_ignore_ascii_case(b"application/grpc")));
        if self.http_status != 200 || !is_grpc {
            self.phase = Phase::Foreign;
            let what = match self.http_status {
                200 => "the upstream's response is none of gRPC".to_owned(),
                status => format!("the upstream answered with the HTTP status {status}"),
            };
            let code = if self.http_status == 200 { Code::Unknown } else { Code::from_http_status(self.http_status) };
            self.status = Some(Status::new(code, what));
            return Err(Reason::UpstreamRpc);
        }
        // Trailers only: the status is in the head.
        if let Some(status) = grpc::status::read(fields) {
            self.status = Some(status);
            self.phase = Phase::Ended;
            return Ok(());
        }
        let coding = fields.get_named(b"grpc-encoding").map_or(Some(Coding::Identity), Coding::from_name);
        let Some(coding) = coding else {
            self.status = Some(Status::new(Code::Internal, "the upstream compresses in a way that it was not told of"));
            self.phase = Phase::Foreign;
            return Err(Reason::UpstreamRpc);
        };
        self.coding = coding;
        self.phase = if length == Length::None { Phase::Ended } else { Phase::Body };
        Ok(())
    }

    /// Takes bytes of the response's body, at most to the end of one message; says how many.
    pub(super) fn feed(&mut self, by: By<'_, '_>, bytes: &[u8]) -> Result<usize, Failure> {
        if self.phase != Phase::Body {
            return Ok(bytes.len());
        }
        let bytes_max = by.transcoder.settings().reply_bytes_max;
        let (used, found) = self.reader.read(bytes, with_overhead(bytes_max));
        match found {
            Found::More => {}
            Found::TooLarge { .. } => return Err(Failure::too_long(bytes_max)),
            Found::Whole { flags: flags @ (0 | envelope::COMPRESSED) } => {
                self.count += 1;
                let content = self.reader.take();
                let is_compressed = flags == envelope::COMPRESSED;
                if is_compressed && self.coding == Coding::Identity {
                    return Err(Failure::upstream("the upstream's message is compressed, and no coding was named"));
                }
                self.message(by, &content, is_compressed)?;
                self.reader.give_back(content);
            }
            Found::Whole { .. } => return Err(Failure::upstream("the upstream's envelope has unknown flags")),
        }
        Ok(used)
    }

    /// The response's body has ended.
    pub(super) fn end(&mut self, trailers: Option<Fields<'_>>) {
        if self.phase == Phase::Body && self.reader.is_inside() {
            self.status = Some(Status::new(Code::Internal, "the upstream's response ends inside a message"));
        }
        self.phase = Phase::Ended;
        let Some(trailers) = trailers else { return };
        if self.status.is_none() {
            self.status = grpc::status::read(trailers);
        }
        self.trailers = CallMetadata::new(trailers).to_owned();
    }

    /// Whether messages may stay as the upstream has compressed them.
    fn passes_coding(&self, by: By<'_, '_>) -> bool {
        by.dialect.accepted.contains(&self.coding)
    }

    /// The coding that the client is told of.
    pub(super) fn told_coding(&self, by: By<'_, '_>) -> Option<Coding> {
        let passing = self.passes_coding(by).then_some(self.coding);
        if self.coding == Coding::Identity { self.own } else { passing }
    }

    /// Whether the reply would be another one to a client that takes other codings.
    pub(super) fn depends_on_codings(&self, by: By<'_, '_>) -> bool {
        self.is_worth || !by.dialect.accepted.is_empty() && self.coding != Coding::Identity
    }

    /// A message that goes out as it is, or compressed here.
    fn put_plain(&mut self, by: By<'_, '_>, content: &[u8]) {
        let tongue = by.dialect.tongue;
        let worth = by.transcoder.settings().compressing.is_some_and(|compressing| compressing.is_worth(content));
        self.is_worth |= worth;
        // A reply has one coding: the one that it came with, if it came with one.
        let own = self.own.filter(|_| worth && self.coding == Coding::Identity);
        match own.and_then(|coding| Some((coding, shorter(coding, content)?))) {
            Some((coding, compressed)) => self.put(tongue, &compressed, Some(coding)),
            None => self.put(tongue, content, None),
        }
    }

    fn message(&mut self, by: By<'_, '_>, content: &[u8], is_compressed: bool) -> Result<(), Failure> {
        let tongue = by.dialect.tongue;
        let passes = self.passes_coding(by);
        if is_compressed && passes && tongue.form() == Form::Binary && by.dialect.binding.is_none() {
            self.put(tongue, content, Some(self.coding));
            return Ok(());
        }
        let mut plain = Vec::new();
        let content = match is_compressed {
            true => {
                by.decompress(self.coding, content, by.transcoder.settings().reply_bytes_max, &mut plain).map_err(
                    |failure| match failure.reason {
                        Reason::RpcMessageBytes => failure,
                        _ => Failure::upstream("the upstream's message is not what its coding makes"),
                    },
                )?;
                &plain
            }
            false => content,
        };
        let mut made = Vec::new();
        let content = match (by.dialect.binding, tongue.form()) {
            (Some(binding), _) if binding.gives_bytes() => {
                let reply = binding.reply_bytes(content).map_err(upstream)?;
                if self.count == 1 {
                    self.bytes_type = reply.content_type.to_vec();
                }
                self.bytes(by, reply.data);
                return Ok(());
            }
            (Some(binding), _) => {
                binding.reply(content, &mut made).map_err(upstream)?;
                &made
            }
            (None, Form::Binary) => content,
            (None, Form::Json) => {
                let output = by.dialect.method.output();
                output.to_json(content, &mut made).map_err(|error| {
                    Failure::upstream(format!("the upstream's message is not a {}: {error}", output.full_name()))
                })?;
                &made
            }
        };
        if by.dialect.binding.is_some() && by.dialect.method.server_streams() {
            by.dialect.stream.message(content, self.count == 1, &mut self.out);
        } else if is_compressed && passes {
            // What the upstream found worth compressing is so in the client's form.
            let mut compressed = Vec::new();
            self.coding.compress(content, &mut compressed);
            self.put(tongue, &compressed, Some(self.coding));
        } else {
            self.put_plain(by, content);
        }
        Ok(())
    }

    /// A message in the client's form, compressed by `coding`.
    fn put(&mut self, tongue: Tongue, content: &[u8], coding: Option<Coding>) {
        let flags = if coding.is_some() { envelope::COMPRESSED } else { 0 };
        match tongue {
            Tongue::GrpcWebText(_) => {
                let mut bytes = Vec::new();
                envelope::write(flags, content, &mut bytes);
                text::encode(&bytes, &mut self.out);
            }
            Tongue::Grpc(_) | Tongue::GrpcWeb(_) | Tongue::ConnectStream(_) => {
                envelope::write(flags, content, &mut self.out)
            }
            // The status is awaited; of two messages none counts.
            Tongue::Connect(_) | Tongue::Rest => {
                self.message.clear();
                self.message.extend_from_slice(content);
                self.message_coding = coding.unwrap_or_default();
            }
        }
    }

    fn bytes(&mut self, by: By<'_, '_>, data: &[u8]) {
        match by.dialect.method.server_streams() {
            true => self.out.extend_from_slice(data),
            false => self.message = data.to_vec(),
        }
    }
}

fn upstream(status: Status) -> Failure {
    Failure { reason: Reason::UpstreamRpc, status }
}
