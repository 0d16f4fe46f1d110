//! HTTP/2 without I/O (RFC 9113): bytes in, bytes out. Nothing here owns a socket or a clock.

pub mod hpack;
