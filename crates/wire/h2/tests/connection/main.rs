//! The server's side of a connection, driven frame by frame.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod hostile;
mod peer;
mod replies;
mod states;
mod windows;
