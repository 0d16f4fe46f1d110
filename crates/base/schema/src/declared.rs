//! Where in .proto files things are declared, for messages about what their options say.

use std::collections::HashMap;
use std::sync::Arc;

use buffa_descriptor::generated::descriptor::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto};
use bytes::Bytes;
use leat_config::Place;

use crate::types::join;
use crate::wire::Reader;

/// Numbers of fields in the descriptors' own descriptors, which paths of places are made of.
mod number {
    pub(super) const MESSAGE: i32 = 4;
    pub(super) const SERVICE: i32 = 6;
    pub(super) const EXTENSION: i32 = 7;
    /// `FileDescriptorProto.source_code_info`
    pub(super) const PLACES: u32 = 9;
    pub(super) const METHOD: i32 = 2;
    pub(super) const FIELD: i32 = 2;
    pub(super) const NESTED: i32 = 3;
    pub(super) const NESTED_EXTENSION: i32 = 6;
}

/// Places of methods, messages and fields that have options, by their full names (`shop.v1.Orders.Get`). Of what has none
/// nobody asks.
#[derive(Debug, Default)]
pub(crate) struct Declared(HashMap<Box<str>, (Arc<str>, Place)>);

impl Declared {
    pub(crate) fn at(&self, name: &str) -> Option<(Arc<str>, Place)> {
        self.0.get(name).cloned()
    }

    /// Notes those of a file, whose name for people is `shown`.
    pub(crate) fn add(&mut self, file: &FileDescriptorProto, shown: &str) {
        let Some(info) = file.source_code_info.as_option() else { return };
        let places = info.location.iter().filter_map(|location| {
            let (line, column) = (location.span.first()?, location.span.get(1)?);
            let count = |from_zero: i32| u32::try_from(from_zero).unwrap_or_default() + 1;
            Some((&*location.path, Place { line: count(*line), column: count(*column) }))
        });
        // Of several places the first is the declaration.
        let mut by_path: HashMap<&[i32], Place> = HashMap::new();
        places.for_each(|(path, place)| _ = by_path.entry(path).or_insert(place));
        let mut walk = Walk { found: &mut self.0, places: by_path, file: shown.into(), path: Vec::new() };
        let package = file.package.as_deref().unwrap_or_default();
        for (at, service) in file.service.iter().enumerate() {
            let name = join(package, service.name.as_deref().unwrap_or_default());
            for (method_at, method) in service.method.iter().enumerate() {
                if method.options.is_set() {
                    walk.path = vec![number::SERVICE, at as i32, number::METHOD, method_at as i32];
                    walk.note(join(&name, method.name.as_deref().unwrap_or_default()));
                }
            }
        }
        walk.path.clear();
        walk.fields(package, number::EXTENSION, &file.extension);
        walk.messages(package, number::MESSAGE, &file.message_type);
    }
}

struct Walk<'w> {
    found: &'w mut HashMap<Box<str>, (Arc<str>, Place)>,
    places: HashMap<&'w [i32], Place>,
    file: Arc<str>,
    path: Vec<i32>,
}

impl Walk<'_> {
    fn note(&mut self, name: String) {
        if let Some(place) = self.places.get(&*self.path) {
            self.found.entry(name.into()).or_insert_with(|| (Arc::clone(&self.file), *place));
        }
    }

    fn fields(&mut self, scope: &str, list: i32, fields: &[FieldDescriptorProto]) {
        for (at, field) in fields.iter().enumerate().filter(|(_, field)| field.options.is_set()) {
            self.path.extend([list, at as i32]);
            self.note(join(scope, field.name.as_deref().unwrap_or_default()));
            self.path.truncate(self.path.len() - 2);
        }
    }

    fn messages(&mut self, scope: &str, list: i32, messages: &[DescriptorProto]) {
        for (at, message) in messages.iter().enumerate() {
            self.path.extend([list, at as i32]);
            let name = join(scope, message.name.as_deref().unwrap_or_default());
            self.fields(&name, number::FIELD, &message.field);
            self.fields(&name, number::NESTED_EXTENSION, &message.extension);
            self.messages(&name, number::NESTED, &message.nested_type);
            if message.options.is_set() {
                self.note(name);
            }
            self.path.truncate(self.path.len() - 2);
        }
    }
}

/// The bytes of a file without its places: most of what it has, and nobody asks for them again. The same bytes where they
/// can't be read.
pub(crate) fn without_places(file: &Bytes) -> Bytes {
    let mut reader = Reader::new(file);
    let mut out = Vec::new();
    while !reader.is_empty() {
        let before = reader.rest();
        let Some(tag) = reader.tag() else { return file.clone() };
        if reader.skip(tag).is_none() {
            return file.clone();
        }
        if tag.number != number::PLACES {
            out.extend_from_slice(before.get(..before.len() - reader.rest().len()).unwrap_or_default());
        }
    }
    out.into()
}
