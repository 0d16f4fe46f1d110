//! Clients of every protocol before an upstream that speaks gRPC: what stands behind a [`Transcoded`] exchange sees one gRPC
//! request over HTTP/2, and the client sees its own protocol.

mod compressing;
mod dialect;
mod download;
mod failure;
mod head;
mod reply;
mod transcoded;
mod transcoder;
mod upload;
mod verbatim;

pub use compressing::Compressing;
pub use failure::status_of;
pub use leat_rpc_wire::rest::Unknown;
pub use transcoded::Transcoded;
pub use transcoder::{Added, Behind, METHOD_FIELD, PROTOCOL_FIELD, Settings, Transcoder, Voice};
