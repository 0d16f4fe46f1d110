//! Reads `buf.validate` options where a schema declares them, by the schema's own `validate.proto`, whichever version it is.

use std::sync::Arc;

use buffa::{Message, MessageName};
use buffa_descriptor::DescriptorPool;
use buffa_descriptor::reflect::{DynamicMessage, Value as Proto};

/// The extension of `google.protobuf.MessageOptions`.
pub(super) const MESSAGE: &str = "buf.validate.message";
/// The extension of `google.protobuf.OneofOptions`.
pub(super) const ONEOF: &str = "buf.validate.oneof";
/// The extension of `google.protobuf.FieldOptions`.
pub(super) const FIELD: &str = "buf.validate.field";
/// The extension of `google.protobuf.FieldOptions` for fields that are rules.
pub(super) const PREDEFINED: &str = "buf.validate.predefined";

/// The value of the extension `name` in `options`: none where it is not set, or not known to the schema.
pub(super) fn option<O: Message + MessageName>(
    pool: &Arc<DescriptorPool>,
    options: Option<&O>,
    name: &str,
) -> Option<DynamicMessage> {
    let number = pool.extension_by_name(name)?.field().number();
    let decoded = DynamicMessage::from_options(Arc::clone(pool), options?)?;
    match decoded.field_by_number(number) {
        Some(Proto::Message(value)) => Some(value.clone()),
        _ => None,
    }
}

/// A field of a rules message, by name, if it is set.
pub(super) fn get<'m>(message: &'m DynamicMessage, name: &str) -> Option<&'m Proto> {
    let field = message.pool().message(message.message_index()).field_by_name(name)?;
    message.field_by_number(field.number())
}

/// A text of a rules message; empty where it is not set.
pub(super) fn text(message: &DynamicMessage, name: &str) -> String {
    match get(message, name) {
        Some(Proto::String(text)) => text.clone(),
        _ => String::new(),
    }
}

/// Whether a switch of a rules message is on.
pub(super) fn flag(message: &DynamicMessage, name: &str) -> bool {
    matches!(get(message, name), Some(Proto::Bool(true)))
}

/// The messages of a repeated field.
pub(super) fn messages<'m>(message: &'m DynamicMessage, name: &str) -> impl Iterator<Item = &'m DynamicMessage> {
    list(message, name).iter().filter_map(|each| if let Proto::Message(message) = each { Some(message) } else { None })
}

/// The texts of a repeated field.
pub(super) fn texts<'m>(message: &'m DynamicMessage, name: &str) -> impl Iterator<Item = &'m str> {
    list(message, name)
        .iter()
        .filter_map(|each| if let Proto::String(text) = each { Some(text.as_str()) } else { None })
}

fn list<'m>(message: &'m DynamicMessage, name: &str) -> &'m [Proto] {
    match get(message, name) {
        Some(Proto::List(items)) => items,
        _ => &[],
    }
}
