use super::concurrency::Concurrency;
use leat_policy::balance::OutlierSettings;
use leat_policy::breaker;
use leat_policy::hedge::Hedge;
use leat_policy::retry::{Budget, Retry};

/// Which endpoint of an upstream gets a request, when one is put aside, and what follows a failure.
#[derive(Clone, Debug)]
pub struct Policies {
    pub(super) balance: Balance,
    pub(super) slow_start_ms: Option<u64>,
    pub(super) outliers: Option<OutlierSettings>,
    pub(super) breaker: Option<(BreakerScope, breaker::Settings)>,
    pub(super) retries: Option<Retries>,
    pub(super) health: Option<HealthCheck>,
    pub(super) concurrency: Option<Concurrency>,
    pub(super) hedge: Option<Hedge>,
    pub(super) failure_statuses: Vec<u16>,
}

impl Policies {
    /// How a request finds its endpoint.
    pub fn balance(&self) -> &Balance {
        &self.balance
    }

    /// In which time an endpoint that comes, or comes back, grows into its weight, in milliseconds; `None` for at once.
    pub fn slow_start_ms(&self) -> Option<u64> {
        self.slow_start_ms
    }

    /// When an endpoint is put aside for failures in a row; `None` for never.
    pub fn outliers(&self) -> Option<&OutlierSettings> {
        self.outliers.as_ref()
    }

    /// When nothing is sent any more for a while, and where; `None` for never.
    pub fn breaker(&self) -> Option<&(BreakerScope, breaker::Settings)> {
        self.breaker.as_ref()
    }

    /// What is tried again; `None` for what surely did nothing, and no more.
    pub fn retries(&self) -> Option<&Retries> {
        self.retries.as_ref()
    }

    /// How endpoints are asked whether they are well; `None` for not at all.
    pub fn health(&self) -> Option<&HealthCheck> {
        self.health.as_ref()
    }

    /// How many requests are under way at once; `None` for as many as there are connections.
    pub fn concurrency(&self) -> Option<&Concurrency> {
        self.concurrency.as_ref()
    }

    /// When a second try begins beside one that takes long; `None` for never. Only where there are [`Policies::retries`].
    pub fn hedge(&self) -> Option<&Hedge> {
        self.hedge.as_ref()
    }

    /// Statuses that count as failures of the endpoint.
    pub fn failure_statuses(&self) -> &[u16] {
        &self.failure_statuses
    }
}

/// How a request finds its endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Balance {
    /// In turns, as often as the weights say.
    RoundRobin,
    /// The less busy of two that chance names.
    LeastRequest,
    /// The one of two that chance names whose answer is expected sooner.
    PeakEwma,
    /// By a key of the request, so that the same one finds the same endpoint.
    Hash(HashBy, HashTable),
}

/// The part of a request that decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HashBy {
    /// The first field of this name.
    Header(String),
    /// The cookie of this name.
    Cookie(String),
    /// The client's IP address.
    Address,
    /// The path, without the query.
    Path,
}

/// How keys are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashTable {
    /// A table with even shares.
    Maglev,
    /// A ring, on which the fewest keys move.
    Ring,
}

/// What a breaker watches over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakerScope {
    /// Each endpoint by itself: requests go to the others.
    Endpoint,
    /// All of them together.
    Upstream,
}

/// What is tried again.
#[derive(Clone, Debug)]
pub struct Retries {
    pub(super) policy: Retry,
    pub(super) budget: Budget,
    pub(super) try_time_ms: Option<u64>,
    pub(super) body_bytes_max: usize,
}

impl Retries {
    /// When to try again and when to stop.
    pub fn policy(&self) -> &Retry {
        &self.policy
    }

    /// How many retries all requests of the upstream may have.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// From a try's start to the response's head, in milliseconds.
    pub fn try_time_ms(&self) -> Option<u64> {
        self.try_time_ms
    }

    /// How much of a request's body is kept to be sent again, in bytes.
    pub fn body_bytes_max(&self) -> usize {
        self.body_bytes_max
    }
}

/// How endpoints are asked whether they are well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthCheck {
    pub(super) kind: HealthKind,
    pub(super) host: Option<String>,
    pub(super) interval_ms: u64,
    pub(super) jitter_percent: u32,
    pub(super) time_ms: u64,
    pub(super) failures: u32,
    pub(super) successes: u32,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HealthKind {
    /// A GET of a path.
    Http {
        /// The path.
        path: String,
    },
    /// A connection.
    Tcp,
    /// grpc.health.v1.Health/Check.
    Grpc {
        /// The service; empty for the server as a whole.
        service: String,
    },
}

impl HealthCheck {
    /// What is asked.
    pub fn kind(&self) -> &HealthKind {
        &self.kind
    }

    /// The host that is asked for instead of the endpoint's own.
    pub fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    /// From one check to the next, in milliseconds.
    pub fn interval_ms(&self) -> u64 {
        self.interval_ms
    }

    /// How far an interval may be from that, in percent.
    pub fn jitter_percent(&self) -> u32 {
        self.jitter_percent
    }

    /// How long a check may take, in milliseconds.
    pub fn time_ms(&self) -> u64 {
        self.time_ms
    }

    /// Failed checks in a row after which an endpoint is not well.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// Good checks in a row after which it is well again.
    pub fn successes(&self) -> u32 {
        self.successes
    }
}
