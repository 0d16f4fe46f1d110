//! What tests are written with: scripted peers, a raw HTTP/1 client, the built `leat` as a child process, a counting
//! allocator, temporary folders. Blocking and independent of any runtime, so that it fits every test; nothing sleeps for
//! a fixed time, every wait has a deadline. Only ever a dev-dependency.
//!
//! Everything here panics with a sentence when an expectation fails: the reader is a person in front of a failed test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod allocator;
mod client;
mod connection;
mod deadline;
mod exchange;
mod folder;
mod leat;
mod listening;
mod peer;
mod response;
mod script;
mod skip;

pub use allocator::{Allocations, Counting};
pub use client::Client;
pub use deadline::{DEADLINE, eventually};
pub use exchange::RecordedExchange;
pub use folder::Folder;
pub use leat::{Leat, Output, binary, built};
pub use peer::Peer;
pub use response::Response;
pub use script::{Gate, Script};
pub use skip::skip;
