//! A core's connections to Redis or Valkey servers, for scripts that answer with a few numbers.
//!
//! [`Client::call`] appends a command to the outgoing buffer of the connection to the server that has the keys; one write
//! carries all that the core's requests of one loop turn have asked it. Replies come back in order and complete their calls.
//! No lock, no thread: connections belong to the core. One that is lost is made anew, without end and with pauses; until
//! it is back, calls fail at once.
//!
//! Which server that is (the only one, the one that sentinels call the master, or the one that has the slot in a cluster) is
//! found out by [`follow`], on the control thread, and published to the cores.

mod call;
mod client;
mod follow;
mod followed;
mod line;
mod node;
mod open;
mod problem;
mod question;
mod refusal;
mod resp;
mod script;
mod security;
mod server;
mod slots;
mod value;

pub use client::Client;
pub use follow::{News, follow};
pub use followed::{Followed, Servers};
pub use problem::Problem;
pub use question::{Arguments, Question};
pub use resp::Numbers;
pub use script::Script;
pub use security::{Security, SecurityError};
pub use server::{Login, Place, Secret, Server, Target};
pub use slots::slot;

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
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Down => "there is no connection",
            Self::Deadline => "no answer within the deadline",
            Self::Busy => "too many calls wait",
            Self::Lost => "the connection was lost",
            Self::Refused => "the server answered with an error",
        })
    }
}

impl std::error::Error for Failure {}
