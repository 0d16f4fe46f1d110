use leat_message::Head;

use crate::grpc;
use crate::{MediaType, Opening, Refused};

/// Reads the head of a request whose type is gRPC-Web's, which has gRPC's fields.
///
/// # Errors
/// As for gRPC.
pub fn open(head: Head<'_>, media: MediaType) -> Result<Opening, Refused> {
    grpc::request::open(head, media)
}
