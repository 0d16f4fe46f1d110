use leat_message::{Length, Name, OwnedFields, Reply};
use leat_rpc_wire::envelope::{COMPRESSED, PREFIX_BYTES, Prefix};
use leat_rpc_wire::{Code, Coding, MediaType, Metadata, Opening, Status, connect, field, grpc, grpc_web};
use leat_schema::Method;

use super::cors::Origin;
use super::{encode, head, scratch};
use crate::call::{Answer, Message, Prepared};

/// Writes the reply to a unary call straight into the outgoing buffer.
pub(super) struct Answering<'r, R> {
    reply: &'r mut R,
    opening: Opening,
    method: Option<&'r Method>,
    origin: Origin<'r>,
    headers: Metadata,
    trailers: Metadata,
    ended: bool,
    /// Where the body and the trailers of gRPC go in the exchange step.
    later: Option<&'r mut Later>,
}

/// What is still to be sent of a reply whose head was written.
#[derive(Debug, Default)]
pub(super) struct Later {
    pub(super) body: Vec<u8>,
    pub(super) end: Option<(Status, Metadata)>,
    /// Whether every body goes here, not only one with trailers behind it.
    takes_all: bool,
    /// Whether the message is to be something else than what the head says.
    garbles: bool,
}

impl Later {
    /// Takes every body.
    pub(super) fn all(garbles: bool) -> Self {
        Self { takes_all: true, garbles, ..Self::default() }
    }
}

impl<'r, R: Reply> Answering<'r, R> {
    pub(super) fn new(reply: &'r mut R, opening: Opening, method: Option<&'r Method>, origin: Origin<'r>) -> Self {
        let (headers, trailers) = (Metadata::new(), Metadata::new());
        Self { reply, opening, method, origin, headers, trailers, ended: false, later: None }
    }

    /// For the exchange step: the body and the trailers of gRPC are left to it.
    pub(super) fn leaving(mut self, later: &'r mut Later) -> Self {
        self.later = Some(later);
        self
    }

    /// Takes over what a conversation gathered before it was clear how the call ends.
    pub(super) fn with(mut self, headers: Metadata, trailers: Metadata) -> Self {
        (self.headers, self.trailers) = (headers, trailers);
        self
    }

    /// Writes a message in the client's form.
    pub(super) fn write(&mut self, message: &[u8]) {
        if std::mem::replace(&mut self.ended, true) {
            debug_assert!(false, "a call is answered once");
            return;
        }
        match self.opening.media {
            MediaType::Grpc(_) => self.write_grpc(message),
            MediaType::Connect(_) => self.write_connect(message),
            MediaType::GrpcWeb(_) | MediaType::GrpcWebText(_) | MediaType::ConnectStream(_) => {
                scratch::with_bytes(|body| {
                    encode::append(self.opening, message, body);
                    self.write_end(&Status::OK, body);
                    self.write_body(self.opening.answered, body);
                });
            }
        }
    }

    fn write_grpc(&mut self, message: &[u8]) {
        let coding = self.opening.answered;
        head::write(self.opening, coding, &self.headers, self.origin, self.reply);
        self.reply.length(Length::Stream);
        scratch::with_bytes(|packed| {
            let (flags, message) = match coding {
                Coding::Identity => (0, message),
                coding => {
                    coding.compress(message, packed);
                    (COMPRESSED, &**packed)
                }
            };
            let prefix: [u8; PREFIX_BYTES] = Prefix { flags, length: message.len() as u32 }.to_bytes();
            self.end_grpc(&Status::OK, &[&prefix, message]);
        });
    }

    fn end_grpc(&mut self, status: &Status, parts: &[&[u8]]) {
        if let Some(later) = &mut self.later {
            parts.iter().for_each(|part| later.body.extend_from_slice(part));
            later.end = Some((status.clone(), std::mem::take(&mut self.trailers)));
            return;
        }
        with_trailers(status, &self.trailers, |trailers| self.reply.body_with_trailers(parts, trailers.fields()));
    }

    fn write_connect(&mut self, message: &[u8]) {
        let garbles = self.later.as_ref().is_some_and(|later| later.garbles);
        let coding = match self.opening.answered {
            Coding::Identity if garbles => Coding::Gzip,
            coding => coding,
        };
        scratch::with_bytes(|packed| {
            let body = match coding {
                _ if garbles => message,
                Coding::Identity => message,
                coding => {
                    coding.compress(message, packed);
                    &**packed
                }
            };
            head::write(self.opening, coding, &self.headers, self.origin, self.reply);
            field::write(&self.trailers, "trailer-", |name, value| self.reply.field(name, value));
            self.put_body(body);
        });
    }

