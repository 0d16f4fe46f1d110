use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use leat_message::{Head, Peer, Reason};
use leat_policy::Instant;
use leat_policy::limit::{Decision, Leasing, Taken, Verdict};
use leat_redis::{Client, Failure, Numbers, Question};

use super::asking::{Asking, SCRIPT, verdict_of};
use super::counted::Counted;
use super::key::{Asked, Asker};
use super::leases::Leases;
use super::told;
use crate::admit::admission;
use crate::admit::admitted::{Admitted, LimitNotes};
use crate::config::{ROUTE_LIMITS_MAX, Route, StoreError};

/// The rate limits of a route whose units this process takes from Redis before it spends them.
pub(crate) struct LeasedCheck {
    asker: Asker,
    limits: Box<[Leased]>,
    /// `RateLimit-Policy` and its value for all limits of the route; empty where clients are not told.
    policy: Rc<[u8]>,
}

struct Leased {
    asking: Asking,
    redis: Client,
    terms: Arc<Leasing>,
    leases: Arc<Leases>,
    /// For the next lease.
    question: RefCell<Question>,
}

/// What one limit says.
enum Said {
    /// It may pass; until when its cost could be given back, and what is left, where that is known.
    Admit(Option<Instant>, Option<Verdict>),
    Refuse(Verdict),
    /// Redis has no answer, and the limit is closed then.
    Closed,
}

/// A request on its way through the limits.
#[derive(Default)]
struct Taking<'a> {
    /// The limit that it stands before.
    next: usize,
    /// Until when the cost could be given back to those behind it.
    taken: [Option<Instant>; ROUTE_LIMITS_MAX],
    tightest: Option<(&'a Counted, Verdict)>,
}

impl LeasedCheck {
    /// Those that a route names among the limits of its configuration; `None` for a route without.
    pub(crate) fn new(route: &Route, limits: &[Rc<Counted>], asker: &Asker, policy: &Rc<[u8]>) -> Option<Self> {
        let named = route.rate_limits().iter().take(ROUTE_LIMITS_MAX);
        let leased = named.filter_map(|named| Leased::new(limits.get(named.limit())?, named.cost()));
        let limits: Box<[Leased]> = leased.collect();
        let policy = Rc::clone(policy);
        (!limits.is_empty()).then(|| Self { asker: asker.clone(), limits, policy })
    }

    /// Spends what there is. No allocation, unless the next lease has to be asked for.
    pub(crate) fn ask(&self, head: Head<'_>, peer: &Peer, admitted: &mut Admitted) -> admission::Verdict {
        let (identities, mut notes) = admitted.counted();
        let asked = self.asker.asked(head, peer, identities);
        let mut taking = Taking::default();
        self.spend(&mut taking, &asked, &mut notes).unwrap_or_else(|_| {
            self.give_back(&taking, &asked);
            admission::Verdict::Wait
        })
    }

    /// Spends what there is, and asks for what there is not: one round trip for each such limit.
    pub(crate) async fn wait(&self, head: Head<'_>, peer: &Peer, admitted: &mut Admitted) -> admission::Verdict {
        let (identities, mut notes) = admitted.counted();
        let asked = self.asker.asked(head, peer, identities);
        let mut taking = Taking::default();
        loop {
            let ask = match self.spend(&mut taking, &asked, &mut notes) {
                Ok(verdict) => return verdict,
                Err(leased) => leased,
            };
            let said = ask.lend(&asked).await;
            if let Some(refused) = self.note(ask, said, &mut taking, &asked, &mut notes) {
                return refused;
            }
        }
    }

