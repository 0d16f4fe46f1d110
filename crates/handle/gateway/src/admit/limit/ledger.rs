use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use leat_policy::Instant;

use super::cells::CellTable;

/// What the limits of a process have counted: shared by all cores, and by one configuration after another. A table lives
/// as long as a configuration that names it; the next one takes it over by the limit's identity.
pub struct Ledger {
    tables: Mutex<HashMap<String, Weak<CellTable>>>,
    /// Nobody outside knows its keys, so nobody can make keys collide.
    hasher: RandomState,
    started: std::time::Instant,
}

impl Ledger {
    /// An empty one; one for each process.
    pub fn new() -> Arc<Self> {
        Arc::new(Self { tables: Mutex::default(), hasher: RandomState::new(), started: std::time::Instant::now() })
    }

    /// The table of the limit with this identity, made where no configuration has one.
    pub(crate) fn table(&self, identity: String, keys_max: usize) -> Arc<CellTable> {
        // A panic elsewhere can't leave the map half-written.
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        tables.retain(|_, table| table.strong_count() > 0);
        if let Some(table) = tables.get(&identity).and_then(Weak::upgrade) {
            return table;
        }
        let table = Arc::new(CellTable::new(keys_max));
        tables.insert(identity, Arc::downgrade(&table));
        table
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
