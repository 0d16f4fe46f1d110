//! Calls out by gRPC: to backends that are recorded or compared with, and to servers that are asked for their schema.

mod backend;
mod call;

pub use backend::Backend;
pub(crate) use call::is_passed_on;
pub use call::{Client, ClientCall, MESSAGE_BYTES_MAX};
