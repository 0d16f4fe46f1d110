//! What JavaScript hears of an exchange: the first argument of its function. The others are named behind it.

/// (was the connection used before)
pub(super) const CONNECTED: u8 = 0;
/// (status, reason, fields, minor version)
pub(super) const INTERIM: u8 = 1;
/// (status, reason, fields, minor version, is a tunnel); true asks for the first piece of the body.
pub(super) const RESPONSE: u8 = 2;
/// (bytes); true asks for the next ones.
pub(super) const DATA: u8 = 3;
/// (trailers)
pub(super) const END: u8 = 4;
/// (kind, detail): nothing follows.
pub(super) const FAILED: u8 = 5;
/// There is room for more of the request's body.
pub(super) const DRAINED: u8 = 6;
/// The whole request was given to the connection.
pub(super) const SENT: u8 = 7;
