//! The admin API of the gateway: the built `leat`, real sockets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod asked;
mod drain;
mod guard;
mod reads;
#[path = "../support/mod.rs"]
mod support;
mod writes;
