//! Bytes become exchanges: reads requests from accepted connections, gives each to the [`Handler`], writes the replies.
//! Timeouts, keep-alive, pipelining, back pressure and the isolation of one exchange from the next live here.
//!
//! [`Handler`]: leat_message::Handler

mod h1;
mod pace;
mod refusal;
mod service;

pub use h1::serve_h1;
pub use refusal::problem;
pub use service::{OnError, Service, Site};
