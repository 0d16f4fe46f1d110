use std::time::Duration;

use leat_message::{Head, Method as HttpMethod, Name, Reason, RpcProtocol};
use leat_rpc_wire::rest::{Binding, Bound, StreamForm};
use leat_rpc_wire::{Code, Coding, Form, MediaType, Opening, Refused, Status, grpc};
use leat_schema::{Idempotency, Method};

use super::failure::Failure;
use super::transcoder::Transcoder;

/// The codings that a client may be sent, in the order in which an upstream is told of them.
const CODINGS: [Coding; 4] = [Coding::Gzip, Coding::Br, Coding::Zstd, Coding::Deflate];

/// In which form a client is told of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tongue {
    /// gRPC, which passes as it is where its messages are binary.
    Grpc(Form),
    GrpcWeb(Form),
    GrpcWebText(Form),
    Connect(Form),
    ConnectStream(Form),
    /// A REST call, and everything that is of no RPC protocol.
    Rest,
}

impl Tongue {
    /// What a client speaks, as far as the head says; never wrong about what it understands.
    pub(super) fn of(head: Head<'_>, is_method: bool) -> Self {
        if head.method() == HttpMethod::Get {
            let query = leat_rpc_wire::connect::query::Query::read(head.query().unwrap_or_default());
            return match (is_method, query.encoding) {
                (true, Some(b"proto")) => Self::Connect(Form::Binary),
                (true, Some(_)) => Self::Connect(Form::Json),
                _ => Self::Rest,
            };
        }
        let media = head.fields().get(Name::ContentType).and_then(MediaType::from_bytes);
        let speaks_connect = head.fields().get_named(b"connect-protocol-version").is_some();
        match media {
            Some(MediaType::Grpc(form)) => Self::Grpc(form),
            Some(MediaType::GrpcWeb(form)) => Self::GrpcWeb(form),
            Some(MediaType::GrpcWebText(form)) => Self::GrpcWebText(form),
            Some(MediaType::ConnectStream(form)) => Self::ConnectStream(form),
            // JSON is REST's as well.
            Some(MediaType::Connect(form)) if is_method || speaks_connect || form == Form::Binary => {
                Self::Connect(form)
            }
            _ => Self::Rest,
        }
    }

    /// The protocol, for records. Where nothing else is spoken, everything that is none of the others is REST.
    pub(super) fn protocol(self) -> RpcProtocol {
        match self {
            Self::Grpc(_) => RpcProtocol::Grpc,
            Self::GrpcWeb(_) | Self::GrpcWebText(_) => RpcProtocol::GrpcWeb,
            Self::Connect(_) | Self::ConnectStream(_) => RpcProtocol::Connect,
            Self::Rest => RpcProtocol::Rest,
        }
    }

    /// What programs call the protocol, as @connectrpc/connect has it.
    pub(super) fn name(self) -> &'static str {
        match self.protocol() {
            RpcProtocol::GrpcWeb => "grpc-web",
            protocol => protocol.name(),
        }
    }

    /// The form of the messages, both ways.
    pub(super) fn form(self) -> Form {
        match self {
            Self::Grpc(form)
            | Self::GrpcWeb(form)
            | Self::GrpcWebText(form)
            | Self::Connect(form)
            | Self::ConnectStream(form) => form,
            Self::Rest => Form::Json,
        }
    }
}

/// A call that a client makes.
#[derive(Debug)]
pub(super) struct Dialect<'t> {
    pub(super) tongue: Tongue,
    pub(super) method: &'t Method,
    /// REST: what the path is bound to.
    pub(super) binding: Option<&'t Binding>,
    /// REST: how a stream of replies is written.
    pub(super) stream: StreamForm,
    /// How the client's messages are compressed.
    pub(super) received: Coding,
    /// How messages to the client may be compressed.
    pub(super) accepted: Vec<Coding>,
    pub(super) timeout: Option<Duration>,
    /// The message is in the query.
    pub(super) is_get: bool,
}

