use crate::default::Default;

/// The type of a field's value, of an element of a list, or of a value in a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Named as in .proto files.
pub enum Kind {
    Double,
    Float,
    Int32,
    Int64,
    Uint32,
    Uint64,
    Sint32,
    Sint64,
    Fixed32,
    Fixed64,
    Sfixed32,
    Sfixed64,
    Bool,
    String,
    Bytes,
    Enum(EnumId),
    Message(MessageId),
}

/// A message of the schema. Only the schema that gave it out knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageId(pub(crate) u32);

/// An enum of the schema. Only the schema that gave it out knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EnumId(pub(crate) u32);

impl Kind {
    /// Whether lists of it may be packed: numbers, bools and enums.
    pub fn is_packable(self) -> bool {
        !matches!(self, Kind::String | Kind::Bytes | Kind::Message(_))
    }

    /// As it is written in .proto files; `enum` and `message` for those.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Double => "double",
            Kind::Float => "float",
            Kind::Int32 => "int32",
            Kind::Int64 => "int64",
            Kind::Uint32 => "uint32",
            Kind::Uint64 => "uint64",
            Kind::Sint32 => "sint32",
            Kind::Sint64 => "sint64",
            Kind::Fixed32 => "fixed32",
            Kind::Fixed64 => "fixed64",
            Kind::Sfixed32 => "sfixed32",
            Kind::Sfixed64 => "sfixed64",
            Kind::Bool => "bool",
            Kind::String => "string",
            Kind::Bytes => "bytes",
            Kind::Enum(_) => "enum",
            Kind::Message(_) => "message",
        }
    }
}

/// How many values a field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One, or none.
    One,
    /// A list (`repeated`).
    List,
    /// A map; the field's [`Kind`] is that of the values.
    Map {
        /// The type of the keys.
        key: Kind,
    },
}

/// Whether "not there" differs from "the default value".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It does: proto2, `optional`, members of a oneof, messages, editions unless they say otherwise.
    Explicit,
    /// It does not: plain fields of proto3, lists, maps.
    Implicit,
    /// It must be there (proto2's `required`).
    Required,
}

/// A field of a message, or an extension of one, with its features resolved.
#[derive(Clone, Debug)]
pub struct Field {
    pub(crate) name: Box<str>,
    pub(crate) json_name: Box<str>,
    /// `"json_name":`, as JSON has it.
    pub(crate) json_key: Box<[u8]>,
    pub(crate) number: u32,
    pub(crate) kind: Kind,
    pub(crate) shape: Shape,
    pub(crate) presence: Presence,
    pub(crate) packed: bool,
    pub(crate) delimited: bool,
    pub(crate) closed: bool,
    pub(crate) oneof: Option<u16>,
    /// The oneof, unless `optional` made it up.
    pub(crate) exclusive: Option<u16>,
    pub(crate) default: Option<Default>,
    pub(crate) extension: bool,
}

impl Field {
    /// As written in the .proto file; of an extension, its full name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The key in JSON: lowerCamelCase, or what `json_name` says, or an extension's full name in brackets.
    pub fn json_name(&self) -> &str {
        &self.json_name
    }

    /// The number in the binary form.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The type of the value, or of each value.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// One, list or map.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Whether absence differs from the default.
    pub fn presence(&self) -> Presence {
        self.presence
    }

    /// Whether a list is written packed. Readers take both.
    pub fn is_packed(&self) -> bool {
        self.packed
    }

    /// Whether messages stand as groups in the binary form.
    pub fn is_delimited(&self) -> bool {
        self.delimited
    }

    /// Of a field with enum values: whether numbers without a name are no values of it.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// The oneof that it is a member of, by [`crate::MessageType::oneofs`]; also those that `optional` of proto3 makes up.
    pub fn oneof(&self) -> Option<usize> {
        self.oneof.map(usize::from)
    }

    /// The default that proto2 and editions allow to be written. `None`: zero, empty, or the first of an enum.
    pub fn default(&self) -> Option<&Default> {
        self.default.as_ref()
    }

    /// Whether it is an extension.
    pub fn is_extension(&self) -> bool {
        self.extension
    }
}
