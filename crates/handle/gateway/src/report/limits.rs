use std::time::Duration;

use leat_policy::limit::{Limit, Verdict};
use serde_json::{Value, json};

use super::{Report, page};
use crate::admit::{Left, look_at};
use crate::config::RateLimit;

impl Report<'_> {
    /// The rate limits from number `from` on. No key is shown.
    pub fn limits(&self, from: usize) -> Value {
        let limits = self.config.rate_limits();
        page("limits", limits.len(), from, |number| Some(self.limit(limits.get(number)?)))
    }

    /// The rate limit with this name, and what is left for a key: a text for each part of the limit's key that has one, in
    /// their order; an empty text is a request without that part.
    ///
    /// # Errors
    /// The texts do not fit the key: what it takes.
    pub fn limit_named(&self, name: &str, key: &[String]) -> Option<Result<Value, String>> {
        let limit = self.config.rate_limits().iter().find(|limit| limit.name() == name)?;
        let mut shown = self.limit(limit);
        if !key.is_empty() {
            match look_at(&self.lasting.ledger, limit, key) {
                Ok(left) => shown["key"] = of_key(&left),
                Err(problem) => return Some(Err(problem)),
            }
        }
        Some(Ok(shown))
    }

    fn limit(&self, limit: &RateLimit) -> Value {
        let law = match limit.law() {
            Limit::Gcra(law) => {
                json!({ "algorithm": "gcra", "quota": law.quota(), "per_ms": ms(law.per()), "burst": law.burst() })
            }
            Limit::SlidingWindow(law) => {
                json!({ "algorithm": "sliding_window", "quota": law.limit(), "per_ms": ms(law.window()) })
            }
        };
        let held = self.lasting.ledger.held(limit);
        let counts = self.counts.limits.get(limit.name()).cloned().unwrap_or_default();
        let leases = limit.leasing().map(|terms| {
            json!({
                "keys": held.leases,
                "term_ms": ms(terms.term()),
                "reserve": terms.reserve(),
                // Less than one counter would admit, by at most so many units.
                "error_max": counts.lease_error,
            })
        });
        json!({
            "limit": limit.name(),
            "line": limit.place().line,
            "column": limit.place().column,
            "law": law,
            "key": limit.key_parts(),
            "store": if limit.redis().is_some() { "redis" } else { "process" },
            "shadow": limit.is_shadow(),
            "keys_max": limit.keys_max(),
            "keys": held.keys,
            "evicted": counts.evicted,
            "admitted": counts.admitted,
            "refused": counts.refused,
            "shadowed": counts.shadowed,
            "store_errors": counts.errors,
            "leases": leases,
        })
    }
}

fn of_key(left: &Left) -> Value {
    let verdict = |known: bool, Verdict { remaining, reset, .. }: &Verdict| json!({ "known": known, "remaining": remaining, "reset_ms": ms(*reset) });
    match left {
        Left::Counted { known, verdict: found } => verdict(*known, found),
        Left::Leased { units } => json!({ "leased_here": units }),
        Left::InRedis => json!({ "counted": "in Redis, which is not asked" }),
    }
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
