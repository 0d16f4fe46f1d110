use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use leat_observe::{Core, Limit as Counts};
use leat_policy::Instant;
use leat_policy::limit::{Cell, Leasing, Limit, Verdict};
use leat_redis::{Followed, Servers};

use super::cells::CellTable;
use super::key::{Asked, Key};
use super::leases::Leases;
use super::ledger::Ledger;
use super::told;
use crate::config::{Config, Network, RateLimit, StoreError};

/// A rate limit, compiled for one core. Routes of the core that name it share it.
pub(crate) struct Counted {
    pub(super) name: Box<str>,
    pub(super) law: Limit,
    /// Whether it only counts whom it would refuse.
    pub(super) is_shadow: bool,
    /// Its member of `RateLimit-Policy`; empty where clients are not told.
    pub(super) policy: String,
    /// The beginning of what `RateLimit` says of it.
    pub(super) state: Box<[u8]>,
    /// The server that counts; `None` where this process does.
    pub(super) server: Option<Arc<Followed>>,
    /// What becomes of requests for which it has no answer.
    pub(super) on_error: StoreError,
    /// The terms of its leases, and those that this process has.
    pub(super) leasing: Option<(Arc<Leasing>, Arc<Leases>)>,
    key: Key,
    allow: Box<[Network]>,
    table: Arc<CellTable>,
    ledger: Arc<Ledger>,
    counts: Counts,
    /// For the bytes of a key.
    scratch: RefCell<Vec<u8>>,
}

/// Compiles the limits of a configuration for one core, in their order.
pub(crate) fn compile(config: &Config, ledger: &Arc<Ledger>, servers: &Servers, core: &Core) -> Vec<Rc<Counted>> {
    let limits = config.rate_limits().iter().enumerate();
    // A core has cells for every limit of its configuration: it is made from the same list.
    limits
        .filter_map(|(index, limit)| Some(Rc::new(Counted::new(limit, ledger, servers, core.limit(index)?))))
        .collect()
}

impl Counted {
    fn new(limit: &RateLimit, ledger: &Arc<Ledger>, servers: &Servers, counts: Counts) -> Self {
        let leasing = limit
            .leasing()
            .zip(limit.lease_identity())
            .map(|(terms, identity)| (Arc::new(terms.clone()), ledger.leases(identity, limit.keys_max())));
        // Where Redis counts, the table is for the time without it, and not asked for otherwise.
        let counts_here = limit.redis().is_none() || limit.on_error() == StoreError::Local;
        let keys_max = if counts_here { limit.keys_max() } else { 0 };
        Self {
            name: limit.name().into(),
            law: limit.law().clone(),
            is_shadow: limit.is_shadow(),
            // A limit that refuses nobody has nothing to tell.
            policy: if limit.has_fields() && !limit.is_shadow() { told::policy(limit) } else { String::new() },
            state: told::state(limit.name()),
            server: limit.redis().map(|server| servers.followed(server)),
            on_error: limit.on_error(),
            leasing,
            key: Key::new(limit),
            allow: limit.allow().into(),
            table: ledger.table(limit.identity(), keys_max),
            ledger: Arc::clone(ledger),
            counts,
            scratch: RefCell::default(),
        }
    }

    /// Brings the counters up to date that are not kept request by request.
    pub(crate) fn publish(&self) {
        self.counts.evicted.add(self.table.take_evicted());
        if let Some((terms, leases)) = &self.leasing {
            self.counts.lease_error.set(terms.reserve().saturating_add(leases.error(terms, self.now())));
        }
    }

    pub(super) fn now(&self) -> Instant {
        self.ledger.now()
    }

    /// Whether the limit counts this client.
    pub(super) fn applies_to(&self, client: Option<IpAddr>) -> bool {
        !client.is_some_and(|client| self.allow.iter().any(|network| network.contains(client)))
    }

    /// What tells the request apart under this limit.
    pub(super) fn with_key<T>(&self, asked: &Asked<'_>, look: impl FnOnce(&[u8]) -> T) -> T {
        let key = &mut *self.scratch.borrow_mut();
        key.clear();
        self.key.write(asked, key);
        look(key)
    }

    /// What the limit knows of the request's key.
    pub(super) fn cell(&self, asked: &Asked<'_>, now: Instant) -> &Cell {
        self.table.cell(self.hash(asked), &self.law, now)
    }

    /// The key of a request among those of this process.
    pub(super) fn hash(&self, asked: &Asked<'_>) -> u64 {
        self.with_key(asked, |key| self.ledger.hash(key))
    }

    /// Asks this limit alone, and counts what it says.
    pub(super) fn admit(&self, asked: &Asked<'_>, cost: u64, now: Instant) -> Verdict {
        let verdict = self.cell(asked, now).admit(&self.law, now, cost);
        self.count(verdict.is_admitted());
        verdict
    }

    /// Counts a request for which Redis had no answer.
    pub(super) fn count_error(&self) {
        self.counts.errors.add(1);
    }

    pub(super) fn count(&self, admitted: bool) {
        match (admitted, self.is_shadow) {
            (true, _) => self.counts.admitted.add(1),
            (false, false) => self.counts.refused.add(1),
            (false, true) => self.counts.shadowed.add(1),
        }
    }
}