    /// Appends the protocol's end to a body.
    fn write_end(&self, status: &Status, body: &mut Vec<u8>) {
        append_end(self.opening, self.method, status, &self.trailers, body);
    }

    fn write_body(&mut self, coding: Coding, body: &[u8]) {
        head::write(self.opening, coding, &self.headers, self.origin, self.reply);
        self.put_body(body);
    }

    fn put_body(&mut self, body: &[u8]) {
        self.reply.length(Length::Known(body.len() as u64));
        match self.later.as_deref_mut().filter(|later| later.takes_all) {
            Some(later) => later.body.extend_from_slice(body),
            None => self.reply.body(body),
        }
    }

    fn fail_connect(&mut self, status: &Status) {
        // A path that is no method: the protocol's own table has 404 for what nobody implements (Connect, "Error codes").
        let http =
            if self.method.is_none() && status.code == Code::Unimplemented { 404 } else { status.code.http_status() };
        scratch::with_bytes(|body| {
            connect::status::write_error(status, &|detail, out| encode::debug(self.method, detail, out), body);
            self.reply.status(http);
            self.reply.field(b"content-type", b"application/json");
            field::write(&self.headers, "", |name, value| self.reply.field(name, value));
            field::write(&self.trailers, "trailer-", |name, value| self.reply.field(name, value));
            self.origin.write(self.reply);
            self.put_body(body);
        });
    }

    /// Trailers only, where there are no headers to keep apart from them (gRPC over HTTP/2, "Trailers-Only").
    fn fail_grpc(&mut self, status: &Status) {
        let opening = self.opening;
        if !self.headers.is_empty() {
            head::write(opening, Coding::Identity, &self.headers, self.origin, self.reply);
            self.reply.length(Length::Stream);
            return self.end_grpc(status, &[]);
        }
        head::write(opening, Coding::Identity, &self.headers, self.origin, self.reply);
        if status.code == Code::Unimplemented {
            self.reply.field(b"grpc-accept-encoding", leat_rpc_wire::compression::ALL_NAMES.as_bytes());
        }
        grpc::status::write(status, |name, value| self.reply.field(name, value));
        field::write(&self.trailers, "", |name, value| self.reply.field(name, value));
        self.reply.length(Length::None);
    }
}

impl<R: Reply> Answer for Answering<'_, R> {
    fn header(&mut self, name: &str, value: &[u8]) {
        self.headers.push(name, value);
    }

    fn trailer(&mut self, name: &str, value: &[u8]) {
        self.trailers.push(name, value);
    }

    fn message(&mut self, message: Message<'_>) {
        let Some(method) = self.method else { return };
        match encode::in_form(message, self.opening.form(), method) {
            Ok(bytes) => self.write(&bytes),
            Err(status) => self.fail(&status),
        }
    }

    fn prepared(&mut self, message: &Prepared) {
        self.write(message.message(self.opening.form()).bytes);
    }

    fn fail(&mut self, status: &Status) {
        if std::mem::replace(&mut self.ended, true) {
            debug_assert!(false, "a call is answered once");
            return;
        }
        match self.opening.media {
            MediaType::Grpc(_) => self.fail_grpc(status),
            MediaType::Connect(_) => self.fail_connect(status),
            MediaType::GrpcWeb(_) | MediaType::GrpcWebText(_) | MediaType::ConnectStream(_) => {
                scratch::with_bytes(|body| {
                    self.write_end(status, body);
                    self.write_body(Coding::Identity, body);
                });
            }
        }
    }
}

/// Appends the end that is in the body: gRPC-Web's trailers, or Connect's end of a stream.
pub(super) fn append_end(
    opening: Opening,
    method: Option<&Method>,
    status: &Status,
    trailers: &Metadata,
    body: &mut Vec<u8>,
) {
    encode::as_text(opening, body, |body| match opening.media {
        MediaType::ConnectStream(_) => {
            connect::status::write_end(status, trailers, &|detail, out| encode::debug(method, detail, out), body);
        }
        _ => grpc_web::status::write(status, trailers, body),
    });
}

/// Lends gRPC's trailers as fields.
pub(super) fn with_trailers<T>(status: &Status, trailers: &Metadata, use_them: impl FnOnce(&OwnedFields) -> T) -> T {
    scratch::with_fields(|fields| {
        grpc::status::write(status, |name, value| fields.push(Name::Other, name, value));
        field::write(trailers, "", |name, value| fields.push(Name::from_bytes(name), name, value));
        use_them(fields)
    })
}
