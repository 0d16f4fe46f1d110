//! gRPC over HTTP/2 (gRPC's `PROTOCOL-HTTP2.md`).

/// A request's head.
pub mod request;
pub mod status;
pub mod timeout;
