//! What the client gets that is no message: heads, ends and errors, in its own protocol.

use leat_message::{Fields, Length, Name, OwnedFields, Reply};
use leat_rpc_wire::grpc_web::text;
use leat_rpc_wire::{Coding, Detail, Form, Metadata, Status, connect, field, grpc, grpc_web, rest};

use super::dialect::{Rejected, Tongue};
use super::transcoder::{Added, Transcoder};

/// An error that is the whole reply.
pub(super) struct Refusal<'a> {
    pub(super) status: &'a Status,
    /// The HTTP status, where it is another than the code's.
    pub(super) http_status: Option<u16>,
    pub(super) field: Option<(&'a [u8], &'a [u8])>,
    /// Whether the HTTP status says all.
    pub(super) silent: bool,
}

impl<'a> Refusal<'a> {
    /// With the HTTP status that belongs to the code.
    pub(super) fn plain(status: &'a Status) -> Self {
        Self { status, http_status: None, field: None, silent: false }
    }
}

impl<'a> From<&'a Rejected> for Refusal<'a> {
    fn from(rejected: &'a Rejected) -> Self {
        Self {
            status: &rejected.failure.status,
            http_status: rejected.http_status,
            field: rejected.field.as_ref().map(|(name, value)| (name.as_bytes(), value.as_bytes())),
            silent: rejected.silent,
        }
    }
}

/// Writes a whole error reply.
pub(super) fn refuse<R: Reply>(
    transcoder: &Transcoder,
    reply: &mut R,
    tongue: Tongue,
    refusal: &Refusal<'_>,
    added: Added<'_>,
) {
    let mut body = Vec::new();
    error_body(transcoder, tongue, refusal.status, &Metadata::new(), &mut body);
    let (http_status, content_type) = match refusal.http_status {
        Some(status) if !matches!(tongue, Tongue::GrpcWeb(_) | Tongue::GrpcWebText(_)) => {
            // A stream has no end where its head is an error of HTTP.
            if let Tongue::ConnectStream(_) = tongue {
                body.clear();
                error_body(transcoder, Tongue::Connect(Form::Json), refusal.status, &Metadata::new(), &mut body);
            }
            (status, "application/json")
        }
        _ => error_head(tongue, refusal.status),
    };
    reply.status(http_status);
    if refusal.silent {
        body.clear();
    } else {
        reply.field(b"content-type", content_type.as_bytes());
    }
    if let Some((name, value)) = refusal.field {
        reply.field(name, value);
    }
    if let Tongue::Grpc(_) = tongue {
        grpc::status::write(refusal.status, |name, value| reply.field(name, value));
    }
    added(&mut |name, value| reply.field(name, value));
    reply.length(Length::Known(body.len() as u64));
    reply.body(&body);
}

/// The HTTP status and the content type of a reply that is an error.
pub(super) fn error_head(tongue: Tongue, status: &Status) -> (u16, &'static str) {
    match tongue {
        Tongue::Connect(_) | Tongue::Rest => (status.code.http_status(), "application/json"),
        _ => (200, content_type(tongue)),
    }
}

/// Appends the body of a reply that is an error, or the end of a stream.
pub(super) fn error_body(
    transcoder: &Transcoder,
    tongue: Tongue,
    status: &Status,
    trailers: &Metadata,
    out: &mut Vec<u8>,
) {
    let debug = |detail: &Detail, out: &mut Vec<u8>| {
        let known = transcoder.schema().message(&detail.type_name);
        known.is_some_and(|known| known.to_json(&detail.value, out).is_ok())
    };
    match tongue {
        Tongue::Grpc(_) => {}
        Tongue::GrpcWeb(_) => grpc_web::status::write(status, trailers, out),
        Tongue::GrpcWebText(_) => {
            let mut bytes = Vec::new();
            grpc_web::status::write(status, trailers, &mut bytes);
            text::encode(&bytes, out);
        }
        Tongue::Connect(_) => connect::status::write_error(status, &debug, out),
        Tongue::ConnectStream(_) => connect::status::write_end(status, trailers, &debug, out),
        Tongue::Rest => rest::status::write(status, transcoder.schema(), out),
    }
}

/// The trailers of a gRPC reply.
pub(super) fn grpc_trailers(status: &Status, trailers: &Metadata) -> OwnedFields {
    let mut fields = OwnedFields::default();
    let mut put = |name: &[u8], value: &[u8]| fields.push(Name::from_bytes(name), name, value);
    grpc::status::write(status, &mut put);
    field::write(trailers, "", &mut put);
    fields
}

/// The content type of messages and of streams.
pub(super) const fn content_type(tongue: Tongue) -> &'static str {
    match tongue {
        Tongue::Grpc(Form::Binary) => "application/grpc",
        Tongue::Grpc(Form::Json) => "application/grpc+json",
        Tongue::GrpcWeb(Form::Binary) => "application/grpc-web+proto",
        Tongue::GrpcWeb(Form::Json) => "application/grpc-web+json",
        Tongue::GrpcWebText(Form::Binary) => "application/grpc-web-text+proto",
        Tongue::GrpcWebText(Form::Json) => "application/grpc-web-text+json",
        Tongue::Connect(Form::Binary) => "application/proto",
        Tongue::ConnectStream(Form::Binary) => "application/connect+proto",
        Tongue::ConnectStream(Form::Json) => "application/connect+json",
        Tongue::Connect(Form::Json) | Tongue::Rest => "application/json",
    }
}

/// Writes what of the upstream's head is the client's as well.
pub(super) fn pass_fields<R: Reply>(reply: &mut R, fields: Fields<'_>) {
    for (id, name, value) in fields {
        let is_upstreams = match id {
            Name::ContentType | Name::ContentLength | Name::ContentEncoding | Name::AcceptEncoding | Name::Te => true,
            Name::Other => name.get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"grpc-")),
            id => id.is_hop_by_hop(),
        };
        if !is_upstreams {
            reply.field(name, value);
        }
    }
}

/// Writes the trailers of a reply that has none, as fields of its head.
pub(super) fn trailers_in_head<R: Reply>(reply: &mut R, tongue: Tongue, trailers: &Metadata) {
    let prefix = if tongue == Tongue::Rest { "grpc-trailer-" } else { "trailer-" };
    field::write(trailers, prefix, |name, value| reply.field(name, value));
}

/// The field that names the coding of messages.
pub(super) fn coding_field(tongue: Tongue, coding: Coding) -> Option<(&'static [u8], &'static [u8])> {
    let name: &[u8] = match tongue {
        Tongue::Grpc(_) | Tongue::GrpcWeb(_) | Tongue::GrpcWebText(_) => b"grpc-encoding",
        Tongue::ConnectStream(_) => b"connect-content-encoding",
        Tongue::Connect(_) | Tongue::Rest => b"content-encoding",
    };
    (coding != Coding::Identity).then_some((name, coding.name().as_bytes()))
}
