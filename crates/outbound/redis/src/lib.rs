//! A core's connection to a Redis or Valkey server, for scripts that answer with a few numbers.
//!
//! [`Client::eval`] appends a command to the connection's outgoing buffer; one write carries all that the core's requests
//! of one loop turn have asked. Replies come back in order and complete their [`Call`]s. No lock, no thread: everything
//! belongs to the core. A connection that is lost is made anew, without end and with pauses; until it is back, calls
//! fail at once.

mod call;
mod client;
mod line;
mod resp;
mod script;
mod server;

pub use call::Call;
pub use client::Client;
pub use resp::Numbers;
pub use script::Script;
pub use server::{Secret, Server, Target};

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// There is no connection, or the server has not answered for longer than the deadline.
    Down,
    /// No answer within the deadline.
    Deadline,
    /// More calls wait than one connection may have.
    Busy,
    /// The connection was lost before the answer came.
    Lost,
    /// The server answered with an error, or with something that is no answer to the script.
    Refused,
    /// The server has forgotten the script. It is being told again: the same call, made anew, finds it.
    NoScript,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Down => "there is no connection",
            Self::Deadline => "no answer within the deadline",
            Self::Busy => "too many calls wait",
            Self::Lost => "the connection was lost",
            Self::Refused => "the server answered with an error",
            Self::NoScript => "the server has forgotten the script",
        })
    }
}

impl std::error::Error for Failure {}
