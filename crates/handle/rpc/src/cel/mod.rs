//! CEL over protobuf messages: compiled once, checked against the schema, evaluated without converting the message.
//!
//! The `cel` crate parses; checking and evaluating are Leat's own, since that crate's interpreter cannot tell `has(x.f)` from
//! `x.f` on a value of ours, cannot hand a borrowed message back, and knows no bound on steps (docs/design/validate.md).
//! Values borrow from the message, so a field is looked at only when it is selected. Everything that a message's sender
//! can make large is counted: an evaluation ends with [`Error::Steps`] rather than run on.

mod arithmetic;
mod build;
mod call;
mod compare;
mod compile;
mod declarations;
mod default;
mod evaluate;
pub mod format;
mod function;
mod map;
mod node;
mod operator;
mod overload;
mod pattern;
mod program;
mod text;
mod time;
mod types;
mod value;

#[cfg(test)]
mod tests;

pub use declarations::Declarations;
pub use evaluate::{Activation, Error, STEPS_MAX};
pub use map::{Map, Named};
pub use pattern::Pattern;
pub use program::{Problem, Program, SOURCE_BYTES_MAX};
pub use text::{Blob, Text};
pub use time::{Duration, Timestamp};
pub use types::Type;
pub use value::{List, Message, Value};
