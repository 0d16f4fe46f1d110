//! Answers RPC calls of every protocol: one [`wire`](leat_rpc_wire) below, one shared handler above.

pub mod builtin;
pub mod call;
pub mod cel;
pub mod client;
pub mod health;
mod metadata;
pub mod mock;
mod outgoing;
pub mod reflection;
pub mod serve;
pub mod transcode;
pub mod transcribe;
pub mod validate;

pub use call::{Answer, Call, Conversation, Fault, Form, Message, Outcome, Prepared, Protocol, Refusal, Service};
pub use metadata::CallMetadata;

#[cfg(test)]
mod scripted;
