//! gRPC's health checks ([protocol](https://github.com/grpc/grpc/blob/master/doc/health-checking.md)): `Check`, `Watch` and
//! `List`, for the server as a whole (the empty name) and for each service. Statuses can be set from any thread.

mod statuses;

use std::sync::Arc;

use leat_message::Step;
use leat_rpc_wire::{Code, Status};
use leat_schema::path::{Path, Value};
use leat_schema::wire::put_bytes;
use leat_schema::{Method, Schema};

pub use statuses::{Serving, Statuses};

use crate::{Answer, Call, Conversation, Message, Outcome, Service, builtin};

/// The path of `Check`.
pub const CHECK: &str = "/grpc.health.v1.Health/Check";
/// The path of `List`.
pub const LIST: &str = "/grpc.health.v1.Health/List";
/// The path of `Watch`.
pub const WATCH: &str = "/grpc.health.v1.Health/Watch";
/// The name of the service, as reflection tells it.
pub const SERVICE: &str = "grpc.health.v1.Health";

/// Answers health checks from statuses that others set.
pub struct Health {
    own: Arc<Schema>,
    service: Option<Path>,
    statuses: Arc<Statuses>,
}

impl Health {
    /// Tells these statuses.
    pub fn new(statuses: Arc<Statuses>) -> Self {
        let own = builtin::schema();
        let service = own.method(CHECK).and_then(|method| Path::compile(method.input(), "service").ok());
        Self { own, service, statuses }
    }

    /// The service that a request names.
    fn asked(&self, request: &[u8]) -> Result<String, Status> {
        let malformed = || Status::new(Code::InvalidArgument, "malformed request");
        let seen = self.service.as_ref().ok_or_else(malformed)?.read(request).map_err(|_| malformed())?;
        match seen.value {
            Value::String(name) => Ok(name.to_owned()),
            _ => Err(malformed()),
        }
    }

    fn check(&self, method: &Method, request: Message<'_>) -> Result<Vec<u8>, Status> {
        let mut room = Vec::new();
        let request = request.request_binary(method, &mut room)?;
        if method.path() == LIST {
            return Ok(list(&self.statuses));
        }
        let name = self.asked(request)?;
        let status = self.statuses.get(&name);
        status.map(reply).ok_or_else(|| Status::new(Code::NotFound, format!("there is no service {name:?}")))
    }

    /// Answers `Check` and `List`.
    pub fn answer<A: Answer>(&self, call: &Call<'_>, request: Message<'_>, answer: &mut A) {
        match self.check(call.method, request) {
            Ok(reply) => answer.message(Message::binary(&reply)),
            Err(status) => answer.fail(&status),
        }
    }

    /// `Watch`: the status now, and whenever it is another. Never ends by itself.
    async fn watch<C: Conversation>(&self, conversation: &mut C) -> Result<(), Status> {
        let mut room = Vec::new();
        if !conversation.receive().await? {
            return Err(Status::new(Code::InvalidArgument, "a request is missing"));
        }
        let name = self.asked(conversation.message().request_binary(conversation.call().method, &mut room)?)?;
        let mut watch = self.statuses.watch();
        let mut told = None;
        loop {
            let now = self.statuses.get(&name).unwrap_or(Serving::ServiceUnknown);
            if told != Some(now) {
                conversation.send(Message::binary(&reply(now)))?;
                told = Some(now);
            }
            conversation.room().await?;
            watch.changed().await;
        }
    }
}

impl Service for Health {
    type Plan = std::convert::Infallible;

    fn method(&self, path: &str) -> Option<&Method> {
        matches!(path, CHECK | LIST | WATCH).then(|| self.own.method(path)).flatten()
    }

    fn whole<A: Answer>(&self, call: &Call<'_>, request: Message<'_>, answer: &mut A) -> Step<Self::Plan> {
        self.answer(call, request, answer);
        Step::Done
    }

    async fn converse<C: Conversation>(&self, _: Option<Self::Plan>, conversation: &mut C) -> Outcome {
        let method = conversation.call().method;
        if method.path() == WATCH {
            return self.watch(conversation).await.into();
        }
        // Unary, and yet not given as a whole: its message came in pieces.
        let checked = match conversation.receive().await {
            Ok(_) => self.check(conversation.call().method, conversation.message()),
            Err(status) => Err(status),
        };
        checked.and_then(|reply| conversation.send(Message::binary(&reply))).into()
    }
}

/// A `HealthCheckResponse`.
fn reply(status: Serving) -> Vec<u8> {
    vec![1 << 3, status as u8]
}

/// A `HealthListResponse`.
fn list(statuses: &Statuses) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, status) in statuses.all() {
        let mut entry = Vec::new();
        put_bytes(&mut entry, 1, name.as_bytes());
        put_bytes(&mut entry, 2, &reply(status));
        put_bytes(&mut out, 1, &entry);
    }
    out
}

#[cfg(test)]
mod tests;
