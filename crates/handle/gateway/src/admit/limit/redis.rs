use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use leat_message::{Head, Peer, Reason};
use leat_policy::limit::Verdict;
use leat_redis::{Client, Failure, Numbers, Question, slot};

use super::asking::{Asking, SCRIPT, Tag, verdict_of};
use super::counted::Counted;
use super::key::{Asked, Asker};
use super::told;
use crate::admit::admission;
use crate::admit::admitted::{Admitted, LimitNotes};
use crate::config::{ROUTE_LIMITS_MAX, Route, StoreError};

/// Questions that are kept for the next requests.
const QUESTIONS_MAX: usize = 64;

/// The rate limits of a route that one Redis server or cluster counts.
pub(crate) struct RedisCheck {
    asker: Asker,
    redis: Client,
    /// Those that refuse. All are debited, or none is.
    enforced: Box<[Asking]>,
    /// Those that only count whom they would refuse, each for itself.
    shadow: Box<[Asking]>,
    /// `RateLimit-Policy` and its value for all limits of the route; empty where clients are not told.
    policy: Rc<[u8]>,
    questions: RefCell<Vec<Question>>,
}

/// A limit that counts a request, and by what.
type Keyed<'a> = (&'a Asking, Tag);

impl RedisCheck {
    /// The limits of a route that Redis counts: a check for each server.
    pub(crate) fn of_route(route: &Route, limits: &[Rc<Counted>], asker: &Asker, policy: &Rc<[u8]>) -> Vec<Self> {
        let named = route.rate_limits().iter().take(ROUTE_LIMITS_MAX);
        let mut rest: Vec<_> = named.filter_map(|named| Some((limits.get(named.limit())?, named.cost()))).collect();
        rest.retain(|(limit, _)| limit.server.is_some() && limit.leasing.is_none());
        let mut checks = Vec::new();
        while let Some(server) = rest.first().and_then(|(limit, _)| limit.server.clone()) {
            let is_here = |limit: &Counted| limit.server.as_ref().is_some_and(|other| Arc::ptr_eq(other, &server));
            let (of_server, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(|(limit, _)| is_here(limit));
            rest = others;
            let asking = of_server.into_iter().map(|(limit, cost)| Asking::new(limit, cost));
            let (shadow, enforced): (Vec<_>, Vec<_>) = asking.partition(|one| one.limit.is_shadow);
            checks.push(Self {
                asker: asker.clone(),
                redis: Client::shared(&server, SCRIPT),
                policy: Rc::clone(policy),
                enforced: enforced.into(),
                shadow: shadow.into(),
                questions: RefCell::default(),
            });
        }
        checks
    }

    /// Whether anything has to be asked.
    pub(crate) fn ask(&self, head: Head<'_>, peer: &Peer) -> admission::Verdict {
        let client = self.asker.asked(head, peer, &[]).client;
        match self.enforced.iter().chain(&self.shadow).any(|one| one.limit.applies_to(client)) {
            true => admission::Verdict::Wait,
            false => admission::Verdict::Admit,
        }
    }

    /// Asks the server: one round trip, and one more for each limit in shadow mode. In a cluster one for each slot: limits
    /// with equal keys and values have the same one.
    pub(crate) async fn wait(&self, head: Head<'_>, peer: &Peer, admitted: &mut Admitted) -> admission::Verdict {
        let (identities, mut notes) = admitted.counted();
        let asked = self.asker.asked(head, peer, identities);
        let mut rest: Vec<Keyed<'_>> = self.applying(&self.enforced, &asked).collect();
        let mut tightest = None;
        while let Some((_, first)) = rest.first() {
            let group = if self.redis.is_cluster() && rest.len() > 1 {
                let slot_of_first = slot(first);
                let (group, others) = rest.into_iter().partition(|(_, tag)| slot(tag) == slot_of_first);
                rest = others;
                group
            } else {
                std::mem::take(&mut rest)
            };
            let answer = self.call(&group).await;
            let verdict = answer.ok().and_then(|numbers| decided(&group, &numbers, &mut tightest));
            let verdict = verdict.unwrap_or_else(|| self.without_answer(&group, &asked, &mut tightest));
            match verdict {
                admission::Verdict::Admit => {}
                refused => {
                    self.tell(tightest.filter(|(_, verdict)| !verdict.is_admitted()), &mut notes);
                    return refused;
                }
            }
        }
        self.tell(tightest, &mut notes);
        for one in self.applying(&self.shadow, &asked) {
            match self.call(&[one]).await.ok().and_then(|numbers| verdict_of(&numbers)) {
                Some((_, verdict)) => one.0.limit.count(verdict.is_admitted()),
                None => one.0.limit.count_error(),
            }
        }
        admission::Verdict::Admit
    }

    fn applying<'a>(&self, list: &'a [Asking], asked: &Asked<'_>) -> impl Iterator<Item = Keyed<'a>> {
        list.iter().filter(|one| one.limit.applies_to(asked.client)).map(|one| (one, one.tag(asked)))
    }

    async fn call(&self, group: &[Keyed<'_>]) -> Result<Numbers, Failure> {
        let mut question = self.questions.borrow_mut().pop().unwrap_or_default();
        question.clear();
        group.iter().for_each(|(one, tag)| one.put_key(tag, &mut question));
        group.iter().for_each(|(one, _)| one.put_arguments(&mut question));
        let answer = self.redis.call(&question).await;
        let questions = &mut *self.questions.borrow_mut();
        if questions.len() < QUESTIONS_MAX {
            questions.push(question);
        }
        answer
    }

    fn tell(&self, said: Option<(&Counted, Verdict)>, notes: &mut LimitNotes<'_>) {
        if let Some((limit, verdict)) = said {
            told::tell(&self.policy, limit, &verdict, notes);
        }
    }

    /// The server has no answer: every limit has its own way to go on.
    fn without_answer<'a>(
        &self,
        group: &[Keyed<'a>],
        asked: &Asked<'_>,
        tightest: &mut Option<(&'a Counted, Verdict)>,
    ) -> admission::Verdict {
        group.iter().for_each(|(one, _)| one.limit.count_error());
        if group.iter().any(|(one, _)| one.limit.on_error == StoreError::Closed) {
            return admission::Verdict::Refuse(Reason::LimitStore);
        }
        for (one, _) in group.iter().filter(|(one, _)| one.limit.on_error == StoreError::Local) {
            let limit: &'a Counted = &one.limit;
            let verdict = limit.admit(asked, one.cost, limit.now());
            if !verdict.is_admitted() {
                *tightest = Some((limit, verdict));
                return admission::Verdict::Refuse(Reason::LimitRate);
            }
            *tightest = told::tighter(tightest.take(), limit, verdict);
        }
        admission::Verdict::Admit
    }
}

/// What the server decided; `None` where that makes no sense. Notes the limit of which least remains, or that refused.
fn decided<'a>(
    group: &[Keyed<'a>],
    numbers: &Numbers,
    tightest: &mut Option<(&'a Counted, Verdict)>,
) -> Option<admission::Verdict> {
    let (number, verdict) = verdict_of(numbers)?;
    let limit: &'a Counted = &group.get(number)?.0.limit;
    if !verdict.is_admitted() {
        limit.count(false);
        *tightest = Some((limit, verdict));
        return Some(admission::Verdict::Refuse(Reason::LimitRate));
    }
    group.iter().for_each(|(one, _)| one.limit.count(true));
    *tightest = told::tighter(tightest.take(), limit, verdict);
    Some(admission::Verdict::Admit)
}
