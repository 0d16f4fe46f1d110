/// Every limit of one endpoint, with its default. Bytes, counts and milliseconds; nothing is unbounded. Counts of
/// connections and of waiting requests hold per core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointLimits {
    /// HTTP/1.1 connections a core may have open, in use and idle together. 256: with a few cores that is what a
    /// common server's accept queue and worker count carry; more only moves the queue behind the endpoint.
    pub connections_max: usize,
    /// HTTP/2 connections a core may have open. 4: one carries everything until the peer's stream limit is reached.
    pub h2_connections_max: usize,
    /// Streams on one HTTP/2 connection, also where the peer would allow more. 256 keeps head-of-line blocking after a
    /// lost packet bearable.
    pub h2_streams_max: usize,
    /// HTTP/2 flow-control window of one stream, in bytes. 1 MiB carries 80 Mbit/s over a 100 ms path.
    pub h2_stream_window_bytes: u32,
    /// HTTP/2 flow-control window of one connection, in bytes: what a core may have to hold for slow clients. 4 MiB.
    pub h2_connection_window_bytes: u32,
    /// HTTP/2 request bytes that wait for the socket or the connection's window, a stream; above 64 KiB as if it were that.
    pub h2_send_buffer_bytes: usize,
    /// Longest wait for the answer to an HTTP/2 PING, which is sent when a request was given up without any response; then
    /// the connection is taken for dead. 5 s.
    pub h2_ping_time_ms: u64,
    /// Requests that wait for a connection. 1,024: a burst is absorbed, a stall becomes 503 instead of memory.
    pub queue_max: usize,
    /// Longest wait for a connection once all are in use. 5 s: a client rarely waits longer for a page.
    pub queue_time_ms: u64,
    /// How long an unused connection is kept. 55 s: just below the 60 s after which most servers close, so that it is
    /// this side that closes and no request meets a closing connection. A shorter `Keep-Alive: timeout` is honoured.
    pub idle_time_ms: u64,
    /// Name resolution, connecting, TLS and HTTP/2 start together. 5 s: a lost SYN is sent again after 1 s and 3 s.
    pub connect_time_ms: u64,
    /// A response's status line and fields, in bytes. 64 KiB: twice what is taken from clients, as cookies are set here.
    pub head_bytes_max: usize,
    /// Fields in one response head. 200: many Set-Cookie and Link lines.
    pub fields_max: usize,
    /// Trailer section of a chunked response, in bytes.
    pub trailer_bytes_max: usize,
    /// Extensions of one chunk, in bytes.
    pub chunk_extension_bytes_max: usize,
    /// Interim responses (1xx) before the final one. 16: progress notices, no endless stream.
    pub interim_max: usize,
}

impl Default for EndpointLimits {
    fn default() -> Self {
        Self {
            connections_max: 256,
            h2_connections_max: 4,
            h2_streams_max: 256,
            h2_stream_window_bytes: 1024 * 1024,
            h2_connection_window_bytes: 4 * 1024 * 1024,
            h2_send_buffer_bytes: 64 * 1024,
            h2_ping_time_ms: 5_000,
            queue_max: 1_024,
            queue_time_ms: 5_000,
            idle_time_ms: 55_000,
            connect_time_ms: 5_000,
            head_bytes_max: 64 * 1024,
            fields_max: 200,
            trailer_bytes_max: 8 * 1024,
            chunk_extension_bytes_max: 256,
            interim_max: 16,
        }
    }
}
