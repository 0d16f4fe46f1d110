use std::fmt;

use crate::DecodeProblem;

/// Why a message has no other form. Displays as a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The binary form is no message of this type.
    Binary(String),
    /// The JSON form is no message of this type.
    Json(String),
    /// It would take more memory than [`DECODED_BYTES_MAX`](crate::DECODED_BYTES_MAX).
    TooLarge,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Binary(what) => write!(f, "malformed message: {what}"),
            Error::Json(what) => write!(f, "malformed JSON: {what}"),
            Error::TooLarge => DecodeProblem::TooLarge.fmt(f),
        }
    }
}

impl std::error::Error for Error {}
