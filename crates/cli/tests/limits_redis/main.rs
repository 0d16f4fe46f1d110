//! Rate limits that several gateways count in Redis: the built `leat`, and real servers, sentinels and clusters on free ports.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cluster;
mod cut;
mod faults;
mod load;
mod one;
mod sentinel;
mod server;
#[path = "../support/mod.rs"]
mod support;
mod tls;
