use bytes::Bytes;

use crate::Code;

/// How a call ended, with all that it says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The code; [`Code::Ok`] for success.
    pub code: Code,
    /// For people. Any text; each protocol escapes it in its way.
    pub message: String,
    /// For programs, in their order.
    pub details: Vec<Detail>,
}

/// A detail of an error: a message packed as `google.protobuf.Any`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    /// The full name of the message's type, without the `type.googleapis.com/` before it.
    pub type_name: String,
    /// The message in binary form.
    pub value: Bytes,
}

impl Status {
    /// Success. No allocation.
    pub const OK: Self = Self { code: Code::Ok, message: String::new(), details: Vec::new() };

    /// A status without details.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Vec::new() }
    }

    /// Whether the call succeeded.
    pub fn is_ok(&self) -> bool {
        self.code == Code::Ok
    }
}
