use leat_message::{Exchange, Length, OwnedFields, Peer, Reason, Reply};
use leat_rpc_wire::field;
use leat_rpc_wire::{Coding, MediaType, Metadata, Opening};
use leat_schema::Method;

use super::cors::{Origin, OwnedOrigin};
use crate::call::{Call, Protocol};
use crate::metadata::CallMetadata;

/// A call's head in memory of its own, for calls that outlive the step that reads the request.
#[derive(Debug)]
pub(super) struct CallHead {
    fields: OwnedFields,
    query: Option<Vec<u8>>,
    origin: OwnedOrigin,
    peer: Peer,
    protocol: Protocol,
}

impl CallHead {
    pub(super) fn new<X: Exchange>(exchange: &X, origin: Origin<'_>, protocol: Protocol) -> Self {
        let head = exchange.request();
        Self {
            fields: head.fields().into_iter().collect(),
            query: head.query().map(<[u8]>::to_vec),
            origin: origin.to_owned(),
            peer: exchange.peer().clone(),
            protocol,
        }
    }

    pub(super) fn origin(&self) -> Origin<'_> {
        self.origin.origin()
    }

    pub(super) fn call<'a>(&'a self, opening: Opening, method: &'a Method) -> Call<'a> {
        Call {
            method,
            metadata: CallMetadata::new(self.fields.fields()),
            timeout: opening.timeout,
            peer: &self.peer,
            protocol: self.protocol,
            get_query: opening.is_get.then(|| self.query.as_deref().unwrap_or_default()),
        }
    }
}

/// The fields of a reply that is no error of Connect's unary calls: type, coding, the application's, the browser's.
pub(super) fn write<R: Reply>(opening: Opening, coding: Coding, headers: &Metadata, origin: Origin<'_>, reply: &mut R) {
    reply.status(200);
    reply.field(b"content-type", opening.media.name().as_bytes());
    if coding != Coding::Identity {
        let name: &[u8] = match opening.media {
            MediaType::Connect(_) => b"content-encoding",
            MediaType::ConnectStream(_) => b"connect-content-encoding",
            _ => b"grpc-encoding",
        };
        reply.field(name, coding.name().as_bytes());
    }
    field::write(headers, "", |name, value| reply.field(name, value));
    origin.write(reply);
}

/// Answers with problem details, and with the fields that RFC 9110 asks for beside the status.
pub(super) fn write_problem<R: Reply>(reply: &mut R, reason: Reason, origin: Origin<'_>) {
    let body = reason.problem();
    reply.record().reason = Some(reason);
    reply.status(reason.status());
    reply.field(b"content-type", b"application/problem+json");
    match reason {
        Reason::RouteMethod => reply.field(b"allow", b"POST"),
        Reason::RpcMediaType => reply.field(b"accept-post", MediaType::ACCEPT_POST.as_bytes()),
        _ => {}
    }
    origin.write(reply);
    reply.length(Length::Known(body.len() as u64));
    reply.body(body.as_bytes());
}
