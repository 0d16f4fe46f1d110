//! Rate limits as the configuration has them: what is counted, by which key, and how much of it may come.

use crate::admit::auth::ClaimName;
use leat_policy::limit::{Leasing, Limit};
use leat_redis::Server;

use super::model::Network;
use super::problem::Place;

/// Limits that one route may have.
pub const ROUTE_LIMITS_MAX: usize = 8;

/// A named rate limit.
#[derive(Clone, Debug)]
pub struct RateLimit {
    pub(super) name: String,
    pub(super) law: Limit,
    pub(super) key: Vec<KeyPart>,
    pub(super) ipv4_bits: u8,
    pub(super) ipv6_bits: u8,
    pub(super) allow: Vec<Network>,
    pub(super) shadow: bool,
    pub(super) fields: bool,
    pub(super) keys_max: usize,
    pub(super) redis: Option<Server>,
    pub(super) on_error: StoreError,
    pub(super) leasing: Option<Leasing>,
    pub(super) place: Place,
}

impl RateLimit {
    /// The name: in `RateLimit-Policy`, in metrics, and what routes call it by. Letters, digits, `-`, `_` and `.`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How much may come.
    pub fn law(&self) -> &Limit {
        &self.law
    }

    /// What requests are told apart by; at least one part.
    pub(crate) fn key(&self) -> &[KeyPart] {
        &self.key
    }

    /// Leading bits of an IPv4 address that tell clients apart.
    pub fn ipv4_bits(&self) -> u8 {
        self.ipv4_bits
    }

    /// Leading bits of an IPv6 address that tell clients apart.
    pub fn ipv6_bits(&self) -> u8 {
        self.ipv6_bits
    }

    /// Clients that the limit does not count.
    pub fn allow(&self) -> &[Network] {
        &self.allow
    }

    /// Whether the limit only counts whom it would refuse.
    pub fn is_shadow(&self) -> bool {
        self.shadow
    }

    /// Whether clients are told of it by `RateLimit-Policy` and `RateLimit`.
    pub fn has_fields(&self) -> bool {
        self.fields
    }

    /// Keys whose state is kept at once, at least.
    pub fn keys_max(&self) -> usize {
        self.keys_max
    }

    /// The server that counts; `None` where this process does.
    pub fn redis(&self) -> Option<&Server> {
        self.redis.as_ref()
    }

    /// What becomes of requests for which that server has no answer.
    pub fn on_error(&self) -> StoreError {
        self.on_error
    }

    /// The terms under which gateways take units from the server to spend; `None` where it is asked about each request.
    pub fn leasing(&self) -> Option<&Leasing> {
        self.leasing.as_ref()
    }

    /// Whether its key is known only after `auth`.
    pub fn counts_users(&self) -> bool {
        self.key.iter().any(|part| matches!(part, KeyPart::User | KeyPart::Claim(_)))
    }

    /// Whether a claim of the client's token is in its key.
    pub fn counts_claims(&self) -> bool {
        self.key.iter().any(|part| matches!(part, KeyPart::Claim(_)))
    }

    /// Where the file speaks of it.
    pub fn place(&self) -> Place {
        self.place
    }

    /// What its state depends on: limits that agree in this share their counts over a reload. The rate and the burst of
    /// a GCRA are not in it, since its state is a time; a sliding window's state means nothing under another window.
    pub fn identity(&self) -> String {
        let law = match &self.law {
            Limit::Gcra(_) => "gcra".to_owned(),
            Limit::SlidingWindow(limit) => format!("window {}", limit.window().as_nanos()),
        };
        let Self { name, key, ipv4_bits, ipv6_bits, keys_max, .. } = self;
        format!("{name} {law} {key:?} {ipv4_bits} {ipv6_bits} {keys_max}")
    }
}

impl RateLimit {
    /// The same for its leases: units of one law or server are none of another. `None` where it has no leases.
    pub(crate) fn lease_identity(&self) -> Option<String> {
        let terms = self.leasing.as_ref()?;
        Some(format!("{} {terms:?} {:?}", self.identity(), self.redis))
    }

    /// The parts of its key as the file writes them.
    pub(crate) fn key_parts(&self) -> Vec<String> {
        let part = |part: &KeyPart| match part {
            KeyPart::All => "all".to_owned(),
            KeyPart::Client => "client".to_owned(),
            KeyPart::Route => "route".to_owned(),
            KeyPart::Host => "host".to_owned(),
            KeyPart::Method => "method".to_owned(),
            KeyPart::Header(name) => format!("header:{name}"),
            KeyPart::User => "user".to_owned(),
            KeyPart::Claim(name) => format!("claim:{}", name.name()),
        };
        self.key.iter().map(part).collect()
    }
}

/// What becomes of requests for which Redis has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// They are counted in this process alone.
    Local,
    /// They pass.
    Open,
    /// They are refused, with `limit.store`.
    Closed,
}

/// A part of what requests are told apart by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyPart {
    /// Nothing: all requests count together.
    All,
    /// The client's address, or its network.
    Client,
    /// The route.
    Route,
    /// The host that is asked for.
    Host,
    /// The method.
    Method,
    /// The values of this field; requests without it count together.
    Header(String),
    /// Who the route's `auth` says the client is: the subject of a token, the owner of a key, a user.
    User,
    /// A claim of the client's token; requests without it count together.
    Claim(ClaimName),
}

/// A limit as a route uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteLimit {
    pub(super) limit: usize,
    pub(super) cost: u64,
}

impl RouteLimit {
    /// Index of the limit in the configuration.
    pub fn limit(self) -> usize {
        self.limit
    }

    /// What one request of the route costs; at least 1.
    pub fn cost(self) -> u64 {
        self.cost
    }
}
