//! Bytes become exchanges: reads requests from accepted connections, gives each to the [`Handler`], writes the replies.
//! Timeouts, keep-alive, pipelining, back pressure and the isolation of one exchange from the next live here.
//!
//! [`Handler`]: leat_message::Handler

mod connection;
mod h1;
mod h2;
mod pace;
mod refusal;
mod service;
mod wait;

pub use connection::{Protocol, serve};
pub use h1::serve_h1;
pub use h2::serve_h2;
pub use service::{OnError, Service, Site};
