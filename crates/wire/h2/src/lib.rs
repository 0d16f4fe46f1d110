//! HTTP/2 without I/O (RFC 9113): bytes in, bytes out. Nothing here owns a socket or a clock.
//!
//! A [`Connection`] is the server's side of one connection. What was read goes into [`Connection::receive`]; requests come
//! out of [`Connection::next_request`] with their heads as HTTP/1 text, so that the one parser judges every head; replies
//! are framed straight into the caller's buffer, as far as the windows and the room in it allow.

mod closed;
mod code;
mod connection;
mod fields;
mod frame;
pub mod hpack;
mod meter;
mod receive;
mod request;
mod send;
mod settings;
mod stream;
mod streams;

pub use code::Code;
pub use connection::{Connection, Goodbye, PREFACE};
pub use fields::FieldList;
pub use settings::Settings;
pub use stream::{Body, Key};
