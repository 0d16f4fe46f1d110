//! The keys of a configuration as tables: one source for the reader, for its error messages, for the JSON Schema and for
//! the reference page.

mod json_schema;
mod key;
mod open;
mod reader;
mod reference;
mod suggest;
pub(super) mod units;

pub(super) use json_schema::schema;
pub(super) use key::{Group, Key, Kind, Section};
pub(super) use open::{Open, Text, quoted, shorten};
pub(super) use reader::Reader;
pub(super) use reference::markdown;
pub(super) use suggest::nearest;
