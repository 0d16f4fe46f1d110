//! The Connect protocol: unary calls as plain HTTP, by POST and GET, and streams of envelopes.

pub mod query;
/// A request's head.
pub mod request;
pub mod status;
pub mod timeout;
