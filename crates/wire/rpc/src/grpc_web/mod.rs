//! gRPC-Web (gRPC's `PROTOCOL-WEB.md`): gRPC whose trailers are the last envelope of the body, so that a browser sees them.

/// A request's head.
pub mod request;
pub mod status;
pub mod text;
