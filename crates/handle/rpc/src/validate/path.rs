//! Where a value stands in a message, and a rule among the rules: `buf.validate.FieldPath`.

use std::fmt;
use std::sync::Arc;

use buffa_descriptor::reflect::MapKey;
use buffa_descriptor::{ExtensionDescriptor, FieldDescriptor, FieldKind, ScalarType, SingularKind};

use super::violation::Writer;

/// A path of fields, outermost first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FieldPath(pub Vec<PathElement>);

/// One field of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathElement {
    /// Its number; a oneof has none.
    pub number: Option<u32>,
    /// Its name; an extension's in brackets.
    pub name: Arc<str>,
    /// Its type by the numbers of `FieldDescriptorProto.Type`; a oneof has none.
    pub kind: Option<u8>,
    /// The types of a map's keys and values.
    pub map: Option<(u8, u8)>,
    /// The element of a list or a map.
    pub subscript: Option<Subscript>,
}

/// An element of a repeated field, or a key of a map.
#[derive(Clone, Debug, PartialEq)]
pub enum Subscript {
    /// Of a list, from 0.
    Index(u64),
    /// A key of type `bool`.
    Bool(bool),
    /// A signed key.
    Int(i64),
    /// An unsigned key.
    Uint(u64),
    /// A key of type `string`.
    Text(String),
}

impl Subscript {
    /// Of a map's key.
    pub(super) fn key(key: &MapKey) -> Subscript {
        match key {
            MapKey::Bool(flag) => Subscript::Bool(*flag),
            MapKey::I32(number) => Subscript::Int((*number).into()),
            MapKey::I64(number) => Subscript::Int(*number),
            MapKey::U32(number) => Subscript::Uint((*number).into()),
            MapKey::U64(number) => Subscript::Uint(*number),
            MapKey::String(text) => Subscript::Text(text.clone()),
        }
    }
}

impl PathElement {
    /// A field as a whole.
    pub(super) fn field(field: &FieldDescriptor) -> PathElement {
        let message = |kind: SingularKind| {
            if field.is_delimited() && matches!(kind, SingularKind::Message(_)) { GROUP } else { number(kind) }
        };
        let (kind, map) = match field.kind() {
            FieldKind::Singular(kind) | FieldKind::List(kind) => (message(kind), None),
            FieldKind::Map { key, value } => (MESSAGE, Some((number(SingularKind::Scalar(key)), number(value)))),
        };
        PathElement { number: Some(field.number()), name: field.name().into(), kind: Some(kind), map, subscript: None }
    }

    /// An extension as a whole.
    pub(super) fn extension(extension: &ExtensionDescriptor) -> PathElement {
        PathElement { name: format!("[{}]", extension.full_name()).into(), ..PathElement::field(extension.field()) }
    }

    /// A oneof.
    pub(super) fn oneof(name: &str) -> PathElement {
        PathElement { number: None, name: name.into(), kind: None, map: None, subscript: None }
    }

    /// The element that `subscript` names.
    pub(super) fn at(mut self, subscript: Subscript) -> PathElement {
        self.subscript = Some(subscript);
        self
    }

    fn write(&self, out: &mut Writer) {
        if let Some(number) = self.number {
            out.varint(1, number.into());
        }
        out.text(2, &self.name);
        if let Some(kind) = self.kind {
            out.varint(3, kind.into());
        }
        // Keys have types only where one is named.
        let keyed = self.subscript.as_ref().is_some_and(|subscript| !matches!(subscript, Subscript::Index(_)));
        if let (true, Some((key, value))) = (keyed, self.map) {
            out.varint(4, key.into());
            out.varint(5, value.into());
        }
        match &self.subscript {
            None => {}
            Some(Subscript::Index(index)) => out.varint(6, *index),
            Some(Subscript::Bool(flag)) => out.varint(7, (*flag).into()),
            Some(Subscript::Int(number)) => out.varint(8, number.cast_unsigned()),
            Some(Subscript::Uint(number)) => out.varint(9, *number),
            Some(Subscript::Text(text)) => out.text(10, text),
        }
    }
}

impl FieldPath {
    /// As `buf.validate.FieldPath`.
    pub(super) fn write(&self, out: &mut Writer) {
        for element in &self.0 {
            out.message(1, |out| element.write(out));
        }
    }
}

impl fmt::Display for FieldPath {
    /// `items[2].tags["a"]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, element) in self.0.iter().enumerate() {
            if place > 0 {
                f.write_str(".")?;
            }
            f.write_str(&element.name)?;
            match &element.subscript {
                None => {}
                Some(Subscript::Index(index)) => write!(f, "[{index}]")?,
                Some(Subscript::Bool(flag)) => write!(f, "[{flag}]")?,
                Some(Subscript::Int(number)) => write!(f, "[{number}]")?,
                Some(Subscript::Uint(number)) => write!(f, "[{number}]")?,
                Some(Subscript::Text(text)) => write!(f, "[{text:?}]")?,
            }
        }
        Ok(())
    }
}

const GROUP: u8 = 10;
const MESSAGE: u8 = 11;

/// The number of `FieldDescriptorProto.Type`.
fn number(kind: SingularKind) -> u8 {
    match kind {
        SingularKind::Message(_) => MESSAGE,
        SingularKind::Enum(_) => 14,
        SingularKind::Scalar(scalar) => match scalar {
            ScalarType::Double => 1,
            ScalarType::Float => 2,
            ScalarType::Int64 => 3,
            ScalarType::Uint64 => 4,
            ScalarType::Int32 => 5,
            ScalarType::Fixed64 => 6,
            ScalarType::Fixed32 => 7,
            ScalarType::Bool => 8,
            ScalarType::String => 9,
            ScalarType::Bytes => 12,
            ScalarType::Uint32 => 13,
            ScalarType::Sfixed32 => 15,
            ScalarType::Sfixed64 => 16,
            ScalarType::Sint32 => 17,
            ScalarType::Sint64 => 18,
        },
    }
}
