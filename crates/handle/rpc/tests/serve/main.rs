//! Calls of every protocol on real sockets: what is answered, what is refused and how, and what ends a call.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod faults;
mod grpc;
mod http1;
mod service;
mod support;
