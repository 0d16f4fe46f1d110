use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use leat_policy::Instant;

use super::cells::CellTable;
use super::leases::Leases;
use crate::config::RateLimit;

/// What the limits of a process have counted: shared by all cores, and by one configuration after another. A table lives
/// as long as a configuration that names it; the next one takes it over by the limit's identity.
pub struct Ledger {
    tables: Mutex<HashMap<String, Weak<CellTable>>>,
    leases: Mutex<HashMap<String, Weak<Leases>>>,
    /// Nobody outside knows its keys, so nobody can make keys collide.
    hasher: RandomState,
    started: std::time::Instant,
}

impl Ledger {
    /// An empty one; one for each process.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            tables: Mutex::default(),
            leases: Mutex::default(),
            hasher: RandomState::new(),
            started: std::time::Instant::now(),
        })
    }

    /// The table of the limit with this identity, made where no configuration has one.
    pub(crate) fn table(&self, identity: String, keys_max: usize) -> Arc<CellTable> {
        of(&self.tables, identity, || CellTable::new(keys_max))
    }

    /// The leases of the limit with this identity, as [`Ledger::table`].
    pub(crate) fn leases(&self, identity: String, keys_max: usize) -> Arc<Leases> {
        of(&self.leases, identity, || Leases::new(keys_max))
    }

    /// The table of a limit, if a configuration has one.
    pub(super) fn table_of(&self, limit: &RateLimit) -> Option<Arc<CellTable>> {
        known(&self.tables, &limit.identity())
    }

    /// The leases of a limit, as [`Ledger::table_of`].
    pub(super) fn leases_of(&self, limit: &RateLimit) -> Option<Arc<Leases>> {
        known(&self.leases, &limit.lease_identity()?)
    }

    /// A hash of a key that only this process can compute (SipHash).
    #[inline]
    pub(crate) fn hash(&self, key: &[u8]) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(key);
        hasher.finish()
    }

    /// The time that limits count by: the system's monotonic clock, since a core's coarse one would let a whole tick's
    /// requests come at once. About 25 ns.
    #[inline]
    pub(crate) fn now(&self) -> Instant {
        Instant::ZERO.after(self.started.elapsed())
    }
}

fn known<T>(held: &Mutex<HashMap<String, Weak<T>>>, identity: &str) -> Option<Arc<T>> {
    held.lock().unwrap_or_else(PoisonError::into_inner).get(identity).and_then(Weak::upgrade)
}

fn of<T>(held: &Mutex<HashMap<String, Weak<T>>>, identity: String, make: impl FnOnce() -> T) -> Arc<T> {
    // A panic elsewhere can't leave the map half-written.
    let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
    held.retain(|_, one| one.strong_count() > 0);
    if let Some(one) = held.get(&identity).and_then(Weak::upgrade) {
        return one;
    }
    let one = Arc::new(make());
    held.insert(identity, Arc::downgrade(&one));
    one
}
