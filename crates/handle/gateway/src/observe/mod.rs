//! What is told of exchanges beyond counters: traces, times for the client, and messages to a collector.

mod collector;
mod export;
mod marks;
mod post;
mod random;
mod server_timing;
mod spans;
mod tracer;

pub use export::{Exported, export};
pub(crate) use marks::mark;
pub(crate) use random::random;
pub(crate) use server_timing::{TimingPolicy, write_server_timing};
pub(crate) use spans::{ClientTry, server_span};
pub(crate) use tracer::{Outgoing, Tracer};
