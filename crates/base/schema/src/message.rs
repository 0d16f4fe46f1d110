use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use buffa_descriptor::{DescriptorPool, DynamicMessage, MessageDescriptor, MessageIndex};

use crate::decoded::{self, DecodeProblem};
use crate::types::{Types, WellKnown};
use crate::{Enum, EnumId, Field, Kind, MessageId};

/// The type of a message: what codecs, paths and rules ask. A clone costs one atomic increment.
#[derive(Clone)]
pub struct MessageType {
    pub(crate) types: Arc<Types>,
    pub(crate) id: MessageId,
}

/// What is kept of a message.
#[derive(Debug)]
pub(crate) struct MessageTable {
    pub(crate) index: MessageIndex,
    pub(crate) full_name: Box<str>,
    /// Declared fields in the order of the .proto file, then extensions by number.
    pub(crate) fields: Box<[Field]>,
    /// Places in `fields` of the numbers from 0 on; numbers beyond it are in `by_number`.
    pub(crate) dense: Box<[u16]>,
    pub(crate) by_number: HashMap<u32, u16>,
    /// By the name of the .proto file, by that of JSON, and extensions by `[full.name]`.
    pub(crate) by_name: HashMap<Box<str>, u16>,
    pub(crate) oneofs: Box<[Oneof]>,
    pub(crate) well_known: Option<WellKnown>,
}

/// A oneof.
#[derive(Clone, Debug)]
pub struct Oneof {
    pub(crate) name: Box<str>,
    pub(crate) synthetic: bool,
    pub(crate) members: Box<[u16]>,
}

impl Oneof {
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether `optional` of proto3 made it up.
    pub fn is_synthetic(&self) -> bool {
        self.synthetic
    }

    /// Places of its members in [`MessageType::fields`].
    pub fn members(&self) -> impl Iterator<Item = usize> + '_ {
        self.members.iter().map(|&at| usize::from(at))
    }
}

impl MessageTable {
    #[inline]
    pub(crate) fn field(&self, number: u32) -> Option<&Field> {
        self.fields.get(usize::from(self.place(number)?))
    }

    /// The place of a field in `fields`.
    #[inline]
    pub(crate) fn place(&self, number: u32) -> Option<u16> {
        match self.dense.get(number as usize) {
            Some(&u16::MAX) => None,
            Some(&at) => Some(at),
            None => self.by_number.get(&number).copied(),
        }
    }

    pub(crate) fn field_named(&self, name: &str) -> Option<&Field> {
        self.fields.get(usize::from(*self.by_name.get(name)?))
    }
}

impl MessageType {
    fn table(&self) -> &MessageTable {
        self.types.message(self.id)
    }

    /// The full name, without a dot before it.
    pub fn full_name(&self) -> &str {
        &self.table().full_name
    }

    /// Its id, which is what [`Kind::Message`] holds.
    pub fn id(&self) -> MessageId {
        self.id
    }

    /// Declared fields in the order of the .proto file, then extensions that the schema knows.
    pub fn fields(&self) -> &[Field] {
        &self.table().fields
    }

    /// The field of this number. Array access for small numbers, else one map access.
    pub fn field(&self, number: u32) -> Option<&Field> {
        self.table().field(number)
    }

    /// The field of this name: the .proto file's, or JSON's; extensions as `[full.name]`. One map access.
    pub fn field_named(&self, name: &str) -> Option<&Field> {
        self.table().field_named(name)
    }

    /// Oneofs, also those that `optional` of proto3 makes up.
    pub fn oneofs(&self) -> &[Oneof] {
        &self.table().oneofs
    }

    /// Which of the types with a JSON form of their own it is.
    pub fn well_known(&self) -> Option<WellKnown> {
        self.table().well_known
    }

    /// The type of the messages of a field (of the values, if it is a map). `None` if they are none.
    pub fn message_of(&self, field: &Field) -> Option<MessageType> {
        match field.kind {
            Kind::Message(id) => Some(MessageType { types: Arc::clone(&self.types), id }),
            _ => None,
        }
    }

    /// The enum of a field. `None` if its values are none.
    pub fn enum_of(&self, field: &Field) -> Option<&Enum> {
        match field.kind {
            Kind::Enum(id) => Some(self.types.enumeration(id)),
            _ => None,
        }
    }

    /// An enum of the schema by its id.
    pub fn enumeration(&self, id: EnumId) -> &Enum {
        self.types.enumeration(id)
    }

    /// Another message of the same schema, by its full name: what an `Any` holds.
    pub fn sibling(&self, full_name: &str) -> Option<MessageType> {
        Some(MessageType { types: Arc::clone(&self.types), id: self.types.message_id(full_name)? })
    }

    /// The custom option `number` of this message, as the bytes of its value: messages only. `None` if it is not set.
    pub fn option(&self, number: u32) -> Option<Vec<u8>> {
        crate::options::extension(self.descriptor().options()?, number)
    }

    /// The custom option `number` of a field of it, as [`MessageType::option`].
    pub fn field_option(&self, field: &Field, number: u32) -> Option<Vec<u8>> {
        let descriptor = self.types.field_descriptor(self.table().index, field)?;
        crate::options::extension(descriptor.options()?, number)
    }

    /// All options of a field, in binary form (`google.protobuf.FieldOptions`).
    pub fn field_options(&self, field: &Field) -> Option<Vec<u8>> {
        let descriptor = self.types.field_descriptor(self.table().index, field)?;
        Some(crate::options::bytes(descriptor.options()?))
    }

    /// The library's descriptor.
    pub fn descriptor(&self) -> &MessageDescriptor {
        self.types.pool.message(self.table().index)
    }

    /// The library's index of it.
    pub fn index(&self) -> MessageIndex {
        self.table().index
    }

    /// The library's pool, for dynamic messages. The pool knows nothing of proto2's defaults: see [`Field::default`].
    pub fn pool(&self) -> &Arc<DescriptorPool> {
        &self.types.pool
    }

    /// An empty dynamic message.
    pub fn empty(&self) -> DynamicMessage {
        DynamicMessage::new(Arc::clone(&self.types.pool), self.table().index)
    }

    /// Decodes a dynamic message; a map entry for each field that is there. Bounded: 100 deep, and
    /// [`DECODED_BYTES_MAX`](crate::DECODED_BYTES_MAX) of memory, for which long ones are read once more, before.
    ///
    /// # Errors
    /// See [`DecodeProblem`].
    pub fn decode(&self, bytes: &[u8]) -> Result<DynamicMessage, DecodeProblem> {
        decoded::decode(&self.types.pool, self.table().index, bytes)
    }

    /// Memory that these bytes take decoded, in bytes, by the estimate that [`MessageType::decode`] goes by; `None` if that is more
    /// than `bytes_max`. No allocation.
    pub fn decoded_bytes(&self, bytes: &[u8], bytes_max: usize) -> Option<usize> {
        decoded::decoded_bytes(&self.types.pool, self.table().index, bytes, bytes_max)
    }
}

impl PartialEq for MessageType {
    /// Of the same schema, and the same message.
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && Arc::ptr_eq(&self.types, &other.types)
    }
}

impl Eq for MessageType {}

impl fmt::Debug for MessageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "message {}", self.full_name())
    }
}
