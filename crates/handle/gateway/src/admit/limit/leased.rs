use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use leat_message::{Head, Peer, Reason};
use leat_policy::Instant;
use leat_policy::limit::{Decision, Leasing, Taken, Verdict};
use leat_redis::{Client, Failure, Numbers};

use super::counted::Counted;
use super::key::Asked;
use super::leases::Leases;
use super::redis::{Asking, SCRIPT, verdict_of};
use super::told;
use crate::admit::admission;
use crate::admit::admitted::{Admitted, FieldLines};
use crate::admit::client::ClientAddress;
use crate::config::{ROUTE_LIMITS_MAX, Route, StoreError};

/// The rate limits of a route whose units this process takes from Redis before it spends them.
pub(crate) struct LeasedCheck {
    route: Box<str>,
    client: ClientAddress,
    limits: Box<[Leased]>,
    /// The value of `RateLimit-Policy`; empty where clients are not told.
    policy: Box<[u8]>,
}

struct Leased {
    asking: Asking,
    redis: Client,
    terms: Arc<Leasing>,
    leases: Arc<Leases>,
}

/// What one limit says, without or with Redis.
enum Said {
    /// It may pass; until when its cost could be given back.
    Admit(Option<Instant>, Verdict),
    Refuse(Verdict),
    /// Redis has to be asked.
    Ask,
    /// Redis has no answer, and the limit is closed then.
    Closed,
}

impl LeasedCheck {
    /// Those that a route names among the limits of its configuration; `None` for a route without.
    pub(crate) fn new(route: &Route, limits: &[Rc<Counted>], client: ClientAddress) -> Option<Self> {
        let named = route.rate_limits().iter().take(ROUTE_LIMITS_MAX);
        let leased = named.filter_map(|named| Leased::new(limits.get(named.limit())?, named.cost()));
        let limits: Box<[Leased]> = leased.collect();
        let policy = told::policies(limits.iter().map(|leased| &*leased.asking.limit));
        (!limits.is_empty()).then(|| Self { route: route.name().into(), client, limits, policy })
    }

    /// Spends what there is. No allocation, unless the next lease has to be asked for.
    pub(crate) fn ask(&self, head: Head<'_>, peer: &Peer, admitted: &mut Admitted) -> admission::Verdict {
        let asked =
            Asked { head, client: self.client.of(head, peer), route: &self.route, identities: &admitted.identities };
        let mut taken = [None; ROUTE_LIMITS_MAX];
        let mut tightest: Option<(&Counted, Verdict)> = None;
        for (leased, place) in self.limits.iter().zip(0..ROUTE_LIMITS_MAX) {
            let limit = &*leased.asking.limit;
            if !limit.applies_to(asked.client) {
                continue;
            }
            match leased.take(&asked) {
                Said::Admit(until, verdict) => {
                    taken[place] = until;
                    tightest = tighter(tightest, limit, verdict);
                }
                Said::Refuse(verdict) => {
                    self.give_back(&taken, &asked);
                    return self.refuse(limit, &verdict, &mut admitted.reply);
                }
                Said::Ask | Said::Closed => {
                    self.give_back(&taken, &asked);
                    return admission::Verdict::Wait;
                }
            }
        }
        self.admit(tightest, &asked, &mut admitted.reply)
    }

    /// Spends what there is, and asks for what there is not: one round trip for each such limit.
    pub(crate) async fn wait(&self, head: Head<'_>, peer: &Peer, admitted: &mut Admitted) -> admission::Verdict {
        let asked =
            Asked { head, client: self.client.of(head, peer), route: &self.route, identities: &admitted.identities };
        let mut taken = [None; ROUTE_LIMITS_MAX];
        let mut tightest: Option<(&Counted, Verdict)> = None;
        for (leased, place) in self.limits.iter().zip(0..ROUTE_LIMITS_MAX) {
            let limit = &*leased.asking.limit;
            if !limit.applies_to(asked.client) {
                continue;
            }
            let said = match leased.take(&asked) {
                Said::Ask => leased.lend(&asked).await,
                said => said,
            };
            match said {
                Said::Admit(until, verdict) => {
                    taken[place] = until;
                    tightest = tighter(tightest, limit, verdict);
                }
                Said::Refuse(verdict) => {
                    self.give_back(&taken, &asked);
                    return self.refuse(limit, &verdict, &mut admitted.reply);
                }
                Said::Ask | Said::Closed => {
                    self.give_back(&taken, &asked);
                    return admission::Verdict::Refuse(Reason::LimitStore);
                }
            }
        }
        self.admit(tightest, &asked, &mut admitted.reply)
    }

    fn admit(
        &self,
        tightest: Option<(&Counted, Verdict)>,
        asked: &Asked<'_>,
        reply: &mut FieldLines,
    ) -> admission::Verdict {
        for leased in self.limits.iter().filter(|leased| leased.asking.limit.applies_to(asked.client)) {
            leased.asking.limit.count(true);
        }
        if let Some((limit, verdict)) = tightest {
            told::tell(&self.policy, limit, &verdict, reply);
        }
        admission::Verdict::Admit
    }

    fn refuse(&self, limit: &Counted, verdict: &Verdict, reply: &mut FieldLines) -> admission::Verdict {
        limit.count(false);
        told::tell(&self.policy, limit, verdict, reply);
        admission::Verdict::Refuse(Reason::LimitRate)
    }

