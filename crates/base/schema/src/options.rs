//! Custom options, which the library keeps as fields that it does not know.

use buffa::Message;

/// The value of the option `number`, a message, in binary form.
pub(crate) fn extension(options: &impl Message, number: u32) -> Option<Vec<u8>> {
    crate::wire::joined(&bytes(options), number)
}

/// All options in binary form.
pub(crate) fn bytes(options: &impl Message) -> Vec<u8> {
    options.try_encode_to_vec().unwrap_or_default()
}
