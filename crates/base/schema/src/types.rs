use std::collections::HashMap;
use std::sync::Arc;

use buffa::editions::{EnumType, FieldPresence};
use buffa_descriptor::generated::descriptor::{DescriptorProto, FieldDescriptorProto};
use buffa_descriptor::{
    DescriptorPool, EnumIndex, FieldDescriptor, FieldKind, MessageDescriptor, MessageIndex, ScalarType, SingularKind,
};

use crate::Enum;
use crate::default::Default;
use crate::field::{EnumId, Field, Kind, MessageId, Presence, Shape};
use crate::message::{MessageTable, Oneof};

/// Messages that JSON writes in a form of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Named as in google.protobuf.
pub enum WellKnown {
    Any,
    Timestamp,
    Duration,
    FieldMask,
    Struct,
    Value,
    ListValue,
    /// `DoubleValue`, `StringValue` and the like: JSON has the value alone.
    Wrapper,
}

impl WellKnown {
    fn of(full_name: &str) -> Option<Self> {
        Some(match full_name.strip_prefix("google.protobuf.")? {
            "Any" => Self::Any,
            "Timestamp" => Self::Timestamp,
            "Duration" => Self::Duration,
            "FieldMask" => Self::FieldMask,
            "Struct" => Self::Struct,
            "Value" => Self::Value,
            "ListValue" => Self::ListValue,
            "DoubleValue" | "FloatValue" | "Int64Value" | "UInt64Value" | "Int32Value" | "UInt32Value"
            | "BoolValue" | "StringValue" | "BytesValue" => Self::Wrapper,
            _ => return None,
        })
    }
}

/// All messages and enums of a schema, as arrays that ids index. Made once; nothing is resolved by name later.
#[derive(Debug)]
pub(crate) struct Types {
    pub(crate) pool: Arc<DescriptorPool>,
    messages: Box<[MessageTable]>,
    enums: Box<[Enum]>,
    by_name: HashMap<Box<str>, MessageId>,
}

/// Ids by the library's indices, whose numbers it keeps to itself; and the defaults, which it leaves out.
struct Ids<'p> {
    pool: &'p DescriptorPool,
    messages: HashMap<MessageIndex, MessageId>,
    enums: HashMap<EnumIndex, EnumId>,
    defaults: HashMap<(String, u32), &'p str>,
}

impl Types {
    pub(crate) fn new(pool: Arc<DescriptorPool>) -> Self {
        let ids = Ids::new(&pool);
        let enums: Box<[Enum]> = pool
            .enums()
            .iter()
            .map(|found| {
                let values = found.values().iter().map(|value| (value.name().into(), value.number()));
                Enum::new(found.full_name(), values, found.enum_type() == EnumType::Closed)
            })
            .collect();
        let messages: Box<[MessageTable]> =
            pool.messages().iter().filter_map(|found| ids.message(found, &enums)).collect();
        let by_name = (0..).zip(&messages).map(|(at, message)| (message.full_name.clone(), MessageId(at))).collect();
        Self { messages, enums, by_name, pool: Arc::clone(&pool) }
    }

    /// The message of an id, which only this schema gives out.
    #[inline]
    pub(crate) fn message(&self, id: MessageId) -> &MessageTable {
        &self.messages[id.0 as usize]
    }

    #[inline]
    pub(crate) fn enumeration(&self, id: EnumId) -> &Enum {
        &self.enums[id.0 as usize]
    }

    pub(crate) fn message_id(&self, full_name: &str) -> Option<MessageId> {
        self.by_name.get(full_name).copied()
    }

    pub(crate) fn enum_named(&self, full_name: &str) -> Option<&Enum> {
        self.enums.iter().find(|found| found.full_name() == full_name)
    }

    pub(crate) fn len(&self) -> u32 {
        self.messages.len() as u32
    }

    pub(crate) fn field_descriptor(&self, of: MessageIndex, field: &Field) -> Option<&FieldDescriptor> {
        match field.extension {
            true => self.pool.extension_for(of, field.number).map(|found| found.field()),
            false => self.pool.message(of).field(field.number),
        }
    }
}

impl<'p> Ids<'p> {
    fn new(pool: &'p DescriptorPool) -> Self {
        let messages = pool.messages().iter().filter_map(|found| pool.message_index(found.full_name()));
        let enums = pool.enums().iter().filter_map(|found| pool.enum_index(found.full_name()));
        let mut ids = Self {
            pool,
            messages: messages.zip((0..).map(MessageId)).collect(),
            enums: enums.zip((0..).map(EnumId)).collect(),
            defaults: HashMap::new(),
        };
        for file in pool.files() {
            let package = file.package.as_deref().unwrap_or_default();
            ids.read_extension_defaults(package, &file.extension);
            for message in &file.message_type {
                ids.read_defaults(package, message);
            }
        }
        ids
    }

    /// Defaults of extensions are kept by the extension's name, whose number is then 0.
    fn read_extension_defaults(&mut self, scope: &str, extensions: &'p [FieldDescriptorProto]) {
        for field in extensions {
            if let (Some(name), Some(text)) = (&field.name, &field.default_value) {
                self.defaults.insert((join(scope, name), 0), text);
            }
        }
    }

