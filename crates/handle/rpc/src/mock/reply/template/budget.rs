//! What the templates of one message may make, so that a small request does not become a reply without bound.

use std::cell::Cell;

use buffa_descriptor::reflect::{DynamicMessage, MapKeyRef, ReflectMessage, Value as Proto, ValueRef};
use serde_json::Value as Json;

/// Memory that the templates of one message, error or set of headers may take, in bytes. Copies on the way count too.
const MADE_BYTES_MAX: usize = 128 * 1024 * 1024;
/// Memory of one element of a list, whatever is in it, in bytes.
const ELEMENT_BYTES: usize = size_of::<Proto>();
/// Memory of a message that has a field: room for eleven of them is taken at once.
const FIELDS_BYTES: usize = 12 * ELEMENT_BYTES;

/// What is left for one message. Everything is taken off before it is made.
#[derive(Debug)]
pub(in crate::mock::reply) struct Budget(Cell<usize>);

impl Budget {
    pub(in crate::mock::reply) fn new() -> Self {
        Self(Cell::new(MADE_BYTES_MAX))
    }

    /// Takes bytes off.
    ///
    /// # Errors
    /// There are not so many left.
    pub(in crate::mock::reply) fn spend(&self, bytes: usize) -> Result<(), String> {
        let left = self.0.get().checked_sub(bytes);
        self.0.set(left.unwrap_or_default());
        left.map(drop)
            .ok_or_else(|| format!("the reply is too large: its templates make more than {MADE_BYTES_MAX} bytes"))
    }

    /// For an element of a list or of a map.
    pub(in crate::mock::reply) fn element(&self) -> Result<(), String> {
        self.spend(ELEMENT_BYTES)
    }

    /// For a message that gets fields.
    pub(in crate::mock::reply) fn fields(&self) -> Result<(), String> {
        self.spend(FIELDS_BYTES)
    }

    /// For a copy of a message. Costs a walk through it.
    pub(in crate::mock::reply) fn message(&self, message: &DynamicMessage) -> Result<(), String> {
        self.spend(ELEMENT_BYTES.saturating_add(message.encoded_len()).saturating_add(held(message)))
    }

    /// For a copy of a field's value.
    pub(in crate::mock::reply) fn value(&self, value: &Proto) -> Result<(), String> {
        self.spend(held_by(&value.as_ref()).saturating_add(content(&value.as_ref())))
    }

    /// For a copy of JSON.
    pub(in crate::mock::reply) fn json(&self, json: &Json) -> Result<(), String> {
        self.element()?;
        match json {
            Json::String(text) => self.spend(text.len()),
            Json::Array(items) => items.iter().try_for_each(|item| self.json(item)),
            Json::Object(fields) => fields.iter().try_for_each(|(name, item)| {
                self.spend(name.len())?;
                self.json(item)
            }),
            Json::Null | Json::Bool(_) | Json::Number(_) => Ok(()),
        }
    }
}

/// What a message takes beside its texts and bytes.
fn held(message: &dyn ReflectMessage) -> usize {
    let mut bytes = message.unknown_fields().len().saturating_mul(ELEMENT_BYTES);
    let mut has_fields = false;
    message.for_each_set(&mut |_, value| {
        has_fields = true;
        bytes = bytes.saturating_add(held_by(&value));
    });
    if has_fields { bytes.saturating_add(FIELDS_BYTES) } else { bytes }
}

fn held_by(value: &ValueRef<'_>) -> usize {
    let mut bytes = ELEMENT_BYTES;
    match value {
        ValueRef::Message(message) => bytes = bytes.saturating_add(held(&**message)),
        ValueRef::List(list) => list.for_each(&mut |each| bytes = bytes.saturating_add(held_by(&each))),
        ValueRef::Map(map) => map.for_each(&mut |_, each| {
            bytes = bytes.saturating_add(ELEMENT_BYTES).saturating_add(held_by(&each));
        }),
        _ => {}
    }
    bytes
}

/// The texts and bytes in a value.
fn content(value: &ValueRef<'_>) -> usize {
    let mut bytes = 0usize;
    match value {
        ValueRef::String(text) => bytes = text.len(),
        ValueRef::Bytes(blob) => bytes = blob.len(),
        ValueRef::Message(message) => message.for_each_set(&mut |_, each| bytes = bytes.saturating_add(content(&each))),
        ValueRef::List(list) => list.for_each(&mut |each| bytes = bytes.saturating_add(content(&each))),
        ValueRef::Map(map) => map.for_each(&mut |key, each| {
            let key = if let MapKeyRef::String(key) = key { key.len() } else { 0 };
            bytes = bytes.saturating_add(key).saturating_add(content(&each));
        }),
        _ => {}
    }
    bytes
}
