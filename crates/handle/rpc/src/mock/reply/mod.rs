//! What a rule answers: compiled when it is loaded, given step by step.
//!
//! [`Replies::compile`] reads a section of [`REPLY`] and checks it against the method's types. For a call,
//! [`Replies::pick`] chooses a [`Reply`]; [`Reply::at_once`] has the whole of it where nothing depends on the call, and
//! [`Steps`] gives all others. No clock, no socket, no runtime: time and random numbers are arguments.

mod base64_text;
mod body;
mod compile;
mod convert;
mod delay;
mod error;
mod facts;
mod fault;
mod fields;
mod program;
mod received;
mod script;
mod shape;
mod single;
mod steps;
mod stream;
mod target;
mod template;
mod weighted;
mod write;

#[cfg(test)]
mod tests;

pub use body::Known;
pub use compile::REPLY;
pub use facts::{Facts, RequestFields};
pub use single::{Answered, AtOnce, Reply};
pub use steps::{Action, Sent, Steps};
pub use target::Target;
pub use template::{Failure, WallTime, templates_markdown};
pub use weighted::Replies;
