//! The gateway's first path from end to end: the built `leat`, real sockets, scripted upstreams and raw clients.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod access;
mod backend;
mod balance;
mod bodies;
mod breakers;
mod buffering;
mod checks;
mod compression;
mod concurrency;
mod cors;
mod decompression;
mod duplex;
mod failures;
mod faults;
mod forwarded;
mod grpc;
mod h2_peers;
mod heads;
mod hedging;
mod http2;
mod interim;
mod mirroring;
mod observed;
mod plugins;
mod retries;
mod rewriting;
mod route_limits;
mod routes;
mod splits;
mod streams;
mod support;
mod times;
mod tries;
mod tunnels;
