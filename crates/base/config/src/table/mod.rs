//! The keys of a configuration as tables: one source for the reader, for its error messages, for the JSON Schema and for
//! the reference page.

mod json_schema;
mod key;
mod open;
mod reader;
mod reference;
mod suggest;
pub mod units;

pub use json_schema::schema;
pub use key::{Group, Key, Kind, Section};
pub use open::{Open, Text, example, quoted, shorten, show, text_of};
pub use reader::Reader;
pub use reference::markdown;
pub use suggest::nearest;
