/// Copies of a route's requests that go to another upstream as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    pub(super) upstream: usize,
    pub(super) percent: u32,
    pub(super) unsafe_methods: bool,
    pub(super) body_bytes_max: usize,
    pub(super) response_bytes_max: u64,
    pub(super) in_flight_max: u32,
    pub(super) total_time_ms: u64,
}

impl Mirror {
    /// Index of the upstream in the configuration.
    pub fn upstream(&self) -> usize {
        self.upstream
    }

    /// Which part of the requests, each by chance.
    pub fn percent(&self) -> u32 {
        self.percent
    }

    /// Whether methods are copied that may change something.
    pub fn unsafe_methods(&self) -> bool {
        self.unsafe_methods
    }

    /// The longest body that is copied.
    pub fn body_bytes_max(&self) -> usize {
        self.body_bytes_max
    }

    /// How much of an answer's body is read.
    pub fn response_bytes_max(&self) -> u64 {
        self.response_bytes_max
    }

    /// Copies under way, of all cores and of all routes that copy to the upstream.
    pub fn in_flight_max(&self) -> u32 {
        self.in_flight_max
    }

    /// How long a copy may take, from its sending to the end of its answer, in milliseconds.
    pub fn total_time_ms(&self) -> u64 {
        self.total_time_ms
    }
}
