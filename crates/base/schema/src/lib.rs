//! Protobuf schemas: descriptors of every syntax, methods, fields by path, messages between their binary and JSON forms.
//! No runtime; files are read only by [`Sources`], which compiles .proto files.

pub mod bundled;
mod compile;
mod declared;
pub mod decoded;
mod default;
mod enumeration;
mod field;
pub mod json;
mod message;
mod options;
pub mod path;
mod schema;
mod service;
mod sources;
mod types;
pub mod wire;

#[cfg(test)]
mod testing;

pub use decoded::{DECODED_BYTES_MAX, DecodeProblem};
pub use default::Default;
pub use enumeration::{Enum, EnumValue};
pub use field::{EnumId, Field, Kind, MessageId, Presence, Shape};
pub use message::{MessageType, Oneof};
pub use schema::{File, Schema};
pub use service::{Idempotency, Method, Service};
pub use sources::Sources;
pub use types::WellKnown;

/// The library below, for those who hold its dynamic messages.
pub use buffa_descriptor;
