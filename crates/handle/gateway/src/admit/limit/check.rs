use std::rc::Rc;

use leat_message::{Head, Peer, Reason};
use leat_policy::Instant;
use leat_policy::limit::{Cell, Claim, Joint, Verdict, admit_all};

use super::counted::Counted;
use super::key::{Asked, Asker};
use super::told;
use crate::admit::admission;
use crate::admit::admitted::Admitted;
use crate::config::{ROUTE_LIMITS_MAX, Route};

/// A limit, and what one request of the route costs under it.
type Priced = (Rc<Counted>, u64);

/// The rate limits of one route on one core that this process counts.
pub(crate) struct LimitCheck {
    asker: Asker,
    /// Those that refuse. All are debited, or none is.
    enforced: Box<[Priced]>,
    /// Those that only count whom they would refuse, each for itself.
    shadow: Box<[Priced]>,
    /// `RateLimit-Policy` and its value for all limits of the route; empty where clients are not told.
    policy: Rc<[u8]>,
}

impl LimitCheck {
    /// Those that a route names among the limits of its configuration; `None` for a route without.
    pub(crate) fn new(route: &Route, limits: &[Rc<Counted>], asker: &Asker, policy: &Rc<[u8]>) -> Option<Self> {
        let named = route.rate_limits().iter().take(ROUTE_LIMITS_MAX);
        let priced = named.filter_map(|named| Some((Rc::clone(limits.get(named.limit())?), named.cost())));
        let here = priced.filter(|(limit, _)| limit.server.is_none());
        let (shadow, enforced): (Vec<Priced>, Vec<Priced>) = here.partition(|(limit, _)| limit.is_shadow);
        if shadow.is_empty() && enforced.is_empty() {
            return None;
        }
        let policy = Rc::clone(policy);
        Some(Self { asker: asker.clone(), policy, enforced: enforced.into(), shadow: shadow.into() })
    }

    /// Asks the limits and debits them, and notes what the client is told. No allocation of its own; one look at the clock,
    /// and a hash, a look-up and an atomic for each limit.
    pub(crate) fn ask(&self, head: Head<'_>, peer: &Peer, admitted: &mut Admitted) -> admission::Verdict {
        let (identities, mut notes) = admitted.counted();
        let asked = self.asker.asked(head, peer, identities);
        let Some((any, _)) = self.enforced.first().or_else(|| self.shadow.first()) else {
            return admission::Verdict::Admit;
        };
        let now = any.now();
        let answer = match &*self.enforced {
            [] => None,
            [(limit, cost)] if limit.applies_to(asked.client) => Some((&**limit, limit.admit(&asked, *cost, now))),
            [_] => None,
            _ => self.ask_several(&asked, now),
        };
        if let Some((limit, verdict)) = &answer {
            told::tell(&self.policy, limit, verdict, &mut notes);
            if !verdict.is_admitted() {
                return admission::Verdict::Refuse(Reason::LimitRate);
            }
        }
        for (limit, cost) in self.shadow.iter().filter(|(limit, _)| limit.applies_to(asked.client)) {
            limit.admit(&asked, *cost, now);
        }
        admission::Verdict::Admit
    }

    /// The limit that decided, or of which the least remains, and what it says; `None` where none counts this client.
    fn ask_several(&self, asked: &Asked<'_>, now: Instant) -> Option<(&Counted, Verdict)> {
        let applying = || self.enforced.iter().filter(|(limit, _)| limit.applies_to(asked.client));
        let count = applying().count();
        let (first, _) = applying().next()?;
        // For what stands behind the last limit: nobody looks at it.
        let spare = Cell::new();
        let mut next = applying();
        let mut claims: [Claim<'_>; ROUTE_LIMITS_MAX] = std::array::from_fn(|_| match next.next() {
            Some((limit, cost)) => Claim::new(&limit.law, limit.cell(asked, now), *cost),
            None => Claim::new(&first.law, &spare, 0),
        });
        let number = match admit_all(claims.get_mut(..count).unwrap_or_default(), now) {
            Joint::Admit { tightest } => {
                applying().for_each(|(limit, _)| limit.count(true));
                tightest
            }
            Joint::Refuse { by, verdict } => {
                applying().skip(by).take(1).for_each(|(limit, _)| limit.count(false));
                Some((by, verdict))
            }
        };
        let (number, verdict) = number?;
        applying().nth(number).map(|(limit, _)| (&**limit, verdict))
    }
}
