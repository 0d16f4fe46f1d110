use super::cell::Debit;
use super::{Cell, Decision, Limit, Verdict};
use crate::Instant;

/// What a request wants of one limit.
#[derive(Debug)]
pub struct Claim<'a> {
    limit: &'a Limit,
    cell: &'a Cell,
    cost: u64,
    debit: Option<Debit>,
}

impl<'a> Claim<'a> {
    /// A request's cost under `limit`, whose state for the request's key is in `cell`.
    #[must_use]
    pub const fn new(limit: &'a Limit, cell: &'a Cell, cost: u64) -> Self {
        Self { limit, cell, cost, debit: None }
    }
}

/// What several limits say of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
    /// All admit it, and all are debited.
    Admit {
        /// The claim of which the least remains (the first such) and its verdict; `None` if nothing was claimed.
        tightest: Option<(usize, Verdict)>,
    },
    /// One or more refuse it, and none is debited.
    Refuse {
        /// The claim with the longest wait (the first such).
        by: usize,
        /// What that claim's limit says.
        verdict: Verdict,
    },
}

/// Asks several limits at once: all are debited, or none is. The claims are used up: make new ones for another request.
///
/// First every limit is asked, then every one is debited. If another thread takes the last of one in between, the others
/// get theirs back; should a third thread have debited one of those in the same nanoseconds, that one keeps the
/// debit, since taking back from a state that has moved on could admit too much. So a race may cost a request, and never
/// gives one away. Two atomic operations a claim, no allocation, no lock.
pub fn admit_all(claims: &mut [Claim<'_>], now: Instant) -> Joint {
    let asked = claims.iter().map(|claim| claim.cell.peek(claim.limit, now, claim.cost));
    let refusals = asked.enumerate().filter(|(_, verdict)| !verdict.is_admitted());
    if let Some((by, verdict)) = refusals.reduce(|a, b| if wait(&b.1) > wait(&a.1) { b } else { a }) {
        return Joint::Refuse { by, verdict };
    }
    let mut tightest: Option<(usize, Verdict)> = None;
    let mut refused = None;
    for (index, claim) in claims.iter_mut().enumerate() {
        let debit = claim.cell.debit(claim.limit, now, claim.cost);
        if !debit.verdict.is_admitted() {
            refused = Some((index, debit.verdict));
            break;
        }
        claim.debit = Some(debit);
        if tightest.is_none_or(|(_, least)| debit.verdict.remaining < least.remaining) {
            tightest = Some((index, debit.verdict));
        }
    }
    match refused {
        None => Joint::Admit { tightest },
        Some((by, verdict)) => {
            // Backwards, since one cell may be claimed twice.
            for claim in claims.iter_mut().rev() {
                if let Some(debit) = claim.debit.take() {
                    claim.cell.undo(debit);
                }
            }
            Joint::Refuse { by, verdict }
        }
    }
}

/// A wait that compares: never is the longest.
fn wait(verdict: &Verdict) -> u128 {
    match verdict.decision {
        Decision::Admit => 0,
        Decision::Refuse { retry_after } => retry_after.map_or(u128::MAX, |time| time.as_nanos()),
    }
}