    fn read_defaults(&mut self, scope: &str, message: &'p DescriptorProto) {
        let full_name = join(scope, message.name.as_deref().unwrap_or_default());
        for field in &message.field {
            if let (Some(number), Some(text)) = (field.number, &field.default_value) {
                self.defaults.insert((full_name.clone(), number.cast_unsigned()), text);
            }
        }
        self.read_extension_defaults(&full_name, &message.extension);
        // The pool bounds how deep this goes, by the length of names.
        for nested in &message.nested_type {
            self.read_defaults(&full_name, nested);
        }
    }

    fn message(&self, found: &MessageDescriptor, enums: &[Enum]) -> Option<MessageTable> {
        let full_name = found.full_name();
        let index = self.pool.message_index(full_name)?;
        let mut fields: Vec<Field> = Vec::with_capacity(found.fields().len());
        for field in found.fields() {
            let default = self.defaults.get(&(full_name.to_owned(), field.number())).copied();
            let mut field = self.field(field, default, enums)?;
            let real = |at: &u16| found.oneofs().get(usize::from(*at)).is_some_and(|oneof| !oneof.is_synthetic());
            field.exclusive = field.oneof.filter(real);
            fields.push(field);
        }
        for extension in self.pool.extensions_of(index) {
            let default = self.defaults.get(&(extension.full_name().to_owned(), 0)).copied();
            let field = self.field(extension.field(), default, enums)?;
            let json_name: Box<str> = format!("[{}]", extension.full_name()).into();
            let (name, json_key) = (extension.full_name().into(), json_key(&json_name));
            fields.push(Field { name, json_name, json_key, extension: true, ..field });
        }
        // Places are 16 bits wide, and the last of them means "none".
        fields.truncate(usize::from(u16::MAX));
        let by_number: HashMap<u32, u16> = fields.iter().map(|field| field.number).zip(0..).collect();
        let dense = (0..fields.len() as u32 * 2 + 16).map(|number| by_number.get(&number).copied().unwrap_or(u16::MAX));
        let mut by_name = HashMap::new();
        for (field, at) in fields.iter().zip(0..) {
            by_name.insert(field.json_name.clone(), at);
        }
        // A field's own name outranks another's JSON name (proto2 allows them to meet).
        for (field, at) in fields.iter().zip(0..).filter(|(field, _)| !field.extension) {
            by_name.insert(field.name.clone(), at);
        }
        let oneofs = found.oneofs().iter().map(|oneof| Oneof {
            name: oneof.name().into(),
            synthetic: oneof.is_synthetic(),
            members: oneof.field_indices().into(),
        });
        Some(MessageTable {
            index,
            full_name: full_name.into(),
            dense: dense.collect(),
            by_number,
            by_name,
            oneofs: oneofs.collect(),
            well_known: WellKnown::of(full_name),
            fields: fields.into(),
        })
    }

    fn field(&self, found: &FieldDescriptor, default: Option<&str>, enums: &[Enum]) -> Option<Field> {
        let (single, shape) = match found.kind() {
            FieldKind::Singular(kind) => (kind, Shape::One),
            FieldKind::List(kind) => (kind, Shape::List),
            FieldKind::Map { key, value } => (value, Shape::Map { key: scalar(key) }),
        };
        let kind = match single {
            SingularKind::Scalar(kind) => scalar(kind),
            SingularKind::Enum(index) => Kind::Enum(*self.enums.get(&index)?),
            SingularKind::Message(index) => Kind::Message(*self.messages.get(&index)?),
        };
        let number_of = |name: &str| match kind {
            Kind::Enum(id) => enums.get(id.0 as usize)?.number_of(name),
            _ => None,
        };
        Some(Field {
            name: found.name().into(),
            json_name: found.json_name().into(),
            json_key: json_key(found.json_name()),
            number: found.number(),
            kind,
            shape,
            presence: match found.presence() {
                FieldPresence::Explicit => Presence::Explicit,
                FieldPresence::LegacyRequired => Presence::Required,
                _ => Presence::Implicit,
            },
            packed: found.is_packed(),
            delimited: found.is_delimited(),
            closed: found.enum_type() == Some(EnumType::Closed),
            oneof: found.oneof_index(),
            exclusive: None,
            default: default.and_then(|text| Default::read(text, kind, number_of)),
            extension: false,
        })
    }
}

fn json_key(json_name: &str) -> Box<[u8]> {
    let mut key = Vec::with_capacity(json_name.len() + 3);
    crate::json::put_string(json_name, &mut key);
    key.push(b':');
    key.into()
}

pub(crate) fn join(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.to_owned() } else { format!("{scope}.{name}") }
}

fn scalar(kind: ScalarType) -> Kind {
    match kind {
        ScalarType::Double => Kind::Double,
        ScalarType::Float => Kind::Float,
        ScalarType::Int64 => Kind::Int64,
        ScalarType::Uint64 => Kind::Uint64,
        ScalarType::Int32 => Kind::Int32,
        ScalarType::Fixed64 => Kind::Fixed64,
        ScalarType::Fixed32 => Kind::Fixed32,
        ScalarType::Bool => Kind::Bool,
        ScalarType::String => Kind::String,
        ScalarType::Bytes => Kind::Bytes,
        ScalarType::Uint32 => Kind::Uint32,
        ScalarType::Sfixed32 => Kind::Sfixed32,
        ScalarType::Sfixed64 => Kind::Sfixed64,
        ScalarType::Sint32 => Kind::Sint32,
        ScalarType::Sint64 => Kind::Sint64,
    }
}
