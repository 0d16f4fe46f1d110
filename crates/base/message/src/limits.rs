/// How doubtful but legal forms are treated. Both profiles refuse everything that is dangerous.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Accepts legal oddities that real clients send.
    #[default]
    Compatible,
    /// Refuses every doubtful form with 400 and closes the connection.
    Strict,
}

/// Every limit of the inbound side, with its default. All bytes, counts and milliseconds; nothing is unbounded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Request line and fields together, in bytes. 32 KiB: four times what browsers with large cookies send.
    pub head_bytes_max: usize,
    /// Fields in one head. 100, as in Apache and Go's habit; more is an attack or a bug.
    pub fields_max: usize,
    /// One field line (name and value), in bytes. 16 KiB carries Kerberos and large JWT headers.
    pub field_bytes_max: usize,
    /// The request target, in bytes. 8,000 is what RFC 9112 section 3 recommends to support at least.
    pub target_bytes_max: usize,
    /// A request body, in bytes. 64 MiB; routes raise or lower it.
    pub body_bytes_max: u64,
    /// Trailer section of a chunked body, in bytes.
    pub trailer_bytes_max: usize,
    /// Extensions of one chunk, in bytes.
    pub chunk_extension_bytes_max: usize,
    /// From a request's first byte to the end of its head.
    pub head_time_ms: u64,
    /// A keep-alive connection without a request.
    pub idle_time_ms: u64,
    /// A connection that has not begun its first request; `None`: as long as any other.
    pub first_time_ms: Option<u64>,
    /// From the end of the head to the end of the request body. `None` for streams.
    pub body_time_ms: Option<u64>,
    /// Fewest bytes a second, in both directions, counted only while bytes are owed. A peer below it for
    /// `throughput_grace_ms` loses its connection.
    pub throughput_bytes_min: u64,
    /// How long a peer may stay below `throughput_bytes_min`.
    pub throughput_grace_ms: u64,
    /// Unread request body that is read and thrown away to keep the connection, in bytes; above it the connection closes.
    pub drain_bytes_max: u64,
    /// How long such a body is waited for.
    pub drain_time_ms: u64,
    /// Requests on one connection; the last reply says `connection: close`.
    pub requests_per_connection_max: u64,
    /// Replies gathered before they are written, in bytes: the cap of a pipelined batch.
    pub batch_bytes_max: usize,
    /// Connections of this process.
    pub connections_max: usize,
    /// Connections of one client address (IPv6: its /64).
    pub connections_per_client_max: usize,
    /// TLS handshakes under way at once in this process.
    pub handshakes_max: usize,
    /// From accept to the end of the TLS handshake.
    pub handshake_time_ms: u64,
    /// HTTP/2 streams that one connection may have open.
    pub h2_streams_max: u32,
    /// What the engine leaves for the handler to judge.
    pub left_to_handler: LeftToHandler,
    /// How long a client that has ended its direction may still wait for its reply. Whether it only has nothing more to say
    /// (`nc -N`) or is gone looks the same from here; after this time it is taken to be gone, so that the work for nobody ends.
    pub half_closed_ms: u64,
    /// Memory in buffers of this process, in bytes, above which new requests get 503.
    pub memory_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head_bytes_max: 32 * 1024,
            fields_max: 100,
            field_bytes_max: 16 * 1024,
            target_bytes_max: 8_000,
            body_bytes_max: 64 * 1024 * 1024,
            trailer_bytes_max: 8 * 1024,
            chunk_extension_bytes_max: 256,
            head_time_ms: 10_000,
            idle_time_ms: 75_000,
            first_time_ms: None,
            body_time_ms: Some(60_000),
            throughput_bytes_min: 240,
            throughput_grace_ms: 10_000,
            drain_bytes_max: 256 * 1024,
            drain_time_ms: 2_000,
            requests_per_connection_max: 1_000_000,
            batch_bytes_max: 64 * 1024,
            connections_max: 20_000,
            connections_per_client_max: 20_000,
            handshakes_max: 1_000,
            handshake_time_ms: 10_000,
            h2_streams_max: 128,
            left_to_handler: LeftToHandler::default(),
            half_closed_ms: 1_000,
            memory_bytes_max: 512 * 1024 * 1024,
        }
    }
}

/// Rules for a request that the engine applies itself, unless the handler has its own answer for who breaks them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftToHandler {
    /// An `Expect` other than 100-continue, which is refused with 417.
    pub expect: bool,
    /// An HTTP/1.1 request without `Host`, or with one that is not what its target names, which are refused with 400.
    pub host: bool,
    /// An `Upgrade` that `Connection` names, whatever it says: without this it is ignored beside a body, for h2c and in
    /// HTTP/1.0, and a malformed one is refused with 400.
    pub upgrade: bool,
}

/// What a handler may set for one exchange's request body before it reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyLimits {
    /// Longest body, in bytes.
    pub bytes_max: u64,
    /// From the end of the head to the end of the body, in milliseconds; `None` for streams.
    pub time_ms: Option<u64>,
}
