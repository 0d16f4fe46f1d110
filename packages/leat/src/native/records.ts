// The records that cross the lane, as words of 32 bits: both directions, their flags, and where their parts stand.

/** What a record from the engine says. Offsets named `*_AT` are words from its start. */
export const REQUEST = 1;
export const DATA = 2;
/** Flag of DATA: the bytes fill a slab of their own, whose number stands in place of the offset. */
export const DATA_OWN_SLAB = 1;
export const END = 3;
export const GONE = 4;
export const OPEN = 5;
export const CLOSED = 6;
export const WRITABLE = 7;
export const FAULT = 8;
export const EOF = 9;
/** A piece of a record that is longer than a slab: its whole length, where in it the piece belongs, and where the bytes begin. */
export const PART = 10;
export const PART_TOTAL_AT = 4;
export const PART_PLACE_AT = 5;
export const PART_BYTES_AT = 6;
/** A connection whose TLS handshake failed: server, ports, where its text begins, and the lengths of both addresses, of a code and of its words. */
export const UNSHAKEN = 11;

/** The first kind that speaks of a call; those below speak of exchanges and connections. */
export const RESPONSE = 32;
export const CALL_DATA = 33;
export const CALL_END = 34;
export const CALL_FAILED = 35;
export const CALL_WRITABLE = 36;

/** Flag of RESPONSE: nothing follows, and what there is of a body lies in the record. */
export const RESPONSE_WHOLE = 1;

/** In place of flags, how a call failed: what was sent here is no request; no connection came about; … */
export const FAILURE_REFUSED = 1;
export const FAILURE_NOT_SENT = 2;
export const FAILURE_NOT_PROCESSED = 3;
export const FAILURE_BROKEN = 4;
export const FAILURE_PROTOCOL = 5;

/** Flags of REQUEST. */
export const KEEP_ALIVE = 1;
export const HAS_BODY = 2;
export const UPGRADE = 4;
export const H2 = 32;

/** Flags of OPEN. */
export const OPEN_TLS = 1;
export const OPEN_H2 = 2;
export const OPEN_IPV6 = 4;
export const OPEN_UNIX = 8;

/** What a record to the engine asks for. */
export const OUT_HEAD = 1;
export const OUT_DATA = 2;
export const OUT_END = 3;
export const OUT_READ = 4;
export const OUT_ABORT = 5;
export const OUT_OPAQUE = 6;
export const OUT_CLOSE = 7;
export const OUT_DESTROY = 8;
export const OUT_CALL = 9;
export const OUT_CALL_DATA = 10;
export const OUT_CALL_READ = 11;
export const OUT_CALL_ABORT = 12;
export const OUT_HANG_UP = 13;

/** Flag of CALL: the body comes in records of its own. Above the flags stands how many lines the head has. */
export const CALL_STREAM = 1;
export const CALL_LINES_SHIFT = 8;

/** Flag of ABORT and DESTROY: by a reset, not by an ordinary end. */
export const BY_RESET = 1;

/** Flags of HEAD, DATA and END. */
export const LAST = 1;
export const KEEP = 2;
export const ACK = 4;
export const INTERIM = 8;
/** Bytes that a program wrote itself. The engine copies them as it does all others; this side alone tells them apart. */
export const RAW = 16;
/** Beside LAST, on HTTP/2: the reply ends now, and the request is still read. */
export const READS_ON = 32;

/** Where the fields of a REQUEST begin, and the words that each takes. */
export const REQUEST_FIELDS_AT = 10;
export const END_FIELDS_AT = 4;
export const RESPONSE_FIELDS_AT = 8;
export const FIELD_WORDS = 4;

/** Body bytes that come unasked, but for those behind a request to upgrade. */
export const CREDIT_BYTES = 256 * 1024;

/** Words of a record to the engine. */
export const OUT_WORDS = 6;
