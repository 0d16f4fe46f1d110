//! Messages between the two forms, for callers who are told what is wrong in a status.

use leat_rpc_wire::{Code, Status};
use leat_schema::json::Error;
use leat_schema::{MessageType, Method};

/// A request in JSON form as binary. Fields that the type does not have are passed over, as Connect asks for.
///
/// # Errors
/// `invalid_argument` with what is wrong; `resource_exhausted` where it would take too much memory.
pub fn request_to_binary(method: &Method, json: &[u8], out: &mut Vec<u8>) -> Result<(), Status> {
    out.clear();
    method.input().to_binary(json, out).map_err(|error| {
        let name = method.input().full_name();
        match error {
            Error::TooLarge => Status::new(Code::ResourceExhausted, format!("the request: {error}")),
            _ => Status::new(Code::InvalidArgument, format!("the request is not a {name} in JSON: {error}")),
        }
    })
}

/// A reply in the other form.
///
/// # Errors
/// `internal`: who answers made a message that is none of the type.
pub fn reply(kind: &MessageType, from_json: bool, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Status> {
    let done = if from_json { kind.to_binary(bytes, out) } else { kind.to_json(bytes, out) };
    done.map_err(|error| Status::new(Code::Internal, format!("the reply is not a {}: {error}", kind.full_name())))
}
