//! gRPC's server reflection, v1 and v1alpha: what a server has, told to clients that have no .proto files
//! ([protocol](https://github.com/grpc/grpc/blob/master/doc/server-reflection.md)); and the other side, which collects a
//! server's schema.

mod client;
mod request;
mod response;

use std::collections::HashSet;
use std::sync::Arc;

use leat_message::Step;
use leat_rpc_wire::{Code, Status};
use leat_schema::buffa_descriptor::generated::descriptor::FileDescriptorProto;
use leat_schema::{MessageType, Method, Schema};

pub use client::{BYTES_MAX, Collector, Error, FILES_MAX};
use request::{Ask, Questions};

use crate::{Answer, Call, Conversation, Message, Outcome, Service, builtin};

/// The path of version v1, which clients ask first.
pub const PATH: &str = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
/// The path of version v1alpha, for servers that answer v1 with `unimplemented`.
pub const PATH_V1ALPHA: &str = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

/// The services of a schema and those of Leat's own, told by reflection. Files are given as they were read.
pub struct Reflection {
    own: Arc<Schema>,
    questions: Questions,
    /// The user's schema before our own: what is in both is given as the user has it.
    schemas: [Arc<Schema>; 2],
    /// Names of services in the order of the alphabet.
    services: Box<[String]>,
}

impl Reflection {
    /// Tells `schema`, and the services `beside` it that answer there too (health, reflection).
    pub fn new(schema: Arc<Schema>, beside: &[&str]) -> Self {
        let own = builtin::schema();
        let named = schema.services().iter().map(|service| service.full_name().to_owned());
        let mut services: Vec<String> = named.chain(beside.iter().map(|&name| name.to_owned())).collect();
        services.sort();
        services.dedup();
        Self { questions: Questions::new(&own), schemas: [schema, Arc::clone(&own)], services: services.into(), own }
    }

    /// Answers one request, given in binary form; `sent` are the files that this stream has had. Appends the response.
    ///
    /// # Errors
    /// `invalid_argument` for bytes that are no request. What is not found is a response, as the protocol has it.
    fn answer(&self, request: &[u8], sent: &mut HashSet<Arc<str>>, out: &mut Vec<u8>) -> Result<(), Status> {
        let ask =
            self.questions.read(request).ok_or_else(|| Status::new(Code::InvalidArgument, "malformed request"))?;
        response::begin(&ask, request, out);
        match &ask.what {
            Ask::Services => response::services(&self.services, out),
            Ask::File(name) => match self.schemas.iter().find(|schema| schema.file(name).is_some()) {
                Some(schema) => self.files(schema, name, sent, out),
                None => not_found(&format!("there is no file {name}"), out),
            },
            Ask::Symbol(name) => match self.file_of(name) {
                Some((schema, file)) => self.files(schema, &file, sent, out),
                None => not_found(&format!("there is no symbol {name}"), out),
            },
            Ask::Extension { of, number } => {
                let found = self.schemas.iter().find_map(|schema| {
                    let of = schema.message(bare(of))?;
                    let extension = schema.pool().extension_for(of.index(), u32::try_from(*number).ok()?)?;
                    self.file_of(extension.full_name())
                });
                match found {
                    Some((schema, file)) => self.files(schema, &file, sent, out),
                    None => not_found(&format!("there is no extension {number} of {of}"), out),
                }
            }
            Ask::ExtensionNumbers(name) => match self.message(name) {
                Some(of) => {
                    let extensions = of.fields().iter().filter(|field| field.is_extension());
                    response::extension_numbers(of.full_name(), extensions.map(|field| field.number()), out);
                }
                None => not_found(&format!("there is no message {name}"), out),
            },
            Ask::Nothing => {
                response::error(Code::InvalidArgument, "the request asks for nothing that is known here", out)
            }
        }
        Ok(())
    }

    fn message(&self, name: &str) -> Option<MessageType> {
        self.schemas.iter().find_map(|schema| schema.message(bare(name)))
    }

    /// The name of the file that declares `symbol`: a message, field, enum, value, service, method or extension.
    fn file_of(&self, symbol: &str) -> Option<(&Arc<Schema>, String)> {
        self.schemas.iter().find_map(|schema| {
            let file = schema.pool().file_containing_symbol(bare(symbol));
            Some((schema, file.or_else(|| file_of_bare_value(schema, bare(symbol)))?.name.clone()?))
        })
    }

    /// A file and what it imports, each once a stream: clients keep what they have had.
    fn files(&self, schema: &Schema, name: &str, sent: &mut HashSet<Arc<str>>, out: &mut Vec<u8>) {
        let mut files = Vec::new();
        let mut wanted = vec![name.to_owned()];
        let mut seen = HashSet::new();
        while let Some(name) = wanted.pop() {
            let Some(file) = schema.file(&name) else { continue };
            if !seen.insert(Arc::clone(&file.name)) {
                continue;
            }
            // What was asked for is always given.
            if sent.insert(Arc::clone(&file.name)) || files.is_empty() {
                files.push(&file.bytes[..]);
            }
            wanted
                .extend(schema.pool().file_by_name(&name).into_iter().flat_map(|file| file.dependency.iter().cloned()));
        }
        response::files(&files, out);
    }
}

/// The file of an enum's value that stands in no package and no message: the library keeps those by a name with a dot.
fn file_of_bare_value<'s>(schema: &'s Schema, name: &str) -> Option<&'s FileDescriptorProto> {
    let has = |file: &&FileDescriptorProto| {
        let mut values = file.enum_type.iter().flat_map(|found| &found.value);
        file.package.as_deref().unwrap_or_default().is_empty()
            && values.any(|value| value.name.as_deref() == Some(name))
    };
    schema.pool().files().iter().find(has)
}

/// Some clients write full names with a dot before them.
fn bare(name: &str) -> &str {
    name.strip_prefix('.').unwrap_or(name)
}

fn not_found(what: &str, out: &mut Vec<u8>) {
    response::error(Code::NotFound, what, out);
}

impl Service for Reflection {
    type Plan = std::convert::Infallible;

    fn method(&self, path: &str) -> Option<&Method> {
        matches!(path, PATH | PATH_V1ALPHA).then(|| self.own.method(path)).flatten()
    }

    fn whole<A: Answer>(&self, _: &Call<'_>, _: Message<'_>, answer: &mut A) -> Step<Self::Plan> {
        // Its only method streams, so that serve never asks.
        answer.fail(&Status::new(Code::Unimplemented, "reflection streams"));
        Step::Done
    }

    async fn converse<C: Conversation>(&self, _: Option<Self::Plan>, conversation: &mut C) -> Outcome {
        let mut sent = HashSet::new();
        let (mut room, mut out) = (Vec::new(), Vec::new());
        loop {
            match conversation.receive().await {
                Ok(true) => {}
                Ok(false) => return Outcome::OK,
                Err(status) => return status.into(),
            }
            out.clear();
            let request = conversation.message().request_binary(conversation.call().method, &mut room);
            let answered = request.and_then(|request| self.answer(request, &mut sent, &mut out));
            let told = answered.and_then(|()| conversation.send(Message::binary(&out)));
            if let Err(status) = told {
                return status.into();
            }
            if let Err(status) = conversation.room().await {
                return status.into();
            }
        }
    }
}

#[cfg(test)]
mod tests;
