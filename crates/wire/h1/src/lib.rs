//! HTTP/1.1 without I/O: heads become spans, bodies become framing decisions, replies become bytes.
//!
//! Nothing here owns a socket, a clock or a read buffer. A caller hands in the bytes it has; it is told that a head
//! occupies the first so many of them, that more are needed, or why they are refused. RFC 9110 and RFC 9112 leave a
//! recipient much freedom to guess what a malformed message meant; every guess that was ever used to smuggle, split or
//! desynchronise is a refusal here.

mod authority;
mod class;
mod connection;
mod decoder;
pub mod encode;
mod encoder;
mod extension;
mod fields;
mod framing;
mod limits;
mod name_id;
mod progress;
mod request;
mod request_line;
mod response;
mod scan;
mod target;
mod trailers;

pub use authority::is_authority;
pub use decoder::{BodyDecoder, Decoded};
pub use encoder::{BodyEncoder, EncodeError, Framed};
pub use leat_message::{
    Field, Fields, Head, Length, Limits, Method, Name, Profile, Reason, RequestLines, ResponseHead, ResponseLines,
    Span, Version,
};
pub use limits::{DecoderLimits, ResponseLimits};
pub use progress::Progress;
pub use request::{LEADING_EMPTY_LINES_MAX, parse_request};
pub use response::parse_response;
