//! RPC as bytes in and bytes out: gRPC, gRPC-Web, Connect and REST. No socket, no clock, no runtime.
//!
//! Each protocol has its folder with the same file names; what they share stands beside them.

mod code;
mod metadata;
mod status;

pub use code::Code;
pub use metadata::Metadata;
pub use status::{Detail, Status};
