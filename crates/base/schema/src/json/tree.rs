//! By way of the library's dynamic message.

use std::sync::Arc;

use buffa_descriptor::{DynamicMessage, DynamicMessageSeed};
use serde::de::DeserializeSeed;

use super::Error;
use crate::decoded::decoded_json_bytes;
use crate::{DECODED_BYTES_MAX, DecodeProblem, MessageType};

pub(super) fn to_json(of: &MessageType, binary: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    let message = of.decode(binary).map_err(|error| match error {
        DecodeProblem::Malformed(error) => Error::Binary(error.to_string()),
        DecodeProblem::TooLarge => Error::TooLarge,
    })?;
    let before = out.len();
    serde_json::to_writer(&mut *out, &message).map_err(|error| {
        out.truncate(before);
        Error::Binary(error.to_string())
    })
}

pub(super) fn to_binary(of: &MessageType, json: &[u8], ignore_unknown: bool, out: &mut Vec<u8>) -> Result<(), Error> {
    if decoded_json_bytes(json) > DECODED_BYTES_MAX {
        return Err(Error::TooLarge);
    }
    let error = |error: serde_json::Error| Error::Json(error.to_string());
    let mut reader = serde_json::Deserializer::from_slice(json);
    let seed = DynamicMessageSeed::new(Arc::clone(of.pool()), of.index()).ignore_unknown_fields(ignore_unknown);
    let message: DynamicMessage = seed.deserialize(&mut reader).map_err(error)?;
    reader.end().map_err(error)?;
    message.try_encode(out).map_err(|error| Error::Json(error.to_string()))
}