    /// Spends from one lease after the other; an error is the limit that Redis has to be asked about.
    fn spend<'a>(
        &'a self,
        taking: &mut Taking<'a>,
        asked: &Asked<'_>,
        notes: &mut LimitNotes<'_>,
    ) -> Result<admission::Verdict, &'a Leased> {
        while let Some(leased) = self.limits.get(taking.next) {
            if !leased.asking.limit.applies_to(asked.client) {
                taking.next += 1;
                continue;
            }
            let said = leased.take(asked).ok_or(leased)?;
            if let Some(refused) = self.note(leased, said, taking, asked, notes) {
                return Ok(refused);
            }
        }
        for leased in self.limits.iter().filter(|leased| leased.asking.limit.applies_to(asked.client)) {
            leased.asking.limit.count(true);
        }
        if let Some((limit, verdict)) = &taking.tightest {
            told::tell(&self.policy, limit, verdict, notes);
        }
        Ok(admission::Verdict::Admit)
    }

    /// Goes on behind a limit that admits; a refusal gives back what the others had given.
    fn note<'a>(
        &self,
        leased: &'a Leased,
        said: Said,
        taking: &mut Taking<'a>,
        asked: &Asked<'_>,
        notes: &mut LimitNotes<'_>,
    ) -> Option<admission::Verdict> {
        let limit = &*leased.asking.limit;
        match said {
            Said::Admit(until, verdict) => {
                if let Some(taken) = taking.taken.get_mut(taking.next) {
                    *taken = until;
                }
                taking.next += 1;
                if let Some(verdict) = verdict {
                    taking.tightest = told::tighter(taking.tightest.take(), limit, verdict);
                }
                None
            }
            Said::Refuse(verdict) => {
                self.give_back(taking, asked);
                limit.count(false);
                told::tell(&self.policy, limit, &verdict, notes);
                Some(admission::Verdict::Refuse(Reason::LimitRate))
            }
            Said::Closed => {
                self.give_back(taking, asked);
                Some(admission::Verdict::Refuse(Reason::LimitStore))
            }
        }
    }

    fn give_back(&self, taking: &Taking<'_>, asked: &Asked<'_>) {
        for (leased, until) in self.limits.iter().zip(&taking.taken) {
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
        let (terms, leases) = (Arc::clone(terms), Arc::clone(leases));
        Some(Self { asking, redis, terms, leases, question: RefCell::default() })
    }

    /// Spends from the lease of the request's key, and asks for the next one where it runs out; `None` where Redis has to be
    /// asked first.
    fn take(&self, asked: &Asked<'_>) -> Option<Said> {
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
            Taken::Admit { until } => Some(Said::Admit(Some(until), Some(verdict(Decision::Admit, left)))),
            Taken::Refuse { retry_after } => {
                let reset = retry_after.unwrap_or(Duration::ZERO);
                Some(Said::Refuse(Verdict { reset, ..verdict(Decision::Refuse { retry_after }, 0) }))
            }
            Taken::Ask => None,
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
        let question = &mut *self.question.borrow_mut();
        self.asking.put_loan(asked, 0, want, question);
        self.redis.call_then(question, then);
    }

    /// Asks for what the request needs, and for more where its key is asked for often.
    async fn lend(&self, asked: &Asked<'_>) -> Said {
        let (limit, cost) = (&self.asking.limit, self.asking.cost);
        let (hash, now) = (limit.hash(asked), limit.now());
        let want = self.leases.with(hash, now, |lease| lease.ask(&self.terms, now, cost));
        let mut question = Question::default();
        self.asking.put_loan(asked, cost, want, &mut question);
        // From when it was asked for first: what is asked again is a moment younger on the server, which is the safe side.
        let answer = self.redis.call(&question).await;
        if let Some(said) = answer.ok().and_then(|numbers| self.lent_to(hash, now, &numbers)) {
            return said;
        }
        self.leases.with(hash, limit.now(), |lease| lease.failed());
        limit.count_error();
        match limit.on_error {
            StoreError::Closed => Said::Closed,
            StoreError::Open => Said::Admit(None, None),
            StoreError::Local => {
                let now = limit.now();
                let verdict = limit.cell(asked, now).admit(&limit.law, now, cost);
                if verdict.is_admitted() { Said::Admit(None, Some(verdict)) } else { Said::Refuse(verdict) }
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
            Taken::Admit { until } => Some(Said::Admit(Some(until), Some(verdict))),
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
