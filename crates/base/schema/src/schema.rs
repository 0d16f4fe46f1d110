use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use buffa::Message;
use buffa_descriptor::generated::descriptor::method_options::IdempotencyLevel;
use buffa_descriptor::{DescriptorPool, MessageIndex};
use bytes::Bytes;
use leat_config::Place;

use crate::declared::Declared;
use crate::service::{Idempotency, Method, Service};
use crate::types::Types;
use crate::{Enum, MessageId, MessageType};

/// Services, messages and enums from any number of files. Immutable and shared; [`crate::Sources`] makes it.
pub struct Schema {
    types: Arc<Types>,
    services: Box<[Service]>,
    methods: Box<[Method]>,
    by_path: HashMap<Box<str>, u32>,
    files: Box<[File]>,
    file_places: HashMap<Arc<str>, u32>,
    declared: Declared,
}

/// A file of the schema.
#[derive(Clone, Debug)]
pub struct File {
    /// The name that imports use.
    pub name: Arc<str>,
    /// The `FileDescriptorProto`, as it was read. Of a file that was compiled from its text: without comments and places.
    pub bytes: Bytes,
}

impl Schema {
    /// A schema without anything.
    pub fn empty() -> Arc<Self> {
        Arc::new(Self::new(DescriptorPool::default(), Box::default(), Declared::default()))
    }

    /// From a pool whose types all resolve.
    pub(crate) fn new(pool: DescriptorPool, files: Box<[File]>, declared: Declared) -> Self {
        let pool = Arc::new(pool);
        let types = Arc::new(Types::new(Arc::clone(&pool)));
        let mut services = Vec::new();
        let mut methods: Vec<Method> = Vec::new();
        for service in pool.services() {
            let start = methods.len() as u32;
            for method in service.methods() {
                let ids =
                    [method.input(), method.output()].map(|index| types.message_id(pool.message(index).full_name()));
                let [Some(input), Some(output)] = ids else { continue };
                let of = |id| MessageType { types: Arc::clone(&types), id };
                let options = method.options();
                methods.push(Method {
                    id: methods.len() as u32,
                    path: format!("/{}/{}", service.full_name(), method.name()).into(),
                    name_start: service.full_name().len() as u32 + 2,
                    input: of(input),
                    output: of(output),
                    client_streams: method.is_client_streaming(),
                    server_streams: method.is_server_streaming(),
                    idempotency: match options.and_then(|options| options.idempotency_level) {
                        Some(IdempotencyLevel::NO_SIDE_EFFECTS) => Idempotency::NoSideEffects,
                        Some(IdempotencyLevel::IDEMPOTENT) => Idempotency::Idempotent,
                        _ => Idempotency::Unknown,
                    },
                    options: options.and_then(|options| options.try_encode_to_vec().ok()).unwrap_or_default().into(),
                });
            }
            services.push(Service { full_name: service.full_name().into(), methods: start..methods.len() as u32 });
        }
        let by_path = methods.iter().map(|method| (method.path.clone(), method.id)).collect();
        let file_places = files.iter().map(|file| Arc::clone(&file.name)).zip(0..).collect();
        Self { types, services: services.into(), methods: methods.into(), by_path, files, file_places, declared }
    }

    /// Where a method, a message or a field that has options is declared: the file, and the place in it. By its full name, a
    /// method's with a dot or a slash before its own. `None` where the schema was given without its text.
    pub fn declared_at(&self, name: &str) -> Option<(Arc<str>, Place)> {
        self.declared.at(&name.replace('/', "."))
    }

    /// The method of a request's path, `/package.Service/Name`. One map access.
    pub fn method(&self, path: &str) -> Option<&Method> {
        self.methods.get(*self.by_path.get(path)? as usize)
    }

    /// The method that people write as `package.Service/Name`, or with a dot before the name.
    pub fn method_named(&self, name: &str) -> Option<&Method> {
        let name = name.strip_prefix('/').unwrap_or(name);
        let (service, method) = name.rsplit_once(['/', '.'])?;
        self.method(&format!("/{service}/{method}"))
    }

    /// All methods; [`Method::id`] is the place of each.
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// All services.
    pub fn services(&self) -> &[Service] {
        &self.services
    }

    /// The service of this full name.
    pub fn service(&self, full_name: &str) -> Option<&Service> {
        self.services.iter().find(|service| service.full_name() == full_name)
    }

    /// The methods of a service, in the order of the .proto file.
    pub fn methods_of(&self, service: &Service) -> &[Method] {
        self.methods.get(service.methods.start as usize..service.methods.end as usize).unwrap_or_default()
    }

    /// The message of this full name (without a dot before it). One map access.
    pub fn message(&self, full_name: &str) -> Option<MessageType> {
        Some(MessageType { types: Arc::clone(&self.types), id: self.types.message_id(full_name)? })
    }

    /// The message that the library knows by this index.
    pub fn message_at(&self, index: MessageIndex) -> Option<MessageType> {
        self.message(self.types.pool.message(index).full_name())
    }

    /// All messages, with the entries of maps.
    pub fn messages(&self) -> impl Iterator<Item = MessageType> + '_ {
        (0..self.types.len()).map(|id| MessageType { types: Arc::clone(&self.types), id: MessageId(id) })
    }

    /// The enum of this full name. Looks through all of them.
    pub fn enumeration(&self, full_name: &str) -> Option<&Enum> {
        self.types.enum_named(full_name)
    }

    /// All files, imported ones too; those that others import come in any order.
    pub fn files(&self) -> &[File] {
        &self.files
    }

    /// The file of this name. One map access.
    pub fn file(&self, name: &str) -> Option<&File> {
        self.files.get(*self.file_places.get(name)? as usize)
    }

    /// The library's pool, for dynamic messages and what else it finds.
    pub fn pool(&self) -> &Arc<DescriptorPool> {
        &self.types.pool
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.methods).finish()
    }
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
