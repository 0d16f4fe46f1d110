//! What the words of a record mean. The TypeScript side has the same table (`packages/leat/src/native/records.ts`); a test
//! of the package compares the two (`packages/leat/test/records.test.mjs`).

/// Bytes of the slabs that a host lends: room for many usual heads with their spans. Longer ones go in parts.
pub const SLAB_BYTES: usize = if cfg!(feature = "loom") { 64 } else { 64 * 1024 };
/// Slabs that a host may have lent at once; this bounds what waits for a JavaScript thread.
pub const SLABS_MAX: usize = if cfg!(feature = "loom") { 3 } else { 8 };
/// Slabs for long pieces of bodies that a host may have lent at once. They go round, so few of them stay in the cache.
pub const BODIES_MAX: usize = if cfg!(feature = "loom") { 2 } else { 8 };
/// Pieces of bodies from this length on get a slab of their own.
pub(crate) const BODY_BYTES_MIN: usize = 16 * 1024;
/// Longest head: what a server's own limit may be at most.
pub const HEAD_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Longest trailer section: it fits a slab together with the spans of as many fields as fit it.
pub const TRAILER_BYTES_MAX: usize = 40 * 1024;
/// Most fields of a head: what its word can tell.
pub const FIELDS_MAX: usize = 0xffff;
/// Body bytes that are sent to JavaScript before it asks for more.
pub const CREDIT_BYTES: usize = 256 * 1024;
/// Words of a record from JavaScript.
pub const REPLY_WORDS: usize = 6;
/// Words of a request before its fields.
pub(crate) const REQUEST_WORDS: usize = 10;
/// Words of the end of a body before the fields of its trailers.
pub(crate) const END_WORDS: usize = 4;
/// Words of a call's response before its fields.
pub(crate) const RESPONSE_WORDS: usize = 8;
/// Words of a field.
pub(crate) const FIELD_WORDS: usize = 4;

/// Kinds of records to JavaScript.
pub(crate) mod to_script {
    pub(crate) const REQUEST: u32 = 1;
    pub(crate) const DATA: u32 = 2;
    pub(crate) const END: u32 = 3;
    pub(crate) const GONE: u32 = 4;
    pub(crate) const OPEN: u32 = 5;
    pub(crate) const CLOSED: u32 = 6;
    pub(crate) const WRITABLE: u32 = 7;
    pub(crate) const FAULT: u32 = 8;
    pub(crate) const EOF: u32 = 9;
    /// A piece of a record that is longer than a slab.
    pub(crate) const PART: u32 = 10;
    /// A connection whose TLS handshake failed.
    pub(crate) const UNSHAKEN: u32 = 11;
    /// The first kind that speaks of a call; those below speak of exchanges and connections.
    pub(crate) const RESPONSE: u32 = 32;
    pub(crate) const CALL_DATA: u32 = 33;
    pub(crate) const CALL_END: u32 = 34;
    pub(crate) const CALL_FAILED: u32 = 35;
    pub(crate) const CALL_WRITABLE: u32 = 36;
}

/// Flags of a call's response.
pub(crate) mod response {
    /// Nothing follows: what there is of a body lies in the record.
    pub(crate) const WHOLE: u32 = 1;
}

/// How a call failed, in place of flags.
pub(crate) mod failure {
    /// What JavaScript has sent is no request.
    pub(crate) const REFUSED: u32 = 1;
    /// No connection came about, so nothing was sent.
    pub(crate) const NOT_SENT: u32 = 2;
    /// The endpoint did nothing with the request.
    pub(crate) const NOT_PROCESSED: u32 = 3;
    pub(crate) const BROKEN: u32 = 4;
    /// What came is no response.
    pub(crate) const PROTOCOL: u32 = 5;
}

/// Flags of a piece of a body.
pub(crate) mod data {
    /// It lies in a slab of its own, whose number stands in place of the offset.
    pub(crate) const OWN_SLAB: u32 = 1;
}

/// Flags of a request.
pub(crate) mod request {
    pub(crate) const KEEP_ALIVE: u32 = 1;
    pub(crate) const HAS_BODY: u32 = 2;
    pub(crate) const UPGRADE: u32 = 4;
    pub(crate) const H2: u32 = 32;
}

/// Flags of a connection.
pub(crate) mod connection {
    pub(crate) const TLS: u32 = 1;
    pub(crate) const H2: u32 = 2;
    pub(crate) const IPV6: u32 = 4;
    pub(crate) const UNIX: u32 = 8;
}

/// Kinds of records from JavaScript.
pub(crate) mod from_script {
    pub(crate) const HEAD: u32 = 1;
    pub(crate) const DATA: u32 = 2;
    pub(crate) const END: u32 = 3;
    pub(crate) const READ: u32 = 4;
    pub(crate) const ABORT: u32 = 5;
    pub(crate) const OPAQUE: u32 = 6;
    pub(crate) const CLOSE: u32 = 7;
    pub(crate) const DESTROY: u32 = 8;
    pub(crate) const CALL: u32 = 9;
    pub(crate) const CALL_DATA: u32 = 10;
    pub(crate) const CALL_READ: u32 = 11;
    pub(crate) const CALL_ABORT: u32 = 12;
    pub(crate) const HANG_UP: u32 = 13;
}

/// Flags of a call. Above them stands how many lines its head has.
pub(crate) mod call {
    /// The body comes in records of its own.
    pub(crate) const STREAM: u32 = 1;
    /// Where the number of lines begins, among the flags.
    pub(crate) const LINES_SHIFT: u32 = 8;
}

/// Flags of what cuts an exchange or a connection off.
pub(crate) mod cut {
    /// By a reset (RST).
    pub(crate) const RESET: u32 = 1;
}

/// Flags of a reply.
pub(crate) mod reply {
    pub(crate) const END: u32 = 1;
    pub(crate) const KEEP_ALIVE: u32 = 2;
    pub(crate) const ACK: u32 = 4;
    pub(crate) const INTERIM: u32 = 8;
    /// Beside END, on HTTP/2: the reply ends now, and the request is still read.
    pub(crate) const READS_ON: u32 = 32;
}