/// Why there is no call.
#[derive(Debug)]
pub(super) struct Rejected {
    pub(super) failure: Failure,
    /// The HTTP status, where it is another than the code's.
    pub(super) http_status: Option<u16>,
    /// What goes with it: `allow` or `accept-post`.
    pub(super) field: Option<(&'static str, String)>,
    /// Whether the HTTP status says all: a body would have to be of a protocol that the client has not named.
    pub(super) silent: bool,
}

impl From<Failure> for Rejected {
    fn from(failure: Failure) -> Self {
        Self { failure, http_status: None, field: None, silent: false }
    }
}

impl<'t> Dialect<'t> {
    /// Reads a request's head.
    pub(super) fn read(transcoder: &'t Transcoder, head: Head<'_>, tongue: Tongue) -> Result<Self, Rejected> {
        if tongue == Tongue::Rest {
            return Self::rest(transcoder, head);
        }
        let method = transcoder.method(head.path()).ok_or_else(|| {
            let path = String::from_utf8_lossy(head.path()).into_owned();
            let status = Status::new(Code::Unimplemented, format!("there is no method {}", path.escape_debug()));
            // Connect's clients tell a missing method by 404 (Connect protocol, "HTTP to Error Code").
            Rejected { http_status: Some(404), ..Rejected::from(Failure { reason: Reason::RpcUnknownMethod, status }) }
        })?;
        let opening = Opening::read(head).map_err(|refused| match refused {
            Refused::Media => media_refused("the content type is none of an RPC protocol"),
            Refused::Method => Rejected { silent: true, ..method_refused("POST") },
            Refused::Version => Rejected { http_status: Some(505), ..Failure::from(Reason::RpcHttpVersion).into() },
            Refused::Call(_, status) => Failure { reason: Reason::RpcProtocol, status }.into(),
        })?;
        match tongue {
            Tongue::Connect(_) if !method.is_unary() => {
                return Err(media_refused("the method is a stream: application/connect+proto or +json carries it"));
            }
            Tongue::ConnectStream(_) if method.is_unary() => {
                return Err(media_refused("the method is no stream: application/proto or application/json carries it"));
            }
            Tongue::Connect(_) if opening.is_get && method.idempotency() != Idempotency::NoSideEffects => {
                return Err(Rejected { silent: true, ..method_refused("POST") });
            }
            _ => {}
        }
        let fields = head.fields();
        let accepted = match tongue {
            Tongue::Connect(_) => accepted(fields.get_all(Name::AcceptEncoding)),
            Tongue::ConnectStream(_) => accepted(fields.get_named(b"connect-accept-encoding").into_iter()),
            _ => accepted(fields.get_named(b"grpc-accept-encoding").into_iter()),
        };
        Ok(Self {
            tongue,
            method,
            binding: None,
            stream: StreamForm::Array,
            received: opening.received,
            accepted,
            timeout: opening.timeout,
            is_get: opening.is_get,
        })
    }

    fn rest(transcoder: &'t Transcoder, head: Head<'_>) -> Result<Self, Rejected> {
        let binding = match transcoder.bindings().find(head.method_bytes(), head.path()) {
            Bound::Found(binding) => binding,
            Bound::Method(methods) => return Err(method_refused(&methods.join(", "))),
            // A client of RPC, in a form or by an HTTP method that RPC does not have.
            Bound::Nothing if transcoder.method(head.path()).is_some() => {
                return Err(match head.method() {
                    HttpMethod::Post => {
                        Rejected { silent: true, ..media_refused("the content type is none of an RPC protocol") }
                    }
                    _ => Rejected { silent: true, ..method_refused("POST") },
                });
            }
            Bound::Nothing => {
                let status = Status::new(Code::NotFound, "no method is bound to this path");
                return Err(Failure { reason: Reason::RpcUnknownMethod, status }.into());
            }
        };
        let fields = head.fields();
        let received = fields.get(Name::ContentEncoding).map_or(Some(Coding::Identity), Coding::from_name);
        let received = received.ok_or_else(|| Rejected {
            http_status: Some(415),
            ..Failure::request(Code::InvalidArgument, "the body has a coding that is not taken here").into()
        })?;
        let timeout = fields.get_named(b"grpc-timeout").map(grpc::timeout::read);
        if timeout == Some(None) {
            return Err(Failure::request(Code::InvalidArgument, "grpc-timeout is no time of gRPC").into());
        }
        let method = binding.method();
        // The pieces of a stream would have to be compressed as one body.
        let takes = !method.server_streams() && !binding.gives_bytes();
        Ok(Self {
            tongue: Tongue::Rest,
            method,
            binding: Some(binding),
            stream: StreamForm::of_accept(fields.get_all(Name::Accept)),
            received,
            accepted: if takes { accepted(fields.get_all(Name::AcceptEncoding)) } else { Vec::new() },
            timeout: timeout.flatten(),
            is_get: false,
        })
    }
}

/// The codings that these fields name and that we know; those with the weight 0 are not wanted (RFC 9110 section 12.5.3).
fn accepted<'a>(values: impl Iterator<Item = &'a [u8]>) -> Vec<Coding> {
    let mut found = Vec::new();
    for item in values.flat_map(|value| value.split(|&byte| byte == b',')) {
        let mut parts = item.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
        let coding = Coding::from_name(parts.next().unwrap_or_default());
        let is_refused =
            parts.any(|weight| weight.starts_with(b"q=0") && !weight.iter().any(|digit| (b'1'..=b'9').contains(digit)));
        found.extend(coding.filter(|_| !is_refused));
    }
    CODINGS.into_iter().filter(|coding| found.contains(coding)).collect()
}

fn media_refused(what: &str) -> Rejected {
    Rejected {
        http_status: Some(415),
        field: Some(("accept-post", MediaType::ACCEPT_POST.to_owned())),
        ..Failure::request(Code::InvalidArgument, what).into()
    }
}

fn method_refused(allow: &str) -> Rejected {
    let status = Status::new(Code::Unimplemented, format!("the path takes {allow}"));
    Rejected {
        failure: Failure { reason: Reason::RpcUnknownMethod, status },
        http_status: Some(405),
        field: Some(("allow", allow.to_owned())),
        silent: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codings_are_those_that_both_sides_know_and_want() {
        for (field, expected) in [
            ("gzip, br", &[Coding::Gzip, Coding::Br][..]),
            ("br;q=0.5,gzip;q=0, snappy, *", &[Coding::Br]),
            ("deflate;q=0.0,zstd;q=0.001", &[Coding::Zstd]),
            ("identity", &[]),
            ("", &[]),
        ] {
            assert_eq!(accepted(std::iter::once(field.as_bytes())), expected, "{field}");
        }
    }
}
