use super::cors::Cors;

/// What may be set for the calls of a listener or a route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Longest message that is received, in bytes, without its compression. 4 MiB, as gRPC's implementations have it.
    pub receive_bytes_max: usize,
    /// Which pages may call.
    pub cors: Cors,
}

impl Default for Settings {
    fn default() -> Self {
        Self { receive_bytes_max: 4 * 1024 * 1024, cors: Cors::Any }
    }
}
