//! RPC as bytes in and bytes out: gRPC, gRPC-Web, Connect and REST. No socket, no clock, no runtime.
//!
//! Each protocol has its folder with the same file names; what they share stands beside them.

pub mod binary_value;
mod code;
pub mod compression;
pub mod connect;
pub mod envelope;
pub mod field;
mod form;
pub mod grpc;
pub mod grpc_web;
mod media_type;
mod metadata;
mod opening;
pub mod rest;
mod status;

pub use code::Code;
pub use compression::Coding;
pub use form::Form;
pub use media_type::MediaType;
pub use metadata::Metadata;
pub use opening::{Opening, Refused};
pub use status::{Detail, Status};
