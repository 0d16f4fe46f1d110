//! A lane with a host written in Rust, and an engine that serves real sockets through it.
#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod engine;
mod host;
mod record;
mod replies;

pub use engine::Engine;
pub use host::Host;
pub use record::{Record, decode};
#[allow(unused_imports, reason = "each test takes what it needs")]
pub use replies::{ACK, END, INTERIM, KEEP, READS_ON, Replies};

/// A whole reply's head, as JavaScript formats it.
pub fn head(length: usize) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n")
}
