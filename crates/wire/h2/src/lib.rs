//! HTTP/2 without I/O (RFC 9113): bytes in, bytes out. Nothing here owns a socket or a clock.
//!
//! A [`Connection`] is one side of a connection. What was read goes into [`Connection::receive`]; what is sent is framed
//! straight into the caller's buffer, as far as the windows and the room in it allow. Of a server, requests come out of
//! [`Connection::next_request`] with their heads as HTTP/1 text, so that the one parser judges every head. A client begins
//! with [`Connection::client`], sends requests with [`Connection::open`] and takes heads with [`Connection::take_head`].

mod client;
mod closed;
mod code;
mod connection;
pub mod field;
mod fields;
mod frame;
pub mod hpack;
mod meter;
mod receive;
mod request;
mod response;
mod role;
mod send;
mod settings;
mod stream;
mod streams;

pub use closed::Cause;
pub use code::Code;
pub use connection::{Connection, Goodbye, PREFACE};
pub use fields::FieldList;
pub use response::Section;
pub use settings::Settings;
pub use stream::{Body, Key};
