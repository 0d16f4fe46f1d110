//! What a limit has counted, for operators: nothing here takes anything from a key.

use leat_policy::limit::{Cell, Verdict};

use super::key::Key;
use super::ledger::Ledger;
use crate::config::RateLimit;

/// What is left for a key.
pub(crate) enum Left {
    /// This process counts.
    Counted {
        /// Whether it remembers the key.
        known: bool,
        verdict: Verdict,
    },
    /// Redis counts, and has lent this process so many units.
    Leased { units: u64 },
    /// Redis counts each request.
    InRedis,
}

/// Looks at a key, given as a text for each part of it that has one.
pub(crate) fn look_at(ledger: &Ledger, limit: &RateLimit, texts: &[String]) -> Result<Left, String> {
    let mut bytes = Vec::new();
    Key::new(limit).write_texts(texts, &mut bytes)?;
    let (hash, now) = (ledger.hash(&bytes), ledger.now());
    if limit.leasing().is_some() {
        let leases = ledger.leases_of(limit);
        return Ok(Left::Leased { units: leases.map_or(0, |leases| leases.left(hash, now)) });
    }
    if limit.redis().is_some() {
        return Ok(Left::InRedis);
    }
    let table = ledger.table_of(limit);
    let cell = table.as_ref().and_then(|table| table.known(hash));
    let verdict = cell.map_or_else(|| Cell::new().peek(limit.law(), now, 0), |cell| cell.peek(limit.law(), now, 0));
    Ok(Left::Counted { known: cell.is_some(), verdict })
}

/// How full the tables of a limit are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Held {
    /// Keys that are remembered here; 0 where Redis alone counts.
    pub(crate) keys: usize,
    /// Keys that have a lease here.
    pub(crate) leases: usize,
}

impl Ledger {
    /// How full the tables of a limit are. Walks through them: about a nanosecond a place.
    pub(crate) fn held(&self, limit: &RateLimit) -> Held {
        Held {
            keys: self.table_of(limit).map_or(0, |table| table.keys()),
            leases: self.leases_of(limit).map_or(0, |leases| leases.keys()),
        }
    }
}