    fn give_back(&self, taken: &[Option<Instant>; ROUTE_LIMITS_MAX], asked: &Asked<'_>) {
        for (leased, until) in self.limits.iter().zip(taken) {
            if let Some(until) = until {
                let (hash, now) = (leased.asking.limit.hash(asked), leased.asking.limit.now());
                leased.leases.with(hash, now, |lease| lease.give_back(*until, leased.asking.cost));
            }
        }
    }
}

impl Leased {
    fn new(limit: &Rc<Counted>, cost: u64) -> Option<Self> {
        let (terms, leases) = limit.leasing.as_ref()?;
        let redis = Client::shared(limit.server.as_ref()?, SCRIPT);
        let asking = Asking::leased(limit, cost, terms.law());
        Some(Self { asking, redis, terms: Arc::clone(terms), leases: Arc::clone(leases) })
    }

    /// Spends from the lease of the request's key, and asks for the next one where it runs out.
    fn take(&self, asked: &Asked<'_>) -> Said {
        let (hash, now) = (self.asking.limit.hash(asked), self.asking.limit.now());
        let (taken, left, want) = self.leases.with(hash, now, |lease| {
            let taken = lease.take(now, self.asking.cost);
            let runs_out = matches!(taken, Taken::Admit { .. }) && lease.runs_out(&self.terms, now);
            let want = runs_out.then(|| lease.ask(&self.terms, now, 0));
            (taken, lease.left(now), want)
        });
        if let Some(want) = want {
            self.refill(asked, hash, now, want);
        }
        let verdict = |decision, remaining| Verdict { decision, remaining, reset: self.terms.term() };
        match taken {
            Taken::Admit { until } => Said::Admit(Some(until), verdict(Decision::Admit, left)),
            Taken::Refuse { retry_after } => {
                let reset = retry_after.unwrap_or(Duration::ZERO);
                Said::Refuse(Verdict { reset, ..verdict(Decision::Refuse { retry_after }, 0) })
            }
            Taken::Ask => Said::Ask,
        }
    }

    /// Asks for the next lease; nobody waits for it.
    fn refill(&self, asked: &Asked<'_>, hash: u64, now: Instant, want: u64) {
        let (terms, leases) = (Arc::clone(&self.terms), Arc::clone(&self.leases));
        let then = move |answer: Result<Numbers, Failure>| {
            leases.with(hash, now, |lease| match answer.as_ref().map(lent) {
                Ok(Some(units)) => lease.granted(&terms, now, units),
                Ok(None) | Err(_) => lease.failed(),
            });
        };
        self.asking.with_parts(asked, 0, want, |keys, arguments| self.redis.eval_then(keys, arguments, then));
    }

    /// Asks for what the request needs, and for more where its key is asked for often.
    async fn lend(&self, asked: &Asked<'_>) -> Said {
        self.redis.started().await;
        let (limit, cost) = (&self.asking.limit, self.asking.cost);
        let hash = limit.hash(asked);
        // The script may have been forgotten; then it is told again ahead of the second try.
        for _ in 0..2 {
            let now = limit.now();
            let want = self.leases.with(hash, now, |lease| lease.ask(&self.terms, now, cost));
            let call = self.asking.with_parts(asked, cost, want, |keys, arguments| self.redis.eval(keys, arguments));
            let answer = match call {
                Ok(call) => call.await,
                Err(failure) => Err(failure),
            };
            match answer {
                Ok(numbers) => match self.lent_to(hash, now, &numbers) {
                    Some(said) => return said,
                    None => break,
                },
                Err(Failure::NoScript) => {}
                Err(_) => break,
            }
        }
        self.leases.with(hash, limit.now(), |lease| lease.failed());
        limit.count_error();
        match limit.on_error {
            StoreError::Closed => Said::Closed,
            StoreError::Open => {
                Said::Admit(None, Verdict { decision: Decision::Admit, remaining: 0, reset: Duration::ZERO })
            }
            StoreError::Local => {
                let now = limit.now();
                let verdict = limit.cell(asked, now).admit(&limit.law, now, cost);
                if verdict.is_admitted() { Said::Admit(None, verdict) } else { Said::Refuse(verdict) }
            }
        }
    }

    /// What the server's answer to a question of `sent` means; `None` where it makes no sense or came too late to count.
    fn lent_to(&self, hash: u64, sent: Instant, numbers: &Numbers) -> Option<Said> {
        let (_, verdict) = verdict_of(numbers)?;
        let (now, cost) = (self.asking.limit.now(), self.asking.cost);
        if let Decision::Refuse { retry_after } = verdict.decision {
            self.leases.with(hash, now, |lease| lease.refused(sent, cost, retry_after));
            return Some(Said::Refuse(verdict));
        }
        let units = lent(numbers)?;
        // In one step, so that nobody else spends what was lent for this request.
        let taken = self.leases.with(hash, now, |lease| {
            lease.granted(&self.terms, sent, units);
            lease.take(now, cost)
        });
        match taken {
            Taken::Admit { until } => Some(Said::Admit(Some(until), verdict)),
            Taken::Refuse { .. } | Taken::Ask => None,
        }
    }
}

/// The units that the script has debited.
fn lent(numbers: &Numbers) -> Option<u64> {
    match numbers.list() {
        &[1, .., units] => u64::try_from(units).ok(),
        _ => None,
    }
}

fn tighter<'a>(
    found: Option<(&'a Counted, Verdict)>,
    limit: &'a Counted,
    verdict: Verdict,
) -> Option<(&'a Counted, Verdict)> {
    match found {
        Some((_, least)) if least.remaining <= verdict.remaining => found,
        _ => Some((limit, verdict)),
    }
}
