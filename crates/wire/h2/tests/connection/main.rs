//! Both sides of a connection, each driven frame by frame.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod client;
mod client_windows;
mod hostile;
mod hostile_server;
mod peer;
mod replies;
mod responses;
mod states;
mod windows;
