//! What people write into files: YAML or JSON becomes a tree whose every node knows its place, and a table of keys says
//! what may stand there. From the table come the reader, its messages, the JSON Schema and the reference page. No I/O.

pub mod problem;
pub mod table;
pub mod yaml;

pub use problem::{Place, Problem};
